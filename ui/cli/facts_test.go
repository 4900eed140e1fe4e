package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// files writes files below a new directory and returns it.
func files(t *testing.T, texts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestBranch(t *testing.T) {
	rev := strings.Repeat("0123456789abcdef", 3)[:40]
	for _, c := range []struct {
		name  string
		texts map[string]string
		want  string
	}{
		{"none", nil, ""},
		{"branch", map[string]string{".git/HEAD": "ref: refs/heads/feature/oauth\n"}, "feature/oauth"},
		{"detached", map[string]string{".git/HEAD": rev + "\n"}, rev[:12]},
		{"worktree", map[string]string{".git": "gitdir: elsewhere/wt\n", "elsewhere/wt/HEAD": "ref: refs/heads/side\n"}, "side"},
		{"garbage", map[string]string{".git/HEAD": "hello\x1b[31m"}, ""},
		{"no link", map[string]string{".git": "what is this"}, ""},
	} {
		if got := Branch(files(t, c.texts)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestMemoryIsTheNearestAndBounded(t *testing.T) {
	long := strings.Repeat("é", maxMemory)
	for _, c := range []struct {
		name       string
		texts      map[string]string
		path, text string
	}{
		{"none", map[string]string{"a/b/x": ""}, "", ""},
		{"root", map[string]string{"a/b/x": "", "AGENTS.md": "root"}, "AGENTS.md", "root"},
		{"nearest", map[string]string{"a/b/x": "", "AGENTS.md": "root", "a/CLAUDE.md": "near"}, "a/CLAUDE.md", "near"},
		{"agents first", map[string]string{"a/b/AGENTS.md": "ours", "a/b/CLAUDE.md": "theirs"}, "a/b/AGENTS.md", "ours"},
		{"empty is none", map[string]string{"a/b/AGENTS.md": " \n", "AGENTS.md": "root"}, "AGENTS.md", "root"},
	} {
		root := files(t, c.texts)
		path, text := Memory(root, filepath.Join(root, "a", "b"))
		want := ""
		if c.path != "" {
			want = filepath.Join(root, c.path)
		}
		if path != want || text != c.text {
			t.Errorf("%s: %q %q, want %q %q", c.name, path, text, want, c.text)
		}
	}
	root := files(t, map[string]string{"AGENTS.md": "x" + long})
	_, text := Memory(root, root)
	if len(text) > maxMemory+100 || !utf8.ValidString(text) || !strings.HasSuffix(text, "the rest]") {
		t.Errorf("%d bytes, valid %t", len(text), utf8.ValidString(text))
	}
	// Nothing above the root is read.
	root = files(t, map[string]string{"AGENTS.md": "above", "ws/x": ""})
	if path, _ := Memory(filepath.Join(root, "ws"), filepath.Join(root, "ws")); path != "" {
		t.Errorf("read %s above the workspace", path)
	}
}
