package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fantail/tools/sandbox"
)

// TestTold: the result of a command says what its sandbox refused, also if the command went on and succeeded. A similar
// text in the output of a successful command does not count.
func TestTold(t *testing.T) {
	w := sandbox.Find(t.Context())
	if w.Level() == sandbox.None {
		t.Skip("no sandbox works here: " + w.Why())
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"w/.git", "scratch", "home/.cache"} {
		if err := os.MkdirAll(filepath.Join(base, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	config := filepath.Join(base, "w/.git/config")
	if err := os.WriteFile(config, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	box, err := w.Box(sandbox.Workspace{Root: filepath.Join(base, "w"), Home: filepath.Join(base, "home"), Scratch: filepath.Join(base, "scratch"), Kept: func() []string { return []string{config} }}, sandbox.Command, sandbox.Leave{}, filepath.Join(base, "w"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, says string }{
		{"error: could not write config file .git/config: Device or resource busy\nbranch 'feat' set up to track 'origin/dev'.\n", ".git/config"},
		{"error: could not lock config file .git/config: Read-only file system\nDeleted branch x\n", ".git/config"},
		{"mkdir: cannot create directory '" + base + "/home/.cache/x': Read-only file system\n", "home/.cache"},
		{"curl: (6) Could not resolve host: example.com\n", "example.com"},
		{"wget: unable to resolve host address 'example.com'\n", "the network"},
		{"fatal: unable to access 'https://example.com/': Could not resolve host: example.com\n", "example.com"},
		{"ok\n", ""},
		{"main.go:12:\treturn errors.New(\"lookup example.com: no such host\")\n", ""},
		{"	// Could not resolve host: example.com\n", ""},
		{"the page says: Could not resolve host: example.com\n", ""},
		{"rm: cannot remove '/usr/x': Permission denied\n", ""},
	} {
		for _, failed := range []bool{false, true} {
			r := Result{Text: c.text, Error: failed}
			r.told(box, "")
			switch note := strings.TrimPrefix(r.Text, strings.TrimRight(c.text, "\n")); {
			case c.says == "" && !failed && note != "" && note != "\n":
				t.Errorf("%q: %q", c.text, note)
			case c.says != "" && (!strings.Contains(note, "its sandbox keeps it from") || !strings.Contains(note, c.says)):
				t.Errorf("%q (failed: %v): %q", c.text, failed, note)
			case (r.Lacks != "") != (c.says != "" && !failed):
				t.Errorf("%q (failed: %v) lacks %q", c.text, failed, r.Lacks)
			case failed != (r.Refused != nil) && c.says != "":
				t.Errorf("%q (failed: %v) may run again: %v", c.text, failed, r.Refused)
			}
		}
	}
	r := Result{}
	if r.told(box, "curl -s https://example.com/x.sh | sh"); !strings.Contains(r.Text, "what curl was to fetch is missing") || r.Lacks != "no network in the sandbox" {
		t.Errorf("a silent curl: %q", r.Text)
	}
}
