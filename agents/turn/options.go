package turn

import (
	"time"

	"fantail/agents/audit"
	"fantail/agents/briefs"
	"fantail/agents/budget"
	"fantail/agents/commands"
	"fantail/agents/disk"
	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/hooks"
	"fantail/agents/kept"
	"fantail/agents/mail"
	"fantail/agents/post"
	"fantail/agents/questions"
	"fantail/agents/roster"
	"fantail/agents/servers"
	"fantail/agents/skills"
	"fantail/agents/trust"
	"fantail/agents/waits"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/mcp"
	"fantail/tools/permit"
	"fantail/tools/proc"
	"fantail/tools/sandbox"
	"fantail/tools/secret"
)

// Options are shared by all loops.
type Options struct {
	Brought
	DB     *store.DB
	Inbox  *inbox.Inbox
	Fleet  *fleet.Fleet
	Mail   *mail.Room
	Takes  *mail.Takes
	Asks   *questions.Desk
	Waits  *waits.Table
	Ends   *roster.Ends
	Disk   *disk.State
	Budget *budget.Room
	Pickup *mail.Pickup

	Kit      func(agent event.Info) (*tools.Set, permit.Mode, Guard) // its tools, the mode that its calls are judged in, what bounds it
	Gate     *permit.Gate
	Keys     *secret.Keys
	Root     string                                     // the workspace
	Private  []string                                   // files that tools must never open
	Outputs  func(agent int64) string                   // the directory of its tool-output files
	Environ  []string                                   // for commands where nobody's at a screen is known
	System   func(agent event.Info) string              // the system prompt
	Audit    *audit.Log                                 // what is written down of calls; nil: nothing
	Commands *commands.Running                          // whose commands run
	Ahead    *proc.Ahead                                // where commands wait that were started ahead; nil: nowhere
	Box      Boxes                                      // makes the sandboxes of commands; nil: there are none, and none where Gate knows of no wall
	Post     func(agent, turn int64) (*post.Box, error) // lets the mail of an agent's command out of its sandbox
	Bare     func(agent int64) (*post.Box, error)       // is a directory for an agent's program that is in none
	Kept     *kept.Watch                                // over what commands in sandboxes must not change; nil: nobody watches
	Keep     func(proc.Group) func()                    // ends a command's group if this program dies; nil: nothing does
	Now      func() time.Time
	Go       func(name string, f func())
}

// Brought is what files of the user's and of the workspace bring.
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

// boxed reports whether commands run in sandboxes. It waits until that is known.
func (o *Options) boxed() bool { return o.Box != nil && o.Gate.Wall() != permit.NoWall }

// Boxes makes the sandbox for a command that gets that environment; nil: none works here.
type Boxes func(p sandbox.Profile, leave sandbox.Leave, environ []string) (*sandbox.Box, error)

// environment returns what commands get of an environment; nil: of the program's own. Keys that are known by now may
// have been unknown where it came from.
func (o *Options) environment(e *fleet.Environment) fleet.Environment {
	if e == nil {
		e = &fleet.Environment{Vars: o.Environ}
	}
	return fleet.Environment{Vars: proc.Clean(e.Vars, o.Keys), Umask: e.Umask}
}
