package agents

import (
	"context"
	"fmt"
	"strings"

	"fantail/agents/history"
	"fantail/agents/mail"
	"fantail/agents/waits"
	"fantail/inbox"
	"fantail/store"
)

// Bounds of takes, in tokens.
const (
	autoTokens = 2_000 // of one automatic take

	maxTaken = 200 // messages of one take

)

// fill admits messages in order as long as all their renderings fit into room
// tokens; the first always does.
func fill(room int, render func(m inbox.Message) string) func(m inbox.Message) bool {
	n, any := 0, false
	return func(m inbox.Message) bool {
		n += history.Tokens(render(m))
		if any && n > room {
			return false
		}
		any = true
		return true
	}
}

// room is how much of the model's window one take may fill, in tokens.
func (a *agent) room() int {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	if a.info.Window == 0 {
		return history.SomeWindow / 4
	}
	return a.info.Window / 4
}

// takes puts messages into transcripts: a message is taken, and its entry appended, in one
// transaction. Which messages, and when, others decide.
type takes struct {
	db    *store.DB
	inbox *inbox.Inbox
	waits *waits.Table
}

func newTakes(db *store.DB, box *inbox.Inbox, ws *waits.Table) *takes {
	return &takes{db: db, inbox: box, waits: ws}
}

// due takes what is due at this seam, in the transaction that opens it: whole
// messages, oldest first, within the budget. What does not fit stays pending
// and the model is told how many.
func (t *takes) due(tx *store.Tx, b *Batch, agent, turn int64, mail *arrivals) error {
	q := inbox.Query{Recipient: agent, IDs: mail.ids}
	switch plain := mail.policy.Plain(); {
	case plain && (mail.typed || mail.wake || !mail.who.Prompt):
		q.Deliver = []inbox.Deliver{inbox.Next, inbox.Wake}
	case plain || len(mail.ids) == 0:
		return nil
	}
	r := inbox.NewRendering(tx.Now(), 0)
	digest := func(ms ...inbox.Message) string {
		return r.Within(history.BytesOf(autoTokens), func(r inbox.Rendering) string { return r.Digest(ms) })
	}
	q.Limit, q.Fit = maxTaken, fill(autoTokens, func(m inbox.Message) string { return digest(m) })
	ms, more, err := t.inbox.Take(tx, q, "turn", func(ms []inbox.Message) (int64, error) {
		return b.Add(turn, Entry{Kind: EntryMessage, By: "turn", Messages: ms, Text: digest(ms...)})
	})
	mail.taken = ms
	if err != nil || len(ms) == 0 || more == 0 {
		return err
	}
	_, err = b.Add(turn, Entry{Kind: EntryHost, Text: moreWait(more)})
	return err
}

// moreWait tells a model how many messages did not fit.
func moreWait(n int) string {
	if n == 1 {
		return "1 more message waits in your inbox; the tool check takes it."
	}
	return fmt.Sprintf("%d more messages wait in your inbox; the tool check takes them.", n)
}

// next takes the message a human wants handled in this turn.
func (t *takes) next(tx *store.Tx, k history.Book, b *Batch, turn int64, w *wish) ([]inbox.Message, error) {
	q := inbox.Query{Recipient: k.Agent, ID: w.id, ByUrgency: !w.oldest, Limit: 1}
	r := inbox.NewRendering(tx.Now(), history.BytesOf(min(history.ItemTokens, k.Room())))
	ms, _, err := t.inbox.Take(tx, q, "next", func(ms []inbox.Message) (int64, error) {
		return b.Add(turn, Entry{Kind: EntryMessage, By: "next", Messages: ms, Text: inbox.Line(ms[0]) + "\n\n" + r.Envelope(ms[0])})
	})
	return ms, err
}

// all takes all that is pending into this turn, as much as fits in a quarter
// of the model's window; what does not fit stays pending, counted.
func (t *takes) all(tx *store.Tx, k history.Book, b *Batch, turn int64, w *wish) ([]inbox.Message, int, error) {
	room := k.Room()
	r := inbox.NewRendering(tx.Now(), history.BytesOf(min(history.ItemTokens, room)))
	q := inbox.Query{Recipient: k.Agent, Limit: maxTaken, Fit: fill(room, func(m inbox.Message) string { return r.Fired([]inbox.Message{m}) })}
	if len(w.ids) > 0 {
		return t.these(tx, k, b, turn, w.ids)
	}
	ms, left, err := t.inbox.Take(tx, q, "fire", func(ms []inbox.Message) (int64, error) {
		return b.Add(turn, Entry{Kind: EntryMessage, By: "fire", Messages: ms, Text: r.Fired(ms)})
	})
	if err == nil && len(ms) > 0 && left > 0 {
		_, err = b.Add(turn, Entry{Kind: EntryHost, Text: moreWait(left)})
	}
	return ms, left, err
}

// these takes exactly these messages, which wait, into this turn. What is too
// long together enters as heads and tails.
func (t *takes) these(tx *store.Tx, k history.Book, b *Batch, turn int64, ids []int64) ([]inbox.Message, int, error) {
	room := k.Room()
	ms, _, err := t.inbox.Take(tx, inbox.Query{Recipient: k.Agent, IDs: ids}, "fire", func(ms []inbox.Message) (int64, error) {
		r := inbox.NewRendering(tx.Now(), history.BytesOf(min(history.ItemTokens, room)))
		text := r.Fired(ms)
		if most := history.BytesOf(room); len(text) > most {
			r.Limit = 1
			r.Limit = max(1, (most-len(r.Fired(ms)))/len(ms))
			text = r.Fired(ms)
		}
		return b.Add(turn, Entry{Kind: EntryMessage, By: "fire", Messages: ms, Text: text})
	})
	return ms, 0, err
}

// asRead is how a model reads messages that were taken on request, each in its
// envelope.
func asRead(r inbox.Rendering, ms ...inbox.Message) string {
	parts := make([]string, len(ms))
	for i, m := range ms {
		parts[i] = r.Reported(m)
	}
	return strings.Join(parts, "\n\n")
}

// into appends messages that were taken as one entry with the text a model reads.
type into func(b *Batch, ms []inbox.Message, text string) (int64, error)

// atRest appends what a human took to the transcript without starting a turn. With
// shown the model does not read it.
func atRest(by string) into {
	return func(b *Batch, ms []inbox.Message, text string) (int64, error) {
		if by == mail.ByShow {
			text = ""
		}
		return b.Add(0, Entry{Kind: EntryMessage, By: by, Messages: ms, Text: text})
	}
}

// Check takes what is ready and matches into the agent's transcript, without
// starting a turn: as many as fit in a quarter of the model's window, at most
// q.Limit (0: 200); left counts the others.
func (p *Pool) Check(ctx context.Context, agent int64, q inbox.Query) (ms []inbox.Message, left int, err error) {
	return p.take(ctx, agent, q, "check")
}

// Show is Check for the human alone: what it takes stands in the transcript, and the
// model never reads it.
func (p *Pool) Show(ctx context.Context, agent int64, q inbox.Query) (ms []inbox.Message, left int, err error) {
	return p.take(ctx, agent, q, mail.ByShow)
}

func (p *Pool) take(ctx context.Context, agent int64, q inbox.Query, by string) (ms []inbox.Message, left int, err error) {
	a, err := p.agent(agent)
	if err != nil {
		return nil, 0, err
	}
	if q.From, err = p.Sender(ctx, agent, q.From); err != nil {
		return nil, 0, err
	}
	return p.takes.check(ctx, a.book(), q, by, atRest(by), nil)
}

// check takes all that match, by whom it says; rest, if there is one, appends what
// is to be said of those that are left.
func (t *takes) check(ctx context.Context, k history.Book, q inbox.Query, by string, into into, rest func(b *Batch, left int) error) (ms []inbox.Message, left int, err error) {
	room := k.Room()
	err = t.db.Write(ctx, "check", func(tx *store.Tx) error {
		q := q
		q.Recipient = k.Agent
		if q.Limit == 0 || q.Limit > maxTaken {
			q.Limit = maxTaken
		}
		r := inbox.NewRendering(tx.Now(), history.BytesOf(min(history.ItemTokens, room)))
		q.Fit = fill(room, func(m inbox.Message) string { return asRead(r, m) })
		b := k.Batch(tx, false)
		var err error
		ms, left, err = t.inbox.Take(tx, q, by, func(ms []inbox.Message) (int64, error) { return into(b, ms, asRead(r, ms...)) })
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
