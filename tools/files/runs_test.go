package files

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A file that runs by itself is found by its name, through a link, by its directory and by a pattern.
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

// TestRuns_tooMany: if a pattern matches more files than are checked, one may run by itself.
func TestRuns_tooMany(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxMatches {
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("f%04d", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tr := &Tree{Root: root, Guards: func(abs string) string {
		if filepath.Base(abs) == "z" {
			return "trusted"
		}
		return ""
	}}
	if got := tr.Runs("*"); got != "" {
		t.Errorf("as many as are looked at: %q", got)
	}
	if err := os.WriteFile(filepath.Join(root, "z"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"*", "?*", "../*/*"} {
		if got := tr.Runs(pattern); !strings.Contains(got, "too many files") {
			t.Errorf("%s: %q", pattern, got)
		}
	}
	if got := tr.LeadsAny("*"); !strings.Contains(got, "too many files") {
		t.Errorf("leads: %q", got)
	}
}

// TestMatches: it finds the same as the standard library, and lists no more than its bound.
func TestMatches(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"a/b/c", "a/.h/c", "d/b/e", "d/x*y/e", "f"} {
		if err := os.MkdirAll(filepath.Join(root, p), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("a", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"*", "*/*", "*/b", "*/b/*", "*/*/[ce]", `d/x\*y/e`, "no/*", "*/no", "f/*", "link/*", "[", "a/b/c", "", "*/", "/*"} {
		want, _ := filepath.Glob(filepath.Join(root, p))
		if got, why := matches(filepath.Join(root, p)); !slices.Equal(got, want) || why != "" {
			t.Errorf("%s: %q (%s), want %q", p, got, why, want)
		}
	}
	for i := range 200 { // each link is a directory of as many names
		for _, err := range []error{os.WriteFile(filepath.Join(root, "a/b/c", fmt.Sprint(i)), nil, 0o600), os.Symlink("../a/b/c", filepath.Join(root, "f", fmt.Sprint(i)))} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, why := matches(filepath.Join(root, "f/*/x*")); why == "" {
		t.Error("it lists more than it may")
	}
}
