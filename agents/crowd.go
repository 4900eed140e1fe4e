package agents

import (
	"cmp"
	"context"
	"iter"

	"fantail/agents/mail"
	"fantail/agents/queue"
	"fantail/agents/roster"
	"fantail/agents/tasks"
	"fantail/agents/waits"
	"fantail/store"
)

// onlooker is how those who wait see the agents.
type onlooker struct{ p *Pool }

var _ waits.Crowd = onlooker{}

func (o onlooker) Hold(f func()) {
	o.p.mu.Lock()
	defer o.p.mu.Unlock()
	f()
}

func (o onlooker) Living() iter.Seq[waits.Actor] {
	return func(yield func(waits.Actor) bool) {
		for _, a := range o.p.living {
			if !yield(a.actor()) {
				return
			}
		}
	}
}

func (o onlooker) Agent(id int64) (waits.Actor, bool) {
	if a := o.p.living[id]; a != nil {
		return a.actor(), true
	}
	return waits.Actor{}, false
}

// Called returns the agent of that name whose tab is open, be it alive or not.
func (o onlooker) Called(name string) (waits.Actor, bool) {
	for _, a := range o.p.agents {
		if a.info.Name == name {
			return a.actor(), true
		}
	}
	return waits.Actor{}, false
}

func (o onlooker) Queue() *queue.Queue { return o.p.queue }

func (o onlooker) Told() { o.Hold(o.p.told) }

// actor is what others that wait must know of the agent. The caller holds mu.
func (a *agent) actor() waits.Actor {
	return waits.Actor{
		ID: a.id, Parent: a.info.Parent, Name: a.info.Name, State: a.info.State, Tasked: a.kind.Nature().Tasked, Dormant: a.dormant(),
		Acts: !a.dormant() && (a.info.State != Idle || a.p.o.Attended),
	}
}

// recipients is how the mail room sees the agents.
type recipients struct{ p *Pool }

var _ mail.Fleet = recipients{}

func (r recipients) Info(agent int64) *Info {
	if a := r.p.agents[agent]; a != nil {
		return &a.info
	}
	return nil
}

func (r recipients) Living() iter.Seq[*Info] {
	return func(yield func(*Info) bool) {
		for _, a := range r.p.living {
			if !yield(&a.info) {
				return
			}
		}
	}
}

func (r recipients) Poke(agent int64) {
	if a := r.p.agents[agent]; a != nil {
		a.poked()
	}
}

func (r recipients) Told() { r.p.told() }

func (r recipients) Trouble(agent int64, err error) {
	if agent == 0 {
		r.p.troubleMain(err)
	} else if a, gone := r.p.agent(agent); gone == nil {
		a.trouble(err)
	}
}

// Notice tells the human in main's tab what concerns no agent alone.
func (r recipients) Notice(ctx context.Context, text string) {
	p := r.p
	m := p.main()
	if m == nil {
		return
	}
	err := p.o.DB.Write(ctx, "note", func(tx *store.Tx) error {
		_, err := m.book().Batch(tx, false).Add(0, Entry{Kind: EntryNotice, Text: text})
		return err
	})
	if err != nil && ctx.Err() == nil {
		m.trouble(err)
	}
}

// register is how those who write letters see the agents.
type register struct{ p *Pool }

var _ mail.Directory = register{}

func (r register) Open(agent int64) error {
	_, err := r.p.agent(agent)
	return err
}

func (r register) Reader(ctx context.Context, name string) (Info, error) {
	_, i, err := r.p.named(ctx, name)
	return i, cmp.Or(r.p.notStarted(name), err)
}

func (r register) Book(agent int64) Book { return r.p.book(agent) }

// line is how tasks that wait see the queue in memory.
type line struct{ p *Pool }

var _ tasks.Line = line{}

func (l line) Owner(agent int64) (model string, turn int64, live int, err error) {
	a, err := l.p.agent(agent)
	if err != nil {
		return "", 0, 0, err
	}
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	for _, b := range l.p.living {
		if b.kind.Nature().Tasked {
			live++
		}
	}
	return a.info.Model, a.shownTurn, live, nil
}

func (l line) Queued(t roster.QueuedTask) {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	l.p.shutDrained() // it joins none that is drained
	l.p.enqueue(t)
	l.p.told()
}

func (l line) Moved(tasks, places []int64) {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	for i, id := range tasks {
		l.p.queue.Move(id, places[i])
	}
	l.p.told()
}

func (l line) Renamed(agent int64, name string) {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	if a := l.p.agents[agent]; a != nil {
		a.change(func(i *Info) { i.Name = name })
	}
}
