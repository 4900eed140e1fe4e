package hooks

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fantail/store/config"
)

var (
	mine        = Source{Name: "~/.claude/settings.json", Own: true}
	theirSource = Source{Name: ".claude/settings.json"}
)

// TestRead: mistakes are reported with their place, and the rest is read.
func TestRead(t *testing.T) {
	l := Read(theirSource, []byte(`{
  "env": {"A": "b"},
  "statusLine": {"type": "command"},
  "permissions": {"defaultMode": "bypassPermissions", "deny": ["Bash(rm *)"]},
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash|Write", "hooks": [{"type": "command", "command": "./check.sh", "timeout": 5}, {"type": "prompt", "prompt": "x"}]},
      {"matcher": "(", "hooks": [{"type": "command", "command": "never"}]},
      {"hooks": "no list"},
      7
    ],
    "Stop": [{"hooks": [{"type": "command", "command": "./stop.sh", "timeout": 99999}]}],
    "Nonsense": [],
    "TaskFinished": {"hooks": []}
  }
}`))
	var got []string
	for _, h := range l.Hooks {
		got = append(got, string(h.Event)+" "+h.Command+" "+h.Timeout.String()+" "+h.Place())
	}
	want := []string{"PreToolUse ./check.sh 5s .claude/settings.json:7", "Stop ./stop.sh 10m0s .claude/settings.json:12"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("hooks:\n%s", strings.Join(got, "\n"))
	}
	var faults []string
	for _, f := range l.Faults {
		faults = append(faults, f.String())
	}
	all := strings.Join(faults, "\n")
	for _, part := range []string{"settings.json:7:", `"prompt"`, "settings.json:8:19", "matcher", "settings.json:9:17", "settings.json:10:7", "settings.json:14:21"} {
		if !strings.Contains(all, part) {
			t.Errorf("no %q in\n%s", part, all)
		}
	}
	if len(l.Ignored) != 1 || !strings.Contains(l.Ignored[0].String(), "settings.json:13:") || !strings.Contains(l.Ignored[0].Text, "Nonsense") {
		t.Errorf("ignored %v", l.Ignored)
	}
	h := l.Hooks[0]
	if !h.matches("Bash", "bash") || !h.matches("Write") || h.matches("WriteX", "bas") || h.matches("") {
		t.Error("the matcher matches a part of a name")
	}
}

// TestRead_bounds: the report on a file is bounded, however much the file holds.
func TestRead_bounds(t *testing.T) {
	const many = 5000
	for name, text := range map[string]string{
		"events": `{"hooks":{` + strings.Repeat(`"x":[],`, many) + `"Stop":[{"hooks":[{"command":"a"}]}]}}`,
		"groups": `{"hooks":{"Stop":[` + strings.Repeat(`7,`, many) + `{"hooks":[{"command":"a"}]}]}}`,
	} {
		l := Read(Source{Name: "f"}, []byte(text))
		if n := len(l.Ignored) + len(l.Faults); n != maxTold || len(l.Hooks) != 1 {
			t.Errorf("%s: %d told, hooks %v", name, n, l.Hooks)
		}
	}
	if l := readTOML(Source{Name: "f.toml"}, []byte(strings.Repeat("[hooks]\n", many+1))); len(l.Faults) != 1 || !strings.Contains(l.Faults[0].Text, "at most 5000") {
		t.Errorf("TOML: %v", l.Faults)
	}
}

// TestRead_broken: what is no settings file yields one line, and nothing else.
func TestRead_broken(t *testing.T) {
	for text, place := range map[string]string{
		"{":                         ":1:2",
		"[]":                        ":1:2",
		"{\n \"hooks\": [\n x]}":    ":3:2",
		"{\"hooks\": 7}":            ":1:11",
		strings.Repeat("[", 20_000): ":1:2",
	} {
		l := Read(theirSource, []byte(text))
		if len(l.Hooks) != 0 || len(l.Faults) != 1 || !strings.HasSuffix(l.Faults[0].Place, place) {
			t.Errorf("%.20q: %v", text, l.Faults)
		}
	}
	off := []byte(`{"hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}, "disableAllHooks": true}`)
	if l := Read(mine, off); len(l.Hooks) != 0 || !l.Off {
		t.Error("hooks that are switched off are read")
	}
	if l := Read(theirSource, off); len(l.Hooks) != 0 || l.Off {
		t.Error("a repository switches off the user's hooks")
	}
}

// TestReadFile: a link out of the workspace and a file that is too long are no settings files, nor is a directory.
func TestReadFile(t *testing.T) {
	root, out := t.TempDir(), filepath.Join(t.TempDir(), "settings.json")
	check(t, os.WriteFile(out, []byte(`{"hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}}`), 0o600))
	s := Source{Name: ".claude/settings.json", Path: filepath.Join(root, ".claude/settings.json")}
	if l := ReadFile(root, s); len(l.Hooks)+len(l.Faults) != 0 {
		t.Errorf("nothing there: %+v", l)
	}
	check(t, os.Mkdir(filepath.Join(root, ".claude"), 0o700))
	check(t, os.Symlink(out, s.Path))
	if l := ReadFile(root, s); len(l.Hooks) != 0 || len(l.Faults) != 1 || !strings.Contains(l.Faults[0].Text, "link") {
		t.Errorf("a link out: %+v", l)
	}
	check(t, os.Remove(s.Path))
	check(t, os.WriteFile(s.Path, []byte(strings.Repeat(" ", 1<<20+1)), 0o600))
	if l := ReadFile(root, s); len(l.Faults) != 1 || !strings.Contains(l.Faults[0].Text, "bytes") {
		t.Errorf("too long: %+v", l)
	}
	check(t, os.Remove(s.Path))
	check(t, os.Mkdir(s.Path, 0o700))
	if l := ReadFile(root, s); len(l.Faults) != 1 {
		t.Errorf("a directory: %+v", l)
	}
}

func TestConfigured(t *testing.T) {
	l := Configured(Source{Name: "config.toml", Own: true}, map[string][]config.HookGroup{
		"TaskFinished": {{Hooks: []config.HookRow{{Command: "notify"}, {Type: "http"}}}}, "X": nil, "Stop": {{Matcher: "["}},
	})
	if len(l.Hooks) != 1 || l.Hooks[0].Command != "notify" || len(l.Faults) != 2 || len(l.Ignored) != 1 {
		t.Errorf("%+v", l)
	}
}

// TestParts: the same configuration is the same part, at any place in its file; another time-out, matcher or order is
// not.
func TestParts(t *testing.T) {
	read := func(text string) string {
		parts := Parts(Read(theirSource, []byte(text)).Hooks)
		if len(parts) != 1 {
			t.Fatalf("%d parts", len(parts))
		}
		return parts[0].Text
	}
	a := read(`{"hooks": {"Stop": [{"hooks": [{"command": "x"}, {"command": "y"}]}]}}`)
	if b := read("\n\n" + `{"hooks":{"Stop":[{"hooks":[{"command":"x","timeout":60},{"command":"y"}]}]},"model":"z"}`); a != b {
		t.Errorf("%q is not %q", a, b)
	}
	for _, other := range []string{
		`{"hooks": {"Stop": [{"hooks": [{"command": "y"}, {"command": "x"}]}]}}`,
		`{"hooks": {"Stop": [{"hooks": [{"command": "x", "timeout": 7}, {"command": "y"}]}]}}`,
		`{"hooks": {"Stop": [{"matcher": "m", "hooks": [{"command": "x"}, {"command": "y"}]}]}}`,
	} {
		if b := read(other); a == b {
			t.Errorf("%s is the same", other)
		}
	}
}

// A repository's file in the format of the user's configuration sets hooks, and nothing else.
func TestReadFile_toml(t *testing.T) {
	root := t.TempDir()
	s := Source{Name: ".fantail/config.toml", Path: filepath.Join(root, ".fantail/config.toml")}
	check(t, os.Mkdir(filepath.Join(root, ".fantail"), 0o700))
	check(t, os.WriteFile(s.Path, []byte("permission_mode = \"yolo\"\nunknown = 1\n[[hooks.Stop]]\nhooks = [{command = \"./x.sh\"}]\n[agents.evil]\ncommand = [\"x\"]\n"), 0o600))
	l := ReadFile(root, s)
	if len(l.Hooks) != 1 || l.Hooks[0].Command != "./x.sh" || l.Hooks[0].Source.Own || len(l.Faults) != 0 {
		t.Errorf("%+v", l)
	}
	check(t, os.WriteFile(s.Path, []byte("a = 1\n[[hooks.Stop]\n"), 0o600))
	if l := ReadFile(root, s); len(l.Faults) != 1 || !strings.HasPrefix(l.Faults[0].Place, ".fantail/config.toml:2:") {
		t.Errorf("broken: %+v", l)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// One odd field of a hook loses at most that hook, and an odd timeout not even that. The loss of a hook that may
// refuse calls is reported as such.
func TestRead_odd(t *testing.T) {
	odd := []string{`[]`, `{}`, `null`, `""`, `"x"`, `0`, `-1`, `"5"`, `1e999`, `true`, `[1]`}
	for _, c := range []struct {
		field string
		fine  []string // values with which the hook runs, without a report
		runs  bool     // it runs with all others, and one is reported
	}{
		{"timeout", []string{"null", "0", `"5"`}, true},
		{"type", []string{"null", `""`}, false},
		{"command", []string{`"x"`, `"5"`}, false},
		{"statusMessage", odd, false},
	} {
		for _, v := range odd {
			for _, e := range []Event{PreToolUse, "Stop"} {
				for _, twice := range []bool{false, true} {
					field := fmt.Sprintf("%q: %s", c.field, v)
					if twice {
						field += ", " + field
					}
					row := `{"command": "odd", ` + field + `}`
					if c.field == "command" {
						row = `{` + field + `}`
					}
					l := Read(theirSource, fmt.Appendf(nil, `{"env": 7, "model": [], "hooks": {%q: [{"matcher": null, "hooks": [{"command": "first"}, %s, {"command": "last"}]}]}}`, e, row))
					fine := slices.Contains(c.fine, v)
					want := 2
					if fine || c.runs {
						want = 3
					}
					if len(l.Hooks) != want || l.Hooks[0].Command != "first" || l.Hooks[want-1].Command != "last" {
						t.Errorf("%s %s: %+v", e, row, l.Hooks)
					}
					if told := len(l.Faults) > 0; told == fine {
						t.Errorf("%s %s: %v", e, row, l.Faults)
					}
					for _, f := range l.Faults {
						lost := e == PreToolUse && !c.runs
						if c.field == "type" && (v == `"x"` || v == `"5"`) {
							lost = false // another type was read
						}
						if f.Guards != lost || !strings.HasPrefix(f.String(), ".claude/settings.json:1:") {
							t.Errorf("%s %s: %v guards: %v", e, row, f, f.Guards)
						}
					}
				}
			}
		}
	}
}

// The same holds for a repository's file in the format of the configuration.
func TestReadTOML_odd(t *testing.T) {
	for _, c := range []struct {
		row    string
		runs   string
		guards bool
	}{
		{`command = "odd"` + "\n" + `timeout = "soon"`, "first odd last", false},
		{`command = "odd"` + "\n" + `timeout = []`, "first odd last", false},
		{`command = []`, "first last", true},
		{`command = 0`, "first last", true},
		{`type = {}` + "\n" + `command = "odd"`, "first last", true},
	} {
		text := "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ncommand = \"first\"\n[[hooks.PreToolUse.hooks]]\n" + c.row + "\n[[hooks.PreToolUse.hooks]]\ncommand = \"last\"\n"
		l := readTOML(Source{Name: ".fantail/config.toml"}, []byte(text))
		var runs []string
		for _, h := range l.Hooks {
			runs = append(runs, h.Command)
		}
		if got := strings.Join(runs, " "); got != c.runs || len(l.Faults) != 1 || l.Faults[0].Guards != c.guards {
			t.Errorf("%s: %s, %v", c.row, got, l.Faults)
		}
	}
}
