package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestModel: a task from a shell may name an agent that a file of the workspace describes, and hears which there are; a host
// leaves it to the process that knows where it was started.
func TestModel(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, ".claude/agents/reviewer.md")
	for _, err := range []error{
		os.MkdirAll(filepath.Dir(file), 0o700), os.Mkdir(filepath.Join(root, ".git"), 0o700),
		os.WriteFile(filepath.Join(root, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o600),
		os.WriteFile(file, []byte("---\nname: reviewer\ndescription: Reviews\n---\nLook.\n"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(root)
	env := map[string]string{"HOME": t.TempDir(), "XDG_DATA_HOME": t.TempDir(), "XDG_CONFIG_HOME": t.TempDir(), "XDG_RUNTIME_DIR": t.TempDir()}
	c := &caller{dir: root, env: func(name string) string { return env[name] }}
	for name, want := range map[string]string{"": "", "acp/reviewer": "acp/reviewer", "acp/claude": "acp/claude", "builtin": "builtin"} {
		if got, err := c.model(name); got != want || err != nil {
			t.Errorf("%q is %q, %v", name, got, err)
		}
	}
	if _, err := c.model("acp/reviewr"); err == nil || !strings.Contains(err.Error(), `there is no agent of the name "reviewr"; did you mean "reviewer"? there are reviewer, claude`) {
		t.Error(err)
	}
	c.hands = func(Handback) error { return nil }
	if _, err := c.model("acp/reviewer"); !errors.Is(err, ErrElsewhere) {
		t.Error(err)
	}
}
