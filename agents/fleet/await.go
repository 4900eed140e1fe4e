package fleet

import (
	"sync"
	"time"

	"fantail/agents/event"
)

// Awaiting changes how an agent awaits input, for callers other than its own loop. It does nothing to an agent that
// does not await input, or has ended.
type Awaiting struct{ of *Agent }

// change changes the agent's Await and makes the agent look at it. The caller holds the fleet's mutex.
func (w Awaiting) change(to func(w *event.Await)) {
	w.of.Change(func(i *event.Info) { i.Await = i.Await.With(to) })
	w.of.Poke()
}

// End notes that the agent is to end after its present turn. The caller holds the fleet's mutex.
func (w Awaiting) End() { w.change(func(a *event.Await) { a.Ends = true }) }

// Stays shows until when the agent, which is idle, stays; zero: no time limit runs.
func (w Awaiting) Stays(until time.Time) {
	w.of.fleet.Lock()
	defer w.of.fleet.Unlock()
	w.change(func(a *event.Await) { a.Until = until })
}

// Attach notes that a program follows the agent, until detach is called.
func (w Awaiting) Attach() (detach func()) {
	count := func(n int) {
		w.of.fleet.Lock()
		defer w.of.fleet.Unlock()
		w.change(func(a *event.Await) { a.Attached += n })
	}
	count(1)
	return sync.OnceFunc(func() { count(-1) })
}

// Leapt makes all agents that await input look at the clock, which jumped.
func Leapt(f *Fleet) {
	f.Lock()
	defer f.Unlock()
	for _, a := range f.living {
		if a.Info.Await != nil {
			a.Poke()
		}
	}
}
