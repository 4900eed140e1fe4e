// Package notice has what calls the human's attention: the card of what is urgent, the
// bell that rings while they look elsewhere, the digest of what they missed, and whether
// they are there at all.
//
// Does: keep what is urgent, gather calls so that several are one, notice when nobody looks
// and when somebody is back. What is to reach a human who looks elsewhere is a call in
// ring.go; how a terminal is told is in notify.go.
//
// Does not: ring or draw while it is quiet, put a message's text where others may read it,
// handle a message: it returns intents.
//
// Imports: agents, agents/event, agents/history, agents/ledger, agents/roster, inbox, themes, ui/frame, ui/intent,
// ui/tabs, ui/transcript, ui/words.
package notice

import (
	"context"
	"time"

	"fantail/agents"
	"fantail/agents/ledger"
	"fantail/inbox"
	"fantail/themes"
	"fantail/ui/intent"
	"fantail/ui/tabs"
)

// Pool is what is asked of an [agents.Pool]'s rooms.
type Pool interface {
	read
	dismiss
}

// read is what calls for attention.
type read interface {
	Urgent(ctx context.Context) ([]inbox.Message, error)
	Digest(ctx context.Context, since time.Time) (ledger.Digest, error)
	Seen(ctx context.Context, at time.Time) error
}

// dismiss is what a human says to it.
type dismiss interface {
	Dismiss(ctx context.Context, agent, id int64) error
}

// PoolOf is what is asked of p.
func PoolOf(p *agents.Pool) Pool {
	return struct {
		read
		dismiss
	}{p.Ledger, p.Letters}
}

// Env is what there is to look at and to ask.
type Env struct {
	Pool    Pool // nil until there is one
	Tabs    *tabs.Tabs
	Theme   *themes.Theme
	Now     func() time.Time
	Width   func() int // of the screen
	Root    string
	Environ []string // for a program that tells the desktop
}

// Notice is what calls one human's attention.
type Notice struct {
	Env

	began   time.Time   // when the pool came
	quiet   inbox.Quiet // as the pool told last
	urgent  urgent
	calls   calls
	bell    bell
	seen    seen
	blurred bool
}

// New makes one; how is the way to ring, as the configuration names it, env the
// environment by its names.
func New(e Env, how string, env map[string]string) *Notice {
	return &Notice{Env: e, bell: bellOf(how, env), seen: seen{at: e.Now()}}
}

// Begin gives it the pool.
func (n *Notice) Begin(p Pool, at time.Time) { n.Pool, n.began = p, at }

// Quiet follows whether it is quiet.
func (n *Notice) Quiet(q inbox.Quiet) intent.Intent {
	was := n.quiet
	n.quiet = q
	switch {
	case q.On && !was.On:
		n.calls.quiet = n.Now()
	case was.On && !q.On:
		return n.callAfterQuiet(was)
	}
	return nil
}

// Mailed follows that something became of an agent's mail.
func (n *Notice) Mailed(t *tabs.Tab) intent.Intent {
	if t != nil && t.Info.Kind.HasPrompt() && t.Info.Urgent+len(n.urgent.all) > 0 {
		return n.Urgent()
	}
	return nil
}

// later does f on the interface's goroutine when d has passed.
func later(d time.Duration, f func() intent.Intent) intent.Intent {
	t := time.NewTimer(d)
	return intent.Run{F: func(ctx context.Context) intent.Intent {
		defer t.Stop()
		select {
		case <-t.C:
			return intent.Call(f)
		case <-ctx.Done():
			return nil
		}
	}}
}
