package agents

import (
	"cmp"
	"context"
	"iter"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/ledger"
	"fantail/agents/llm"
	"fantail/agents/mail"
	"fantail/agents/queue"
	"fantail/agents/steer"
	"fantail/agents/waits"
	"fantail/inbox/policy"
	"fantail/store"
)

// onlooker is how those who wait see the agents.
type onlooker struct {
	*fleet.Fleet
	p *Pool // whose schedules they are
}

var _ waits.Crowd = onlooker{}

func (o onlooker) Hold(f func()) {
	o.Lock()
	defer o.Unlock()
	f()
}

func (o onlooker) Scheduled() bool {
	active, _ := o.p.Schedule.Summary()
	return active > 0
}

func (o onlooker) Living() iter.Seq[waits.Actor] {
	return func(yield func(waits.Actor) bool) {
		for a := range o.Fleet.Living() {
			if !yield(actor(a)) {
				return
			}
		}
	}
}

func (o onlooker) Agent(id int64) (waits.Actor, bool) {
	if a := o.Of(id); a != nil && !a.Info.State.Terminal() {
		return actor(a), true
	}
	return waits.Actor{}, false
}

func (o onlooker) Called(name string) (waits.Actor, bool) {
	if a := o.Fleet.Called(name); a != nil {
		return actor(a), true
	}
	return waits.Actor{}, false
}

func (o onlooker) Queue() *queue.Queue { return o.Fleet.Queue }

func (o onlooker) Told() { o.Hold(o.Fleet.Told) }

// actor is what others that wait must know of the agent. The caller holds the mutex.
func actor(a *fleet.Agent) waits.Actor {
	return waits.Actor{
		ID: a.ID, Parent: a.Info.Parent, Name: a.Info.Name, State: a.Info.State,
		Tasked: a.Kind.Tasked() && a.Info.State != event.Idle, Unattended: a.Info.Unattended,
	}
}

// recipients is how the mail room sees the agents.
type recipients struct{ p *Pool }

var _ mail.Fleet = recipients{}

func (r recipients) Info(agent int64) *event.Info {
	if a := r.p.fleet.Of(agent); a != nil {
		return &a.Info
	}
	return nil
}

func (r recipients) Living() iter.Seq[*event.Info] {
	return func(yield func(*event.Info) bool) {
		for a := range r.p.fleet.Living() {
			if !yield(&a.Info) {
				return
			}
		}
	}
}

func (r recipients) Poke(agent int64) {
	if a := r.p.fleet.Of(agent); a != nil {
		a.Poke()
	}
}

func (r recipients) Told() { r.p.fleet.Told() }

func (r recipients) Trouble(agent int64, err error) {
	if agent == 0 {
		r.p.fleet.Trouble(err)
	} else if a, gone := r.p.fleet.Agent(agent); gone == nil {
		a.Trouble(err)
	}
}

// Notice tells the human in main's tab what concerns more than one agent.
func (r recipients) Notice(ctx context.Context, text string) {
	p := r.p
	m := p.fleet.Main()
	if m == nil {
		return
	}
	err := p.o.DB.Write(ctx, "note", func(tx *store.Tx) error {
		_, err := m.Book().Batch(tx).Add(0, history.Entry{Kind: history.EntryNotice, Text: text})
		return err
	})
	if err != nil && ctx.Err() == nil {
		m.Trouble(err)
	}
}

// helm is how the human's say reaches the agents.
type helm struct{ *Pool }

var _ steer.Pool = helm{}

func (h helm) Named(ctx context.Context, word string) (*fleet.Agent, event.Info, error) {
	return h.named(ctx, word)
}

func (h helm) PutAside(agent int64) { h.putAside(agent) }

// register is how those who write letters see the agents.
type register struct{ p *Pool }

var _ mail.Directory = register{}

func (r register) Open(agent int64) error {
	_, err := r.p.fleet.Agent(agent)
	return err
}

func (r register) Reader(ctx context.Context, name string) (event.Info, error) {
	_, i, err := r.p.named(ctx, name)
	return i, cmp.Or(r.p.notStarted(name), err)
}

func (r register) Book(agent int64) history.Book { return r.p.fleet.Book(agent) }

// subjects is how the ledger sees the agents.
type subjects struct{ *Pool }

var _ ledger.Agents = subjects{}

func (s subjects) Policy(agent int64) (policy.Policy, error) { return s.Mail.Policy(agent) }

// Preamble returns what is known of an agent, and its request before anything was said.
func (s subjects) Preamble(agent int64) (event.Info, *llm.Request, error) {
	l, err := s.loops.Of(agent)
	if err != nil {
		return event.Info{}, nil, err
	}
	return l.Known(), l.Preamble(), nil
}
