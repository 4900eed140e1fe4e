package workspace

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf16"
)

const denies = `{"permissions": {"deny": ["Bash(mkdir:*)"]}}`

// in16 returns a text in UTF-16.
func in16(order binary.AppendByteOrder, text string) string {
	var out []byte
	for _, u := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, u)
	}
	return string(out)
}

// form is how the text of a file may be written: unread says that its denials can't be determined.
type form struct {
	name, text string
	unread     bool
}

// forms returns the forms of a settings file.
func forms() []form {
	return []form{
		{"plain", denies, false},
		{"empty", "", false},
		{"blank", " \n\t", false},
		{"only a comment", "// nothing here\n", false},
		{"line comment first", "// x\n" + denies, false},
		{"line comment last, without an end", denies + " // x", false},
		{"block comment", "/* x\n y */" + denies, false},
		{"comment between", "{ // \"x\n \"permissions\": /* { */ {\"deny\": [\"Bash(mkdir:*)\" /* , */ ]}}", false},
		{"a comment that is a text", `{"a": "// no", "b": "/* no", "permissions": {"deny": ["Bash(mkdir:*)"]}}`, false},
		{"a text with quotes before a comment", `{"a": "\"", /* " */ "permissions": {"deny": ["Bash(mkdir:*)"]}}`, false},
		{"trailing commas", `{"permissions": {"deny": ["Bash(mkdir:*)",],},}`, false},
		{"CRLF", "{\r\n// x\r\n\"permissions\": {\"deny\": [\"Bash(mkdir:*)\"]}}\r\n", false},
		{"UTF-8 with a mark", "\ufeff" + denies, false},
		{"UTF-8 with a mark and a comment", "\ufeff// x\n" + denies, false},
		{"UTF-16 LE with a mark", "\xff\xfe" + in16(binary.LittleEndian, denies), false},
		{"UTF-16 BE with a mark", "\xfe\xff" + in16(binary.BigEndian, denies), false},
		{"UTF-16 LE", in16(binary.LittleEndian, denies), false},
		{"UTF-16 BE", in16(binary.BigEndian, denies), false},
		{"UTF-16 with a comment and letters", "\xff\xfe" + in16(binary.LittleEndian, "// größer 😀\n"+denies), false},
		{"null for permissions", `{"permissions": null}`, false},
		{"null for deny", `{"permissions": {"deny": null}}`, false},
		{"null for hooks", `{"hooks": null, "permissions": {"deny": ["Bash(mkdir:*)"]}}`, false},
		{"a rule for a tool that is not here", `{"permissions": {"deny": ["WebFetch(domain:x)", "NoSuchTool"]}}`, false},
		{"allow as a text", `{"permissions": {"allow": "Bash", "deny": ["Bash(mkdir:*)"]}}`, false},
		{"a bad pattern in allow", `{"permissions": {"allow": ["Bash("], "deny": ["Bash(mkdir:*)"]}}`, false},
		{"a hook that asks a model", `{"hooks": {"PreToolUse": [{"hooks": [{"type": "prompt", "prompt": "x"}]}]}}`, false},
		{"a bad hook that keeps no call from running", `{"hooks": {"Stop": [{"matcher": 7}], "PostToolUse": "x"}}`, false},
		{"a hook of an unknown event", `{"hooks": {"Other": "x"}}`, false},

		{"deny as a text", `{"permissions": {"deny": "Bash(mkdir:*)"}}`, true},
		{"deny as an object", `{"permissions": {"deny": {"Bash": true}}}`, true},
		{"deny as a number", `{"permissions": {"deny": 1}}`, true},
		{"deny as false", `{"permissions": {"deny": false}}`, true},
		{"ask as a text", `{"permissions": {"ask": "Bash(mkdir:*)"}}`, true},
		{"permissions as a list", `{"permissions": ["Bash(mkdir:*)"]}`, true},
		{"permissions as a text", `{"permissions": "deny"}`, true},
		{"a number beside good rules", `{"permissions": {"deny": ["Read(x)", 7]}}`, true},
		{"null beside good rules", `{"permissions": {"deny": ["Read(x)", null]}}`, true},
		{"a list beside good rules", `{"permissions": {"deny": ["Read(x)", ["Bash(mkdir:*)"]]}}`, true},
		{"a bracket that is not closed", `{"permissions": {"deny": ["Read(x)", "Bash(mkdir:*"]}}`, true},
		{"a rule without a tool", `{"permissions": {"deny": ["(mkdir:*)"]}}`, true},
		{"an empty rule", `{"permissions": {"deny": [""]}}`, true},
		{"a rule with half a letter", `{"permissions": {"deny": ["Read(\ud800)"]}}`, true},
		{"a rule with a letter nobody sees", `{"permissions": {"deny": ["Read(x\u200b)"]}}`, true},
		{"a bad pattern in ask", `{"permissions": {"ask": ["Bash("]}}`, true},
		{"broken at once", `{`, true},
		{"broken behind the rules", denies[:len(denies)-1], true},
		{"broken before the rules", `{"a": x, ` + denies[1:], true},
		{"a comment that never ends", "/* x " + denies, true},
		{"a hash comment", "# x\n" + denies, true},
		{"single quotes", `{'permissions': {'deny': ['Bash(mkdir:*)']}}`, true},
		{"a list", `["Bash(mkdir:*)"]`, true},
		{"a text", `"deny"`, true},
		{"two objects", `{} ` + denies, true},
		{"marks of a merge", "<<<<<<< HEAD\n" + denies + "\n=======\n{}\n>>>>>>> x\n", true},
		{"marks of a merge at the end", denies + "\n=======\n", true},
		{"Latin-1", "{\"permissions\": {\"deny\": [\"Read(\xe4)\"]}}", true},
		{"UTF-16 cut in a letter", "\xff\xfe" + in16(binary.LittleEndian, denies)[:21], true},
		{"UTF-16 with half a letter", "\xff\xfe\x00\xd8" + in16(binary.LittleEndian, denies), true},
		{"UTF-32", "\xff\xfe\x00\x00{\x00\x00\x00", true},
		{"compressed", "\x1f\x8b\x08\x00\x00\x00", true},
		{"NUL", denies + "\x00", true},
		{"too large", denies + strings.Repeat(" ", 1<<20), true},
		{"too many rules", `{"permissions": {"allow": ["a"` + strings.Repeat(`,"a"`, 2000) + `], "deny": ["Bash(mkdir:*)"]}}`, true},
		{"too many keys", "{" + strings.Repeat(`"x":1,`, 1001) + denies[1:], true},
		{"too many brackets", `{"x":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "," + denies[1:], true},
		{"hooks as a text", `{"hooks": "x"}`, true},
		{"hooks as a list", `{"hooks": []}`, true},
		{"a hook that keeps calls from running as a text", `{"hooks": {"PreToolUse": "x"}}`, true},
		{"a hook as a text", `{"hooks": {"PreToolUse": [{"hooks": ["x"]}]}}`, true},
		{"a hook without its list", `{"hooks": {"PreToolUse": [{"matcher": "Bash"}]}}`, true},
		{"a hook without a command", `{"hooks": {"PreToolUse": [{"hooks": [{"type": "command"}]}]}}`, true},
		{"a hook with another matcher", `{"hooks": {"PreToolUse": [{"matcher": "(", "hooks": [{"type": "command", "command": "x"}]}]}}`, true},
		{"a hook whose matcher is a list", `{"hooks": {"PreToolUse": [{"matcher": ["Bash"], "hooks": []}]}}`, true},
		{"a bad hook behind many others", `{"hooks": {"Stop": [` + strings.Repeat(`1,`, 60) + `1], "PreToolUse": 1}}`, true},
	}
}

// tables returns the forms of a config.toml.
func tables() []form {
	return []form{
		{"plain", "[permissions]\ndeny = [\"Bash(mkdir:*)\"]\n", false},
		{"with comments", "# x\n[permissions] # y\ndeny = [ # z\n\"Bash(mkdir:*)\",]\n", false},
		{"empty", "", false},
		{"UTF-8 with a mark", "\ufeff[permissions]\ndeny = [\"Bash(mkdir:*)\"]\n", false},
		{"UTF-16", "\xff\xfe" + in16(binary.LittleEndian, "[permissions]\ndeny = [\"Bash(mkdir:*)\"]\n"), false},
		{"inline", "permissions = {deny = [\"Bash(mkdir:*)\"]}\n", false},
		{"a list that never ends", "[permissions]\ndeny = [\"Bash(mkdir:*)\"\n", true},
		{"deny as a text", "[permissions]\ndeny = \"Bash(mkdir:*)\"\n", true},
		{"deny as a table", "[permissions.deny]\nBash = true\n", true},
		{"deny as a dotted table", "[permissions]\ndeny.Bash = true\n", true},
		{"deny as tables", "[[permissions.deny]]\nrule = \"Bash\"\n", true},
		{"permissions as a list", "permissions = [\"Bash(mkdir:*)\"]\n", true},
		{"a number beside good rules", "[permissions]\ndeny = [\"Read(x)\", 7]\n", true},
		{"a bad pattern", "[permissions]\ndeny = [\"Bash(mkdir\"]\n", true},
		{"broken behind the rules", "[permissions]\ndeny = [\"Bash(mkdir:*)\"]\n]\n", true},
		{"JSON", denies, true},
		{"Latin-1", "[permissions]\ndeny = [\"Read(\xe4)\"]\n", true},
		{"hooks as a text", "hooks = \"x\"\n", true},
		{"a hook that keeps calls from running as a text", "[hooks]\nPreToolUse = \"x\"\n", true},
		{"a hook without a command", "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\n", true},
		{"too many keys", strings.Repeat("[[x]]\n", 3000), true},
	}
}

// TestRead_unread: denials are read however people write them; a file that can't be read never counts as empty, and
// its name is reported.
func TestRead_unread(t *testing.T) {
	rows := 0
	check := func(file, form, text string, want bool) {
		t.Helper()
		rows++
		_, root, env := home(t, map[string]string{file: text})
		r := NewRuleFiles(root, env).Read()
		if got := r.Blind() != ""; got != want {
			t.Errorf("%s, %s: unread %t, want %t: %q", file, form, got, want, r.Blind())
		}
		if want && !strings.Contains(r.Blind(), filepath.Base(file)+":") {
			t.Errorf("%s, %s: the file is not named: %q", file, form, r.Blind())
		}
		if !want && strings.Contains(strings.ReplaceAll(text, "\x00", ""), "Bash(mkdir:*)") && len(r.Lines) == 0 {
			t.Errorf("%s, %s: its rule is lost", file, form)
		}
	}
	for _, f := range forms() {
		for _, file := range []string{".claude/settings.json", "src/w/.claude/settings.json", "src/w/.claude/settings.local.json"} {
			check(file, f.name, f.text, f.unread)
		}
	}
	for _, f := range tables() {
		for _, file := range []string{".config/fantail/config.toml", "src/w/.fantail/config.toml"} {
			check(file, f.name, f.text, f.unread)
		}
	}
	t.Logf("%d rows", rows)
}

// TestRead_unreadPlaces: an unreadable file of any kind in a rule file's place, or on the way to it, does not count as
// missing.
func TestRead_unreadPlaces(t *testing.T) {
	link := func(to string) func(path string) error {
		return func(path string) error { return os.Symlink(to, path) }
	}
	places := map[string]struct {
		dir, file func(path string) error // makes its directory and itself; nil: it is left
		unread    bool
	}{
		"nothing":                    {nil, nil, false},
		"a directory":                {nil, func(p string) error { return os.Mkdir(p, 0o700) }, true},
		"a link that leads nowhere":  {nil, link("none.json"), true},
		"a link to itself":           {nil, link("settings.json"), true},
		"a link far away":            {nil, link("/none/none.json"), true},
		"a pipe":                     {nil, func(p string) error { return syscall.Mkfifo(p, 0o600) }, true},
		"a directory that is a link": {link("none"), nil, true},
		"a directory that is a file": {func(p string) error { return os.WriteFile(p, nil, 0o600) }, nil, false},
		"no permission":              {nil, func(p string) error { return os.WriteFile(p, nil, 0) }, os.Getuid() != 0},
		"no permission to look": {func(p string) error {
			t.Cleanup(func() { _ = os.Chmod(p, 0o700) })
			return os.Mkdir(p, 0)
		}, nil, os.Getuid() != 0},
	}
	for _, file := range []string{".claude/settings.json", "src/w/.claude/settings.json", "src/w/.claude/settings.local.json", "src/w/.fantail/config.toml", ".config/fantail/config.toml"} {
		for name, p := range places {
			dir, root, env := home(t, nil)
			path := filepath.Join(dir, file)
			if err := os.MkdirAll(filepath.Dir(filepath.Dir(path)), 0o700); err != nil {
				t.Fatal(err)
			}
			made := p.dir
			if made == nil {
				made = func(p string) error { return os.Mkdir(p, 0o700) }
			}
			if err := made(filepath.Dir(path)); err != nil {
				t.Fatal(err)
			}
			if p.file != nil {
				if err := p.file(path); err != nil {
					t.Fatal(err)
				}
			}
			if r := NewRuleFiles(root, env).Read(); (r.Blind() != "") != p.unread {
				t.Errorf("%s is %s: unread %q, want %t", file, name, r.Blind(), p.unread)
			}
		}
	}
}
