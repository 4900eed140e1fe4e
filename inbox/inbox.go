// Package inbox stores messages: deposit, count, list, and take each exactly once. It also quotes messages for a model.
package inbox

import (
	"context"
	"errors"
	"fmt"

	"fantail/store"
)

// Change describes a commit that changed an inbox.
type Change struct {
	Recipient int64
	Pending   int   // after the commit, without questions and approvals: only an answer takes those
	Asks      int   // questions and approvals after the commit
	Urgent    int   // of all these, with priority urgent
	Deposited bool  // a message came; false: messages were taken
	Wake      bool  // a new message asks to wake
	First     int64 // of the new messages; 0: none
	Came      int   // number of new messages, without muted threads
	Calls     int64 // the last new message that calls the human; 0: none
}

// OnChange is called after each commit that changed an inbox or its messages, in the goroutine that commits: it must be
// quick and must not write. Several changes of one inbox in one transaction cause one call, with the last numbers.
type OnChange func(Change)

// Inbox deposits and takes. It is safe for concurrent use.
type Inbox struct {
	Words *Index

	db   *store.DB
	bell OnChange
}

// New returns the inboxes of db. bell is called after changes; it may be nil.
func New(db *store.DB, bell OnChange) *Inbox {
	return &Inbox{&Index{db, make(chan struct{}, 1)}, db, bell}
}

// Errors of Add and Deposit.
var (
	ErrEmpty    = errors.New("the message is empty")
	ErrTooLarge = errors.New("the message is larger than 1 MiB")
	ErrKeyUsed  = errors.New("the key was used for another message")
	ErrNobody   = errors.New("there is no such agent")
)

// Count returns the counts of recipient, in constant time.
func (b *Inbox) Count(ctx context.Context, recipient int64) (c Change, err error) {
	err = b.db.Read(ctx, func(rx *store.Rx) error {
		c, err = CountIn(&rx.View, recipient)
		return err
	})
	if err != nil {
		return Change{}, fmt.Errorf("count messages: %w", err)
	}
	return c, nil
}

// CountIn is [Inbox.Count] inside a transaction.
func CountIn(v *store.View, recipient int64) (Change, error) {
	t, err := kept(v, recipient)
	return Change{Recipient: recipient, Pending: t.ready(), Asks: t.asks, Urgent: t.urgent}, err
}

// Counts returns the counts of all recipients that have messages waiting.
func (b *Inbox) Counts(ctx context.Context) (counts map[int64]Change, err error) {
	err = b.db.Read(ctx, func(rx *store.Rx) error {
		counts, err = Pending(&rx.View)
		return err
	})
	return counts, err
}

// Pending is Counts inside a transaction.
func Pending(v *store.View) (map[int64]Change, error) {
	if err := store.Settle(v); err != nil {
		return nil, err
	}
	rows, err := v.Query(`SELECT recipient, pending - asks, asks, urgent FROM ` + counts + ` WHERE pending > 0`)
	if err != nil {
		return nil, fmt.Errorf("count messages: %w", err)
	}
	defer rows.Close()
	counts := make(map[int64]Change)
	for rows.Next() {
		var r Change
		if err := rows.Scan(&r.Recipient, &r.Pending, &r.Asks, &r.Urgent); err != nil {
			return nil, fmt.Errorf("count messages: %w", err)
		}
		counts[r.Recipient] = r
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("count messages: %w", err)
	}
	return counts, nil
}

// List returns pending messages of recipient in q's order without taking any;
// q.Fit is ignored. Bodies are whole.
func (b *Inbox) List(ctx context.Context, q Query) ([]Message, error) {
	var ms []Message
	err := b.db.Read(ctx, func(rx *store.Rx) error {
		ms = nil
		q, err := q.meant(&rx.View)
		if err != nil {
			return err
		}
		for _, p := range q.passes() {
			limit := -1
			if q.Limit > 0 {
				limit = q.Limit - len(ms)
			}
			if limit == 0 {
				break
			}
			more, err := p.messages(&rx.View, limit)
			if err != nil {
				return err
			}
			ms = append(ms, more...)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list messages: %w", err)
	}
	return ms, nil
}

// Matching returns how many pending messages match q; [Left] formats it.
func (b *Inbox) Matching(ctx context.Context, q Query) (n int, err error) {
	err = b.db.Read(ctx, func(rx *store.Rx) error {
		q, err := q.meant(&rx.View)
		if err == nil {
			n, err = q.count(&rx.View)
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("count messages: %w", err)
	}
	return n, nil
}

// Since returns the messages of recipient, taken or pending, with an id after `after`, in the order of their arrival.
func (b *Inbox) Since(ctx context.Context, recipient, after int64) (ms []Message, err error) {
	err = b.db.Read(ctx, func(rx *store.Rx) error {
		from := `SELECT ` + columns + ` FROM messages WHERE recipient = ? AND id > ? AND taken_at IS `
		ms, err = readMessages(&rx.View, from+`NULL UNION ALL `+from+`NOT NULL ORDER BY id`,
			recipient, after, recipient, after)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list messages: %w", err)
	}
	return ms, nil
}

// After returns at most so many messages of all inboxes, taken or pending, with an id after `after`, in the order of
// their arrival.
func After(v *store.View, after int64, most int) ([]Message, error) {
	ms, err := readMessages(v, `SELECT `+columns+` FROM messages WHERE id > ? ORDER BY id LIMIT ?`, after, most)
	if err != nil {
		return nil, fmt.Errorf("list messages: %w", err)
	}
	return ms, nil
}

// Newest returns the id of the newest message of all inboxes, 0 if there is none.
func (b *Inbox) Newest(ctx context.Context) (id int64, err error) {
	err = b.db.Read(ctx, func(rx *store.Rx) error {
		id, err = Newest(&rx.View)
		return err
	})
	return id, err
}

// Newest is the id of the newest message of all inboxes, 0 if there is none.
func Newest(v *store.View) (id int64, err error) {
	if err := v.QueryRow(`SELECT ifnull(max(id), 0) FROM messages`).Scan(&id); err != nil {
		return 0, fmt.Errorf("find the newest message: %w", err)
	}
	return id, nil
}

// Get returns one message, taken or pending; ok is false if there is none.
func (b *Inbox) Get(ctx context.Context, id int64) (m Message, ok bool, err error) {
	err = b.db.Read(ctx, func(rx *store.Rx) error {
		m, ok, err = Find(&rx.View, id)
		return err
	})
	return m, ok, err
}

// Find is [Inbox.Get] inside a transaction: one message, taken or pending; ok is false if there is none.
func Find(v *store.View, id int64) (Message, bool, error) {
	m, err := scanMessage(v.QueryRow(`SELECT `+columns+` FROM messages WHERE id = ?`, id))
	switch {
	case errors.Is(err, store.ErrNoRows):
		return Message{}, false, nil
	case err != nil:
		return Message{}, false, fmt.Errorf("read message %d: %w", id, err)
	}
	return m, true, nil
}

// ring adds d to the numbers of c, and has the change hook called after the commit of tx, with the numbers of that
// time.
func (b *Inbox) ring(tx *store.Tx, c *change, d tally, r Change) {
	c.ready, c.asks, c.urgent, r.Recipient = c.ready+d.ready(), c.asks+d.asks, c.urgent+d.urgent, c.recipient
	if b.bell == nil {
		return
	}
	rings := tx.Local(b, func() any {
		rs := new(rings)
		tx.AfterCommit(func() {
			for _, r := range *rs {
				r.Pending, r.Asks, r.Urgent = r.of.ready, r.of.asks, r.of.urgent
				b.bell(r.Change)
			}
		})
		return rs
	}).(*rings)
	rings.add(r, c)
}

// rings are the changes of one transaction, in the order in which their inboxes first changed.
type rings []ringing

type ringing struct {
	Change
	of *change
}

func (rs *rings) add(r Change, c *change) {
	for i, old := range *rs {
		if old.Recipient == r.Recipient {
			switch {
			case !r.Deposited:
				r.First = old.First
			case old.Deposited:
				r.First = min(r.First, old.First)
			}
			r.Deposited = r.Deposited || old.Deposited
			r.Wake = r.Wake || old.Wake
			r.Came += old.Came
			r.Calls = max(r.Calls, old.Calls)
			(*rs)[i].Change = r
			return
		}
	}
	*rs = append(*rs, ringing{r, c})
}
