package host

import (
	"context"

	"fantail/agents"
	"fantail/ui/notify"
)

// calls is how the human is notified once their last screen has left.
type calls struct {
	how     string   // as the configuration names it
	environ []string // in which the desktop is found
}

// watch notifies the human of what happens from now on, until end is called. It returns nil if there is no way to do
// that.
func (s *client) watch(pool *agents.Pool) (end func()) {
	if !notify.Reaches(s.calls.how) {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	o := s.host.o
	lone := notify.Desktop{Pool: pool, Root: o.Root, Environ: s.calls.environ, Go: o.Guard.Go}
	o.Guard.Go("call the human", func() { lone.Watch(ctx) })
	return cancel
}

// accompanyLocked stops the notifications without a screen. The caller holds mu.
func (h *Host) accompanyLocked() {
	if h.lone != nil {
		h.lone()
		h.lone = nil
	}
}
