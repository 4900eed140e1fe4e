package agents

import (
	"context"
	"slices"
	"strings"

	"fantail/agents/queue"
)

// A sub-agent or a fork that runs holds a slot of the queue. One that waits or asks
// holds none, and takes it back before queued tasks start.

// resume is an agent that wants its slot back.
type resume struct {
	a    *agent
	gave chan struct{}
}

// slot is what the agent holds while it runs. The caller holds mu.
func (a *agent) slot() queue.Slot {
	s := queue.Slot{Vendor: a.model.Vendor, AtOnce: a.model.AtOnce}
	if a.kind.Nature().Tasked {
		s.Owner = a.info.Parent
	}
	return s
}

// letGo gives an agent's slot away. The caller holds mu.
func (p *Pool) letGo(a *agent) {
	p.queue.Free(a.id)
	p.serve()
}

// serve gives free slots to those that want theirs back. The caller holds mu.
func (p *Pool) serve() {
	var rest []*resume
	for _, r := range p.resumes {
		if s := r.a.slot(); p.queue.Full(s) == "" {
			p.queue.Take(r.a.id, s)
			close(r.gave)
		} else {
			rest = append(rest, r)
		}
	}
	p.resumes = rest
	token(p.dispatch)
}

// aside lets the agent's slot go and shows why it waits; what it returns takes
// the slot back once nothing of the agent waits any more.
func (a *agent) aside(why string) func(ctx context.Context) error {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	a.away = append(a.away, why)
	a.change(a.waiting)
	a.p.letGo(a)
	return func(ctx context.Context) error {
		a.p.mu.Lock()
		at := slices.Index(a.away, why)
		a.away = slices.Delete(a.away, at, at+1)
		if len(a.away) > 0 {
			a.change(a.waiting)
			a.p.mu.Unlock()
			return nil
		}
		a.p.mu.Unlock()
		return a.regain(ctx)
	}
}

// waiting shows what the agent waits for.
func (a *agent) waiting(i *Info) {
	i.State, i.Doing, i.Why = Waiting, "", a.away[0]
	for _, why := range a.away[1:] {
		i.Why += ", " + strings.TrimPrefix(why, "waiting for ")
	}
}

// regain takes the agent's slot back, waiting for it if need be.
func (a *agent) regain(ctx context.Context) error {
	a.p.mu.Lock()
	if !a.kind.Ends() {
		a.change(func(i *Info) { i.State, i.Why = Running, "" })
		a.p.mu.Unlock()
		return nil
	}
	r := &resume{a: a, gave: make(chan struct{})}
	a.p.resumes = append(a.p.resumes, r)
	a.p.serve()
	a.p.mu.Unlock()
	select {
	case <-r.gave:
		a.set(func(i *Info) { i.State, i.Why = Running, "" })
		return nil
	case <-ctx.Done():
	}
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	for i, s := range a.p.resumes {
		if s == r {
			a.p.resumes = append(a.p.resumes[:i:i], a.p.resumes[i+1:]...)
		}
	}
	return context.Cause(ctx)
}
