package fleet

import (
	"fmt"
	"time"

	"fantail/agents/event"
)

// clock ends a task at its time-out. It is paused while a question waits for the human, either of its agent or of one
// below that its agent waits for: the time people take to think does not count. The fleet's mutex guards it.
type clock struct {
	limit time.Duration
	ring  func(cause error)
	spent time.Duration // until it was last started
	since time.Time     // when that was; zero: it is paused
	timer *time.Timer
}

// Watch gives the agent a clock, unless limit is 0. At the time-out it shows that the agent's commands are being ended,
// and calls ring with the fleet's mutex held.
func (a *Agent) Watch(limit time.Duration, ring func(cause error)) {
	if limit == 0 {
		return
	}
	a.fleet.Lock()
	defer a.fleet.Unlock()
	a.clock = &clock{limit: limit, ring: func(cause error) {
		if a.hasten != nil {
			a.ending()
		}
		ring(cause)
	}}
	a.clock.run(a.fleet)
}

// clocks pauses the clocks that a question stops, and runs the others. The caller holds the fleet's mutex.
func (f *Fleet) clocks() {
	still := map[*Agent]bool{}
	for k := range f.asking {
		still[k] = true
		for a := f.agents[k.Info.Parent]; a != nil && a.Info.State == event.Waiting; a = f.agents[a.Info.Parent] {
			still[a] = true
		}
	}
	for _, a := range f.living {
		if still[a] {
			a.clock.stop()
		} else {
			a.clock.run(f)
		}
	}
}

func (c *clock) run(f *Fleet) {
	if c == nil || !c.since.IsZero() {
		return
	}
	c.since = time.Now()
	c.timer = time.AfterFunc(c.limit-c.spent, func() {
		f.Lock()
		defer f.Unlock()
		if !c.since.IsZero() && c.spent+time.Since(c.since) >= c.limit {
			c.ring(fmt.Errorf("%w after %s", ErrTimeout, c.limit))
		}
	})
}

func (c *clock) stop() {
	if c != nil && !c.since.IsZero() {
		c.timer.Stop()
		c.spent, c.since = c.spent+time.Since(c.since), time.Time{}
	}
}

// extend raises the limit; it never lowers it.
func (c *clock) extend(f *Fleet, limit time.Duration) {
	if c == nil || limit <= c.limit {
		return
	}
	ran := !c.since.IsZero()
	c.stop()
	if c.limit = limit; ran {
		c.run(f)
	}
}

// Extend gives a running task more time. The caller holds the fleet's mutex.
func (f *Fleet) Extend(task int64, limit time.Duration) {
	for _, a := range f.living {
		if a.Task == task {
			a.clock.extend(f, limit)
		}
	}
}
