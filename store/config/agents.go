package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// ACP is the provider whose models are the agents of other vendors, which speak the Agent Client Protocol: acp/claude.
const ACP = "acp"

// AgentRow is one [agents.NAME]: an agent of another vendor, or changes to a known one. Empty fields mean the known
// one's.
type AgentRow struct {
	Command []string `toml:"command"` // its program, an absolute path, and the arguments with which it speaks the protocol
	Login   string   `toml:"login"`   // the command by which a person logs in
	Env     []string `toml:"env"`     // variables that it gets besides those of commands: its keys
	Write   []string `toml:"write"`   // directories and files for its own data, absolute or from ~/
	Sandbox string   `toml:"sandbox"` // on or off; "" means on, unless it has a sandbox of its own
	AtOnce  int      `toml:"at_once"` // background agents of its at once; 0: no limit of their own
	Mode    string   `toml:"mode"`    // the mode it works in, one of its own; "": its default

	Options map[string]string `toml:"options"` // its own settings, such as model or effort
}

// Agent is an agent of another vendor.
type Agent struct {
	Name    string
	Command []string // the first is a path, or, for a known agent, the name of its program
	Login   string
	Install string // the command by which a person installs it; "": unknown
	Env     []string
	Write   []string // from ~/ or absolute; one that ends in / is made if it is missing
	Free    bool     // it runs as the user, in no sandbox
	Holds   bool     // its own sandbox confines it, in its mode, and runs in no other; see Free
	AtOnce  int
	Own     bool // the configuration names its program
	Mode    string
	Options map[string]string

	Careful  string   // the mode in which it asks before each change; "": unknown
	Reckless []string // modes in which it does not ask; it uses none that the configuration does not name
}

// agents are the known ones. Their programs are looked up, never installed.
var agents = []Agent{
	{
		Name: "claude", Command: []string{"claude-agent-acp"}, Login: "claude /login", Install: "npm install -g @agentclientprotocol/claude-agent-acp",
		Write:   []string{"~/.claude/", "~/.claude.json"},
		Careful: "default", Reckless: []string{"bypassPermissions"},
	},
	{
		Name: "codex", Command: []string{"codex-acp"}, Login: "codex login", Install: "npm install -g @agentclientprotocol/codex-acp",
		Write:   []string{"~/.codex/"},
		Careful: "workspace-write", Reckless: []string{"agent-full-access"}, Holds: true,
	},
	{
		Name: "opencode", Command: []string{"opencode", "acp"}, Login: "opencode auth login", Install: "npm install -g opencode-ai",
		Write: []string{"~/.local/share/opencode/", "~/.local/state/opencode/", "~/.cache/opencode/", "~/.config/opencode/"},
	},
	{
		Name: "gemini", Command: []string{"gemini", "--acp"}, Login: "gemini", Install: "npm install -g @google/gemini-cli",
		Write:   []string{"~/.gemini/"},
		Careful: "default", Reckless: []string{"yolo"},
	},
	{
		Name: "copilot", Command: []string{"copilot", "--acp"}, Login: "copilot login", Install: "npm install -g @github/copilot",
		Write: []string{"~/.copilot/"},
	},
	{
		Name: "qwen", Command: []string{"qwen", "--acp"}, Login: "qwen", Install: "npm install -g @qwen-code/qwen-code",
		Write:   []string{"~/.qwen/"},
		Careful: "default", Reckless: []string{"yolo"},
	},
	{
		Name: "goose", Command: []string{"goose", "acp"}, Login: "goose configure",
		Write:   []string{"~/.config/goose/", "~/.local/share/goose/", "~/.local/state/goose/"},
		Careful: "approve", Reckless: []string{"auto"},
	},
}

// AgentNames lists the names of other vendors' agents: the known ones, and c's own rows.
func (c Config) AgentNames() []string {
	var names []string
	for _, a := range agents {
		names = append(names, a.Name)
	}
	for _, name := range sorted(c.Agents) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Agent is the agent of that name with c's changes. The error lists the names.
func (c Config) Agent(name string) (Agent, error) {
	at := slices.IndexFunc(agents, func(a Agent) bool { return a.Name == name })
	row, own := c.Agents[name]
	if at < 0 && !own {
		hint := ""
		if meant := Nearest(name, c.AgentNames()); meant != "" {
			hint = fmt.Sprintf("did you mean %q? ", meant)
		}
		return Agent{}, fmt.Errorf("%s/%s: %w; %sknown are %s, and [agents.NAME] of the configuration adds others",
			ACP, name, ErrUnknown, hint, strings.Join(c.AgentNames(), ", "))
	}
	a := Agent{Name: name}
	if at >= 0 {
		a = agents[at]
	}
	if len(row.Command) > 0 {
		a.Command, a.Own = row.Command, true
	}
	if row.Login != "" {
		a.Login = row.Login
	}
	a.Env, a.Write = row.Env, slices.Concat(a.Write, row.Write)
	a.Holds = a.Holds && !slices.Contains(a.Reckless, row.Mode)
	a.Free = row.Sandbox == SandboxOff || row.Sandbox == "" && a.Holds
	a.AtOnce, a.Mode, a.Options = row.AtOnce, row.Mode, row.Options
	return a, nil
}

func (r AgentRow) check(name string) (at []string, err error) {
	known := slices.ContainsFunc(agents, func(a Agent) bool { return a.Name == name })
	switch {
	case !nameForm.MatchString(name):
		return nil, fmt.Errorf("agents.%s: an agent's name is lower-case letters, digits, dots and dashes", name)
	case len(r.Command) == 0 && !known:
		return nil, fmt.Errorf("agents.%s: command is missing: the program, and what it takes to speak the Agent Client Protocol", name)
	case len(r.Command) > 0 && !filepath.IsAbs(r.Command[0]):
		return []string{"command"}, fmt.Errorf("agents.%s.command: want the absolute path of a program first", name)
	case r.Sandbox != "" && r.Sandbox != SandboxOn && r.Sandbox != SandboxOff:
		return []string{"sandbox"}, fmt.Errorf("agents.%s.sandbox: %w", name, notOneOf(r.Sandbox, []string{SandboxOn, SandboxOff}))
	case r.AtOnce < 0 || r.AtOnce > maxRunning:
		return []string{"at_once"}, fmt.Errorf("agents.%s.at_once: want a number from 1 to %d", name, maxRunning)
	}
	for _, v := range r.Env {
		if !envForm.MatchString(v) {
			return []string{"env"}, fmt.Errorf("agents.%s.env: want names of environment variables, not what they hold", name)
		}
	}
	for _, path := range r.Write {
		if !filepath.IsAbs(path) && !strings.HasPrefix(path, "~/") {
			return []string{"write"}, errors.New("agents." + name + ".write: want absolute paths, or such from ~/")
		}
	}
	return nil, nil
}

// agentOf is the choice of another vendor's agent.
func (c Config) agentOf(name string) (Choice, error) {
	if name == "" {
		return Choice{}, fmt.Errorf("model %q: say which agent, as %s/NAME; there are %s", ACP, ACP, strings.Join(c.AgentNames(), ", "))
	}
	a, err := c.Agent(name)
	if err != nil {
		return Choice{}, err
	}
	return Choice{Provider: ACP, Protocol: ACP, Model: a.Name, AtOnce: a.AtOnce}, nil
}
