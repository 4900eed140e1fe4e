package inbox

import (
	"fmt"

	"fantail/store"
)

// Ledger counts the messages of all inboxes.
type Ledger struct {
	Taken, Aside, Pending             int             // Aside: archived or snoozed
	TaskTaken, TaskAside, TaskPending int             // of those, the last ones of tasks that have finished
	Ends                              map[int64]int64 // task -> its last result or failure
	Asking                            map[int64]bool  // the questions that have not ended
	Wrong                             []string        // what must not be, a sentence each
}

// Ledger adds up what the rows say, in the moment rx sees. It looks at every
// message; it is for the human who asks, not for a loop.
func (b *Inbox) Ledger(rx *store.Rx) (l Ledger, err error) {
	err = rx.QueryRow(`WITH fates AS (SELECT taken_at IS NULL AS waits, taken_by IN ('archive', 'snooze') AS aside,
				kind IN ('result', 'failure') AND EXISTS (SELECT 1 FROM tasks t WHERE t.id = m.task AND t.state = 'finished')
				AND id = (SELECT max(id) FROM messages e WHERE e.task = m.task AND e.kind IN ('result', 'failure')) AS ends
				FROM messages m)
			SELECT ifnull(sum(NOT waits AND NOT aside), 0), ifnull(sum(aside), 0), ifnull(sum(waits), 0),
				ifnull(sum(ends AND NOT waits AND NOT aside), 0), ifnull(sum(ends AND aside), 0), ifnull(sum(ends AND waits), 0) FROM fates`).
		Scan(&l.Taken, &l.Aside, &l.Pending, &l.TaskTaken, &l.TaskAside, &l.TaskPending)
	if err != nil {
		return l, fmt.Errorf("count messages: %w", err)
	}
	l.Asking = map[int64]bool{}
	if err := each(rx, func(id, _ int64) { l.Asking[id] = true },
		`SELECT id, recipient FROM messages WHERE kind IN ('question', 'approval') AND taken_by NOT IN ('answer', 'settled')`); err != nil {
		return l, err
	}
	l.Ends = map[int64]int64{}
	if err := each(rx, func(id, task int64) { l.Ends[task] = id },
		`SELECT max(id), task FROM messages WHERE kind IN ('result', 'failure') AND task IS NOT NULL GROUP BY task`); err != nil {
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
			`SELECT id, recipient FROM messages WHERE taken_at IS NOT NULL AND entry IS NULL AND taken_by NOT IN ('archive', 'snooze')
				AND NOT (kind IN ('question', 'approval') AND taken_by IN ('answer', 'settled'))`,
			"message %d to agent %d was taken, but stands in no transcript",
		},
		{
			`SELECT id, recipient FROM messages WHERE kind IN ('question', 'approval') AND entry IS NOT NULL`,
			"message %d to agent %d is a question to the human, but stands in a transcript",
		},
		{
			`SELECT id, recipient FROM messages WHERE taken_by IN ('archive', 'snooze') AND (entry IS NOT NULL OR taken_at IS NULL)`,
			"message %d to agent %d was set aside, and yet it waits or stands in a transcript",
		},
		{
			`SELECT id, recipient FROM messages WHERE (taken_by = 'snooze') <> (snoozed_until IS NOT NULL)`,
			"message %d to agent %d is snoozed for ever, or not though it has a time",
		},
		{
			`SELECT c.recipient, c.needs + c.failed + c.done - n FROM counts c JOIN (
				SELECT recipient, sum(lane <> 'fyi') AS n FROM messages WHERE taken_at IS NULL GROUP BY recipient) m ON m.recipient = c.recipient
			WHERE c.needs + c.failed + c.done <> n`,
			"the lanes of the inbox of agent %d count %d messages more than stand in them",
		},
		{
			`SELECT u.id, u.agent FROM tasks t JOIN turns u ON u.agent = t.agent
			WHERE t.idle_ms IS NOT NULL AND u.outcome <> '' AND u.started_at >= t.started_at
				AND u.started_at <= ifnull(t.finished_at, u.started_at)
				AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.turn = u.id AND m.kind IN ('result', 'failure'))`,
			"turn %d of agent %d, which awaits input, ended without a message",
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
