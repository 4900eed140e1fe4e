package agents

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"fantail/agents/queue"
	"fantail/inbox"
)

// TestWait_awaits: a message is left to a wait only if that wait takes it. What
// another task ended with is none of the business of a call that waits for its own.
func TestWait_awaits(t *testing.T) {
	mail, first, second := inbox.Message{From: "ci"}, inbox.Message{From: "a", Task: 1}, inbox.Message{From: "b", Task: 2}
	for _, c := range []struct {
		name string
		w    wait
		want [3]bool // mail, first, second
	}{
		{"any", wait{}, [3]bool{true, true, true}},
		{"one sender", wait{from: "b"}, [3]bool{false, false, true}},
		{"what it dispatched", wait{children: true}, [3]bool{false, true, true}},
		{"one task", wait{task: 1}, [3]bool{false, true, false}},
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
	who   map[int64]*actor
	tasks *queue.Queue
	waits *waits
}

func newCrowd(names ...string) *fakeCrowd {
	c := &fakeCrowd{who: map[int64]*actor{}, tasks: queue.New(8)}
	for n, name := range names {
		id := int64(n + 1)
		c.who[id] = &actor{ID: id, Name: name, State: Running, Acts: true}
	}
	c.waits = newWaits(c)
	return c
}

func (c *fakeCrowd) Hold(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

func (c *fakeCrowd) Living() iter.Seq[actor] {
	return func(yield func(actor) bool) {
		for _, a := range c.who {
			if !a.State.Terminal() && !yield(*a) {
				return
			}
		}
	}
}

func (c *fakeCrowd) Agent(id int64) (actor, bool) {
	a := c.who[id]
	return *a, !a.State.Terminal()
}

func (c *fakeCrowd) Called(name string) (actor, bool) {
	for _, a := range c.who {
		if a.Name == name {
			return *a, true
		}
	}
	return actor{}, false
}

func (c *fakeCrowd) Queue() *queue.Queue { return c.tasks }
func (c *fakeCrowd) Told()               { c.Hold(c.waits.changed) }

// is puts an agent into a state.
func (c *fakeCrowd) is(id int64, s State) {
	c.Hold(func() {
		c.who[id].State = s
		c.waits.changed()
	})
}

// waitsFor lets an agent wait for mail that never comes, until that ends.
func (c *fakeCrowd) waitsFor(ctx context.Context, id int64, from string) error {
	w := c.waits.begin(&wait{agent: id, from: from, mail: true})
	c.is(id, Waiting)
	defer func() {
		w.end()
		c.is(id, Running)
	}()
	return w.until(ctx, func() (bool, error) { return false, nil })
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
		cancel(ErrStopped)
		synctest.Wait()
		if !errors.Is(got[4], ErrStopped) {
			t.Errorf("d ends with %v", got[4])
		}
	})
}

// TestWaits_comesBeforeTheJudgement: what comes after the look, and leaves nobody who
// could send any more, is found and not called nothing.
func TestWaits_comesBeforeTheJudgement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd("a", "b")
		w := c.waits.begin(&wait{agent: 1, from: "b", mail: true})
		defer w.end()
		c.is(1, Waiting)
		there, looks := false, 0
		err := w.until(t.Context(), func() (bool, error) {
			found := there
			if looks++; looks == 1 { // b sends and ends before the look is judged
				there = true
				c.Hold(func() { c.waits.came(1) })
				c.is(2, Done)
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
	c.waits.ended = append(c.waits.ended, func(agent int64) {
		still = append(still, c.waits.awaited(agent, inbox.Message{}))
	})
	first, second := c.waits.begin(&wait{agent: 1}), c.waits.begin(&wait{agent: 1})
	first.end()
	second.end()
	if !slices.Equal(still, []bool{true, false}) {
		t.Errorf("awaited after each end: %v", still)
	}
	if len(c.waits.of) != 0 {
		t.Errorf("%d agents are still known", len(c.waits.of))
	}
}
