package mcpconfig

import (
	"fantail/agents/hooks"
	"fantail/agents/instructions"
	"fantail/agents/skills"
	"fantail/tools/mcp"
)

// Brought is everything that files set up for agents.
type Brought struct {
	Briefs *instructions.Briefs // what agents are told about instruction files; nil: nothing
	Hooks  *hooks.Runner        // programs that run at events; nil: there are none
	Trust  *hooks.TrustStore    // what the user agreed to run; nil: nothing
	Skills *skills.Catalog      // skills, commands and agents in files; nil: none
	Served
}

// Served is the MCP servers whose tools agents may use.
type Served struct {
	Servers *Servers     // where they are configured; nil: nowhere
	MCP     *mcp.Servers // those that run; nil: none do
}
