package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fantail/store/config"
)

// TestEngine: an agent's program gets what it needs to see of where it was installed, the variables that it is to have, and
// what it keeps where it keeps it.
func TestEngine(t *testing.T) {
	dir := t.TempDir()
	tree := filepath.Join(dir, "lib", "node_modules")
	script := filepath.Join(tree, "@scope", "adapter", "node_modules", "x", "index.js")
	bin := filepath.Join(dir, "bin", "adapter")
	for _, d := range []string{filepath.Dir(script), filepath.Dir(bin)} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(script, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(script, bin); err != nil {
		t.Fatal(err)
	}
	resolved, err := filepath.EvalSymlinks(tree)
	if err != nil {
		t.Fatal(err)
	}
	m := NewModels(config.Config{}, env("HOME", "/home/me", "XDG_DATA_HOME", "/data/", "CLAUDE_CONFIG_DIR", "/claude", "A_KEY", "k-12345678"))
	m.Abroad(Vendors{Root: "/shop", Self: "/bin/fantail"})
	o := m.engine(config.Agent{
		Name: "x", Command: []string{"adapter", "acp"}, Env: []string{"A_KEY", "B_KEY"}, Write: []string{"~/.claude/", "~/.claude.json", "~/.local/share/x/", "~/.cache/x", "/abs/", "rel"},
		Holds: true, Free: true,
	}, bin)
	p := o.Program
	if !slices.Equal(p.Argv, []string{bin, "acp"}) || !slices.Equal(p.Env, []string{"A_KEY=k-12345678"}) || !p.Free || !o.OwnSandbox {
		t.Errorf("%+v", o)
	}
	if want := []string{"/claude/", "/home/me/.claude.json", "/data/x/", "/home/me/.cache/x", "/abs/"}; !slices.Equal(p.Write, want) {
		t.Errorf("writes %q", p.Write)
	}
	if want := []string{bin, resolved, "/bin/fantail"}; !slices.Equal(p.Read, want) {
		t.Errorf("reads %q, want %q", p.Read, want)
	}
}

// An agent of another vendor is offered if its program is there, else if the vendor's own tool is, with what installs the
// program. What the workspace brings does not count.
func TestVendorCLI(t *testing.T) {
	for _, c := range []struct{ there, agent, install string }{
		{"bin/claude", "claude", "npm install -g @agentclientprotocol/claude-agent-acp"},
		{"bin/claude bin/codex-acp", "codex", ""},
		{"bin/claude bin/claude-agent-acp", "claude", ""},
		{"shop/bin/claude", "", ""},
		{"", "", ""},
	} {
		dir := t.TempDir()
		for _, name := range strings.Fields(c.there) {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, nil, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		m := NewModels(config.Config{}, env("HOME", dir, "PATH", filepath.Join(dir, "shop", "bin")+":"+filepath.Join(dir, "bin")))
		m.Abroad(Vendors{Root: filepath.Join(dir, "shop")})
		if agent, install := m.VendorCLI(); agent != c.agent || install != c.install {
			t.Errorf("%q: %q, %q", c.there, agent, install)
		}
	}
}
