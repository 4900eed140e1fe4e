package inbox

import (
	"fmt"

	"fantail/store"
)

// TakenBy of questions and approvals that have ended.
const (
	ByAnswer = "answer"  // the human answered
	BySettle = "settled" // no answer is needed any more
)

// Answer ends the message of a question, with ByAnswer or BySettle, inside the transaction that ends the question; a
// snoozed one as well.
func (b *Inbox) Answer(tx *store.Tx, id int64, by string) error {
	m, ok, err := Find(&tx.View, id)
	if err != nil || !ok {
		return err
	}
	c, err := b.change(tx, m.Recipient)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(`UPDATE messages SET taken_at = ?, taken_by = ?, snoozed_until = NULL WHERE id = ?`,
		tx.Now().UnixMilli(), by, id); err != nil {
		return fmt.Errorf("end question %d: %w", id, err)
	}
	var t tally
	t.moved(m, 1, 0)
	b.keep(tx, c, t, Change{})
	return nil
}
