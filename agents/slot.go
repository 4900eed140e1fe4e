package agents

import (
	"context"
	"slices"
	"strings"
)

// A sub-agent or a fork that runs holds a slot of the pool (its cap), of its dispatcher's
// window and of the vendor that serves its model. One that waits or asks holds none, and takes it back
// before queued tasks start.

// resume is an agent that wants its slot back.
type resume struct {
	a    *agent
	gave chan struct{}
}

// slot is what an agent that runs holds.
type slot struct {
	owner  int64  // whose queue it came from
	vendor string // who serves its model
	atOnce int    // how many agents the vendor serves at once; 0: no bound
}

// full says what keeps one more agent from running: its owner's "window", the
// "cap", or a vendor's name; "" if nothing does. The caller holds mu.
func (p *Pool) full(s slot) string {
	w, open := p.windows[s.owner]
	owners, vendors := 0, 0
	for _, o := range p.running {
		if o.owner == s.owner {
			owners++
		}
		if o.vendor == s.vendor {
			vendors++
		}
	}
	switch {
	case open && w.most > 0 && owners >= w.most:
		return "window"
	case len(p.running) >= p.o.Cap:
		return "cap"
	case s.atOnce > 0 && vendors >= s.atOnce:
		return s.vendor
	}
	return ""
}

// slot is what the agent holds while it runs. The caller holds mu.
func (a *agent) slot() slot {
	if a.kind == Fork { // no queue's window bounds it
		return slot{vendor: a.model.Vendor, atOnce: a.model.AtOnce}
	}
	return slot{owner: a.info.Parent, vendor: a.model.Vendor, atOnce: a.model.AtOnce}
}

// letGo gives an agent's slot away. The caller holds mu.
func (p *Pool) letGo(a *agent) {
	delete(p.running, a.id)
	p.serve()
}

// serve gives free slots to those that want theirs back. The caller holds mu.
func (p *Pool) serve() {
	var rest []*resume
	for _, r := range p.resumes {
		if s := r.a.slot(); p.full(s) == "" {
			p.running[r.a.id] = s
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
