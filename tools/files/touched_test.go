package files

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTouched: files that a command goes to or names are touched, if they exist and are in the workspace, with links
// resolved.
func TestTouched(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sub/deep/a.go", "sub/b.go", "top.go", "with space/c.go"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc", filepath.Join(root, "out")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("sub", filepath.Join(root, "in")); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		"cd sub && make":                      "sub",
		"cd sub && cat deep/a.go":             "sub sub/deep/a.go",
		"cat sub/b.go top.go | wc -l":         "sub/b.go top.go",
		"make -C sub/deep all":                "sub/deep",
		"go test --dir=sub ./none":            "sub",
		"cat < sub/b.go":                      "sub/b.go",
		"cat 'with space/c.go'":               "with space/c.go",
		"cat " + root + "/sub/b.go":           "sub/b.go",
		"cat in/b.go":                         "sub/b.go",
		"cat out/passwd /etc/passwd ../x":     "",
		"cat $FILE; cd; ls":                   "",
		"ls .":                                "",
		"cat 'unclosed":                       "",
		"cat " + strings.Repeat("x ", 10_000): "",
	} {
		var got []string
		for _, p := range Touched(root, command) {
			rel, err := filepath.Rel(root, p)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, rel)
		}
		slices.Sort(got)
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%.40s touches %q, want %q", command, s, want)
		}
	}
}
