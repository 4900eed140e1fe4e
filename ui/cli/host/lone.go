package host

import (
	"context"

	"fantail/agents"
	"fantail/ui/notice"
)

// calls is how a screen's human is called when they have none any more.
type calls struct {
	how     string   // as the configuration names it
	environ []string // in which the desktop is found
}

// watch has the human called to what happens from now on, if there is a way, until end is called. nil: there is none.
func (s *client) watch(pool *agents.Pool) (end func()) {
	if !notice.Reaches(s.calls.how) {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	o := s.host.o
	lone := notice.Lone{Pool: pool, Root: o.Root, Environ: s.calls.environ, Go: o.Guard.Go}
	o.Guard.Go("call the human", func() { lone.Watch(ctx) })
	return cancel
}

// accompanyLocked ends that the human is called without a screen. The caller holds mu.
func (h *Host) accompanyLocked() {
	if h.lone != nil {
		h.lone()
		h.lone = nil
	}
}
