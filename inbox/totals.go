package inbox

import (
	"fmt"

	"fantail/store"
)

// Totals counts the messages of all inboxes.
type Totals struct {
	Taken, Aside, Pending             int             // Aside: archived or snoozed
	TaskTaken, TaskAside, TaskPending int             // of those, the last messages of finished tasks
	Ends                              map[int64]int64 // task -> its last result or failure
	Asking                            map[int64]bool  // open questions
	Wrong                             []string        // violations, a sentence each
}

// look is a query that returns a row for each violation, and the text for one.
type look struct{ query, says string }

func (l *Totals) look(rx *store.Rx, looks []look, args ...any) error {
	for _, q := range looks {
		err := each(rx, func(a, b int64) { l.Wrong = append(l.Wrong, fmt.Sprintf(q.says, a, b)) }, q.query, args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// broken is the condition of the index messages_broken, with the same text.
const broken = `
  (taken_at IS NOT NULL AND entry IS NULL AND taken_by NOT IN ('archive', 'snooze')
    AND NOT (kind IN ('question', 'approval') AND taken_by IN ('answer', 'settled')))
  OR (kind IN ('question', 'approval') AND entry IS NOT NULL)
  OR (taken_by IN ('archive', 'snooze') AND (entry IS NOT NULL OR taken_at IS NULL))
  OR (taken_by = 'snooze') <> (snoozed_until IS NOT NULL)
  OR (taken_at IS NULL AND entry IS NOT NULL)`

// asking are the open questions, all in the index messages_asking.
const asking = `SELECT id, recipient FROM messages INDEXED BY messages_asking
	WHERE kind IN ('question', 'approval') AND taken_by NOT IN ('answer', 'settled')`

// breaches finds the rows that contradict themselves, however many messages there are.
func (l *Totals) breaches(rx *store.Rx) error {
	from := `SELECT id, recipient FROM messages INDEXED BY messages_broken WHERE (` + broken + `) AND `
	return l.look(rx, []look{
		{
			from + `taken_at IS NOT NULL AND entry IS NULL AND taken_by NOT IN ('archive', 'snooze')
				AND NOT (kind IN ('question', 'approval') AND taken_by IN ('answer', 'settled'))`,
			"message %d to agent %d was taken, but stands in no transcript",
		},
		{
			from + `kind IN ('question', 'approval') AND entry IS NOT NULL`,
			"message %d to agent %d is a question to the human, but stands in a transcript",
		},
		{
			from + `taken_by IN ('archive', 'snooze') AND (entry IS NOT NULL OR taken_at IS NULL)`,
			"message %d to agent %d was set aside, and yet it waits or stands in a transcript",
		},
		{
			from + `(taken_by = 'snooze') <> (snoozed_until IS NOT NULL)`,
			"message %d to agent %d is snoozed for ever, or not though it has a time",
		},
		{
			from + `taken_at IS NULL AND entry IS NOT NULL`,
			"message %d to agent %d is pending, but stands in a transcript",
		},
	})
}

// Recent is how many of the newest messages, of the newest finished tasks, and of the waiting messages of each inbox
// Glance counts.
const Recent = 1000

// Glance returns Totals in bounded time. It finds all rows that contradict themselves, and checks that the counts of
// the inboxes add up to the number of the newest message. It compares at most Recent rows with each count. Ends and the
// sums of tasks cover the newest Recent finished tasks.
func Glance(rx *store.Rx) (l Totals, err error) {
	var newest, unused int
	err = rx.QueryRow(`SELECT ifnull(sum(taken), 0), ifnull(sum(aside), 0), ifnull(sum(pending), 0),
		(SELECT ifnull(max(id), 0) FROM messages), (SELECT messages FROM unused_numbers) FROM counts_now`).
		Scan(&l.Taken, &l.Aside, &l.Pending, &newest, &unused)
	if err != nil {
		return l, fmt.Errorf("count messages: %w", err)
	}
	if all := l.Taken + l.Aside + l.Pending; all != newest-unused {
		l.Wrong = append(l.Wrong, fmt.Sprintf("%d messages came, but the counts of the inboxes add up to %d", newest-unused, all))
	}
	l.Asking, l.Ends = map[int64]bool{}, map[int64]int64{}
	if err := each(rx, func(id, _ int64) { l.Asking[id] = true }, asking); err != nil {
		return l, err
	}
	if err := l.breaches(rx); err != nil {
		return l, err
	}
	fates := func(end, task int64) {
		l.Ends[task] = end
	}
	const ends = `(SELECT max(m.id) FROM messages m WHERE m.task = t.id AND m.kind IN ('result', 'failure'))`
	err = each(rx, fates, `SELECT end, id FROM (SELECT id, `+ends+` AS end FROM tasks t
		WHERE state = 'finished' ORDER BY id DESC LIMIT ?) WHERE end IS NOT NULL`, Recent)
	if err == nil {
		err = rx.QueryRow(`SELECT ifnull(sum(NOT waits AND NOT aside), 0), ifnull(sum(aside), 0), ifnull(sum(waits), 0) FROM (
			SELECT taken_at IS NULL AS waits, taken_by IN ('archive', 'snooze') AS aside
			FROM (SELECT `+ends+` AS end FROM tasks t WHERE state = 'finished' ORDER BY id DESC LIMIT ?)
			CROSS JOIN messages ON messages.id = end)`, Recent).Scan(&l.TaskTaken, &l.TaskAside, &l.TaskPending)
	}
	if err == nil {
		err = each(rx, fates, `SELECT `+ends+`, id FROM tasks t WHERE state IN ('queued', 'running') AND `+ends+` IS NOT NULL`)
	}
	if err != nil {
		return l, fmt.Errorf("look at the ends of tasks: %w", err)
	}
	waits := func(lane Lane, kept string) look {
		where := `m.recipient = c.recipient AND m.taken_at IS NULL`
		says := "the inbox of agent %d holds %d messages more than its count says"
		if lane != "" {
			where += ` AND m.lane = '` + string(lane) + `'`
			says = "the lane " + string(lane) + " of the inbox of agent %d holds %d messages more than its count says"
		}
		return look{`SELECT recipient, held - n FROM (SELECT c.recipient, ` + kept + ` AS n, (SELECT count(*) FROM
			(SELECT 1 FROM messages m WHERE ` + where + ` LIMIT ?1 + 1)) AS held FROM ` + counts + ` c ORDER BY c.pending > 0 DESC, c.recipient LIMIT 50)
			WHERE held <> min(n, ?1 + 1)`, says}
	}
	return l, l.look(rx, []look{
		waits("", "c.pending"), waits(Needs, "c.needs"), waits(Failed, "c.failed"), waits(Done, "c.done"),
		{
			`SELECT 0, n FROM (SELECT min(?1, (SELECT max(id) FROM messages)) - count(*) AS n FROM messages WHERE id > (SELECT max(id) FROM messages) - ?1)
			WHERE n > (SELECT messages FROM unused_numbers)`,
			"of the newest messages, %.0d%d are gone",
		},
	}, Recent)
}

// Totals returns the totals of all rows, as of rx. It reads every message: call it for a human's request, not in a
// loop.
func (b *Inbox) Totals(rx *store.Rx) (l Totals, err error) {
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
		asking); err != nil {
		return l, err
	}
	if err := l.breaches(rx); err != nil {
		return l, err
	}
	l.Ends = map[int64]int64{}
	if err := each(rx, func(id, task int64) { l.Ends[task] = id },
		`SELECT max(id), task FROM messages WHERE kind IN ('result', 'failure') AND task IS NOT NULL GROUP BY task`); err != nil {
		return l, err
	}
	return l, l.look(rx, []look{
		{
			`SELECT m.recipient, count(*) - ifnull((SELECT sum(pending) FROM counts_now c WHERE c.recipient = m.recipient), 0)
			FROM messages m WHERE taken_at IS NULL GROUP BY m.recipient
			HAVING count(*) <> ifnull((SELECT sum(pending) FROM counts_now c WHERE c.recipient = m.recipient), 0)`,
			"the inbox of agent %d holds %d messages more than its count says",
		},
		{
			`SELECT recipient, pending FROM ` + counts + ` c
			WHERE pending <> 0 AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.recipient = c.recipient AND taken_at IS NULL)`,
			"the inbox of agent %d is empty, but its count says %d",
		},
		{
			`SELECT c.recipient, c.needs + c.failed + c.done - n FROM ` + counts + ` c JOIN (
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
			`SELECT 0, n FROM (SELECT (SELECT ifnull(max(id), 0) FROM messages) - (SELECT count(*) FROM messages) - (SELECT messages FROM unused_numbers) AS n)
			WHERE n <> 0`,
			"of the messages that came to agents, %.0d%d are gone",
		},
		{
			`SELECT c.recipient, c.taken + c.aside - ifnull(n, 0) FROM ` + counts + ` c LEFT JOIN (
				SELECT recipient AS r, count(*) AS n FROM messages WHERE taken_at IS NOT NULL GROUP BY recipient) ON r = c.recipient
			WHERE c.taken + c.aside <> ifnull(n, 0)`,
			"the count of agent %d has %d messages more than it took or set aside",
		},
	})
}

// each calls f with the two numbers of every row.
func each(rx *store.Rx, f func(a, b int64), query string, args ...any) error {
	rows, err := rx.Query(query, args...)
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
