package turn

import (
	"time"

	"fantail/agents/approval"
	"fantail/agents/audit"
	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/mail"
	"fantail/agents/mcpconfig"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/permission"
	"fantail/tools/proc"
	"fantail/tools/sandbox"
	"fantail/tools/secret"
)

// Options are shared by all loops.
type Options struct {
	mcpconfig.Brought
	DB     *store.DB
	Inbox  *inbox.Inbox
	Fleet  *fleet.Fleet
	Mail   *mail.Delivery
	Takes  *mail.Takes
	Asks   *approval.Questions
	Waits  *tasks.Waits
	Ends   *tasks.Ends
	Disk   *Disk
	Budget *fleet.Budgets
	Pickup *mail.Pickup

	Kit      func(agent event.Info) (*tools.Set, permission.Mode, Guard) // its tools, the mode that its calls are judged in, what bounds it
	Gate     *permission.Gate
	Keys     *secret.Keys
	Root     string                                           // the workspace
	Private  []string                                         // files that tools must never open
	Outputs  func(agent int64) string                         // the directory of its tool-output files
	Environ  []string                                         // for commands where nobody's at a screen is known
	System   func(agent event.Info) string                    // the system prompt
	Audit    *audit.Log                                       // what is written down of calls; nil: nothing
	Commands *RunningCommands                                 // whose commands run
	Ahead    *proc.Ahead                                      // where commands wait that were started ahead; nil: nowhere
	Box      Boxes                                            // makes the sandboxes of commands; nil: there are none, and none where Gate knows of no wall
	Post     func(agent, turn int64) (*CommandMailbox, error) // lets the mail of an agent's command out of its sandbox
	Bare     func(agent int64) (*CommandMailbox, error)       // is a directory for an agent's program that is in none
	Kept     *ProtectedFiles                                  // over what commands in sandboxes must not change; nil: nobody watches
	Keep     func(proc.Group) func()                          // ends a command's group if this program dies; nil: nothing does
	Now      func() time.Time
	Go       func(name string, f func())
}

// boxed reports whether commands run in sandboxes. It waits until that is known.
func (o *Options) boxed() bool { return o.Box != nil && o.Gate.Wall() != permission.NoSandbox }

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
