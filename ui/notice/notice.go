// Package notice has what calls for the human's attention: the card of urgent messages, the bell
// that rings while they look elsewhere, the digest of what they missed, and whether they are there
// at all.
//
// Does: keep the urgent messages, gather several calls into one, notice when nobody is looking and
// when somebody is back. A new reason to call a human who looks elsewhere goes into ring.go; how a
// terminal is told, into notify.go.
//
// Does not: ring or draw while quiet is on, put a message's text where others may read it, handle a
// message: it returns intents.
//
// Imports: agents, agents/event, agents/history, agents/ledger, agents/roster, inbox, inbox/policy, themes, ui/frame,
// ui/intent, ui/tabs, ui/transcript, ui/words.
package notice

import (
	"context"
	"time"

	"fantail/agents"
	"fantail/agents/ledger"
	"fantail/inbox"
	"fantail/inbox/policy"
	"fantail/themes"
	"fantail/ui/intent"
	"fantail/ui/tabs"
)

// Pool is what the notices ask of an [agents.Pool] and of its rooms.
type Pool interface {
	read
	dismiss
}

// read tells what calls for attention.
type read interface {
	Urgent(ctx context.Context) ([]inbox.Message, error)
	Digest(ctx context.Context, since time.Time) (ledger.Digest, error)
	Seen(ctx context.Context, at time.Time) error
}

// dismiss is what a human does about it.
type dismiss interface {
	Dismiss(ctx context.Context, agent, id int64) error
}

// PoolOf is what the notices ask of p.
func PoolOf(p *agents.Pool) Pool {
	return struct {
		read
		dismiss
	}{p.Ledger, p.Letters}
}

// Env is what the notices look at and ask.
type Env struct {
	Pool    Pool // nil until there is one
	Tabs    *tabs.Tabs
	Theme   *themes.Theme
	Now     func() time.Time
	Width   func() int // of the screen
	Root    string
	Environ []string // for a program that tells the desktop
}

// Notice calls for one human's attention.
type Notice struct {
	Env

	began   time.Time    // when the pool came
	quiet   policy.Quiet // as the pool last said
	urgent  urgent
	calls   calls
	bell    bell
	seen    seen
	blurred bool
	absent  bool
}

// New makes a Notice; how is the way to ring named in the configuration, env the environment.
func New(e Env, how string, env map[string]string) *Notice {
	return &Notice{Env: e, bell: bellOf(how, env), seen: seen{at: e.Now()}}
}

// Attach gives it the pool.
func (n *Notice) Attach(p Pool, at time.Time) { n.Pool, n.began = p, at }

// Quiet notes whether quiet is on.
func (n *Notice) Quiet(q policy.Quiet) intent.Intent {
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

// Mailed notes that an agent's mail has changed.
func (n *Notice) Mailed(t *tabs.Tab) intent.Intent {
	if t != nil && t.Info.Kind.HasPrompt() && t.Info.Urgent+len(n.urgent.all) > 0 {
		return n.Urgent()
	}
	return nil
}

// later runs f on the interface's goroutine after d.
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
