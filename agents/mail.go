package agents

import (
	"context"
	"fmt"
	"strings"
	"time"

	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/store"
)

// Bounds of takes, in tokens.
const (
	autoTokens = 2_000   // of one automatic take
	itemTokens = 16_000  // of one message in a take somebody asked for
	maxTaken   = 200     // messages of one check
	someWindow = 128_000 // of a model whose window is unknown

	objectBytes = 4 << 10 // of each text in a failure's object
)

// tokens estimates how many tokens s is. It errs on the high side.
func tokens(s string) int { return (2*len(s) + 6) / 7 }

// bytesOf is the length of a text of n tokens.
func bytesOf(n int) int { return n * 7 / 2 }

// takeDue takes what is due at this seam, in the transaction that opens it: whole
// messages, oldest first, within the budget. What does not fit stays pending
// and the model is told how many.
func (a *agent) takeDue(tx *store.Tx, b *batch, turn int64) error {
	left := autoTokens
	q := inbox.Query{
		Recipient: a.id, Deliver: []inbox.Deliver{inbox.Next, inbox.Wake},
		Fit: func(m inbox.Message) bool {
			n := min(tokens(m.Body+m.Error+m.Partial), autoTokens)
			if n > left && left < autoTokens {
				return false
			}
			left -= n
			return true
		},
	}
	ms, more, err := a.p.inbox.Take(tx, q, "turn", func(ms []inbox.Message) (int64, error) {
		return b.add(turn, Entry{Kind: EntryMessage, By: "turn", Messages: ms, Text: inbox.Digest(ms, tx.Now(), bytesOf(autoTokens))})
	})
	if err != nil || len(ms) == 0 || more == 0 {
		return err
	}
	_, err = b.add(turn, Entry{Kind: EntryHost, Text: fmt.Sprintf("%d more messages wait in your inbox; the tool check takes them.", more)})
	return err
}

// takeNext takes the message a human wants handled in this turn.
func (a *agent) takeNext(tx *store.Tx, b *batch, turn, id int64) (took, error) {
	q := inbox.Query{Recipient: a.id, ID: id, ByUrgency: true, Limit: 1}
	ms, _, err := a.p.inbox.Take(tx, q, "next", func(ms []inbox.Message) (int64, error) {
		text := inbox.Line(ms[0]) + "\n\n" + inbox.Envelope(ms[0], tx.Now(), bytesOf(itemTokens))
		return b.add(turn, Entry{Kind: EntryMessage, By: "next", Messages: ms, Text: text})
	})
	if err != nil || len(ms) == 0 {
		return took{}, err
	}
	return took{m: ms[0], ok: true}, nil
}

// asRead is how a model reads messages that were taken on request: failures as
// their object, then each in its envelope.
func asRead(ms []inbox.Message, now time.Time) string {
	var parts []string
	for _, m := range ms {
		if !m.Success() {
			short := m
			short.Error, short.Partial, short.Body = llm.Clip(m.Error, objectBytes), llm.Clip(m.Partial, objectBytes), llm.Clip(m.Body, objectBytes)
			parts = append(parts, inbox.Object(short)) // the envelope has more
		}
		parts = append(parts, inbox.Envelope(m, now, bytesOf(itemTokens)))
	}
	return strings.Join(parts, "\n\n")
}

// Check takes all that are ready and match into the agent's transcript, without
// starting a turn: as many as fit in a quarter of the model's window, at most
// 200; left counts the others.
func (p *Pool) Check(ctx context.Context, agent int64, q inbox.Query) (ms []inbox.Message, left int, err error) {
	a, err := p.agent(agent)
	if err != nil {
		return nil, 0, err
	}
	return a.check(ctx, q, func(b *batch, ms []inbox.Message) (int64, error) {
		return b.add(0, Entry{Kind: EntryMessage, By: "check", Messages: ms, Text: asRead(ms, b.tx.Now())})
	}, nil)
}

// check takes all that match; into appends them, and rest, if there is one, what
// is to be said of those that are left.
func (a *agent) check(ctx context.Context, q inbox.Query, into func(b *batch, ms []inbox.Message) (int64, error), rest func(b *batch, left int) error) (ms []inbox.Message, left int, err error) {
	a.p.mu.Lock()
	room := a.info.Window / 4
	a.p.mu.Unlock()
	if room == 0 {
		room = someWindow / 4
	}
	err = a.p.o.DB.Write(ctx, "check", func(tx *store.Tx) error {
		fill := 0
		q := q
		q.Recipient, q.Limit = a.id, maxTaken
		q.Fit = func(m inbox.Message) bool {
			n := min(tokens(m.Body+m.Error+m.Partial), itemTokens)
			if fill > 0 && fill+n > room {
				return false
			}
			fill += n
			return true
		}
		b := a.batch(tx, false)
		var err error
		ms, left, err = a.p.inbox.Take(tx, q, "check", func(ms []inbox.Message) (int64, error) { return into(b, ms) })
		if err == nil && len(ms) > 0 && left > 0 && rest != nil {
			err = rest(b, left)
		}
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("take messages: %w", err)
	}
	return ms, left, nil
}

// Receive takes exactly one into the agent's transcript, without starting a turn,
// and waits for it if need be. It returns ErrNothing (wrapped, with the
// explanation) when nothing can arrive and ErrStopped after Stop.
func (p *Pool) Receive(ctx context.Context, agent int64, q inbox.Query) (inbox.Message, error) {
	a, err := p.agent(agent)
	if err != nil {
		return inbox.Message{}, err
	}
	ctx, release, err := a.visit(ctx)
	if err != nil {
		return inbox.Message{}, err
	}
	defer release()
	rest := func(now, then State, why string) (did bool) {
		a.set(func(i *Info) {
			if did = i.State == now; did {
				i.State, i.Why = then, why
			}
		})
		return did
	}
	m, err := a.receive(ctx, q, "receive",
		func(b *batch, ms []inbox.Message) (int64, error) {
			return b.add(0, Entry{Kind: EntryMessage, By: "receive", Messages: ms, Text: asRead(ms, b.tx.Now())})
		},
		func(why string) func() {
			rested := rest(Idle, Waiting, why)
			return func() {
				if rested { // else it is the turn that waits
					rest(Waiting, Idle, "")
				}
				a.poked()
			}
		})
	return m, err
}

// receive takes the one message that matches, as soon as there is one. During
// the wait the agent stands as waits says: waits is called with the reason and
// returns what ends it.
func (a *agent) receive(ctx context.Context, q inbox.Query, by string, into func(b *batch, ms []inbox.Message) (int64, error), waits func(why string) func()) (inbox.Message, error) {
	var m inbox.Message
	take := func() (bool, error) {
		found := false
		err := a.p.o.DB.Write(context.WithoutCancel(ctx), by, func(tx *store.Tx) error {
			q := q
			q.Recipient, q.Limit = a.id, 1
			b := a.batch(tx, false)
			ms, _, err := a.p.inbox.Take(tx, q, by, func(ms []inbox.Message) (int64, error) { return into(b, ms) })
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
	w, end := a.p.wait(a, q.From, false)
	resume := waits(why)
	defer func() {
		end()
		resume()
	}()
	for {
		version := a.p.versionNow()
		if ok, err := take(); ok || err != nil {
			return m, err
		}
		if text, stuck := a.p.stuck(w, version); stuck {
			return m, fmt.Errorf("%w: %s", ErrNothing, text)
		}
		select {
		case <-w.poke:
		case <-ctx.Done():
			return m, context.Cause(ctx)
		}
	}
}

// Next takes the most urgent message, or the one with that id (0: none named),
// and starts a turn with it; while a turn runs it waits for its end. False:
// there is none.
func (p *Pool) Next(ctx context.Context, agent, id int64) (inbox.Message, bool, error) {
	a, err := p.agent(agent)
	if err != nil {
		return inbox.Message{}, false, err
	}
	if !a.kind.HasPrompt() {
		return inbox.Message{}, false, ErrNoPrompt
	}
	n := &next{id: id, reply: make(chan took, 1)}
	p.mu.Lock()
	a.nexts = append(a.nexts, n)
	p.mu.Unlock()
	a.poked()
	select {
	case t := <-n.reply:
		return t.m, t.ok, t.err
	case <-ctx.Done():
		a.unwish(n)
		return inbox.Message{}, false, ctx.Err()
	case <-p.ctx.Done():
		return inbox.Message{}, false, errClosing
	}
}

// Inbox lists the pending messages of agent.
func (p *Pool) Inbox(ctx context.Context, agent int64) ([]inbox.Message, error) {
	return p.inbox.List(ctx, inbox.Query{Recipient: agent})
}

// Message returns one message, taken or not.
func (p *Pool) Message(ctx context.Context, id int64) (inbox.Message, bool, error) {
	return p.inbox.Get(ctx, id)
}

// Send puts mail from one agent into the inbox of the agent of that name.
func (p *Pool) Send(ctx context.Context, from int64, to, body string, pr inbox.Priority) (id int64, err error) {
	sender, err := p.agent(from)
	if err != nil {
		return 0, err
	}
	a, i, err := p.named(to)
	if err != nil {
		return 0, fmt.Errorf("send to %w", unknown(to, p.liveNames()))
	}
	if i.State.Terminal() {
		return 0, ended(to, i.State)
	}
	p.mu.Lock()
	name := sender.info.Name
	p.mu.Unlock()
	id, err = p.inbox.Deposit(ctx, inbox.Message{
		Recipient: a.id, Sender: from, From: name, Kind: inbox.Mail, Deliver: inbox.Next, Priority: pr, Body: body,
	})
	if err != nil {
		return 0, fmt.Errorf("send to %s: %w", to, err)
	}
	return id, nil
}

// liveNames says whom mail can reach.
func (p *Pool) liveNames() (names []string) {
	for _, i := range p.Infos() {
		if !i.State.Terminal() {
			names = append(names, i.Name)
		}
	}
	return names
}
