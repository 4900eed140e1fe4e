package inbox

import (
	"errors"
	"fmt"

	"fantail/store"
)

// End returns the last result or failure of a task, taken or not; ok is false while
// there is none.
func (b *Inbox) End(v *store.View, task int64) (m Message, ok bool, err error) {
	m, err = scanMessage(v.QueryRow(`SELECT `+columns+` FROM messages
		WHERE task = ? AND kind IN ('result', 'failure') ORDER BY id DESC LIMIT 1`, task))
	if errors.Is(err, store.ErrNoRows) {
		return Message{}, false, nil
	}
	if err != nil {
		return Message{}, false, fmt.Errorf("read the end of task %d: %w", task, err)
	}
	return m, true, nil
}
