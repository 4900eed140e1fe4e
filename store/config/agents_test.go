package config

import "testing"

// TestAgent_sandbox: an agent with a sandbox of its own, which runs in no other, runs in none of ours unless the
// configuration says so, or its mode has none of its own.
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
