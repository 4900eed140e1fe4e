package fleet

import (
	"context"
	"slices"
	"strings"

	"fantail/agents/event"
	"fantail/agents/tasks"
)

// An agent that ends with its work holds a slot of the queue while it runs. While it waits or asks it holds none; it
// gets one back before queued tasks start.

// resume is an agent that wants its slot back.
type resume struct {
	a    *Agent
	gave chan struct{}
	asks int // how many of its calls wait for it
}

// Slot returns the slot the agent holds while it runs. The caller holds the fleet's mutex.
func (a *Agent) Slot() tasks.Slot {
	s := tasks.Slot{Vendor: a.Model.Vendor, AtOnce: a.Model.AtOnce}
	if a.Kind.Tasked() {
		s.Owner = a.Info.Parent
	}
	return s
}

// letGo frees the agent's slot. The caller holds the fleet's mutex.
func (f *Fleet) letGo(a *Agent) {
	f.Queue.Free(a.ID)
	f.Serve()
}

// resumes are the agents that want their slots back, in the order they get them.
type resumes []*resume

// of returns the agent's entry, and adds one if it does not wait yet.
func (rs *resumes) of(a *Agent) *resume {
	for _, r := range *rs {
		if r.a == a {
			return r
		}
	}
	r := &resume{a: a, gave: make(chan struct{})}
	*rs = append(*rs, r)
	return r
}

// forget removes the agent from the queue.
func (rs *resumes) forget(a *Agent) {
	*rs = slices.DeleteFunc(*rs, func(r *resume) bool { return r.a == a })
}

// LineUp queues an agent for the slot that it will ask for with Regain: agents that begin concurrently get their slots
// in the order of these calls. The caller holds the fleet's mutex.
func LineUp(a *Agent) { a.fleet.resumes.of(a) }

// Serve gives free slots to the agents that want theirs back. The caller holds the fleet's mutex.
func (f *Fleet) Serve() {
	var rest []*resume
	for _, r := range f.resumes {
		if s := r.a.Slot(); f.Queue.Full(s) == "" {
			f.Queue.Take(r.a.ID, s)
			close(r.gave)
		} else {
			rest = append(rest, r)
		}
	}
	f.resumes = rest
	token(f.Due)
}

// Aside frees the agent's slot and shows why it waits. The function it returns takes the slot back once none of the
// agent's calls waits any more.
func (a *Agent) Aside(why string) func(ctx context.Context) error {
	a.fleet.Lock()
	defer a.fleet.Unlock()
	a.away = append(a.away, why)
	a.Change(a.away.show)
	a.fleet.letGo(a)
	return func(ctx context.Context) error {
		a.fleet.Lock()
		at := slices.Index(a.away, why)
		a.away = slices.Delete(a.away, at, at+1)
		if len(a.away) > 0 {
			a.Change(a.away.show)
			a.fleet.Unlock()
			return nil
		}
		a.fleet.Unlock()
		return a.Regain(ctx)
	}
}

// away lists what an agent's concurrently waiting calls wait for.
type away []string

// show records in i what the calls wait for.
func (w away) show(i *event.Info) {
	i.State, i.Doing, i.Why = event.Waiting, "", w[0]
	for _, why := range w[1:] {
		i.Why += ", " + strings.TrimPrefix(why, "waiting for ")
	}
}

// Waits reports whether one of the agent's calls waits. The caller holds the fleet's mutex.
func (a *Agent) Waits() bool { return len(a.away) > 0 }

// Regain takes the agent's slot back, waiting for one if need be. It does nothing if the agent has one. Once ctx has
// ended the agent does not go on, and its shown state stays: a question may be closed as the turn in which it was
// asked ends.
func (a *Agent) Regain(ctx context.Context) error {
	f := a.fleet
	f.Lock()
	if ctx.Err() != nil {
		f.Unlock()
		return context.Cause(ctx)
	}
	if !a.Kind.Ends() || f.Queue.Holds(a.ID) {
		a.Change(func(i *event.Info) { i.State, i.Why = event.Running, "" })
		f.Unlock()
		return nil
	}
	r := f.resumes.of(a)
	r.asks++
	f.Serve()
	f.Unlock()
	select {
	case <-r.gave:
		a.Set(func(i *event.Info) { i.State, i.Why = event.Running, "" })
		return nil
	case <-ctx.Done():
	}
	f.Lock()
	defer f.Unlock()
	if r.asks--; r.asks == 0 {
		f.resumes.forget(a)
	}
	return context.Cause(ctx)
}

// Spent stops the clock of an agent that has ended, and frees its slot.
func (a *Agent) Spent() {
	a.fleet.Lock()
	defer a.fleet.Unlock()
	a.clock.stop()
	a.clock = nil
	a.fleet.resumes.forget(a)
	a.fleet.letGo(a)
	a.fleet.Told()
}
