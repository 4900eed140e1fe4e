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

	Kit      func(agent event.Info) (*tools.Set, permission.Mode, Guard) // an agent's tools, the mode that judges its calls, and its guard
	Gate     *permission.Gate
	Keys     *secret.Keys
	Root     string                                           // directory of the workspace
	Private  []string                                         // files that tools must never open
	Outputs  func(agent int64) string                         // directory of an agent's tool-output files
	Environ  []string                                         // for commands where no screen's environment is known
	System   func(agent event.Info) string                    // the system prompt
	Audit    *audit.Log                                       // records calls; nil: nothing does
	Commands *RunningCommands                                 // who runs which command
	Ahead    *proc.Ahead                                      // holds commands that were started ahead; nil: none
	Box      Boxes                                            // makes the sandboxes of commands; nil: there are none. None is used if Gate has no wall
	Post     func(agent, turn int64) (*CommandMailbox, error) // lets the mail of an agent's command out of its sandbox
	Bare     func(agent int64) (*CommandMailbox, error)       // returns a directory for an agent's program outside of a sandbox
	Kept     *ProtectedFiles                                  // files that sandboxed commands must not change; nil: none
	Keep     func(proc.Group) func()                          // ends a command's group if this program dies; nil: nothing does
	Now      func() time.Time
	Go       func(name string, f func())
}

// boxed reports whether commands run in sandboxes. It blocks until that is known.
func (o *Options) boxed() bool { return o.Box != nil && o.Gate.Wall() != permission.NoSandbox }

// Boxes makes the sandbox for a command with that environment; nil: none works here.
type Boxes func(p sandbox.Profile, leave sandbox.Leave, environ []string) (*sandbox.Box, error)

// environment returns the environment of commands for e; nil: the program's own. It removes keys
// again, because keys that are known now may have been unknown where e came from.
func (o *Options) environment(e *fleet.Environment) fleet.Environment {
	if e == nil {
		e = &fleet.Environment{Vars: o.Environ}
	}
	return fleet.Environment{Vars: proc.Clean(e.Vars, o.Keys), Umask: e.Umask}
}
