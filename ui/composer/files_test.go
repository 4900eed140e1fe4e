package composer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tree writes files; a path that ends in a slash is a directory.
func tree(tb testing.TB, files map[string]string) string {
	tb.Helper()
	root := tb.TempDir()
	for path, text := range files {
		full := filepath.Join(root, path)
		dir := filepath.Dir(full)
		if strings.HasSuffix(path, "/") {
			dir = full
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			tb.Fatal(err)
		}
		if dir == full {
			continue
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return root
}

var sample = map[string]string{
	".gitignore":           "*.log\n/build\r\n# a comment\n\nnode_modules/\n!keep.log\ndocs/**/*.tmp\n",
	".git/config":          "[core]\n",
	".git/info/exclude":    "secret.txt\n",
	"main.go":              "",
	"a.log":                "",
	"keep.log":             "",
	"secret.txt":           "",
	"build/out.bin":        "",
	"src/build/in.go":      "",
	"src/.gitignore":       "/gen.go\n!important.log\n",
	"src/gen.go":           "",
	"src/deep/gen.go":      "",
	"src/important.log":    "",
	"src/other.log":        "",
	"node_modules/x/y.js":  "",
	"docs/a/b/c.tmp":       "",
	"docs/a/b/c.md":        "",
	"empty/":               "",
	"with space/日本.md":     "",
	"sub/.git/HEAD":        "",
	"sub/file.go":          "",
	"src/node_modules/z.j": "",
}

func TestScan(t *testing.T) {
	t.Parallel()
	root := tree(t, sample)
	if err := os.Symlink("/etc", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	got, err := ScanFiles(context.Background(), root)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		".gitignore", "keep.log", "link", "main.go",
		"src/.gitignore", "src/important.log", "sub/file.go", "with space/日本.md",
		"src/build/in.go", "src/deep/gen.go", "docs/a/b/c.md",
	}
	if !slices.Equal(got, want) {
		t.Fatalf("got  %q\nwant %q", got, want)
	}
}

// TestScanAgreesWithGit compares with git itself, where there is one.
func TestScanAgreesWithGit(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	files := map[string]string{}
	for path, text := range sample {
		if !strings.Contains(path, ".git/") {
			files[path] = text
		}
	}
	root := tree(t, files)
	run := func(args ...string) string {
		cmd := exec.Command(git, args...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return string(out)
	}
	run("init", "-q")
	want := strings.Split(strings.TrimSuffix(run("ls-files", "-z", "--others", "--exclude-standard"), "\x00"), "\x00")
	got, err := ScanFiles(context.Background(), root)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("got  %q\ngit  %q", got, want)
	}
}

func TestScanErrors(t *testing.T) {
	t.Parallel()
	if _, err := ScanFiles(context.Background(), filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := ScanFiles(ctx, t.TempDir()); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
}

func TestScanStopsAtMax(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("writes 50,000 files")
	}
	root := t.TempDir()
	for d := range 26 {
		dir := filepath.Join(root, fmt.Sprintf("d%02d", d))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for f := range 2_000 {
			if err := os.Link(seed(t, root), filepath.Join(dir, fmt.Sprintf("f%04d", f))); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, err := ScanFiles(context.Background(), root)
	if err != nil || len(got) != MaxFiles {
		t.Fatalf("%d files, %v", len(got), err)
	}
	if got[0] != "seed" {
		t.Fatalf("the shallow file is not first: %q", got[0])
	}
}

func seed(tb testing.TB, root string) string {
	tb.Helper()
	path := filepath.Join(root, "seed")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		tb.Fatal(err)
	}
	return path
}

func TestFind(t *testing.T) {
	t.Parallel()
	x := NewFileIndex([]string{
		"README.md", "main.go", "ui/app.go", "ui/main/view.go", "ui/domain.go", "agents/agent.go", "agents/Main_test.go", "ui/日本語.md",
	})
	for _, c := range []struct {
		word string
		n    int
		want string
	}{
		{"", 2, "README.md main.go"},
		{"", 99, "README.md main.go ui/app.go ui/main/view.go ui/domain.go agents/agent.go agents/Main_test.go ui/日本語.md"},
		{"main", 9, "main.go agents/Main_test.go ui/domain.go ui/main/view.go"},
		{"MAIN", 2, "main.go agents/Main_test.go"},
		{"agent", 9, "agents/agent.go agents/Main_test.go"},
		{"ui/", 2, "ui/app.go ui/main/view.go"},
		{"uview", 9, "ui/main/view.go"},
		{"本", 9, "ui/日本語.md"},
		{"main.go", 1, "main.go"},
		{"zzz", 9, ""},
		{"main", 0, ""},
	} {
		if got := strings.Join(x.Find(c.word, c.n), " "); got != c.want {
			t.Errorf("%q: got %q, want %q", c.word, got, c.want)
		}
	}
	if x.Len() != 8 || NewFileIndex(nil).Find("a", 3) != nil {
		t.Error("lengths are wrong")
	}
}

func BenchmarkFind(b *testing.B) {
	var paths []string
	for i := range MaxFiles {
		paths = append(paths, fmt.Sprintf("internal/part%d/Component%d/some_file_name_%d.go", i%100, i%1000, i))
	}
	x := NewFileIndex(paths)
	for _, word := range []string{"i", "comp", "ifn42", "zq"} {
		b.Run(word, func(b *testing.B) {
			for b.Loop() {
				x.Find(word, 500)
			}
		})
	}
}

func BenchmarkScan(b *testing.B) {
	root := b.TempDir()
	if err := os.WriteFile(filepath.Join(root, ".gitignore"), []byte(strings.Repeat("*.tmp\nbuild/\n/dist\n", 10)), 0o644); err != nil {
		b.Fatal(err)
	}
	for d := range 50 {
		dir := filepath.Join(root, fmt.Sprintf("a%d/b/c", d))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for f := range 40 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.go", f)), nil, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	for b.Loop() {
		if got, err := ScanFiles(context.Background(), root); err != nil || len(got) != 2_001 {
			b.Fatal(len(got), err)
		}
	}
}
