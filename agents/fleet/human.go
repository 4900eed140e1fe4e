package fleet

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Humans are the humans at all screens, who mostly count as one. No method that a key calls waits for a mutex, so that
// a screen may report every key.
type Humans struct {
	Turned func() // called when a draft is gone, or a human switched tabs or left

	present atomic.Pointer[[]*Human]
	arrival sync.Mutex   // guards changes of present
	pressed atomic.Int64 // when the last key was pressed on any screen, in milliseconds; 0: never
	watched sync.Map     // agents -> a channel that gets a token whenever a human comes to their tab or leaves it
}

// Human is the state of one human, as their screen reports it.
type Human struct {
	of     *Humans
	looks  atomic.Int64 // the agent whose tab is shown
	drafts sync.Map     // agents whose prompt box is not empty -> nothing
	absent atomic.Bool
}

// Arrive adds the human at a new screen.
func (hs *Humans) Arrive() *Human {
	h := &Human{of: hs}
	hs.change(func(all []*Human) []*Human { return append(all, h) })
	return h
}

// change replaces the list, which readers may hold.
func (hs *Humans) change(to func(all []*Human) []*Human) {
	hs.arrival.Lock()
	defer hs.arrival.Unlock()
	all := to(slices.Clone(hs.all()))
	hs.present.Store(&all)
}

func (hs *Humans) all() []*Human {
	if p := hs.present.Load(); p != nil {
		return *p
	}
	return nil
}

func (hs *Humans) turn() {
	if hs.Turned != nil {
		hs.Turned()
	}
}

// anybody reports whether is returns true for any human who is at a screen.
func (hs *Humans) anybody(is func(h *Human) bool) bool {
	return slices.ContainsFunc(hs.all(), func(h *Human) bool { return !h.absent.Load() && is(h) })
}

// Watch returns a channel that gets a token whenever a human comes to the agent's tab or leaves it, and a function
// that ends this.
func (hs *Humans) Watch(agent int64) (<-chan struct{}, func()) {
	c := make(chan struct{}, 1)
	hs.watched.Store(agent, c)
	return c, func() { hs.watched.Delete(agent) }
}

// LooksAt reports whether the agent's tab is shown on any screen.
func (hs *Humans) LooksAt(agent int64) bool {
	return hs.anybody(func(h *Human) bool { return h.looks.Load() == agent })
}

// Drafting reports whether the agent's prompt box holds a draft on any screen.
func (hs *Humans) Drafting(agent int64) bool {
	return hs.anybody(func(h *Human) bool { _, is := h.drafts.Load(agent); return is })
}

// Away returns how long ago the last key was pressed on any screen; the maximum if none was yet.
func (hs *Humans) Away(now time.Time) time.Duration {
	ms := hs.pressed.Load()
	if ms == 0 {
		return math.MaxInt64
	}
	return max(0, now.Sub(time.UnixMilli(ms)))
}

// moved signals the watcher of the agent's tab that a human came or left.
func (hs *Humans) moved(agent int64) {
	if c, ok := hs.watched.Load(agent); ok {
		token(c.(chan struct{}))
	}
}

// Pressed records that a key was pressed.
func (h *Human) Pressed(now time.Time) { h.of.pressed.Store(now.UnixMilli()) }

// Looks records which agent's tab is shown.
func (h *Human) Looks(agent int64) {
	was := h.looks.Swap(agent)
	if was == agent {
		return
	}
	h.of.moved(was)
	h.of.moved(agent)
	h.of.turn()
}

// Drafts records whether the agent's prompt box holds a draft.
func (h *Human) Drafts(agent int64, draft bool) {
	if draft {
		h.drafts.Store(agent, nil)
		return
	}
	if _, was := h.drafts.LoadAndDelete(agent); was {
		h.of.turn()
	}
}

// Absent records that the screen shows nothing, so no human can be at it. Their draft stays.
func (h *Human) Absent() {
	if !h.absent.Swap(true) {
		h.gone()
	}
}

// Back records that the screen shows something again.
func (h *Human) Back() {
	if h.absent.Swap(false) {
		h.of.moved(h.looks.Load())
		h.of.turn()
	}
}

func (h *Human) gone() {
	h.of.moved(h.looks.Load())
	h.of.turn()
}

// Others returns how many other screens have a human at them.
func (h *Human) Others() int {
	n := 0
	for _, o := range h.of.all() {
		if o != h && !o.absent.Load() {
			n++
		}
	}
	return n
}

// Leave records that the screen is gone.
func (h *Human) Leave() {
	h.of.change(func(all []*Human) []*Human {
		return slices.DeleteFunc(all, func(o *Human) bool { return o == h })
	})
	h.gone()
}
