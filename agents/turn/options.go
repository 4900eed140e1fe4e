package turn

import (
	"time"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/mail"
	"fantail/agents/questions"
	"fantail/agents/roster"
	"fantail/agents/waits"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/permit"
	"fantail/tools/proc"
	"fantail/tools/secret"
)

// Options are what all loops share.
type Options struct {
	DB     *store.DB
	Inbox  *inbox.Inbox
	Fleet  *fleet.Fleet
	Mail   *mail.Room
	Takes  *mail.Takes
	Asks   *questions.Desk
	Waits  *waits.Table
	Ends   *roster.Ends
	Disk   *Disk
	Pickup *mail.Pickup

	Tools    *tools.Set
	Gate     *permit.Gate
	Keys     *secret.Keys
	Root     string                        // the workspace
	Private  []string                      // what tools must never open
	Outputs  func(agent int64) string      // the directory of its tool-output files
	Environ  []string                      // for commands; agents nobody attends get less
	System   func(agent event.Info) string // the system prompt
	Keep     func(proc.Group) func()       // has a command's group ended if this program dies; nil: nobody does
	Now      func() time.Time
	Go       func(name string, f func())
	Attended bool // a human can answer
}

// environ is the environment of an agent's commands: less where nobody attends it.
func (o *Options) environ(i event.Info) []string {
	if o.Attended && !i.Outside && !i.Kind.Nature().Strict {
		return o.Environ
	}
	return proc.Bare(o.Environ)
}
