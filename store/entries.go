package store

import (
	"database/sql"
	"fmt"
	"math"
	"slices"
	"time"
)

// Entry is one item of a transcript. Entries are only appended.
type Entry struct {
	Seq     int64
	Agent   int64
	Turn    int64 // 0: at rest
	Kind    string
	Data    string // JSON
	Text    string // text from pieces, which is not in Data; "": none
	Created time.Time

	head int64 // of Text; 0: there is none
	size int   // of Text
}

const entryColumns = `seq, agent, ifnull(turn, 0), kind, data, created_at, ifnull(head, 0), size`

func scanEntry(s scanner) (e Entry, err error) {
	var created sql.NullInt64
	err = s.Scan(&e.Seq, &e.Agent, &e.Turn, &e.Kind, &e.Data, &created, &e.head, &e.size)
	e.Created = moment(created)
	return e, err
}

// read returns the entries a query selects, with their texts.
func (v *View) read(query string, args ...any) ([]Entry, error) {
	es, err := all(v, scanEntry, query, args...)
	if err != nil {
		return nil, err
	}
	for i := range es {
		if e := &es[i]; e.head != 0 {
			if e.Text, err = v.Text(e.head, e.size); err != nil {
				return nil, err
			}
		}
	}
	return es, nil
}

// readOne returns the first entry that a query selects, with its text.
func (v *View) readOne(query string, args ...any) (Entry, bool, error) {
	es, err := v.read(query, args...)
	if err != nil || len(es) == 0 {
		return Entry{}, false, err
	}
	return es[0], true, nil
}

// Append adds an entry to the agent's transcript and returns its seq. turn is 0 at rest.
func (tx *Tx) Append(agent, turn int64, kind, data string) (int64, error) {
	return tx.append(agent, turn, kind, data, 0, 0)
}

func (tx *Tx) append(agent, turn int64, kind, data string, head int64, size int) (int64, error) {
	seq, err := tx.insert(`INSERT INTO entries (agent, turn, kind, data, created_at, head, size) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		agent, null(turn), kind, data, stamp(tx.Now()), null(head), size)
	if err != nil {
		return 0, fmt.Errorf("append to the transcript of agent %d: %w", agent, err)
	}
	return seq, nil
}

// EntriesAfter returns the entries of the agent's transcript with seq > after, oldest first; limit <= 0 means all. The
// transcript of a branch begins with the entries of the one that it branched off.
func (v *View) EntriesAfter(agent, after int64, limit int) ([]Entry, error) {
	line, err := v.line(agent)
	if err != nil {
		return nil, err
	}
	slices.Reverse(line)
	return v.entries(agent, line, limit, `SELECT `+entryColumns+` FROM entries
		WHERE agent = ? AND seq <= ? AND seq > ? ORDER BY seq LIMIT ?`, after)
}

// entries runs a query for each stretch until limit is reached.
func (v *View) entries(agent int64, line []stretch, limit int, query string, seq int64) ([]Entry, error) {
	var es []Entry
	for _, s := range line {
		left := -1
		if limit > 0 {
			if left = limit - len(es); left == 0 {
				break
			}
		}
		more, err := v.read(query, s.agent, s.upTo, seq, left)
		if err != nil {
			return nil, fmt.Errorf("read entries of agent %d: %w", agent, err)
		}
		es = append(es, more...)
	}
	return es, nil
}

// EntriesBefore returns the limit newest entries of the agent's transcript with seq < before (0: no bound), oldest
// first; limit <= 0 means all.
func (v *View) EntriesBefore(agent, before int64, limit int) ([]Entry, error) {
	line, err := v.line(agent)
	if err != nil {
		return nil, err
	}
	if before == 0 {
		before = math.MaxInt64
	}
	es, err := v.entries(agent, line, limit, `SELECT `+entryColumns+` FROM entries
		WHERE agent = ? AND seq <= ? AND seq < ? ORDER BY seq DESC LIMIT ?`, before)
	if err != nil {
		return nil, err
	}
	slices.Reverse(es)
	return es, nil
}

// LastEntry returns the newest entry of a kind in the agent's transcript.
func (v *View) LastEntry(agent int64, kind string) (Entry, bool, error) {
	line, err := v.line(agent)
	if err != nil {
		return Entry{}, false, err
	}
	for _, s := range line {
		e, ok, err := v.readOne(`SELECT `+entryColumns+` FROM entries
			WHERE agent = ? AND kind = ? AND seq <= ? ORDER BY seq DESC LIMIT 1`, s.agent, kind, s.upTo)
		if err != nil {
			return e, false, fmt.Errorf("read last %s entry of agent %d: %w", kind, agent, err)
		}
		if ok {
			return e, true, nil
		}
	}
	return Entry{}, false, nil
}

// KindOf returns the agent's own entries of a kind with seq > after, oldest first.
func (v *View) KindOf(agent int64, kind string, after int64) ([]Entry, error) {
	es, err := v.read(`SELECT `+entryColumns+` FROM entries WHERE agent = ? AND kind = ? AND seq > ? ORDER BY seq`, agent, kind, after)
	if err != nil {
		return nil, fmt.Errorf("read %s entries of agent %d: %w", kind, agent, err)
	}
	return es, nil
}

// KindAfter returns the entries of a kind with seq > after of all open agents, by agent, oldest first. Its cost is one
// index lookup for each agent, for any number of other entries.
func (v *View) KindAfter(kind string, after int64) ([]Entry, error) {
	es, err := v.read(`SELECT `+entryColumns+` FROM entries INDEXED BY entries_of_kind
		WHERE agent IN (SELECT id FROM agents WHERE closed_at IS NULL) AND kind = ? AND seq > ? ORDER BY agent, seq`, kind, after)
	if err != nil {
		return nil, fmt.Errorf("read %s entries: %w", kind, err)
	}
	return es, nil
}

// TurnEntries returns the entries of a turn, oldest first.
func (v *View) TurnEntries(turn int64) ([]Entry, error) {
	es, err := v.read(`SELECT `+entryColumns+` FROM entries WHERE turn = ? ORDER BY seq`, turn)
	if err != nil {
		return nil, fmt.Errorf("read entries of turn %d: %w", turn, err)
	}
	return es, nil
}

// FirstOfTurn returns the oldest entry of a kind in a turn.
func (v *View) FirstOfTurn(turn int64, kind string) (Entry, bool, error) {
	e, ok, err := v.readOne(`SELECT `+entryColumns+` FROM entries WHERE turn = ? AND kind = ? ORDER BY seq LIMIT 1`, turn, kind)
	if err != nil {
		return e, false, fmt.Errorf("read first %s entry of turn %d: %w", kind, turn, err)
	}
	return e, ok, nil
}

// LastSeq returns the seq of the agent's own newest entry, 0 if it has none.
func (v *View) LastSeq(agent int64) (seq int64, err error) {
	if err := v.QueryRow(`SELECT ifnull(max(seq), 0) FROM entries WHERE agent = ?`, agent).Scan(&seq); err != nil {
		return 0, fmt.Errorf("find the newest entry of agent %d: %w", agent, err)
	}
	return seq, nil
}

// NewestSeq returns the seq of the newest entry of all agents, 0 if there is none.
func (v *View) NewestSeq() (seq int64, err error) {
	if err := v.QueryRow(`SELECT ifnull(max(seq), 0) FROM entries`).Scan(&seq); err != nil {
		return 0, fmt.Errorf("find the newest entry: %w", err)
	}
	return seq, nil
}

// ToolCount is how often a tool was called.
type ToolCount struct {
	Name  string
	Times int
}

// ToolCounts returns how often the agent called which tool, the most used first.
func (v *View) ToolCounts(agent int64) ([]ToolCount, error) {
	scan := func(s scanner) (t ToolCount, err error) {
		err = s.Scan(&t.Name, &t.Times)
		return t, err
	}
	ts, err := all(v, scan, `SELECT ifnull(json_extract(data, '$.call.name'), '') AS tool, count(*) AS times
		FROM entries WHERE agent = ? AND kind = 'call' GROUP BY tool ORDER BY times DESC, tool`, agent)
	if err != nil {
		return nil, fmt.Errorf("count the calls of agent %d: %w", agent, err)
	}
	return ts, nil
}
