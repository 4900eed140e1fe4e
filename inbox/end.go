package inbox

import (
	"errors"
	"fmt"
	"slices"

	"fantail/store"
)

// End returns the last result or failure of a task, taken or not; ok is false if there is none yet.
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

// Ended returns the tasks that ended with a message after `after`, in the order of these messages.
func Ended(v *store.View, after int64) (tasks []int64, err error) {
	rows, err := v.Query(`SELECT task FROM messages
		WHERE id > ? AND kind IN ('result', 'failure') AND task IS NOT NULL ORDER BY id`, after)
	if err != nil {
		return nil, fmt.Errorf("list the tasks that ended: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err = rows.Scan(&id); err != nil {
			break
		}
		if !slices.Contains(tasks, id) {
			tasks = append(tasks, id)
		}
	}
	if err = errors.Join(err, rows.Err()); err != nil {
		return nil, fmt.Errorf("list the tasks that ended: %w", err)
	}
	return tasks, nil
}
