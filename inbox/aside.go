package inbox

import (
	"context"
	"fmt"
	"time"

	"fantail/store"
)

// A human can archive or snooze messages, which sets them aside, and pin or dismiss them. None of that takes a message
// into a conversation.

// TakenBy of messages that were set aside.
const (
	byArchive = "archive"
	bySnooze  = "snooze"
)

// snoozed are the messages that wait for their time, in SQL.
const snoozed = `taken_by IN ('archive', 'snooze') AND taken_by = 'snooze'`

// Aside reports whether m was archived or snoozed: it does not wait, and is in no conversation.
func (m Message) Aside() bool { return m.TakenBy == byArchive || m.TakenBy == bySnooze }

// SetAside archives messages of recipient or, if until is set, snoozes them until then. It does not change taken ones.
// It returns how many changed.
func (b *Inbox) SetAside(tx *store.Tx, recipient int64, ids []int64, until time.Time) (n int, err error) {
	by := byArchive
	if !until.IsZero() {
		by = bySnooze
	}
	const changed = `UPDATE messages SET taken_at = ?, taken_by = ?, snoozed_until = ? WHERE id = ?`
	return b.each(tx, recipient, ids, Change{}, func(m Message, t *tally) (bool, error) {
		if !m.Taken.IsZero() && !m.Aside() {
			return false, nil
		}
		t.moved(m, 0, 1)
		_, err := tx.Exec(changed, tx.Now().UnixMilli(), by, orNull(millis(until)), m.ID)
		return true, err
	})
}

// Restore makes messages of recipient that were set aside pending again, in their old places. It returns how many
// changed.
func (b *Inbox) Restore(tx *store.Tx, recipient int64, ids []int64) (n int, err error) {
	return b.each(tx, recipient, ids, Change{Deposited: true}, func(m Message, t *tally) (bool, error) {
		if !m.Aside() {
			return false, nil
		}
		t.aside--
		t.count(m, 1)
		_, err := tx.Exec(`UPDATE messages SET taken_at = NULL, taken_by = '', snoozed_until = NULL WHERE id = ?`, m.ID)
		return true, err
	})
}

// each calls f for the messages of recipient among ids, each once, and adds the tally to the counts. If f reports that
// it changed any, the change hook is called after the commit. n is their number.
func (b *Inbox) each(tx *store.Tx, recipient int64, ids []int64, r Change, f func(m Message, t *tally) (bool, error)) (n int, err error) {
	c, err := b.change(tx, recipient)
	if err != nil {
		return 0, err
	}
	var t tally
	for _, id := range ids {
		m, ok, err := Find(&tx.View, id)
		did := false
		if err == nil && ok && m.Recipient == recipient {
			did, err = f(m, &t)
		}
		if err != nil {
			return 0, fmt.Errorf("change message %d: %w", id, err)
		}
		if did {
			n++
		}
	}
	if n == 0 {
		return 0, nil
	}
	b.keep(tx, c, t, r)
	return n, nil
}

// NextSnoozed is when the next snoozed message of any inbox is pending again; zero if none is snoozed.
func (b *Inbox) NextSnoozed(ctx context.Context) (at time.Time, err error) {
	err = b.db.Read(ctx, func(rx *store.Rx) error {
		at, err = nextSnoozed(&rx.View)
		return err
	})
	return at, err
}

func nextSnoozed(v *store.View) (time.Time, error) {
	var ms int64
	if err := v.QueryRow(`SELECT ifnull(min(snoozed_until), 0) FROM messages WHERE snoozed_until IS NOT NULL`).Scan(&ms); err != nil {
		return time.Time{}, fmt.Errorf("find the next snoozed message: %w", err)
	}
	return moment(ms), nil
}

// Unsnooze makes the messages that are due pending again, as if they arrived now. It returns when the next one is due;
// zero: no other is snoozed.
func (b *Inbox) Unsnooze(tx *store.Tx) (next time.Time, err error) {
	ms, err := readMessages(&tx.View, `SELECT `+brief()+` FROM messages WHERE snoozed_until IS NOT NULL AND snoozed_until <= ? ORDER BY id`,
		tx.Now().UnixMilli())
	if err != nil {
		return next, fmt.Errorf("find the snoozed messages that are due: %w", err)
	}
	for _, m := range ms {
		c, err := b.change(tx, m.Recipient)
		if err != nil {
			return next, err
		}
		_, err = tx.Exec(`UPDATE messages SET taken_at = NULL, taken_by = '', snoozed_until = NULL, dismissed_at = NULL WHERE id = ?`, m.ID)
		if err != nil {
			return next, fmt.Errorf("end the snooze of message %d: %w", m.ID, err)
		}
		t := tally{aside: -1}
		t.count(m, 1)
		b.keep(tx, c, t, m.rung(m.ID))
	}
	return nextSnoozed(&tx.View)
}

// Pin pins a message of recipient, or unpins it.
func (b *Inbox) Pin(tx *store.Tx, recipient, id int64, on bool) error {
	_, err := b.each(tx, recipient, []int64{id}, Change{}, func(m Message, _ *tally) (bool, error) {
		_, err := tx.Exec(`UPDATE messages SET pinned = ? WHERE id = ?`, on, id)
		return m.Pinned != on, err
	})
	return err
}

// Dismiss records that the human was told of a message of recipient and put it off.
func (b *Inbox) Dismiss(tx *store.Tx, recipient, id int64) error {
	return b.setDismissed(tx, recipient, id, tx.Now().UnixMilli())
}

// Undismiss undoes Dismiss.
func (b *Inbox) Undismiss(tx *store.Tx, recipient, id int64) error {
	return b.setDismissed(tx, recipient, id, nil)
}

func (b *Inbox) setDismissed(tx *store.Tx, recipient, id int64, at any) error {
	_, err := b.each(tx, recipient, []int64{id}, Change{}, func(Message, *tally) (bool, error) {
		_, err := tx.Exec(`UPDATE messages SET dismissed_at = ? WHERE id = ?`, at, id)
		return true, err
	})
	return err
}

// Mute holds the recipient's messages in the thread of id silently, also future ones, or ends that. n is the number of
// pending ones.
func (b *Inbox) Mute(tx *store.Tx, recipient, id int64, on bool) (n int, err error) {
	thread, err := threadOf(&tx.View, id)
	if err != nil {
		return 0, err
	}
	c, err := b.change(tx, recipient)
	if err != nil {
		return 0, err
	}
	const rows = `+recipient = ? AND (id = ? OR thread = ?)` // found by the thread, however much waits
	const pending = rows + ` AND taken_at IS NULL`
	before, err := sum(&tx.View, pending, recipient, thread, thread)
	if err != nil {
		return 0, fmt.Errorf("count the thread of message %d: %w", id, err)
	}
	note := `INSERT INTO mutes (recipient, thread) VALUES (?, ?) ON CONFLICT DO NOTHING`
	r := Change{}
	if !on {
		note = `DELETE FROM mutes WHERE recipient = ? AND thread = ?`
		r.Deposited = true // they may be due
		if err := tx.QueryRow(`SELECT ifnull(max(deliver = 'wake'), 0) FROM messages WHERE muted = 1 AND `+pending, recipient, thread, thread).Scan(&r.Wake); err != nil {
			return 0, fmt.Errorf("look at the thread of message %d: %w", id, err)
		}
	}
	if _, err = tx.Exec(note, recipient, thread); err == nil {
		_, err = tx.Exec(`UPDATE messages SET muted = ? WHERE `+rows, on, recipient, thread, thread)
	}
	if err != nil {
		return 0, fmt.Errorf("mute the thread of message %d: %w", id, err)
	}
	after, err := sum(&tx.View, pending, recipient, thread, thread)
	if err != nil {
		return 0, fmt.Errorf("count the thread of message %d: %w", id, err)
	}
	b.keep(tx, c, after.plus(before, -1), r)
	return after.pending, nil
}

// threadOf is the first message of the thread that a message belongs to.
func threadOf(v *store.View, id int64) (thread int64, err error) {
	if err := v.QueryRow(`SELECT ifnull(thread, id) FROM messages WHERE id = ?`, id).Scan(&thread); err != nil {
		return 0, fmt.Errorf("find the thread of message %d: %w", id, err)
	}
	return thread, nil
}

// Thread returns the messages of the thread of a message, in all inboxes, in the order of their arrival, with only the
// beginnings of their texts; none if there is no such message.
func (b *Inbox) Thread(ctx context.Context, id int64) (ms []Message, err error) {
	err = b.db.Read(ctx, func(rx *store.Rx) error {
		if _, ok, err := Find(&rx.View, id); err != nil || !ok {
			return err
		}
		thread, err := threadOf(&rx.View, id)
		if err == nil {
			from := `SELECT ` + brief() + ` FROM messages WHERE `
			ms, err = readMessages(&rx.View, from+`id = ? UNION ALL `+from+`thread = ? ORDER BY id`, thread, thread)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the thread of message %d: %w", id, err)
	}
	return ms, nil
}

// Questions returns the messages of an inbox that wait for the human's answer, oldest first, with only the beginnings
// of the texts.
func (b *Inbox) Questions(ctx context.Context, recipient int64) (ms []Message, err error) {
	err = b.db.Read(ctx, func(rx *store.Rx) error {
		t, err := kept(&rx.View, recipient)
		if err != nil || t.asks == 0 {
			return err
		}
		ms, err = readMessages(&rx.View, `SELECT `+brief()+` FROM messages WHERE taken_at IS NULL AND recipient = ? AND lane = 'needs'
			AND kind IN ('question', 'approval') ORDER BY id`, recipient)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list questions: %w", err)
	}
	return ms, nil
}
