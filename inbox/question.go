package inbox

import (
	"fmt"

	"fantail/store"
)

// How a question or an approval ends, as its TakenBy says.
const (
	ByAnswer = "answer"  // the human answered
	BySettle = "settled" // nothing is left to answer
)

// Answer ends the message of a question, by ByAnswer or BySettle, inside the
// transaction that ends the question; one that the human had put off as well.
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
	b.keep(tx, c, t, Rung{})
	return nil
}
