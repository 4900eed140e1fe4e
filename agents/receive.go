package agents

import (
	"context"
	"fmt"
	"time"

	"fantail/agents/history"
	"fantail/agents/mail"
	"fantail/agents/waits"
	"fantail/inbox"
	"fantail/store"
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
	return p.takes.receive(ctx, a.book(), q, patience{by: by, hasMail: a.hasMail, outside: how.Outside, into: atRest(by), stands: func(why string) func() {
		turn, rested := rest(Idle, Waiting, why+"; Esc stops it", p.o.Now())
		return func() {
			if rested { // else it is the turn that waits
				rest(Waiting, Idle, "", turn)
			}
			a.poked()
		}
	}})
}

// patience is how an agent waits for a message.
type patience struct {
	by      string
	outside bool // mail from outside counts as something that can arrive
	into    into
	stands  func(why string) func() // shows for what it waits, and returns what ends that
	hasMail func() bool             // whether to look into the inbox: a wait is poked by whatever happens, most of which is no mail
}

// receive takes the one message that matches, as soon as there is one.
func (t *takes) receive(ctx context.Context, k history.Book, q inbox.Query, how patience) (inbox.Message, error) {
	var m inbox.Message
	limit := history.BytesOf(min(history.ItemTokens, k.Room()))
	take := func() (bool, error) {
		found := false
		err := t.db.Write(context.WithoutCancel(ctx), "receive", func(tx *store.Tx) error {
			q := q
			q.Recipient, q.Limit = k.Agent, 1
			b := k.Batch(tx, false)
			r := inbox.NewRendering(tx.Now(), limit)
			ms, _, err := t.inbox.Take(tx, q, how.by, func(ms []inbox.Message) (int64, error) { return how.into(b, ms, asRead(r, ms...)) })
			if found = len(ms) > 0; found {
				m = ms[0]
			}
			return err
		})
		if err != nil {
			return false, fmt.Errorf("take a message: %w", err)
		}
		return found, nil
	}
	if ok, err := take(); ok || err != nil {
		return m, err
	}
	why := "waiting for any message"
	if q.From != "" {
		why = "waiting for a message from " + q.From
	}
	w := t.waits.Begin(&waits.Wait{Agent: k.Agent, From: q.From, Outside: how.outside, Mail: true})
	resume := how.stands(why)
	defer func() {
		w.End()
		resume()
	}()
	err := w.Until(ctx, func() (bool, error) {
		if !how.hasMail() {
			return false, nil
		}
		return take()
	})
	return m, err
}

// hasMail reports whether a message is pending for the agent.
func (a *agent) hasMail() bool {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	return a.info.Pending > 0
}
