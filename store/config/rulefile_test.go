package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// said prints the content of a file, in a line each.
func said(f RuleFile) string {
	var b strings.Builder
	for _, l := range f.Lines {
		fmt.Fprintf(&b, "%s %d:%d %s\n", l.List, l.Line, l.Column, l.Text)
	}
	for _, l := range f.Others {
		fmt.Fprintf(&b, "other %d:%d %s\n", l.Line, l.Column, l.Text)
	}
	for _, l := range f.Faults {
		fmt.Fprintf(&b, "fault %d:%d %s\n", l.Line, l.Column, l.Text)
	}
	return b.String()
}

func TestJSON(t *testing.T) {
	got := said(JSONRules([]byte(`{
  "env": {"A": ["b", {"c": 1}]},
  "permissions": {
    "allow": ["Bash(go test:*)", 7,
      "Read"],
    "defaultMode": "bypassPermissions",
    "deny": ["Bash(git push *)"], "ask": "x"
  },
  "permissions": {"deny": ["Read(.env)"]}
}`)))
	want := `allow 4:15 Bash(go test:*)
allow 5:7 Read
deny 7:14 Bash(git push *)
deny 9:28 Read(.env)
other 2:3 env
other 6:5 permissions.defaultMode
fault 4:34 a rule is a text, such as "Bash(git push *)"
fault 7:42 ask is a list of rules: [ … ]
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for text, want := range map[string]string{
		"": "", "  \n": "", "[]": "fault 1:2 settings are an object: { … }\n", "{}": "",
		`{"permissions": {"deny": ["a"` + "\n,": "deny 1:27 a\nfault 2:2 the file ends in the middle\n",
		`{"permissions": {"deny": ["a", }`:      "deny 1:27 a\nfault 1:32 invalid character '}' after array element\n",
		"\ufeff{\"permissions\":[]}":            "fault 1:16 permissions is an object: { … }\n",
		"// x\n{}":                              "",
		"/* // */ {\"permissions\": /* é */ {\"deny\": [\"a//b\", // \"c\"\n \"d\\\"/*\"]}} // z": "deny 1:44 a//b\ndeny 2:2 d\"/*\n",
		"/* x\n{\"permissions\":{\"deny\":[\"a\"]}}":                                              "fault 1:1 invalid character '/' looking for beginning of value\n",
		`{"permissions":null}`:             "",
		`{"permissions":{"deny":null}}`:    "",
		`{"permissions":{"deny":["a",]},}`: "deny 1:25 a\n",
		`{}{"permissions":{"deny":["a"]}}`: "fault 1:3 something follows behind the end: it is not read\n",
	} {
		if got := said(JSONRules([]byte(text))); got != want {
			t.Errorf("%q:\n%swant\n%s", text, got, want)
		}
	}
	if f := JSONRules([]byte(`{"x":` + strings.Repeat("[", 10000))); len(f.Faults) != 1 {
		t.Errorf("brackets: %+v", f)
	}
	if f := JSONRules([]byte(`{"permissions":{"deny":["` + strings.Repeat(`a","`, 3000) + `a"]}}`)); len(f.Lines) != maxOf || len(f.Faults) != 1 {
		t.Errorf("%d rules, %d faults", len(f.Lines), len(f.Faults))
	}
}

func TestTOML(t *testing.T) {
	got := said(TOMLRules([]byte(`model = "x/y"
[permissions]
deny = [
  "Bash(git push *)", # said so
  'Read(.env)',
  7,
]
ask = "x"
mode = "yolo"
allow = ["Bash(go test *)"]
[agents.x]
command = ["evil"]
`)))
	want := `deny 4:3 Bash(git push *)
deny 5:3 Read(.env)
allow 10:10 Bash(go test *)
other 1:1 model
other 9:1 permissions.mode
other 11:2 agents
fault 6:3 a rule is a text, such as "Bash(git push *)"
fault 8:1 ask is a list of rules: [ … ]
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for text, want := range map[string]string{
		`permissions = { deny = ["a"] }`:   "deny 1:25 a\n",
		`permissions.deny = ["a"]`:         "deny 1:21 a\n",
		"[permissions]\ndeny = [\"a\"]\n]": "deny 2:9 a\nfault 3:1 invalid character at start of key: U+005D ']'\n",
		"":                                 "",
		"[permissions.deny]\na = 1":        "fault 1:2 deny is a list of rules: [ … ]\n",
		"permissions.deny.a = []":          "fault 1:1 permissions is a table with lists of rules: deny = [ … ]\n",
		`permissions = ["a"]`:              "fault 1:1 permissions is a table with lists of rules: deny = [ … ]\n",
	} {
		if got := said(TOMLRules([]byte(text))); got != want && !(strings.Contains(want, "fault") && strings.HasPrefix(got, want[:strings.Index(want, "invalid")])) {
			t.Errorf("%q:\n%swant\n%s", text, got, want)
		}
	}
}

// TestOpen: only a small regular file of the workspace is accepted.
func TestOpen(t *testing.T) {
	root, out := t.TempDir(), t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(root, "a.json"), `{"permissions":{"deny":["Bash"]}}`)
	write(filepath.Join(out, "b.json"), `{"permissions":{"deny":["Bash"]}}`)
	write(filepath.Join(root, "large.json"), strings.Repeat(" ", 1<<20+1))
	for _, err := range []error{
		os.Symlink(filepath.Join(out, "b.json"), filepath.Join(root, "b.json")), os.Symlink("a.json", filepath.Join(root, "link.json")),
		os.Symlink(out, filepath.Join(root, "dir")), syscall.Mkfifo(filepath.Join(root, "pipe.json"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"a.json": "", "link.json": "", "b.json": "escapes", "dir/b.json": "escapes", "pipe.json": "no regular file", "large.json": "bytes", "none.json": "none", "a.json/x": "none"} {
		f, err := OpenRules(root, name)
		switch {
		case want == "":
			if err != nil || len(f.Lines) != 1 {
				t.Errorf("%s: %+v, %v", name, f, err)
			}
		case want == "none":
			if err != nil || len(f.Lines) != 0 {
				t.Errorf("%s: %+v, %v", name, f, err)
			}
		case err == nil || !strings.Contains(err.Error(), want) || len(f.Lines) != 0:
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
	if f, err := ReadRules(filepath.Join(root, "b.json")); err != nil || len(f.Lines) != 1 {
		t.Errorf("the user's own link: %+v, %v", f, err)
	}
}

// TestBounds: the reported keys and faults of a file are bounded, however much it holds, and its last rule still
// counts.
func TestBounds(t *testing.T) {
	const many = 20_000
	for name, f := range map[string]RuleFile{
		"JSON, keys":   JSONRules([]byte(`{"permissions":{` + strings.Repeat(`"x":1,`, many) + `"deny":["a"]}}`)),
		"TOML, keys":   TOMLRules([]byte(strings.Repeat("x=1\n", many) + "[permissions]\ndeny=['a']\n")),
		"TOML, tables": TOMLRules([]byte(strings.Repeat("[x]\n", many) + "[permissions]\ndeny=['a']\n")),
	} {
		if len(f.Others) != maxOthers || len(f.Lines) != 1 {
			t.Errorf("%s: %d keys, rules %v", name, len(f.Others), f.Lines)
		}
	}
	for name, f := range map[string]RuleFile{
		"JSON": JSONRules([]byte(`{"permissions":{"deny":[` + strings.Repeat(`7,`, many) + `"a"]}}`)),
		"TOML": TOMLRules([]byte("[permissions]\ndeny=[" + strings.Repeat(`7,`, many) + "'a']\n")),
	} {
		if len(f.Faults) != maxFaults+1 || len(f.Lines) != 1 {
			t.Errorf("%s: %d faults, rules %v", name, len(f.Faults), f.Lines)
		}
	}
}

func FuzzFiles(f *testing.F) {
	f.Add([]byte(`{"permissions":{"deny":["a",{"b":[1]}],"x":null}}`))
	f.Add([]byte("[permissions]\ndeny=[\"a\"]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, got := range []RuleFile{JSONRules(data), TOMLRules(data)} {
			for _, l := range append(got.Lines, got.Others...) {
				if l.Line < 1 || l.Column < 1 || l.Line > strings.Count(string(data), "\n")+1 {
					t.Fatalf("%q: %+v", data, l)
				}
			}
		}
	})
}

// TestOdd: an invalid value only affects itself, and guards if it may have denied or asked.
func TestOdd(t *testing.T) {
	for _, key := range []string{"allow", "ask", "deny", "defaultMode", "additionalDirectories", "x"} {
		for _, v := range []string{`[]`, `{}`, `null`, `""`, `"x"`, `0`, `true`, `[0]`, `[null]`, `[[]]`, `[{"a": "b"}]`} {
			list := strings.Contains("allow ask deny", key)
			told := list && v != `[]` && v != `null`
			for _, text := range []string{
				fmt.Sprintf(`{"env": %[2]s, "hooks": %[2]s, "model": %[2]s, "theme": %[2]s, "permissions": {"deny": ["a"], %[1]q: %[2]s, "ask": ["b"]}, "permissions": {"allow": ["c"]}}`, key, v),
				fmt.Sprintf(`{"permissions": {%[1]q: %[2]s, %[1]q: %[2]s}, "permissions": {"deny": ["a"], "ask": ["b"], "allow": ["c"]}, "model": %[2]s, "model": %[2]s}`, key, v),
			} {
				f := JSONRules([]byte(text))
				var all []string
				for _, l := range f.Lines {
					all = append(all, l.List+" "+l.Text)
				}
				if got := strings.Join(all, ", "); got != "deny a, ask b, allow c" {
					t.Errorf("%s: %s", text, got)
				}
				if (len(f.Faults) > 0) != told {
					t.Errorf("%s: %+v", text, f.Faults)
				}
				for _, w := range f.Faults {
					if w.Guards != (key != "allow") || w.Line != 1 || w.Column < 2 {
						t.Errorf("%s: %+v", text, w)
					}
				}
			}
		}
	}
}
