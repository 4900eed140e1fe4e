package agents

import (
	"context"
	"time"

	"fantail/agents/mail"
	"fantail/inbox"
)

// Receive takes exactly one message into the agent's transcript, without starting
// a turn, and waits for it if need be. It returns ErrNothing (wrapped, with the
// explanation) when nothing can arrive, ErrStopped after Stop, ctx's cause when
// ctx ends, and anything else only when the take itself failed.
func (p *Pool) Receive(ctx context.Context, agent int64, q inbox.Query) (inbox.Message, error) {
	return p.Await(ctx, agent, q, Await{})
}

// Await says how a human's receive differs from the plain one.
type Await struct {
	Outside bool // mail may come from outside: it goes on waiting though no agent can send any more
	Show    bool // the model does not read what it takes
}

// Await is Receive as how says.
func (p *Pool) Await(ctx context.Context, agent int64, q inbox.Query, how Await) (inbox.Message, error) {
	by := "receive"
	if how.Show {
		by = mail.ByShow
	}
	a, err := p.agent(agent)
	if err != nil {
		return inbox.Message{}, err
	}
	if q.From, err = p.Sender(ctx, agent, q.From); err != nil {
		return inbox.Message{}, err
	}
	ctx, release, err := a.visit(ctx)
	if err != nil {
		return inbox.Message{}, err
	}
	defer release()
	rest := func(now, then State, why string, since time.Time) (before time.Time, did bool) {
		a.set(func(i *Info) {
			if did = i.State == now; did {
				before = i.Started
				i.State, i.Why, i.Started = then, why, since
			}
		})
		return before, did
	}
	return p.takes.Receive(ctx, a.book(), q, mail.Patience{By: by, HasMail: a.hasMail, Outside: how.Outside, Into: mail.AtRest(by), Stands: func(why string) func() {
		turn, rested := rest(Idle, Waiting, why+"; Esc stops it", p.o.Now())
		return func() {
			if rested { // else it is the turn that waits
				rest(Waiting, Idle, "", turn)
			}
			a.poked()
		}
	}})
}

// hasMail reports whether a message is pending for the agent.
func (a *agent) hasMail() bool {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	return a.info.Pending > 0
}
