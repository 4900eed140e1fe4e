package cli_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"fantail/agents/event"
	"fantail/agents/instructions"
	"fantail/ui/cli"
	"fantail/ui/workspace"
)

// files writes files below a new directory and returns it.
func workspaceWith(t *testing.T, texts map[string]string) string {
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
	t.Parallel()
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
		if got := cli.Branch(workspaceWith(t, c.texts)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestSystemStatesTheFacts(t *testing.T) {
	t.Parallel()
	root := workspaceWith(t, map[string]string{".git/HEAD": "ref: refs/heads/side\n", "AGENTS.md": "Use tabs.", "sub/x": ""})
	now := time.Date(2026, 11, 21, 23, 0, 0, 0, time.UTC)
	at := workspace.Place{Root: root, Dir: filepath.Join(root, "sub")}
	none := func(string) string { return "" }
	brief := cli.NewBriefing(at, instructions.NewBriefs(at.Written(none), ""), func() time.Time { return now })
	system := brief.System
	text := system(event.Info{Name: "main", Kind: event.Main})
	for _, want := range []string{"main", root, "2026-11-21", "side", "Use tabs.", runtime.GOOS} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if got := brief.Instructions(); got != "AGENTS.md" {
		t.Errorf("the file is named %q", got)
	}
	if err := os.WriteFile(filepath.Join(root, "CLAUDE.local.md"), []byte("@gone.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := cli.NewBriefing(at, instructions.NewBriefs(at.Written(none), ""), time.Now).Instructions(); got != "AGENTS.md and 1 more (/memory files has 1 to look at)" {
		t.Errorf("the files are named %q", got)
	}
	at = workspace.Place{Root: root + "/sub", Dir: root + "/sub"}
	if got := cli.NewBriefing(at, instructions.NewBriefs(at.Written(none), ""), time.Now).Instructions(); got != "" {
		t.Errorf("a file is named where none is: %q", got)
	}
	sub := system(event.Info{Name: "vet", Kind: event.Sub})
	if !strings.Contains(sub, "vet") || sub == text {
		t.Errorf("a sub-agent is told\n%s", sub)
	}
	// It stays the same for the whole run, midnight or not.
	now = now.Add(2 * time.Hour)
	if again := system(event.Info{Name: "main", Kind: event.Main}); again != text {
		t.Error("it changed")
	}
}
