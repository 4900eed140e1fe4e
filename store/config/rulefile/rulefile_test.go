package rulefile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// said is what a file says, in a line each.
func said(f File) string {
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
	got := said(JSON([]byte(`{
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
		`{"permissions": {"deny": ["a", }`:      "deny 1:27 a\nfault 1:32 invalid character '}' looking for beginning of value\n",
		"\ufeff{\"permissions\":[]}":            "fault 1:16 permissions is an object: { … }\n",
		"// x\n{}":                              "fault 1:1 invalid character '/' looking for beginning of value\n",
	} {
		if got := said(JSON([]byte(text))); got != want {
			t.Errorf("%q:\n%swant\n%s", text, got, want)
		}
	}
	if f := JSON([]byte(`{"x":` + strings.Repeat("[", 10000))); len(f.Faults) != 1 {
		t.Errorf("brackets: %+v", f)
	}
	if f := JSON([]byte(`{"permissions":{"deny":["` + strings.Repeat(`a","`, 3000) + `a"]}}`)); len(f.Lines) != mostOf || len(f.Faults) != 1 {
		t.Errorf("%d rules, %d faults", len(f.Lines), len(f.Faults))
	}
}

func TestTOML(t *testing.T) {
	got := said(TOML([]byte(`model = "x/y"
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
	} {
		if got := said(TOML([]byte(text))); got != want && !(strings.Contains(want, "fault") && strings.HasPrefix(got, want[:strings.Index(want, "invalid")])) {
			t.Errorf("%q:\n%swant\n%s", text, got, want)
		}
	}
}

// TestOpen: only a small regular file of the workspace is one.
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
		f, err := Open(root, name)
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
	if f, err := Read(filepath.Join(root, "b.json")); err != nil || len(f.Lines) != 1 {
		t.Errorf("the user's own link: %+v, %v", f, err)
	}
}

// TestBounds: what a file may have others told of it is bounded, however much it holds, and what comes last still counts.
func TestBounds(t *testing.T) {
	const many = 20_000
	for name, f := range map[string]File{
		"JSON, keys":   JSON([]byte(`{"permissions":{` + strings.Repeat(`"x":1,`, many) + `"deny":["a"]}}`)),
		"TOML, keys":   TOML([]byte(strings.Repeat("x=1\n", many) + "[permissions]\ndeny=['a']\n")),
		"TOML, tables": TOML([]byte(strings.Repeat("[x]\n", many) + "[permissions]\ndeny=['a']\n")),
	} {
		if len(f.Others) != mostOthers || len(f.Lines) != 1 {
			t.Errorf("%s: %d keys, rules %v", name, len(f.Others), f.Lines)
		}
	}
	for name, f := range map[string]File{
		"JSON": JSON([]byte(`{"permissions":{"deny":[` + strings.Repeat(`7,`, many) + `"a"]}}`)),
		"TOML": TOML([]byte("[permissions]\ndeny=[" + strings.Repeat(`7,`, many) + "'a']\n")),
	} {
		if len(f.Faults) != mostFaults+1 || len(f.Lines) != 1 {
			t.Errorf("%s: %d faults, rules %v", name, len(f.Faults), f.Lines)
		}
	}
}

func FuzzFiles(f *testing.F) {
	f.Add([]byte(`{"permissions":{"deny":["a",{"b":[1]}],"x":null}}`))
	f.Add([]byte("[permissions]\ndeny=[\"a\"]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, got := range []File{JSON(data), TOML(data)} {
			for _, l := range append(got.Lines, got.Others...) {
				if l.Line < 1 || l.Column < 1 || l.Line > strings.Count(string(data), "\n")+1 {
					t.Fatalf("%q: %+v", data, l)
				}
			}
		}
	})
}
