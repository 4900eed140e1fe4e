package prompts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSystem(t *testing.T) {
	f := Facts{
		Name: "main", Dir: "/src/app", Platform: "linux/amd64", Date: "2026-11-21", Branch: "feature/x",
		Memory: "Use tabs.\n{{.Name}} stays.", From: "/src/app/AGENTS.md",
	}
	for _, sub := range []bool{false, true} {
		f.Sub = sub
		s, err := System(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{f.Name, f.Dir, f.Platform, f.Date, f.Branch, f.Memory, f.From, "not an instruction"} {
			if !strings.Contains(s, want) {
				t.Errorf("sub %v: %q is missing", sub, want)
			}
		}
		if !strings.HasSuffix(s, "\n") || strings.Contains(s, "\n\n\n") || strings.Contains(s, "<no value>") {
			t.Errorf("sub %v: badly formed:\n%s", sub, s)
		}
	}
}

// An observer is told first what it is, word for word, and that it changes nothing.
// Spec: O-56.
func TestSystem_observer(t *testing.T) {
	s, err := System(Facts{Name: "headless-ci-1", Dir: "/d", Observer: true, Memory: "Use tabs."})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(s, "You are a background task agent. Be concise. Report findings only.\n") ||
		!strings.Contains(s, "headless-ci-1") || !strings.Contains(s, "/d") || !strings.Contains(s, "change nothing") || strings.Contains(s, "Use tabs.") {
		t.Error(s)
	}
}

func TestSystem_leavesOutWhatIsUnknown(t *testing.T) {
	for _, sub := range []bool{false, true} {
		s, err := System(Facts{Name: "a", Dir: "/d", Sub: sub})
		if err != nil {
			t.Fatal(err)
		}
		for _, none := range []string{"Branch", "branch is", "Platform", "Today", "Notes of this project", "()"} {
			if strings.Contains(s, none) {
				t.Errorf("sub %v says %q", sub, none)
			}
		}
	}
	if _, err := System(Facts{Dir: "/d"}); err == nil {
		t.Error("an agent without a name is accepted")
	}
}

// A sub-agent knows itself and its task, and nothing of who dispatched it.
func TestSystem_tellsASubAgentNothingOfItsParent(t *testing.T) {
	s, err := System(Facts{Name: "worker-a", Dir: "/d", Sub: true})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(s, "main") || !strings.Contains(s, "worker-a") || !strings.Contains(s, "delivered automatically") {
		t.Error(s)
	}
}

func TestMemory(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	put := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := func(wantPath, wantText string) {
		t.Helper()
		path, text, err := Memory(root, dir)
		if err != nil || path != wantPath || text != wantText {
			t.Errorf("got %q, %q, %v; want %q, %q", path, text, err, wantPath, wantText)
		}
	}
	want("", "")
	put(filepath.Join(filepath.Dir(root), "AGENTS.md"), "above the workspace")
	want("", "")
	if err := os.Symlink(filepath.Join(filepath.Dir(root), "AGENTS.md"), filepath.Join(root, "AGENTS.md")); err != nil {
		t.Fatal(err)
	}
	want("", "") // the link leads out
	if err := os.Remove(filepath.Join(root, "AGENTS.md")); err != nil {
		t.Fatal(err)
	}
	put(filepath.Join(root, ".env"), "PASSWORD=x")
	if err := os.Symlink(".env", filepath.Join(root, "AGENTS.md")); err != nil {
		t.Fatal(err)
	}
	want("", "") // the link leads to no notes
	if err := os.Remove(filepath.Join(root, "AGENTS.md")); err != nil {
		t.Fatal(err)
	}
	put(filepath.Join(root, "CLAUDE.md"), "claude")
	want(filepath.Join(root, "CLAUDE.md"), "claude")
	put(filepath.Join(root, "AGENTS.md"), "agents")
	want(filepath.Join(root, "AGENTS.md"), "agents")
	put(filepath.Join(root, "a", "CLAUDE.md"), "nearer")
	want(filepath.Join(root, "a", "CLAUDE.md"), "nearer")
	put(filepath.Join(dir, "AGENTS.md"), "  \n")
	want(filepath.Join(root, "a", "CLAUDE.md"), "nearer")

	put(filepath.Join(dir, "AGENTS.md"), "x"+strings.Repeat("é", memoryLimit))
	_, text, err := Memory(root, dir)
	if err != nil || len(text) > memoryLimit+100 || !strings.HasSuffix(text, "are read]\n") || !utf8.ValidString(text) || strings.ContainsRune(text, utf8.RuneError) {
		t.Errorf("a long text: %d bytes, %v", len(text), err)
	}
}
