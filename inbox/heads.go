package inbox

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"fantail/store"
)

// Heads returns pending messages of recipient with an id after `after`, oldest first, at most limit, with the fields
// that Decide needs and without texts. If deliver is given, it returns only messages with one of those values.
func (b *Inbox) Heads(ctx context.Context, recipient, after int64, limit int, deliver ...Deliver) (ms []Message, err error) {
	err = b.db.Read(ctx, func(rx *store.Rx) error {
		ms, err = Heads(&rx.View, recipient, after, limit, deliver...)
		return err
	})
	return ms, err
}

// Heads is Inbox.Heads inside a transaction.
func Heads(v *store.View, recipient, after int64, limit int, deliver ...Deliver) (ms []Message, err error) {
	p := pass{deliver: deliver}.and("recipient = ?", recipient).and("id > ?", after)
	query, args := p.walks("id, ifnull(sender, 0), sender_name, kind, deliver, priority, tags, muted, by_fork, hops")
	rows, err := v.Query(query+" ORDER BY id LIMIT ?", append(args, limit)...)
	if err != nil {
		return nil, fmt.Errorf("look at messages: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		m := Message{Recipient: recipient}
		var tags string
		if err := rows.Scan(&m.ID, &m.Sender, &m.From, &m.Kind, &m.Deliver, &m.Priority, &tags, &m.Muted, &m.ByFork, &m.Hops); err != nil {
			return nil, fmt.Errorf("look at messages: %w", err)
		}
		if strings.HasPrefix(tags, `["`) && json.Unmarshal([]byte(tags), &m.Tags) != nil {
			m.Tags = nil // a damaged row must not block later ones
		}
		ms = append(ms, m)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("look at messages: %w", err)
	}
	return ms, nil
}
