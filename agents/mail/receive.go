package mail

import (
	"context"
	"fmt"

	"fantail/agents/history"
	"fantail/agents/waits"
	"fantail/inbox"
	"fantail/store"
)

// Patience is how an agent waits for a message.
type Patience struct {
	By      string
	Outside bool // mail from outside counts as something that can arrive
	Into    Into
	Stands  func(why string) func() // shows for what it waits, and returns what ends that
	HasMail func() bool             // whether to look into the inbox: a wait is poked by whatever happens, most of which is no mail
}

// Receive takes the one message that matches, as soon as there is one.
func (t *Takes) Receive(ctx context.Context, k history.Book, q inbox.Query, how Patience) (inbox.Message, error) {
	var m inbox.Message
	limit := history.BytesOf(min(history.ItemTokens, k.Room()))
	take := func() (bool, error) {
		found := false
		err := t.db.Write(context.WithoutCancel(ctx), "receive", func(tx *store.Tx) error {
			q := q
			q.Recipient, q.Limit = k.Agent, 1
			b := k.Batch(tx)
			r := inbox.NewRendering(tx.Now(), limit)
			ms, _, err := t.inbox.Take(tx, q, how.By, func(ms []inbox.Message) (int64, error) { return how.Into(b, ms, AsRead(r, ms...)) })
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
	w := t.waits.Begin(&waits.Wait{Agent: k.Agent, From: q.From, Outside: how.Outside, Mail: true})
	resume := how.Stands(why)
	defer func() {
		w.End()
		resume()
	}()
	err := w.Until(ctx, func() (bool, error) {
		if !how.HasMail() {
			return false, nil
		}
		return take()
	})
	return m, err
}
