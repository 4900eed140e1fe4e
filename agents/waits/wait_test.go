package waits

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"fantail/agents/event"
	"fantail/agents/queue"
	"fantail/inbox"
)

// TestWait_awaits: a message is left to a wait only if that wait takes it. What
// another task ended with is none of the business of a call that waits for its own.
func TestWait_awaits(t *testing.T) {
	mail, first, second := inbox.Message{From: "ci"}, inbox.Message{From: "a", Task: 1}, inbox.Message{From: "b", Task: 2}
	for _, c := range []struct {
		name string
		w    Wait
		want [3]bool // mail, first, second
	}{
		{"any", Wait{}, [3]bool{true, true, true}},
		{"one sender", Wait{From: "b"}, [3]bool{false, false, true}},
		{"what it dispatched", Wait{Children: true}, [3]bool{false, true, true}},
		{"one task", Wait{Task: 1}, [3]bool{false, true, false}},
	} {
		for i, m := range []inbox.Message{mail, first, second} {
			if got := c.w.awaits(m); got != c.want[i] {
				t.Errorf("a wait for %s awaits a message of %s, task %d: %t", c.name, m.From, m.Task, got)
			}
		}
	}
}

// fakeCrowd is a crowd of agents that a test moves by hand. Like the pool it holds its
// mutex while it tells the waits.
type fakeCrowd struct {
	mu    sync.Mutex
	who   map[int64]*Actor
	tasks *queue.Queue
	waits *Table
	clock bool // something is scheduled
}

func newCrowd(names ...string) *fakeCrowd {
	c := &fakeCrowd{who: map[int64]*Actor{}, tasks: queue.New(8)}
	for n, name := range names {
		id := int64(n + 1)
		c.who[id] = &Actor{ID: id, Name: name, State: event.Running}
	}
	c.waits = New(c)
	return c
}

func (c *fakeCrowd) Hold(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

func (c *fakeCrowd) Living() iter.Seq[Actor] {
	return func(yield func(Actor) bool) {
		for _, a := range c.who {
			if !a.State.Terminal() && !yield(*a) {
				return
			}
		}
	}
}

func (c *fakeCrowd) Agent(id int64) (Actor, bool) {
	a := c.who[id]
	return *a, !a.State.Terminal()
}

func (c *fakeCrowd) Called(name string) (Actor, bool) {
	for _, a := range c.who {
		if a.Name == name {
			return *a, true
		}
	}
	return Actor{}, false
}

func (c *fakeCrowd) Queue() *queue.Queue { return c.tasks }
func (c *fakeCrowd) Scheduled() bool     { return c.clock }
func (c *fakeCrowd) Told()               { c.Hold(c.waits.Changed) }

// is puts an agent into a state.
func (c *fakeCrowd) is(id int64, s event.State) {
	c.Hold(func() {
		c.who[id].State = s
		c.waits.Changed()
	})
}

// waitsFor lets an agent wait for mail that never comes, until that ends.
func (c *fakeCrowd) waitsFor(ctx context.Context, id int64, from string) error {
	w := c.waits.Begin(&Wait{Agent: id, From: from, Mail: true})
	c.is(id, event.Waiting)
	defer func() {
		w.End()
		c.is(id, event.Running)
	}()
	return w.Until(ctx, func() (bool, error) { return false, nil })
}

// TestWaits_circle: whoever waits in a circle hears of the whole of it, though the first
// who hears goes on at once; who waits for one of them waits on.
func TestWaits_circle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd("a", "b", "c", "d")
		ctx, cancel := context.WithCancelCause(t.Context())
		got := make([]error, 5)
		for id, from := range map[int64]string{1: "b", 2: "c", 3: "a", 4: "a"} {
			go func() { got[id] = c.waitsFor(ctx, id, from) }()
		}
		synctest.Wait()
		for id := 1; id <= 3; id++ {
			if err := got[id]; !errors.Is(err, ErrNothing) || !strings.Contains(err.Error(), "a waits for b, b waits for c, c waits for a") {
				t.Errorf("agent %d hears %v", id, err)
			}
		}
		if got[4] != nil {
			t.Errorf("d, which waits for a, hears %v", got[4])
		}
		stopped := errors.New("stopped")
		cancel(stopped)
		synctest.Wait()
		if !errors.Is(got[4], stopped) {
			t.Errorf("d ends with %v", got[4])
		}
	})
}

// TestWaits_unattended: who is not attended does not wait for what only a human could bring about, neither for who is at
// rest or asks, nor for who waits for one of these; who runs may still send.
func TestWaits_unattended(t *testing.T) {
	for _, c := range []struct {
		others map[int64]event.State
		for2   string // b waits for it; "": b does not wait
		alone  bool   // whether a, that nobody attends, hears that nothing comes
	}{
		{map[int64]event.State{2: event.Idle, 3: event.Asking}, "", true},
		{map[int64]event.State{2: event.Running, 3: event.Idle}, "", false},
		{map[int64]event.State{3: event.Idle}, "c", true},
		{map[int64]event.State{3: event.Asking}, "c", true},
		{map[int64]event.State{3: event.Running}, "c", false},
	} {
		for _, unattended := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				w := newCrowd("a", "b", "c")
				w.who[1].Unattended = unattended
				for id, s := range c.others {
					w.is(id, s)
				}
				ctx, cancel := context.WithCancel(t.Context())
				got := make([]error, 4)
				go func() { got[1] = w.waitsFor(ctx, 1, "b") }()
				if c.for2 != "" {
					go func() { got[2] = w.waitsFor(ctx, 2, c.for2) }()
				}
				synctest.Wait()
				if nothing := errors.Is(got[1], ErrNothing); nothing != (c.alone && unattended) || got[2] != nil {
					t.Errorf("%v, b waits for %q, a is unattended: %t: a hears %v, b %v", c.others, c.for2, unattended, got[1], got[2])
				}
				cancel()
				synctest.Wait()
			})
		}
	}
}

// TestWaits_scheduled: while something is scheduled, who is attended waits for any mail, and nobody for mail of an agent
// that can't send; once nothing is, nothing comes.
func TestWaits_scheduled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd("a", "b", "c", "d")
		c.clock = true
		c.who[3].Unattended = true
		c.is(4, event.Done)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		got := make([]error, 4)
		for id, from := range map[int64]string{1: "", 2: "d", 3: ""} {
			go func() { got[id] = c.waitsFor(ctx, id, from) }()
		}
		synctest.Wait()
		if got[1] != nil || !errors.Is(got[2], ErrNothing) {
			t.Errorf("for any mail: %v; for that of one that has ended: %v", got[1], got[2])
		}
		c.is(2, event.Done) // it ran on after its wait
		synctest.Wait()
		if got[1] != nil || !errors.Is(got[3], ErrNothing) {
			t.Errorf("attended: %v; unattended: %v", got[1], got[3])
		}
		c.is(3, event.Done)
		c.Hold(func() {
			c.clock = false
			c.waits.Changed()
		})
		synctest.Wait()
		if !errors.Is(got[1], ErrNothing) {
			t.Errorf("with nothing scheduled: %v", got[1])
		}
	})
}

// TestWaits_comesBeforeTheJudgement: what comes after the look, and leaves nobody who
// could send any more, is found and not called nothing.
func TestWaits_comesBeforeTheJudgement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd("a", "b")
		w := c.waits.Begin(&Wait{Agent: 1, From: "b", Mail: true})
		defer w.End()
		c.is(1, event.Waiting)
		there, looks := false, 0
		err := w.Until(t.Context(), func() (bool, error) {
			found := there
			if looks++; looks == 1 { // b sends and ends before the look is judged
				there = true
				c.Hold(func() { c.waits.Came(1) })
				c.is(2, event.Done)
			}
			return found, nil
		})
		if err != nil || looks != 2 {
			t.Errorf("%v after %d looks", err, looks)
		}
	})
}

// TestWaits_endTellsWhoSubscribed: whoever wants to know what a wait left hears of its
// end once nobody waits, and may call the waits then.
func TestWaits_endTellsWhoSubscribed(t *testing.T) {
	c := newCrowd("a")
	var still []bool
	c.waits.OnEnd = append(c.waits.OnEnd, func(agent int64) {
		still = append(still, c.waits.Awaited(agent, inbox.Message{}))
	})
	first, second := c.waits.Begin(&Wait{Agent: 1}), c.waits.Begin(&Wait{Agent: 1})
	first.End()
	second.End()
	if !slices.Equal(still, []bool{true, false}) {
		t.Errorf("awaited after each end: %v", still)
	}
	if len(c.waits.of) != 0 {
		t.Errorf("%d agents are still known", len(c.waits.of))
	}
}
