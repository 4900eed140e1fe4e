package inbox

import (
	"fmt"

	"fantail/store"
)

// Ledger counts the messages of all inboxes.
type Ledger struct {
	Taken, Pending         int
	TaskTaken, TaskPending int             // of those, the ones that ended a task
	Ends                   map[int64]int64 // task -> the message that ended it
	Wrong                  []string        // what must not be, a sentence each
}

// Ledger adds up what the rows say, in the moment rx sees. It looks at every
// message; it is for the human who asks, not for a loop.
func (b *Inbox) Ledger(rx *store.Rx) (l Ledger, err error) {
	err = rx.QueryRow(`SELECT count(taken_at), count(*) - count(taken_at),
			ifnull(sum(taken_at IS NOT NULL AND kind IN ('result', 'failure') AND task IS NOT NULL), 0),
			ifnull(sum(taken_at IS NULL AND kind IN ('result', 'failure') AND task IS NOT NULL), 0) FROM messages`).
		Scan(&l.Taken, &l.Pending, &l.TaskTaken, &l.TaskPending)
	if err != nil {
		return l, fmt.Errorf("count messages: %w", err)
	}
	l.Ends = map[int64]int64{}
	if err := each(rx, func(id, task int64) { l.Ends[task] = id },
		`SELECT id, task FROM messages WHERE kind IN ('result', 'failure') AND task IS NOT NULL`); err != nil {
		return l, err
	}
	for _, look := range []struct{ query, says string }{
		{
			`SELECT m.recipient, count(*) - ifnull((SELECT pending FROM counts c WHERE c.recipient = m.recipient), 0)
			FROM messages m WHERE taken_at IS NULL GROUP BY m.recipient
			HAVING count(*) <> ifnull((SELECT pending FROM counts c WHERE c.recipient = m.recipient), 0)`,
			"the inbox of agent %d holds %d messages more than its count says",
		},
		{
			`SELECT recipient, pending FROM counts c
			WHERE pending <> 0 AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.recipient = c.recipient AND taken_at IS NULL)`,
			"the inbox of agent %d is empty, but its count says %d",
		},
		{
			`SELECT id, recipient FROM messages WHERE taken_at IS NOT NULL AND entry IS NULL`,
			"message %d to agent %d was taken, but stands in no transcript",
		},
		{
			`SELECT id, recipient FROM messages WHERE taken_at IS NULL AND entry IS NOT NULL`,
			"message %d to agent %d is pending, but stands in a transcript",
		},
	} {
		if err := each(rx, func(a, b int64) { l.Wrong = append(l.Wrong, fmt.Sprintf(look.says, a, b)) }, look.query); err != nil {
			return l, err
		}
	}
	return l, nil
}

// each calls f with the two numbers of every row.
func each(rx *store.Rx, f func(a, b int64), query string) error {
	rows, err := rx.Query(query)
	if err != nil {
		return fmt.Errorf("look at messages: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var a, b int64
		if err := rows.Scan(&a, &b); err != nil {
			return fmt.Errorf("look at messages: %w", err)
		}
		f(a, b)
	}
	return rows.Err()
}
