package notify

import (
	"context"
	"time"

	"fantail/agents"
	"fantail/inbox/policy"
	"fantail/themes"
	"fantail/ui/intent"
	"fantail/ui/tabs"
)

// Options is what the Notifier uses.
type Options struct {
	Pool    *agents.Pool // nil until there is one
	Tabs    *tabs.Tabs
	Theme   *themes.Theme
	Now     func() time.Time
	Width   func() int // of the screen
	Root    string
	Environ []string // for the program that notifies the desktop
}

// Notifier calls for one human's attention.
type Notifier struct {
	Options

	began   time.Time    // when the pool arrived
	quiet   policy.Quiet // as the pool last reported
	urgent  urgent
	calls   calls
	bell    bell
	seen    seen
	blurred bool
	absent  bool
}

// New makes a Notifier. how is the configured way to notify, env the environment.
func New(e Options, how string, env map[string]string) *Notifier {
	return &Notifier{Options: e, bell: bellOf(how, env), seen: seen{at: e.Now()}}
}

// Attach gives it the pool.
func (n *Notifier) Attach(p *agents.Pool, at time.Time) { n.Pool, n.began = p, at }

// Quiet notes whether quiet is on.
func (n *Notifier) Quiet(q policy.Quiet) intent.Intent {
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
func (n *Notifier) Mailed(t *tabs.Tab) intent.Intent {
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
