package inbox

import (
	"context"
	"fmt"
	"slices"

	"fantail/store"
)

// Pressing returns the recipient's waiting urgent messages that the human has neither dismissed nor muted, newest
// first, at most limit, with only the beginnings of the texts.
func (b *Inbox) Pressing(ctx context.Context, recipient int64, limit int) (ms []Message, err error) {
	err = b.db.Read(ctx, func(rx *store.Rx) error {
		ms, err = readMessages(&rx.View, `SELECT `+brief()+` FROM messages INDEXED BY messages_pressing WHERE recipient = ?
			AND taken_at IS NULL AND priority = 'urgent' AND muted = 0 AND dismissed_at IS NULL ORDER BY id DESC LIMIT ?`, recipient, limit)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list urgent messages: %w", err)
	}
	return ms, nil
}

// Calling returns the recipient's messages after `after`, up to upTo, that call the human by how they were sent, taken or
// not, oldest first, with only the beginnings of the texts. Of many, it returns those among the last limit messages.
func (b *Inbox) Calling(ctx context.Context, recipient, after, upTo, limit int64) (ms []Message, err error) {
	err = b.db.Read(ctx, func(rx *store.Rx) error {
		ms, err = readMessages(&rx.View, `SELECT `+brief()+` FROM messages WHERE id > ? AND id <= ? AND recipient = ? AND muted = 0 ORDER BY id`,
			max(after, upTo-limit), upTo, recipient)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list messages that call: %w", err)
	}
	return slices.DeleteFunc(ms, func(m Message) bool { return !m.calls() }), nil
}

// Needing returns the recipient's waiting messages that need the human: questions, approvals and urgent messages,
// oldest first, at most limit, with only the beginnings of the texts.
func Needing(v *store.View, recipient int64, limit int) ([]Message, error) {
	ms, err := readMessages(v, `SELECT `+brief()+` FROM messages WHERE recipient = ?
		AND taken_at IS NULL AND lane = 'needs' AND muted = 0 ORDER BY id LIMIT ?`, recipient, limit)
	if err != nil {
		return nil, fmt.Errorf("list what needs the human: %w", err)
	}
	return ms, nil
}

// Lately returns the recipient's waiting messages, without muted threads, newest first, at most limit, with only the
// beginnings of the texts.
func Lately(v *store.View, recipient int64, limit int) ([]Message, error) {
	ms, err := readMessages(v, `SELECT `+brief()+` FROM messages WHERE recipient = ?
		AND taken_at IS NULL AND muted = 0 ORDER BY id DESC LIMIT ?`, recipient, limit)
	if err != nil {
		return nil, fmt.Errorf("list the newest messages: %w", err)
	}
	return ms, nil
}

// Arrived counts, by recipient, the mail from outside after the message `after`, without muted threads, and returns the
// newest message of all.
func Arrived(v *store.View, after int64) (came map[int64]int, newest int64, err error) {
	if err := v.QueryRow(`SELECT ifnull(max(id), 0) FROM messages`).Scan(&newest); err != nil {
		return nil, 0, fmt.Errorf("find the newest message: %w", err)
	}
	rows, err := v.Query(`SELECT recipient, count(*) FROM messages
		WHERE id > ? AND sender IS NULL AND kind = 'mail' AND muted = 0 GROUP BY recipient`, after)
	if err != nil {
		return nil, 0, fmt.Errorf("count mail from outside: %w", err)
	}
	defer rows.Close()
	came = map[int64]int{}
	for rows.Next() {
		var id int64
		var n int
		if err := rows.Scan(&id, &n); err != nil {
			return nil, 0, fmt.Errorf("count mail from outside: %w", err)
		}
		came[id] = n
	}
	if err := rows.Err(); err != nil {
		return nil, 0, fmt.Errorf("count mail from outside: %w", err)
	}
	return came, newest, nil
}

// CameSince returns the pending messages after that id of all agents that a human talks to, with only the beginnings of
// their texts; at most 10,000.
func CameSince(v *store.View, id int64) ([]Message, error) {
	ms, err := readMessages(v, "SELECT "+brief()+` FROM messages WHERE id > ? AND taken_at IS NULL
		AND recipient IN (SELECT id FROM agents WHERE kind IN ('main', 'helper')) ORDER BY id LIMIT 10000`, id)
	if err != nil {
		return nil, fmt.Errorf("list what came: %w", err)
	}
	return ms, nil
}
