package agents

import "context"

// A sub-agent that runs holds a slot of the pool (its cap) and of its
// dispatcher's window. One that waits or asks holds none, and takes it back
// before queued tasks start.

// resume is an agent that wants its slot back.
type resume struct {
	a    *agent
	gave chan struct{}
}

// fits reports whether one more agent of that owner may run. The caller holds mu.
func (p *Pool) fits(owner int64) bool {
	if len(p.running) >= p.o.Cap {
		return false
	}
	most, open := p.windows[owner]
	if !open || most == 0 {
		return true
	}
	n := 0
	for _, o := range p.running {
		if o == owner {
			n++
		}
	}
	return n < most
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
		if owner := r.a.info.Parent; p.fits(owner) {
			p.running[r.a.id] = owner
			close(r.gave)
		} else {
			rest = append(rest, r)
		}
	}
	p.resumes = rest
	token(p.dispatch)
}

// aside lets the agent's slot go and shows why it waits; what it returns takes
// the slot back.
func (a *agent) aside(why string) func(ctx context.Context) error {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	a.change(func(i *Info) { i.State, i.Doing, i.Why = Waiting, "", why })
	a.p.letGo(a)
	return a.regain
}

// regain takes the agent's slot back, waiting for it if need be.
func (a *agent) regain(ctx context.Context) error {
	a.p.mu.Lock()
	if a.kind != Sub {
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
