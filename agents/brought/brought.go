// Package brought is what files of the user's and of the workspace bring for agents.
//
// Does: hold it together, so that it is handed on as one.
//
// Does not: read a file, know what any of it means.
//
// Imports: agents/briefs, agents/hooks, agents/servers, agents/skills, agents/trust, tools/mcp.
package brought

import (
	"fantail/agents/briefs"
	"fantail/agents/hooks"
	"fantail/agents/servers"
	"fantail/agents/skills"
	"fantail/agents/trust"
	"fantail/tools/mcp"
)

// Brought is all of it.
type Brought struct {
	Briefs *briefs.Room  // what agents are told of instruction files; nil: nothing
	Hooks  *hooks.Room   // programs that run where something happens; nil: there are none
	Trust  *trust.Room   // what the user agreed to of what runs by itself; nil: nothing
	Shelf  *skills.Shelf // skills, commands and agents in files; nil: none
	Served
}

// Served is the MCP servers whose tools agents may use.
type Served struct {
	Servers *servers.Room // where they are configured; nil: nowhere
	MCP     *mcp.Room     // those that run; nil: none do
}
