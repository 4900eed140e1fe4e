package fleet

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Human is where the human is, as a screen reports it. It has no mutex, so that a screen may report every key.
type Human struct {
	pressed atomic.Int64 // when the last key was pressed, in milliseconds; 0: never
	looks   atomic.Int64 // the agent whose tab is shown
	drafts  sync.Map     // agents whose prompt box is not empty -> nothing
	leaving sync.Map     // agents -> a channel that gets a token once the human leaves their tab
	Turned  func()       // called when a draft is gone, or the human switched tabs
}

// Pressed records that a key was pressed.
func (h *Human) Pressed(now time.Time) { h.pressed.Store(now.UnixMilli()) }

// Looks records whose tab is shown.
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

// Leaves returns a channel that gets a token once the human switches away from the agent's tab, and a function that
// cancels this.
func (h *Human) Leaves(agent int64) (<-chan struct{}, func()) {
	c := make(chan struct{}, 1)
	h.leaving.Store(agent, c)
	return c, func() { h.leaving.Delete(agent) }
}

// LooksAt reports whether the agent's tab is shown.
func (h *Human) LooksAt(agent int64) bool { return h.looks.Load() == agent }

// Drafts records whether the agent's prompt box holds a draft.
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

// Away returns how long ago the last key was pressed; the maximum if none was yet.
func (h *Human) Away(now time.Time) time.Duration {
	ms := h.pressed.Load()
	if ms == 0 {
		return math.MaxInt64
	}
	return max(0, now.Sub(time.UnixMilli(ms)))
}
