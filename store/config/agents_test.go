package config

import (
	"strings"
	"testing"
)

// TestAgent_sandbox: an agent with a sandbox of its own, which works in no other, runs in none of ours unless that is
// configured, or the mode that is has none of its own.
func TestAgent_sandbox(t *testing.T) {
	for _, c := range []struct {
		name        string
		row         AgentRow
		free, holds bool
	}{
		{name: "claude"},
		{name: "claude", row: AgentRow{Sandbox: SandboxOff}, free: true},
		{name: "codex", free: true, holds: true},
		{name: "codex", row: AgentRow{Mode: "read-only"}, free: true, holds: true},
		{name: "codex", row: AgentRow{Sandbox: SandboxOn}, holds: true},
		{name: "codex", row: AgentRow{Mode: "agent-full-access"}},
		{name: "codex", row: AgentRow{Mode: "agent-full-access", Sandbox: SandboxOff}, free: true},
		{name: "own", row: AgentRow{Command: []string{"/opt/own"}}},
	} {
		a, err := Config{Agents: map[string]AgentRow{c.name: c.row}}.Agent(c.name)
		if err != nil || a.Free != c.free || a.Holds != c.holds {
			t.Errorf("%s %+v: %+v, %v", c.name, c.row, a, err)
		}
	}
}

// TestAgent_protocol: version 1 is spoken unless the configuration names another that is; what is none is an error with those.
func TestAgent_protocol(t *testing.T) {
	for _, c := range []struct {
		version *int
		want    int
	}{{nil, 1}, {new(1), 1}, {new(2), 2}} {
		row := AgentRow{Protocol: c.version}
		a, err := Config{Agents: map[string]AgentRow{"claude": row}}.Agent("claude")
		if _, bad := row.check("claude"); err != nil || bad != nil || a.Protocol != c.want {
			t.Errorf("%d: %d, %v, %v", c.want, a.Protocol, err, bad)
		}
	}
	for _, version := range []int{0, 3, -1} {
		if _, err := (AgentRow{Protocol: &version}).check("claude"); err == nil || !strings.Contains(err.Error(), "1, or 2, which is a draft") {
			t.Errorf("%d: %v", version, err)
		}
	}
}
