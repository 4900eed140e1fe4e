package tasks

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
	"fantail/inbox"
)

// TestWait_awaits: a message is left to a wait only if that wait takes it. A call that waits for its own task does not
// take the end of another.
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

// fakeAgents are agents whose state a test sets. Like the pool it holds its mutex while it calls the waits.
type fakeAgents struct {
	mu    sync.Mutex
	who   map[int64]*Actor
	tasks *Queue
	waits *Waits
	clock bool // something is scheduled
}

func newCrowd(names ...string) *fakeAgents {
	c := &fakeAgents{who: map[int64]*Actor{}, tasks: NewQueue(8)}
	for n, name := range names {
		id := int64(n + 1)
		c.who[id] = &Actor{ID: id, Name: name, State: event.Running}
	}
	c.waits = NewWaits(c)
	return c
}

func (c *fakeAgents) Hold(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

func (c *fakeAgents) Living() iter.Seq[Actor] {
	return func(yield func(Actor) bool) {
		for _, a := range c.who {
			if !a.State.Terminal() && !yield(*a) {
				return
			}
		}
	}
}

func (c *fakeAgents) Agent(id int64) (Actor, bool) {
	a := c.who[id]
	return *a, !a.State.Terminal()
}

func (c *fakeAgents) Called(name string) (Actor, bool) {
	for _, a := range c.who {
		if a.Name == name {
			return *a, true
		}
	}
	return Actor{}, false
}

func (c *fakeAgents) Queue() *Queue   { return c.tasks }
func (c *fakeAgents) Scheduled() bool { return c.clock }
func (c *fakeAgents) Told()           { c.Hold(c.waits.Changed) }

// is puts an agent into a state.
func (c *fakeAgents) is(id int64, s event.State) {
	c.Hold(func() {
		c.who[id].State = s
		c.waits.Changed()
	})
}

// waitsFor makes an agent wait for mail that never comes, until that ends.
func (c *fakeAgents) waitsFor(ctx context.Context, id int64, from string) error {
	w := c.waits.Begin(&Wait{Agent: id, From: from, Mail: true})
	c.is(id, event.Waiting)
	defer func() {
		w.End()
		c.is(id, event.Running)
	}()
	return w.Until(ctx, func() (bool, error) { return false, nil })
}

// TestWaits_circle: all agents that wait in a circle are told the whole circle, though the first one goes on at once;
// an agent outside it that waits for one of them waits on.
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

// TestWaits_unattended: an unattended agent does not wait for what only a human could cause: neither for an agent that
// is at rest or asks, nor for one that waits for one of these; an agent that runs may still send.
func TestWaits_unattended(t *testing.T) {
	for _, c := range []struct {
		others map[int64]event.State
		for2   string // b waits for it; "": b does not wait
		alone  bool   // whether a, which is unattended, is told that nothing can arrive
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

// TestWaits_scheduled: while something is scheduled, an attended agent waits for any mail, but no agent waits for mail
// of one that can't send; once nothing is scheduled, nothing can arrive.
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

// TestWaits_comesBeforeTheJudgement: a message that comes after the look, and leaves no possible sender, is found, and
// the wait does not end with Nothing.
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

// TestWaits_endTellsWhoSubscribed: OnEnd is called once no wait is left, and may call the waits then.
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
