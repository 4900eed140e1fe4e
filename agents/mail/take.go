package mail

import (
	"context"
	"fmt"
	"strings"

	"fantail/agents/history"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/store"
)

// maxTaken is the most messages that one take returns.
const maxTaken = 200

// autoTokens limits what enters on its own at one seam.
const autoTokens = 2_000

// fill admits messages in order while all their renderings together fit into room tokens; the first always fits.
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

// Takes puts messages into transcripts: a message is taken and its entry appended in one transaction. Its callers
// decide which messages, and when.
type Takes struct {
	db    *store.DB
	inbox *inbox.Inbox
	waits *tasks.Waits
}

// NewTakes returns takes from the inboxes of box; ws knows which agents wait for a message.
func NewTakes(db *store.DB, box *inbox.Inbox, ws *tasks.Waits) *Takes {
	return &Takes{db: db, inbox: box, waits: ws}
}

// Due takes what is due at this seam, in the transaction that opens it: whole messages, oldest first, within the
// budget. Messages that do not fit stay pending and the model is told how many.
func (t *Takes) Due(tx *store.Tx, b *history.Batch, agent, turn int64, came *Arrivals) error {
	q := inbox.Query{Recipient: agent, IDs: came.ids}
	switch plain := came.policy.Plain(); { // as policy.Decide would judge each
	case plain && (came.Typed || !came.who.Prompt):
		q.Deliver = []inbox.Deliver{inbox.Next, inbox.Wake}
	case plain && came.Wake:
		q.Deliver = []inbox.Deliver{inbox.Wake}
	case plain || len(came.ids) == 0:
		return nil
	}
	r := inbox.NewRendering(tx.Now(), 0)
	digest := func(ms ...inbox.Message) string {
		return r.Within(history.BytesOf(autoTokens), func(r inbox.Rendering) string { return r.Digest(ms) })
	}
	q.Limit, q.Fit = maxTaken, fill(autoTokens, func(m inbox.Message) string { return digest(m) })
	ms, more, err := t.inbox.Take(tx, q, "turn", func(ms []inbox.Message) (int64, error) {
		return b.Add(turn, history.Entry{Kind: history.EntryMessage, By: "turn", Messages: ms, Text: digest(ms...)})
	})
	came.Taken = ms
	if err != nil || len(ms) == 0 || more == 0 {
		return err
	}
	_, err = b.Add(turn, history.Entry{Kind: history.EntryHost, Text: moreWait(more)})
	return err
}

// moreWait tells a model how many messages did not fit.
func moreWait(n int) string {
	if n == 1 {
		return "1 more message waits in your inbox; the tool check takes it."
	}
	return inbox.Left(n) + " more messages wait in your inbox; the tool check takes them."
}

// Next takes the message a human wants handled in this turn.
func (t *Takes) Next(tx *store.Tx, k history.Writer, b *history.Batch, turn int64, w *TurnRequest) ([]inbox.Message, error) {
	q := inbox.Query{Recipient: k.Agent, ID: w.ID, ByUrgency: !w.Oldest, Limit: 1}
	r := inbox.NewRendering(tx.Now(), history.BytesOf(min(history.ItemTokens, k.Room())))
	ms, _, err := t.inbox.Take(tx, q, "next", func(ms []inbox.Message) (int64, error) {
		return b.Add(turn, history.Entry{
			Kind: history.EntryMessage, By: "next", Messages: ms, Text: inbox.QuoteLine(ms[0]) + "\n\n" + r.Envelope(ms[0]),
		})
	})
	return ms, err
}

// All takes all pending messages into this turn, as many as fit in a quarter of the model's window, and counts those
// that stay.
func (t *Takes) All(tx *store.Tx, k history.Writer, b *history.Batch, turn int64, w *TurnRequest) ([]inbox.Message, int, error) {
	room := k.Room()
	r := inbox.NewRendering(tx.Now(), history.BytesOf(min(history.ItemTokens, room)))
	render := func(m inbox.Message) string { return r.Fired([]inbox.Message{m}) }
	q := inbox.Query{Recipient: k.Agent, Limit: maxTaken, Fit: fill(room, render)}
	if len(w.IDs) > 0 {
		return t.these(tx, k, b, turn, w.IDs)
	}
	ms, left, err := t.inbox.Take(tx, q, "fire", func(ms []inbox.Message) (int64, error) {
		return b.Add(turn, history.Entry{Kind: history.EntryMessage, By: "fire", Messages: ms, Text: r.Fired(ms)})
	})
	if err == nil && len(ms) > 0 && left > 0 {
		_, err = b.Add(turn, history.Entry{Kind: history.EntryHost, Text: moreWait(left)})
	}
	return ms, left, err
}

// these takes exactly these messages, which are pending, into this turn. If they are too long together, their heads and
// tails enter.
func (t *Takes) these(
	tx *store.Tx, k history.Writer, b *history.Batch, turn int64, ids []int64,
) ([]inbox.Message, int, error) {
	room := k.Room()
	q := inbox.Query{Recipient: k.Agent, IDs: ids}
	ms, _, err := t.inbox.Take(tx, q, "fire", func(ms []inbox.Message) (int64, error) {
		r := inbox.NewRendering(tx.Now(), history.BytesOf(min(history.ItemTokens, room)))
		text := r.Fired(ms)
		if most := history.BytesOf(room); len(text) > most {
			r.Limit = 1
			r.Limit = max(1, (most-len(r.Fired(ms)))/len(ms))
			text = r.Fired(ms)
		}
		return b.Add(turn, history.Entry{Kind: history.EntryMessage, By: "fire", Messages: ms, Text: text})
	})
	return ms, 0, err
}

// AsRead returns messages that were taken on request as a model reads them, each in its envelope.
func AsRead(r inbox.Rendering, ms ...inbox.Message) string {
	parts := make([]string, len(ms))
	for i, m := range ms {
		parts[i] = r.Reported(m)
	}
	return strings.Join(parts, "\n\n")
}

// Into appends messages that were taken as one entry, with the text a model reads.
type Into func(b *history.Batch, ms []inbox.Message, text string) (int64, error)

// AtRest appends what a human took to the transcript without starting a turn. The model does not read what was taken by
// ByShow.
func AtRest(by string) Into {
	return func(b *history.Batch, ms []inbox.Message, text string) (int64, error) {
		if by == ByShow {
			text = ""
		}
		return b.Add(0, history.Entry{Kind: history.EntryMessage, By: by, Messages: ms, Text: text})
	}
}

// Check takes all messages that match, on behalf of by; rest, if not nil, appends something about those that are left.
func (t *Takes) Check(
	ctx context.Context, k history.Writer, q inbox.Query, by string, into Into,
	rest func(b *history.Batch, left int) error,
) (ms []inbox.Message, left int, err error) {
	room := k.Room()
	err = t.db.Write(ctx, "check", func(tx *store.Tx) error {
		q := q
		q.Recipient = k.Agent
		if q.Limit == 0 || q.Limit > maxTaken {
			q.Limit = maxTaken
		}
		r := inbox.NewRendering(tx.Now(), history.BytesOf(min(history.ItemTokens, room)))
		q.Fit = fill(room, func(m inbox.Message) string { return AsRead(r, m) })
		b := k.Batch(tx)
		var err error
		ms, left, err = t.inbox.Take(tx, q, by, func(ms []inbox.Message) (int64, error) {
			return into(b, ms, AsRead(r, ms...))
		})
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
