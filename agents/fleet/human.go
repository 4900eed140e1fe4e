package fleet

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Human is where the human is, as a screen tells it: it locks nothing, so that a
// screen may tell it at each key.
type Human struct {
	pressed atomic.Int64 // when the last key came, in milliseconds; 0: none yet
	looks   atomic.Int64 // the agent whose tab shows
	drafts  sync.Map     // agents whose prompt box is not empty -> nothing
	leaving sync.Map     // agents -> a channel that gets a token once the human leaves their tab
	Turned  func()       // called when somebody's draft is gone, or the human went to another tab
}

// Pressed tells that a key came.
func (h *Human) Pressed(now time.Time) { h.pressed.Store(now.UnixMilli()) }

// Looks tells whose tab shows.
func (h *Human) Looks(agent int64) {
	was := h.looks.Swap(agent)
	if was == agent {
		return
	}
	if c, ok := h.leaving.Load(was); ok {
		token(c.(chan struct{}))
	}
	if h.Turned != nil {
		h.Turned()
	}
}

// Leaves returns a channel that gets a token once the human goes from the agent's tab
// to another, and what ends the arrangement.
func (h *Human) Leaves(agent int64) (<-chan struct{}, func()) {
	c := make(chan struct{}, 1)
	h.leaving.Store(agent, c)
	return c, func() { h.leaving.Delete(agent) }
}

// LooksAt reports whether the agent's tab shows.
func (h *Human) LooksAt(agent int64) bool { return h.looks.Load() == agent }

// Drafts tells whether the agent's prompt box holds a draft.
func (h *Human) Drafts(agent int64, draft bool) {
	if draft {
		h.drafts.Store(agent, nil)
		return
	}
	if _, was := h.drafts.LoadAndDelete(agent); was && h.Turned != nil {
		h.Turned()
	}
}

// Drafting reports whether the agent's prompt box holds a draft.
func (h *Human) Drafting(agent int64) bool {
	_, is := h.drafts.Load(agent)
	return is
}

// Away is how long ago the last key came; where no key came yet, as long as can be.
func (h *Human) Away(now time.Time) time.Duration {
	ms := h.pressed.Load()
	if ms == 0 {
		return math.MaxInt64
	}
	return max(0, now.Sub(time.UnixMilli(ms)))
}
