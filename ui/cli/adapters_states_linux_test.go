package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAdapters_login: an agent that nobody has logged in says by which command that is done. opencode needs none.
func TestAdapters_login(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		adapter
		command string
	}{{claude(), "Run claude /login in a terminal of yours"}, {codex(), "Run codex login in a terminal of yours"}} {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			a := c.adapter
			a.Rows, a.Vars, a.Files = "", a.Vars[len(a.Vars)-1:], nil
			if a.Name == codex().Name {
				a.Vars = nil
			}
			y := newTrial(t, "acp/"+a.Name, a)
			y.opens(t)
			y.prompt(t, "talk", "say nothing")
			said(t, y.ends(t, "failed"), "ended", c.command)
			y.c.until(t, "Run "+a.Name, "then prompt again")
		})
	}
}

// TestAdapters_boxed: Codex in a mode in which it does without a sandbox of its own is held by this program's.
func TestAdapters_boxed(t *testing.T) {
	t.Parallel()
	a := codex()
	a.Rows = strings.ReplaceAll(a.Rows, "workspace-write", "agent-full-access")
	y := newTrial(t, "acp/codex", a)
	y.opens(t)
	inside, outside := filepath.Join(y.dir, "inside"), filepath.Join(t.TempDir(), "outside")
	y.prompt(t, "boxed", y.Call("run", "touch "+inside), y.Call("run", "touch "+outside), "say it has tried")
	es := y.ends(t, "completed")
	said(t, es, "notice", boxedNote)
	said(t, es, "text", "it has tried")
	if _, err := os.Stat(inside); err != nil {
		t.Error(err, results(es))
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("it wrote outside of its sandbox")
	}
}
