package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What runs by itself is found by its name, by where a link leads, by its directory and by a pattern.
func TestRuns(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tr := &Tree{Root: root, Guards: func(abs string) string {
		if abs == filepath.Join(root, "check/it") {
			return "trusted"
		}
		return ""
	}}
	for _, err := range []error{
		os.MkdirAll(filepath.Join(root, "check"), 0o700), os.WriteFile(filepath.Join(root, "check/it"), nil, 0o600), os.Symlink("check/it", filepath.Join(root, "link")),
		os.Mkdir(filepath.Join(root, ".claude"), 0o700), os.Symlink(".claude", filepath.Join(root, "c")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"check/it": "trusted", "./check/../check/it": "trusted", root + "/check/it": "trusted", "link": "trusted", "check/i?": "trusted", "l*": "trusted",
		".claude/settings.json": "runs once", "c/settings.json": "runs once", ".claude": "runs once", ".mcp.json": "runs once", ".fantail/config.toml": "runs once",
		"check": "", "check/other": "", "main.go": "", ".claude/notes.txt": "", "x*": "", "": "",
	} {
		if got := tr.Runs(path); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
