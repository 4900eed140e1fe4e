package store

import (
	"database/sql"
	"fmt"
	"slices"
	"time"
)

// Entry is one item of a transcript. Entries are only ever appended.
type Entry struct {
	Seq     int64
	Agent   int64
	Turn    int64 // 0: at rest
	Kind    string
	Data    string // JSON
	Created time.Time
}

const entryColumns = `seq, agent, ifnull(turn, 0), kind, data, created_at`

func scanEntry(s scanner) (e Entry, err error) {
	var created sql.NullInt64
	err = s.Scan(&e.Seq, &e.Agent, &e.Turn, &e.Kind, &e.Data, &created)
	e.Created = moment(created)
	return e, err
}

// Append adds an entry to the agent's transcript and returns its seq. turn 0
// means at rest.
func (tx *Tx) Append(agent, turn int64, kind, data string) (int64, error) {
	seq, err := tx.insert(`INSERT INTO entries (agent, turn, kind, data, created_at) VALUES (?, ?, ?, ?, ?)`,
		agent, null(turn), kind, data, stamp(tx.now))
	if err != nil {
		return 0, fmt.Errorf("append to the transcript of agent %d: %w", agent, err)
	}
	return seq, nil
}

// EntriesAfter returns the agent's entries with seq > after, oldest first;
// limit <= 0 means all.
func (v *View) EntriesAfter(agent, after int64, limit int) ([]Entry, error) {
	if limit <= 0 {
		limit = -1
	}
	es, err := all(v, scanEntry, `SELECT `+entryColumns+` FROM entries WHERE agent = ? AND seq > ? ORDER BY seq LIMIT ?`,
		agent, after, limit)
	if err != nil {
		return nil, fmt.Errorf("read entries of agent %d: %w", agent, err)
	}
	return es, nil
}

// EntriesBefore returns the limit newest entries with seq < before (0: no
// bound), oldest first; limit <= 0 means all.
func (v *View) EntriesBefore(agent, before int64, limit int) ([]Entry, error) {
	if limit <= 0 {
		limit = -1
	}
	query := `SELECT ` + entryColumns + ` FROM entries WHERE agent = ? ORDER BY seq DESC LIMIT ?`
	args := []any{agent, limit}
	if before > 0 {
		query = `SELECT ` + entryColumns + ` FROM entries WHERE agent = ? AND seq < ? ORDER BY seq DESC LIMIT ?`
		args = []any{agent, before, limit}
	}
	es, err := all(v, scanEntry, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read entries of agent %d: %w", agent, err)
	}
	slices.Reverse(es)
	return es, nil
}

// LastEntry returns the agent's newest entry of a kind.
func (v *View) LastEntry(agent int64, kind string) (Entry, bool, error) {
	e, ok, err := first(v, scanEntry, `SELECT `+entryColumns+` FROM entries WHERE agent = ? AND kind = ? ORDER BY seq DESC LIMIT 1`,
		agent, kind)
	if err != nil {
		return e, false, fmt.Errorf("read last %s entry of agent %d: %w", kind, agent, err)
	}
	return e, ok, nil
}

// TurnEntries returns the entries of a turn, oldest first.
func (v *View) TurnEntries(turn int64) ([]Entry, error) {
	es, err := all(v, scanEntry, `SELECT `+entryColumns+` FROM entries WHERE turn = ? ORDER BY seq`, turn)
	if err != nil {
		return nil, fmt.Errorf("read entries of turn %d: %w", turn, err)
	}
	return es, nil
}

// LastSeq returns the seq of the agent's newest entry, 0 if it has none.
func (v *View) LastSeq(agent int64) (seq int64, err error) {
	if err := v.QueryRow(`SELECT ifnull(max(seq), 0) FROM entries WHERE agent = ?`, agent).Scan(&seq); err != nil {
		return 0, fmt.Errorf("find the newest entry of agent %d: %w", agent, err)
	}
	return seq, nil
}
