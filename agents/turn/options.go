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

// Options are shared by all loops.
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
	Private  []string                      // files that tools must never open
	Outputs  func(agent int64) string      // the directory of its tool-output files
	Environ  []string                      // for commands; unattended agents get less of it
	System   func(agent event.Info) string // the system prompt
	Keep     func(proc.Group) func()       // ends a command's group if this program dies; nil: nothing does
	Now      func() time.Time
	Go       func(name string, f func())
	Attended bool // a human can answer
}

// environ returns the environment of an agent's commands: less of it for an unattended agent.
func (o *Options) environ(i event.Info) []string {
	if o.Attended && !i.Outside && !i.Kind.Nature().Strict {
		return o.Environ
	}
	return proc.Bare(o.Environ)
}
