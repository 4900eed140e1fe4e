package instructions_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fantail/agents/event"
	"fantail/agents/instructions"
)

func place(t *testing.T, texts map[string]string) instructions.Place {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, texts)
	root := filepath.Join(dir, "ws")
	return instructions.Place{Root: root, Dir: root, Home: filepath.Join(dir, "home")}
}

func put(t *testing.T, dir string, texts map[string]string) {
	t.Helper()
	for name, text := range texts {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func briefFiles(r *instructions.Briefs) string {
	var names []string
	for _, f := range r.Now().Files {
		names = append(names, f.Name)
	}
	return strings.Join(names, " ")
}

// TestAllow: only what a file imports can be allowed, by name or path; the permission lasts over the next start, and
// can be withdrawn.
func TestAllow(t *testing.T) {
	p, data := place(t, map[string]string{"ws/AGENTS.md": "@~/a.md", "home/a.md": "a", "home/b.md": "b"}), t.TempDir()
	r := instructions.NewBriefs(p, data)
	if _, err := r.Allow("~/b.md"); err == nil {
		t.Error("what nobody imports was allowed")
	}
	var moved []string
	r.Moves(func(dirs []string) { moved = dirs })
	if name, err := r.Allow("~/a.md"); err != nil || name != "~/a.md" || briefFiles(r) != "AGENTS.md ~/a.md" {
		t.Error(name, err, briefFiles(r))
	}
	if !slices.Contains(moved, p.Home) {
		t.Errorf("its directory is not watched: %q", moved)
	}
	if strings.Contains(r.System(event.Info{Kind: event.Main}), "\na\n") {
		t.Error("the system prompt changed")
	}
	r = instructions.NewBriefs(p, data)
	if briefFiles(r) != "AGENTS.md ~/a.md" || !slices.Equal(instructions.AllowedFiles(data), []string{filepath.Join(p.Home, "a.md")}) {
		t.Error(briefFiles(r), instructions.AllowedFiles(data))
	}
	if _, err := r.Forbid("~/b.md"); err == nil {
		t.Error("what was never allowed was taken back")
	}
	if _, err := r.Forbid(filepath.Join(p.Home, "a.md")); err != nil || briefFiles(r) != "AGENTS.md" || len(instructions.AllowedFiles(data)) != 0 {
		t.Error(err, briefFiles(r))
	}
	var none *instructions.Briefs
	if _, err := none.Allow("x"); err == nil {
		t.Error("allowed where nothing is read")
	}
}

// TestSystem: a small window gets less, and the nearest file is left out last.
func TestSystem(t *testing.T) {
	long := strings.Repeat("a line of words\n", 4000)
	p := place(t, map[string]string{"ws/AGENTS.md": "root " + long, "ws/web/AGENTS.md": "web " + long, "ws/web/x/AGENTS.md": "near " + long})
	p.Dir = filepath.Join(p.Root, "web", "x")
	r := instructions.NewBriefs(p, "")
	for window, most := range map[int]int{0: 128 << 10, 1_000_000: 128 << 10, 100_000: 90_000, 8_000: 7_500} {
		s := r.System(event.Info{Kind: event.Main, Spent: event.Spent{Window: window}})
		if len(s) > most+1000 || !strings.Contains(s, "near ") {
			t.Errorf("a window of %d tokens is told %d bytes", window, len(s))
		}
	}
}

// TestMoves: the watcher gets the directories that tools touched and those of imports, and no files.
func TestMoves(t *testing.T) {
	p := place(t, map[string]string{"ws/AGENTS.md": "@docs/a.txt @later/b.md", "ws/docs/a.txt": "a", "ws/web/x.go": "x", "ws/CLAUDE.local.md": "x"})
	r := instructions.NewBriefs(p, "")
	var dirs []string
	r.Moves(func(to []string) { dirs = to })
	rel := func() string {
		var all []string
		for _, d := range dirs {
			if name, err := filepath.Rel(p.Root, d); err == nil && filepath.IsLocal(name) {
				all = append(all, name)
			}
		}
		return strings.Join(all, " ")
	}
	if s := rel(); s != ". docs later" {
		t.Errorf("watched at first: %s", s)
	}
	if !r.Matters("a.txt") || !r.Matters("New.MD") || r.Matters("x.go") {
		t.Error("a change of what is imported, or of what may be instructions, does not matter, or all do")
	}
	if fs := r.Speaking([]string{filepath.Join(p.Root, "web", "x.go")}); len(fs) != 0 {
		t.Errorf("%+v", fs)
	}
	if s := rel(); s != ". docs later web" {
		t.Errorf("watched after a touch: %s", s)
	}
	put(t, p.Root, map[string]string{"web/AGENTS.md": "web", "AGENTS.md": "no imports"})
	r.Reread()
	if fs := r.Speaking([]string{filepath.Join(p.Root, "web", "x.go"), filepath.Join(p.Root, "web")}); len(fs) != 1 || fs[0].Name != "web/AGENTS.md" {
		t.Errorf("%+v", fs)
	}
	if s := rel(); s != ". web" {
		t.Errorf("watched after a change: %s", s)
	}
}

func TestStart(t *testing.T) {
	p := place(t, map[string]string{"ws/x": "", "home/.claude/CLAUDE.md": "mine"})
	if first, more := instructions.NewBriefs(p, "").Start(); first != "~/.claude/CLAUDE.md" || more != 0 {
		t.Error(first, more)
	}
	put(t, p.Root, map[string]string{"CLAUDE.md": "x", "CLAUDE.local.md": "y"})
	if first, more := instructions.NewBriefs(p, "").Start(); first != "CLAUDE.md" || more != 2 {
		t.Error(first, more)
	}
}
