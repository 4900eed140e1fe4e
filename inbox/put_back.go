package inbox

import (
	"context"
	"fmt"
	"strings"

	"fantail/store"
)

// Besides the next messages to take, an inbox has those taken before, those put back, and the mail of an agent that
// ends.

// brief are columns with only the beginnings of the texts, for listings. substr turns an empty BLOB into NULL.
func brief() string {
	return strings.NewReplacer(
		"subject,", "substr(subject, 1, 512),", "body,", "ifnull(substr(body, 1, 512), ''),", "error,", "substr(error, 1, 512),",
		"partial_output,", "ifnull(substr(partial_output, 1, 512), ''),",
	).Replace(columns)
}

// Look lists the messages of recipient that match q, without taking any, including questions, with only the beginnings
// of their texts: the pending ones in q's order or, if taken is set, also the taken ones, newest first.
func (b *Inbox) Look(ctx context.Context, q Query, taken bool) (ms []Message, err error) {
	q.ByUrgency, q.LIFO, q.Asks = false, q.LIFO || taken, true
	err = b.db.Read(ctx, func(rx *store.Rx) error {
		q, err := q.meant(&rx.View)
		if err != nil {
			return err
		}
		p := q.condition()
		query, args := p.walk(brief(), "IS NULL")
		if taken {
			old, more := p.walk(brief(), "IS NOT NULL")
			query, args = query+" UNION ALL "+old, append(args, more...)
		}
		order := " ORDER BY id"
		if q.LIFO {
			order += " DESC"
		}
		limit := -1
		if q.Limit > 0 {
			limit = q.Limit
		}
		ms, err = readMessages(&rx.View, query+order+" LIMIT ?", append(args, limit)...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list messages: %w", err)
	}
	return ms, nil
}

// Waiting returns the oldest messages that wait for recipient, at most limit, and their total number. It returns only
// the beginnings of the texts.
func (b *Inbox) Waiting(tx *store.Tx, recipient int64, limit int) (ms []Message, all int, err error) {
	t, err := kept(&tx.View, recipient)
	if all = t.pending; err == nil && all > 0 {
		ms, err = readMessages(&tx.View, "SELECT "+brief()+` FROM messages WHERE taken_at IS NULL AND recipient = ? ORDER BY id LIMIT ?`, recipient, limit)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("list messages: %w", err)
	}
	return ms, all, nil
}

// LastTaken returns the batch of messages that recipient took last; none if it took nothing. It returns only the
// beginnings of the texts.
func (b *Inbox) LastTaken(tx *store.Tx, recipient int64) ([]Message, error) {
	ms, err := readMessages(&tx.View, "SELECT "+brief()+` FROM messages WHERE recipient = ? AND taken_at IS NOT NULL AND entry =
		(SELECT max(entry) FROM messages WHERE recipient = ? AND taken_at IS NOT NULL AND taken_by NOT LIKE ?) ORDER BY id`, recipient, recipient, byFork+"%")
	if err != nil {
		return nil, fmt.Errorf("find the messages taken last: %w", err)
	}
	return ms, nil
}

// PutBack makes the messages that recipient took into entry pending again.
func (b *Inbox) PutBack(tx *store.Tx, recipient, entry int64) (n int, err error) {
	c, err := b.change(tx, recipient)
	if err != nil {
		return 0, err
	}
	t, err := sum(&tx.View, `recipient = ? AND taken_at IS NOT NULL AND entry = ?`, recipient, entry)
	if err != nil {
		return 0, fmt.Errorf("count what to put back: %w", err)
	}
	if _, err := tx.Exec(`UPDATE messages SET taken_at = NULL, taken_by = '', entry = NULL
		WHERE recipient = ? AND taken_at IS NOT NULL AND entry = ?`, recipient, entry); err != nil {
		return 0, fmt.Errorf("put messages back: %w", err)
	}
	t.taken = -t.pending
	b.keep(tx, c, t, Change{Deposited: true})
	return t.pending, nil
}

// Unread returns the pending and snoozed mail of recipient whose senders should be told when no agent will read it.
// Results and questions pass to another agent, so they and notices are left out. It returns only the beginnings of the
// texts.
func (b *Inbox) Unread(tx *store.Tx, recipient int64) ([]Message, error) {
	from := "SELECT " + brief() + ` FROM messages WHERE recipient = ? AND kind NOT IN ('result', 'failure', 'question', 'approval', 'notice') AND `
	ms, err := readMessages(&tx.View, from+"taken_at IS NULL UNION ALL "+from+snoozed+" ORDER BY id", recipient, recipient)
	if err != nil {
		return nil, fmt.Errorf("find unread mail: %w", err)
	}
	return ms, nil
}

// Wrote reports whether a message from a sender of that name waits for recipient.
func Wrote(v *store.View, recipient int64, name string) (wrote bool, err error) {
	err = v.QueryRow(`SELECT EXISTS (SELECT 1 FROM messages WHERE taken_at IS NULL AND recipient = ? AND sender_name = ?)`, recipient, name).Scan(&wrote)
	if err != nil {
		return false, fmt.Errorf("look for messages from %s: %w", name, err)
	}
	return wrote, nil
}
