package inbox

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fantail/store"
)

// Query selects pending messages of one recipient.
type Query struct {
	Recipient int64
	From      string               // this name's agent, else former ones and outside senders; "" means any
	Priority  Priority             // only this one; "" means any
	LIFO      bool                 // newest first
	ByUrgency bool                 // urgent, high, normal, low; FIFO inside a class; LIFO is ignored
	ID        int64                // this one message; From and the order are ignored
	IDs       []int64              // only these messages, in the same order
	Task      int64                // the results and failures of this task; From and the order are ignored
	Before    int64                // only ids below it; 0: all
	After     int64                // only ids above it
	Deliver   []Deliver            // only these, and no muted thread; empty means any
	Asks      bool                 // also questions and approvals, which are not taken otherwise
	Limit     int                  // at most so many; 0 means all
	Fit       func(m Message) bool // a message that it refuses ends the take and stays pending; nil takes all

	sender int64 // the agent named From
	former bool  // no agent has the name From any more
}

// meant finds the agent that From names. A name belongs to the agent or waiting task that has it now. If there is none,
// messages of earlier agents with that name match.
func (q Query) meant(v *store.View) (Query, error) {
	if q.From == "" {
		return q, nil
	}
	a, ok, err := v.AgentByName(q.From)
	if err != nil || ok {
		q.sender = a.ID
		return q, err
	}
	queued, err := v.TaskQueued(q.From)
	q.former = !queued
	return q, err
}

// Into appends all taken messages to a transcript as one entry, in the take's transaction, and returns that entry. It
// is called once, and not at all when nothing matches; its error undoes the take.
type Into func(ms []Message) (entry int64, err error)

// Take marks the pending messages that match q as taken by `by` and appends them with into, all in tx; it returns them
// in the order of q. It cannot take a message twice: a row is pending or taken, there is one writer at a time, and the
// mark and the entry commit together. left is the number of pending messages that match but were not taken; [Left]
// formats it.
func (b *Inbox) Take(tx *store.Tx, q Query, by string, into Into) (ms []Message, left int, err error) {
	if q, err = q.meant(&tx.View); err != nil {
		return nil, 0, fmt.Errorf("take messages: %w", err)
	}
	if ms, err = match(tx, q); err != nil {
		return nil, 0, fmt.Errorf("take messages: %w", err)
	}
	if len(ms) > 0 {
		entry, err := into(ms)
		if err != nil {
			return nil, 0, err
		}
		c, err := b.change(tx, q.Recipient)
		if err != nil {
			return nil, 0, fmt.Errorf("take messages: %w", err)
		}
		var t tally
		for i := range ms {
			m := &ms[i]
			m.Taken, m.TakenBy, m.Entry = tx.Now(), by, entry
			if err := mark(tx, m); err != nil {
				return nil, 0, fmt.Errorf("take message %d: %w", m.ID, err)
			}
			t.count(*m, -1)
			t.taken++
		}
		b.keep(tx, c, t, Change{})
	}
	if left, err = q.count(&tx.View); err != nil {
		return nil, 0, fmt.Errorf("count what is left: %w", err)
	}
	return ms, left, nil
}

// Any reports whether a pending message matches q, without taking it. Order,
// Limit and Fit don't matter.
func (b *Inbox) Any(tx *store.Tx, q Query) (bool, error) {
	q, err := q.meant(&tx.View)
	if err != nil {
		return false, fmt.Errorf("look for messages: %w", err)
	}
	q.ByUrgency = false
	for _, p := range q.passes() {
		ms, err := p.messages(&tx.View, 1)
		if err != nil {
			return false, fmt.Errorf("look for messages: %w", err)
		}
		if len(ms) > 0 {
			return true, nil
		}
	}
	return false, nil
}

// chunk bounds the bodies that are read before Fit checks any of them.
const chunk = 32

// match returns the messages that the take will take, in order. No message is marked until all are known, so each pass
// continues after its last message.
func match(tx *store.Tx, q Query) (ms []Message, err error) {
	for _, p := range q.passes() {
		for rest := p; ; {
			limit := chunk
			if q.Limit > 0 {
				limit = min(limit, q.Limit-len(ms))
			}
			if limit == 0 {
				return ms, nil
			}
			some, err := rest.messages(&tx.View, limit)
			if err != nil {
				return nil, err
			}
			for _, m := range some {
				if q.Fit != nil && !q.Fit(m) {
					return ms, nil
				}
				ms = append(ms, m)
			}
			if len(some) < limit {
				break
			}
			rest = p.behind(some[len(some)-1].ID)
		}
	}
	return ms, nil
}

// mark takes a message that this transaction has read as pending.
func mark(tx *store.Tx, m *Message) error {
	r, err := tx.Exec(`UPDATE messages SET taken_at = ?, taken_by = ?, entry = ? WHERE id = ? AND taken_at IS NULL`,
		m.Taken.UnixMilli(), m.TakenBy, orNull(m.Entry), m.ID)
	if err != nil {
		return err
	}
	n, err := r.RowsAffected()
	if err == nil && n != 1 {
		err = store.ErrNoRows
	}
	return err
}

// pass is one walk along an index: conditions, and the direction of the ids.
// With several values of deliver it is as many walks, merged by id.
type pass struct {
	where   []string
	args    []any
	deliver []Deliver
	desc    bool
}

// passes are q as walks, in order. Each is answered by one of the messages_pending indexes, so the cost of a walk is
// that of its results.
func (q Query) passes() []pass {
	p := q.condition()
	switch {
	case q.ID != 0, q.Task != 0:
		return []pass{p}
	case q.ByUrgency:
		ps := make([]pass, 0, 4)
		for _, class := range []Priority{Urgent, High, Normal, Low} {
			ps = append(ps, p.and("priority = ?", string(class)))
		}
		return ps
	}
	p.desc = q.LIFO
	return []pass{p}
}

// condition is the condition on messages, without the order.
func (q Query) condition() pass {
	p := pass{}.and("recipient = ?", q.Recipient)
	switch {
	case q.ID != 0:
		p = p.and("id = ?", q.ID)
	case q.Task != 0:
		p = p.and("task = ? AND kind IN ('result', 'failure')", q.Task)
	case q.sender != 0:
		p = p.and("sender = ?", q.sender)
	case q.former:
		p = p.and("sender_name = ?", q.From)
	case q.From != "":
		p = p.and("sender IS NULL AND sender_name = ?", q.From)
	}
	if len(q.IDs) > 0 {
		ids, _ := json.Marshal(q.IDs) // one value, so that the statement does not depend on their number
		p = p.and("id IN (SELECT value FROM json_each(?))", string(ids))
	}
	if q.Priority != "" {
		p = p.and("priority = ?", string(q.Priority))
	}
	if q.Before != 0 {
		p = p.and("id < ?", q.Before)
	}
	if q.After != 0 {
		p = p.and("id > ?", q.After)
	}
	if !q.Asks {
		p = p.and("kind NOT IN ('question', 'approval')")
	}
	if p.deliver = q.Deliver; len(q.Deliver) > 0 {
		p = p.and("muted = 0")
	}
	return p
}

func (p pass) and(where string, args ...any) pass {
	p.where = append(slices.Clip(p.where), where)
	p.args = append(slices.Clip(p.args), args...)
	return p
}

// behind is the rest of p after the message with that id.
func (p pass) behind(id int64) pass {
	if p.desc {
		return p.and("id < ?", id)
	}
	return p.and("id > ?", id)
}

// walk returns the SQL to read one index, without deliver.
func (p pass) walk(what, taken string) (query string, args []any) {
	return "SELECT " + what + " FROM messages WHERE taken_at " + taken + " AND " + strings.Join(p.where, " AND "), slices.Clip(p.args)
}

// walks returns the SQL to read: one SELECT, or one for each value of deliver. SQLite merges ordered SELECTs without
// sorting their rows.
func (p pass) walks(what string) (query string, args []any) {
	from, _ := p.walk(what, "IS NULL")
	if len(p.deliver) == 0 {
		return from, p.args
	}
	for i, d := range p.deliver {
		if slices.Contains(p.deliver[:i], d) {
			continue
		}
		if i > 0 {
			query += " UNION ALL "
		}
		query += from + " AND deliver = ?"
		if d != Hold {
			query += " AND deliver <> 'hold'" // as the index says it
		}
		args = append(append(args, p.args...), string(d))
	}
	return query, args
}

// messages returns the first messages of p; limit -1 means all.
func (p pass) messages(v *store.View, limit int) ([]Message, error) {
	query, args := p.walks(columns)
	query += " ORDER BY id"
	if p.desc {
		query += " DESC"
	}
	return readMessages(v, query+" LIMIT ?", append(slices.Clip(args), limit)...)
}

// readMessages reads the messages that a query of columns returns.
func readMessages(v *store.View, query string, args ...any) (ms []Message, err error) {
	rows, err := v.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		m, err := scanMessage(rows)
		if err != nil {
			return nil, err
		}
		ms = append(ms, m)
	}
	return ms, rows.Err()
}

// maxCounted bounds the count of remaining messages where no stored number has it: all writers wait for the take.
const maxCounted = 1000

// Left formats the number of messages that a take left: a number, or 1000+ beyond the limit of the count.
func Left(n int) string {
	if n == maxCounted+1 {
		return strconv.Itoa(maxCounted) + "+"
	}
	return strconv.Itoa(n)
}

// count returns the number of pending messages that match q; if q filters, maxCounted+1 means any number above
// maxCounted.
func (q Query) count(v *store.View) (n int, err error) {
	if q.ID == 0 && len(q.IDs) == 0 && q.Task == 0 && q.Before == 0 && q.After == 0 && q.From == "" && q.Priority == "" && len(q.Deliver) == 0 {
		t, err := kept(v, q.Recipient)
		if !q.Asks {
			return t.ready(), err
		}
		return t.pending, err
	}
	query, args := q.condition().walks("1")
	err = v.QueryRow("SELECT count(*) FROM ("+query+" LIMIT ?)", append(args, maxCounted+1)...).Scan(&n)
	return n, err
}

const columns = `id, recipient, ifnull(sender, 0), sender_name, kind, deliver, priority, tags, subject, body, outcome, error,
	partial_output, ifnull(task, 0), ifnull(turn, 0), ifnull(in_reply_to, 0), ifnull(key, ''), created_at, ifnull(taken_at, 0), taken_by, ifnull(entry, 0),
	ifnull(thread, id), muted, pinned, ifnull(dismissed_at, 0), ifnull(snoozed_until, 0), by_fork, hops,
	octet_length(subject) + length(body) + octet_length(error) + length(partial_output)`

// scanMessage reads columns. Unreadable tags become none: a damaged row must not block later messages.
func scanMessage(s interface{ Scan(dest ...any) error }) (m Message, err error) {
	var tags string
	var created, taken, dismissed, snoozed int64
	err = s.Scan(&m.ID, &m.Recipient, &m.Sender, &m.From, &m.Kind, &m.Deliver, &m.Priority, &tags, &m.Subject, &m.Body, &m.Outcome,
		&m.Error, &m.Partial, &m.Task, &m.Turn, &m.InReplyTo, &m.Key, &created, &taken, &m.TakenBy, &m.Entry,
		&m.Thread, &m.Muted, &m.Pinned, &dismissed, &snoozed, &m.ByFork, &m.Hops, &m.Size)
	if err != nil {
		return m, err
	}
	if json.Unmarshal([]byte(tags), &m.Tags) != nil || len(m.Tags) == 0 {
		m.Tags = nil
	}
	m.Created, m.Taken, m.Dismissed, m.Snoozed = moment(created), moment(taken), moment(dismissed), moment(snoozed)
	return m, nil
}
