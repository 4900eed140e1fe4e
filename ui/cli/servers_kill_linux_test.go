package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A host that is killed while an MCP server works on a call leaves no server behind; the call is not repeated, and its task
// is reported once.
func TestKilledInACallOfAServer(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first := s.fifo(t, "begun")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.getenv("HOME"), "config", "fantail", "config.toml")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, fmt.Appendf(nil, "[mcp.slow]\ncommand = %q\nenv = { %s = \"mcp\" }\n", self, childEnv), 0o600); err != nil {
		t.Fatal(err)
	}
	c := open(t, s.command("--yolo"))
	c.until(t, home, ready)
	c.typed(t, "/push name=one call mcp__slow__wait {}\r")
	c.until(t, "1 queued")
	c.typed(t, "/run\r")
	pid := first(c)
	s.killsHost(t)
	c.exited(t)
	if outlives(pid) {
		t.Errorf("the server (process %s) still runs", pid)
	}
	for range 2 { // the second start finds nothing more
		again := open(t, s.command("--yolo"))
		again.until(t, home, "1 pending]", ready)
		s.killsHost(t)
		again.exited(t)
	}
	once := open(t, s.command("--yolo"))
	once.until(t, home, "1 pending]", ready)
	once.typed(t, "/check\r")
	once.until(t, "one", "crashed")
	if text, err := os.ReadFile(filepath.Join(s.dir, "called")); err != nil || strings.TrimSpace(string(text)) != pid {
		t.Errorf("the calls came to %q, %v; there was one, to %s", text, err, pid)
	}
}
