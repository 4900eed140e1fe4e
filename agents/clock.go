package agents

import (
	"fmt"
	"time"
)

// clock ends a task at its time-out. It stands still while a question waits for
// the human, of its agent or of one below for which its agent waits: how long
// people think is nobody's time. The pool's mu guards it.
type clock struct {
	limit time.Duration
	ring  func(cause error)
	spent time.Duration // before it was last set going
	since time.Time     // when that was; zero: it stands still
	timer *time.Timer
}

// watch gives the agent a clock that calls ring at the time-out; 0: none. The
// caller holds mu.
func (a *agent) watch(limit time.Duration, ring func(cause error)) {
	if limit > 0 {
		a.clock = &clock{limit: limit, ring: ring}
		a.clock.run(a.p)
	}
}

// clocks stops the clocks that are to stand still, and lets the others go. The
// caller holds mu.
func (p *Pool) clocks() {
	still := map[*agent]bool{}
	for k := range p.asking {
		still[k] = true
		for a := p.agents[k.info.Parent]; a != nil && a.info.State == Waiting; a = p.agents[a.info.Parent] {
			still[a] = true
		}
	}
	for _, a := range p.living {
		if still[a] {
			a.clock.stop()
		} else {
			a.clock.run(p)
		}
	}
}

func (c *clock) run(p *Pool) {
	if c == nil || !c.since.IsZero() {
		return
	}
	c.since = time.Now()
	c.timer = time.AfterFunc(c.limit-c.spent, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
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

// extend gives the task more time.
func (c *clock) extend(p *Pool, limit time.Duration) {
	if c == nil || limit <= c.limit {
		return
	}
	ran := !c.since.IsZero()
	c.stop()
	if c.limit = limit; ran {
		c.run(p)
	}
}
