package inbox

import (
	"fmt"
	"slices"

	"fantail/store"
)

// The table counts holds how many messages wait in each inbox, of all messages up to one. A deposit does not write it:
// the view counts_now adds the few later messages to it, and a transaction that takes or moves messages counts those
// first.

// uncounted is how many messages may be missing from the table counts. Each makes readers slower; but the larger it is,
// the fewer deposits have to count.
const uncounted = 256

// tally counts messages: pending ones of each sort, taken ones and those set aside. It may be a difference.
type tally struct{ pending, urgent, needs, failed, done, asks, taken, aside int }

// sums are the pending columns of a tally, in SQL.
const sums = `count(*), ifnull(sum(priority = 'urgent' AND muted = 0), 0), ifnull(sum(lane = 'needs'), 0),
	ifnull(sum(lane = 'failed'), 0), ifnull(sum(lane = 'done'), 0), ifnull(sum(kind IN ('question', 'approval')), 0)`

// counts are the numbers of all inboxes, one row each, in SQL.
const counts = `(SELECT recipient, sum(pending) AS pending, sum(urgent) AS urgent, sum(needs) AS needs, sum(failed) AS failed, sum(done) AS done,
	sum(asks) AS asks, sum(taken) AS taken, sum(aside) AS aside FROM counts_now GROUP BY recipient)`

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

// moved adds that m, in its old state, will be taken or set aside.
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

// plus is t and n times u.
func (t tally) plus(u tally, n int) tally {
	return tally{
		t.pending + n*u.pending, t.urgent + n*u.urgent, t.needs + n*u.needs, t.failed + n*u.failed, t.done + n*u.done,
		t.asks + n*u.asks, t.taken + n*u.taken, t.aside + n*u.aside,
	}
}

// sum reads the sums of the rows that a condition on messages selects.
func sum(v *store.View, where string, args ...any) (t tally, err error) {
	err = v.QueryRow(`SELECT `+sums+` FROM messages WHERE `+where, args...).Scan(&t.pending, &t.urgent, &t.needs, &t.failed, &t.done, &t.asks)
	return t, err
}

// kept reads the counts of recipient; without such an agent they are 0. It first settles what the transaction still
// owes.
func kept(v *store.View, recipient int64) (t tally, err error) {
	if err := store.Settle(v); err != nil {
		return t, err
	}
	return inFile(v, recipient)
}

// inFile is kept without settling first.
func inFile(v *store.View, recipient int64) (t tally, err error) {
	err = v.QueryRow(`SELECT ifnull(sum(pending), 0), ifnull(sum(urgent), 0), ifnull(sum(needs), 0), ifnull(sum(failed), 0), ifnull(sum(done), 0),
		ifnull(sum(asks), 0) FROM counts_now WHERE recipient = ?`, recipient).
		Scan(&t.pending, &t.urgent, &t.needs, &t.failed, &t.done, &t.asks)
	return t, err
}

// standing is the state after the last commit. It is valid without a read as long as no other process writes.
type standing struct {
	upTo, newest int64             // the last message in the table, and the last of all
	came         map[int64]tally   // recipient -> messages that the table lacks
	waits        map[int64]waiting // recipient -> its counts; only for inboxes that were asked for
}

// ready counts the messages that can be taken. Only an answer takes a question or an approval.
func (t tally) ready() int { return t.pending - t.asks }

// waiting is how many messages can be taken from an inbox, how many questions and approvals are in it, and how many of
// all these are urgent.
type waiting struct{ ready, asks, urgent int }

// waiting is what a tally says of the messages that wait.
func (t tally) waiting() waiting { return waiting{t.ready(), t.asks, t.urgent} }

// remembered is for how many recipients a standing knows the counts.
const remembered = 256

// account collects the changes to a standing by the transactions that commit together.
type account struct {
	was                   *standing
	upTo, written, newest int64 // written: upTo in the file
	changes               []*change
}

// change is the change of one inbox.
type change struct {
	waiting         // by now
	recipient int64 // whose
	came      tally // messages after the account's upTo
	owed      tally // other changes that the table lacks
}

// accountKey is the key of the account, and of the standing.
type accountKey struct{}

// accountOf returns the account of tx. It must be opened before a message changes.
func accountOf(tx *store.Tx) (*account, error) {
	a := store.Owe(tx, accountKey{}, func() store.Debt { return &account{} }).(*account)
	if a.was != nil {
		return a, nil
	}
	known, err := tx.Known(accountKey{}, func() (any, error) { return learn(&tx.View) })
	if err != nil {
		return nil, fmt.Errorf("look at the messages that are not counted: %w", err)
	}
	s := known.(*standing)
	a.was, a.upTo, a.written, a.newest = s, s.upTo, s.upTo, s.newest
	tx.AfterCommit(a.stand)
	return a, nil
}

// learn reads the state after the last commit.
func learn(v *store.View) (*standing, error) {
	s := &standing{came: map[int64]tally{}, waits: map[int64]waiting{}}
	err := v.QueryRow(`SELECT message, (SELECT ifnull(max(id), 0) FROM messages) FROM counts_upto`).Scan(&s.upTo, &s.newest)
	if err != nil {
		return nil, err
	}
	rows, err := v.Query(`SELECT recipient, `+sums+` FROM messages WHERE id > ? GROUP BY recipient`, s.upTo)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var recipient int64
		var t tally
		if err := rows.Scan(&recipient, &t.pending, &t.urgent, &t.needs, &t.failed, &t.done, &t.asks); err != nil {
			return nil, err
		}
		s.came[recipient] = t
	}
	return s, rows.Err()
}

// stand applies the account to the standing.
func (a *account) stand() {
	s := a.was
	if s.upTo != a.upTo {
		clear(s.came)
	}
	if len(s.waits)+len(a.changes) > remembered {
		clear(s.waits)
	}
	for _, c := range a.changes {
		s.waits[c.recipient] = c.waiting
		if c.came != (tally{}) {
			s.came[c.recipient] = c.came
		}
	}
	s.upTo, s.newest = a.upTo, a.newest
}

// of returns the change of recipient's inbox. It must be called before a message there changes.
func (a *account) of(tx *store.Tx, recipient int64) (*change, error) {
	if i := slices.IndexFunc(a.changes, func(c *change) bool { return c.recipient == recipient }); i >= 0 {
		return a.changes[i], nil
	}
	c := &change{recipient: recipient}
	var ok bool
	if c.waiting, ok = a.was.waits[recipient]; !ok {
		t, err := inFile(&tx.View, recipient)
		if err != nil {
			return nil, fmt.Errorf("count the messages of agent %d: %w", recipient, err)
		}
		c.waiting = t.waiting()
	}
	if a.upTo == a.was.upTo {
		c.came = a.was.came[recipient]
	}
	a.changes = append(a.changes, c)
	return c, nil
}

// count brings the table counts up to date.
func (a *account) count(tx *store.Tx) error {
	if a.upTo == a.was.upTo {
		for recipient := range a.was.came {
			if _, err := a.of(tx, recipient); err != nil {
				return err
			}
		}
	}
	for _, c := range a.changes {
		c.owed, c.came = c.owed.plus(c.came, 1), tally{}
	}
	a.upTo = a.newest
	return nil
}

// Pay implements store.Debt.
func (a *account) Pay(tx *store.Tx) error {
	if a.newest-a.upTo > uncounted {
		if err := a.count(tx); err != nil {
			return err
		}
	}
	for _, c := range a.changes {
		d := c.owed
		if d == (tally{}) {
			continue
		}
		_, err := tx.Exec(`INSERT INTO counts (recipient, pending, urgent, needs, failed, done, asks, taken, aside) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (recipient) DO UPDATE SET pending = pending + excluded.pending, urgent = urgent + excluded.urgent,
				needs = needs + excluded.needs, failed = failed + excluded.failed, done = done + excluded.done, asks = asks + excluded.asks,
				taken = taken + excluded.taken, aside = aside + excluded.aside`,
			c.recipient, d.pending, d.urgent, d.needs, d.failed, d.done, d.asks, d.taken, d.aside)
		if err != nil {
			return fmt.Errorf("keep count of agent %d: %w", c.recipient, err)
		}
		c.owed = tally{}
	}
	if a.written == a.upTo {
		return nil
	}
	if _, err := tx.Exec(`UPDATE counts_upto SET message = ?`, a.upTo); err != nil {
		return fmt.Errorf("keep what is counted: %w", err)
	}
	a.written = a.upTo
	return nil
}

// open returns the account of tx and the change of recipient's inbox.
func open(tx *store.Tx, recipient int64) (*account, *change, error) {
	a, err := accountOf(tx)
	if err != nil {
		return nil, nil, err
	}
	c, err := a.of(tx, recipient)
	return a, c, err
}

// change returns the change of recipient's inbox in tx. It must be called before tx takes, moves or otherwise changes a
// message there; [Inbox.keep] then records what changed.
func (b *Inbox) change(tx *store.Tx, recipient int64) (*change, error) {
	a, c, err := open(tx, recipient)
	if err == nil {
		err = a.count(tx)
	}
	return c, err
}

// keep records what tx changed in an inbox, and has the change hook called.
func (b *Inbox) keep(tx *store.Tx, c *change, d tally, r Change) {
	c.owed = c.owed.plus(d, 1)
	b.ring(tx, c, d, r)
}
