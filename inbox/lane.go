package inbox

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"fantail/store"
)

// Lane sorts messages by what they want of the human.
type Lane string

const (
	Needs  Lane = "needs"  // questions, approvals and what is urgent
	Failed Lane = "failed" // work that failed
	Done   Lane = "done"   // work that has a result
	FYI    Lane = "fyi"    // all else
)

// LaneOrder is all of them, the most pressing first.
var LaneOrder = [...]Lane{Needs, Failed, Done, FYI}

// Lane is where m stands. The column lane of its row says the same.
func (m Message) Lane() Lane {
	switch {
	case m.Asks() || m.Loud():
		return Needs
	case m.Kind == Failure || m.Kind == Scheduled && m.Error != "":
		return Failed
	case m.Kind == Result || m.Kind == Scheduled:
		return Done
	}
	return FYI
}

// Asks reports whether m is a question or an approval: only an answer takes it.
func (m Message) Asks() bool { return m.Kind == Question || m.Kind == Approval }

// Loud reports whether m is urgent and its thread is not muted.
func (m Message) Loud() bool { return m.Priority == Urgent && !m.Muted }

// tally is how many messages of each sort are pending, and how many were taken or set aside, or by how many that changes.
type tally struct{ pending, urgent, needs, failed, done, asks, taken, aside int }

// sums are a tally of rows, in SQL.
const sums = `count(*), ifnull(sum(priority = 'urgent' AND muted = 0), 0), ifnull(sum(lane = 'needs'), 0),
	ifnull(sum(lane = 'failed'), 0), ifnull(sum(lane = 'done'), 0), ifnull(sum(kind IN ('question', 'approval')), 0)`

// count adds m to t n times.
func (t *tally) count(m Message, n int) {
	t.pending += n
	if m.Loud() {
		t.urgent += n
	}
	if m.Asks() {
		t.asks += n
	}
	switch m.Lane() {
	case Needs:
		t.needs += n
	case Failed:
		t.failed += n
	case Done:
		t.done += n
	}
}

// moved notes that m, which stands as it did before, is to be taken or set aside.
func (t *tally) moved(m Message, taken, aside int) {
	switch {
	case m.Taken.IsZero():
		t.count(m, -1)
	case m.Aside():
		t.aside--
	default:
		t.taken--
	}
	t.taken, t.aside = t.taken+taken, t.aside+aside
}

// less is t without u.
func (t tally) less(u tally) tally {
	return tally{
		t.pending - u.pending, t.urgent - u.urgent, t.needs - u.needs, t.failed - u.failed, t.done - u.done, t.asks - u.asks,
		t.taken - u.taken, t.aside - u.aside,
	}
}

// sum reads the sums of the rows that a condition on messages selects.
func sum(v *store.View, where string, args ...any) (t tally, err error) {
	err = v.QueryRow(`SELECT `+sums+` FROM messages WHERE `+where, args...).Scan(&t.pending, &t.urgent, &t.needs, &t.failed, &t.done, &t.asks)
	return t, err
}

// kept reads the kept numbers; nobody's are 0.
func kept(v *store.View, recipient int64) (t tally, err error) {
	if err := store.Settle(v); err != nil {
		return t, err
	}
	err = v.QueryRow(`SELECT pending, urgent, needs, failed, done, asks FROM counts WHERE recipient = ?`, recipient).
		Scan(&t.pending, &t.urgent, &t.needs, &t.failed, &t.done, &t.asks)
	if errors.Is(err, store.ErrNoRows) {
		err = nil
	}
	return t, err
}

// keep adds d to the kept numbers with the transactions that change the messages, and hangs the bell on tx.
func (b *Inbox) keep(tx *store.Tx, d tally, r Rung) {
	o := store.Owe(tx, countsKept{}, func() store.Debt { return &owed{} }).(*owed)
	b.ring(tx, r, o.add(r.Recipient, d))
}

// countsKept is the key of what is owed to the kept numbers.
type countsKept struct{}

// owed is by how much the numbers of inboxes are to change, all that commit together at once.
type owed []*change

type change struct {
	recipient       int64
	by              tally
	paid            bool // once
	pending, urgent int  // that are kept since
}

// add notes that recipient's numbers change by d.
func (o *owed) add(recipient int64, d tally) *change {
	i := slices.IndexFunc(*o, func(c *change) bool { return c.recipient == recipient })
	if i < 0 {
		i = len(*o)
		*o = append(*o, &change{recipient: recipient})
	}
	c := (*o)[i]
	c.by = c.by.less(tally{}.less(d))
	return c
}

// Pay implements store.Debt.
func (o *owed) Pay(tx *store.Tx) error {
	for _, c := range *o {
		d := c.by
		if d == (tally{}) && c.paid {
			continue
		}
		err := tx.QueryRow(`INSERT INTO counts (recipient, pending, urgent, needs, failed, done, asks, taken, aside) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (recipient) DO UPDATE SET pending = pending + excluded.pending, urgent = urgent + excluded.urgent,
				needs = needs + excluded.needs, failed = failed + excluded.failed, done = done + excluded.done, asks = asks + excluded.asks,
				taken = taken + excluded.taken, aside = aside + excluded.aside
			RETURNING pending, urgent`, c.recipient, d.pending, d.urgent, d.needs, d.failed, d.done, d.asks, d.taken, d.aside).Scan(&c.pending, &c.urgent)
		if err != nil {
			return fmt.Errorf("keep count of agent %d: %w", c.recipient, err)
		}
		c.by, c.paid = tally{}, true
	}
	return nil
}

// Lanes counts the messages that wait for recipient in each lane, in constant time.
func (b *Inbox) Lanes(ctx context.Context, recipient int64) (map[Lane]int, error) {
	var t tally
	err := b.db.Read(ctx, func(rx *store.Rx) (err error) {
		t, err = kept(&rx.View, recipient)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count messages: %w", err)
	}
	return map[Lane]int{Needs: t.needs, Failed: t.failed, Done: t.done, FYI: t.pending - t.needs - t.failed - t.done}, nil
}
