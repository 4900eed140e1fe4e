package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fantail/agents/agentstest"
	"fantail/agents/mcpconfig"
	"fantail/store/config"
	"fantail/tools/mcp"
	"fantail/ui/crash"
	"fantail/ui/workspace"
)

// serving returns a workspace with a server of its own, with the parts that servers need.
func serving(t *testing.T) *Workspace {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", t.TempDir())
	if err := os.WriteFile(filepath.Join(root, ".mcp.json"), []byte(`{"mcpServers": {"theirs": {"command": "true"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	w := &Workspace{
		guard: crash.New(nil, crash.Options{}), place: workspace.Place{Root: root, Data: data}, conf: config.Config{Sandbox: config.SandboxOff},
		brings: brings{kept: data},
	}
	w.bring()
	w.serves.begin(w)
	t.Cleanup(w.serves.close)
	return w
}

// TestServes_answers: the user's answer applies to servers at once, without a call.
func TestServes_answers(t *testing.T) {
	w := serving(t)
	is := func(want mcp.Phase) {
		t.Helper()
		if all := w.serves.live.States(); len(all) != 1 || all[0].Phase != want {
			t.Errorf("%+v, want it %s", all, want)
		}
	}
	is(mcp.Idle)
	all := w.brings.trust.Review()
	if len(all) != 1 || all[0].Kind != mcpconfig.Kind {
		t.Fatalf("%+v", all)
	}
	if err := w.brings.trust.Decline(all[0].TrustSnapshot); err != nil {
		t.Fatal(err)
	}
	is(mcp.Blocked)
	if err := w.brings.trust.Agree(all[0].TrustSnapshot); err != nil {
		t.Fatal(err)
	}
	is(mcp.Idle)
}

// Errors of reading servers show on screens.
func TestServes_trouble(t *testing.T) {
	w := serving(t)
	file := filepath.Join(w.place.Data, "mcp", "tools.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("no JSON"), 0o600); err != nil {
		t.Fatal(err)
	}
	world := agentstest.Open(t, &agentstest.Model{}, agentstest.Setting{})
	w.serves.serve(w, world.Pool)
	w.serves.live.States()
	world.Until("it is told", func() bool { return world.Trouble != nil })
	if text := world.Trouble.Error(); !strings.Contains(text, file) {
		t.Error(text)
	}
}
