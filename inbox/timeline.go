package inbox

import (
	"fmt"
	"time"

	"fantail/store"
)

// Passage is when a message left its sender and when it entered its recipient's conversation.
type Passage struct {
	From, To int64 // agents; From is 0 if it came from outside
	Sent     time.Time
	Taken    time.Time // zero: it waits, or the human put it away
}

// passageBefore is how many messages before a time are looked at for those that were taken in it.
const passageBefore = 200

// Passages returns the messages that were sent or taken between the two times, at most the newest limit. Questions are
// left out.
func Passages(v *store.View, from, to time.Time, limit int) (ps []Passage, err error) {
	const at = `SELECT id, created_at FROM messages WHERE id >= ? ORDER BY id LIMIT 1`
	low, err := v.FirstAt(at, from)
	if err == nil {
		var high int64
		if high, err = v.FirstAt(at, to); err == nil {
			ps, err = passages(v, low-passageBefore, high, limit)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("list the messages of a time: %w", err)
	}
	return ps, nil
}

func passages(v *store.View, low, high int64, limit int) (ps []Passage, err error) {
	rows, err := v.Query(`SELECT ifnull(sender, 0), recipient, created_at, iif(taken_by IN ('archive', 'snooze'), 0, ifnull(taken_at, 0))
		FROM messages WHERE id >= ? AND id < ? AND kind NOT IN ('question', 'approval') ORDER BY id DESC LIMIT ?`, low, high, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var p Passage
		var sent, taken int64
		if err := rows.Scan(&p.From, &p.To, &sent, &taken); err != nil {
			return nil, err
		}
		p.Sent = time.UnixMilli(sent)
		if taken > 0 {
			p.Taken = time.UnixMilli(taken)
		}
		ps = append(ps, p)
	}
	return ps, rows.Err()
}
