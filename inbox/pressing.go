package inbox

import (
	"context"
	"fmt"

	"fantail/store"
)

// Pressing returns the urgent messages that wait for the recipient and that the
// human has neither dismissed nor muted, newest first, at most limit. Only the
// beginnings of the texts are there.
func (b *Inbox) Pressing(ctx context.Context, recipient int64, limit int) (ms []Message, err error) {
	err = b.db.Read(ctx, func(rx *store.Rx) error {
		ms, err = readMessages(&rx.View, `SELECT `+brief()+` FROM messages WHERE recipient = ?
			AND taken_at IS NULL AND priority = 'urgent' AND muted = 0 AND dismissed_at IS NULL ORDER BY id DESC LIMIT ?`, recipient, limit)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list urgent messages: %w", err)
	}
	return ms, nil
}

// Needing returns what waits for the recipient and needs the human: questions,
// approvals and urgent messages, oldest first, at most limit. Only the beginnings
// of the texts are there.
func Needing(v *store.View, recipient int64, limit int) ([]Message, error) {
	ms, err := readMessages(v, `SELECT `+brief()+` FROM messages WHERE recipient = ?
		AND taken_at IS NULL AND muted = 0 AND (priority = 'urgent' OR kind IN ('question', 'approval')) ORDER BY id LIMIT ?`, recipient, limit)
	if err != nil {
		return nil, fmt.Errorf("list what needs the human: %w", err)
	}
	return ms, nil
}
