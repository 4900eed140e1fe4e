package mail

import (
	"context"
	"fmt"

	"fantail/agents/history"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/store"
)

// Patience is how an agent waits for a message.
type Patience struct {
	By      string
	Outside bool // mail from outside counts as something that can arrive
	Into    Into
	Stands  func(why string) func() // shows the wait, and returns a function that ends that
	HasMail func() bool             // cheap check before looking into the inbox: most pokes are not about mail
}

// Receive takes the one message that matches, as soon as there is one.
func (t *Takes) Receive(ctx context.Context, k history.Writer, q inbox.Query, how Patience) (inbox.Message, error) {
	limit := history.BytesOf(min(history.ItemTokens, k.Room()))
	m, found, err := t.one(ctx, k, q, how, limit)
	if found || err != nil {
		return m, err
	}
	why := "waiting for any message"
	if q.From != "" {
		why = "waiting for a message from " + q.From
	}
	w := t.waits.Begin(&tasks.Wait{Agent: k.Agent, From: q.From, Outside: how.Outside, Mail: true})
	resume := how.Stands(why)
	defer func() {
		w.End()
		resume()
	}()
	err = w.Until(ctx, func() (bool, error) {
		if !how.HasMail() {
			return false, nil
		}
		m, found, err = t.one(ctx, k, q, how, limit)
		return found, err
	})
	return m, err
}

// one takes the first message that matches; limit is how many bytes of it a model reads.
func (t *Takes) one(
	ctx context.Context, k history.Writer, q inbox.Query, how Patience, limit int,
) (m inbox.Message, found bool, err error) {
	q.Recipient, q.Limit = k.Agent, 1
	err = t.db.Write(context.WithoutCancel(ctx), "receive", func(tx *store.Tx) error {
		b, r := k.Batch(tx), inbox.NewRendering(tx.Now(), limit)
		ms, _, err := t.inbox.Take(tx, q, how.By, func(ms []inbox.Message) (int64, error) {
			return how.Into(b, ms, AsRead(r, ms...))
		})
		if found = len(ms) > 0; found {
			m = ms[0]
		}
		return err
	})
	if err != nil {
		return m, false, fmt.Errorf("take a message: %w", err)
	}
	return m, found, nil
}
