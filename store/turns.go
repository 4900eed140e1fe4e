package store

import (
	"database/sql"
	"fmt"
	"slices"
	"time"
)

// Turn is idle to idle of one agent.
type Turn struct {
	ID                                   int64
	Agent                                int64
	Parent                               int64 // the turn before, or the one it was forked from; 0: none
	Conversation                         int64 // 0 on Begin: the turn's own id
	SpawnedBy                            int64
	Kind                                 string
	Outcome                              string // "" while it runs
	Error                                string
	SentUpTo                             int64
	Steps                                int
	Input, Output, CacheRead, CacheWrite int
	Cost                                 int64 // millionths of a dollar
	Context                              int   // tokens
	Started                              time.Time
	Ended                                time.Time
}

// Step is the use of one model request; a turn's sums are made in SQL.
type Step struct {
	Input, Output, CacheRead, CacheWrite int
	Cost                                 int64
	Context                              int
}

const turnColumns = `id, agent, ifnull(parent_turn, 0), conversation, ifnull(spawned_by, 0), kind, outcome, error, sent_up_to,
	steps, input, output, cache_read, cache_write, cost, context, started_at, ended_at`

func scanTurn(s scanner) (t Turn, err error) {
	var started, ended sql.NullInt64
	err = s.Scan(&t.ID, &t.Agent, &t.Parent, &t.Conversation, &t.SpawnedBy, &t.Kind, &t.Outcome, &t.Error, &t.SentUpTo,
		&t.Steps, &t.Input, &t.Output, &t.CacheRead, &t.CacheWrite, &t.Cost, &t.Context, &started, &ended)
	t.Started, t.Ended = moment(started), moment(ended)
	return t, err
}

// BeginTurn adds a running turn and returns its id. Started is now if it is zero.
func (tx *Tx) BeginTurn(t Turn) (int64, error) {
	if t.Started.IsZero() {
		t.Started = tx.Now()
	}
	id, err := tx.insert(`INSERT INTO turns (agent, parent_turn, conversation, spawned_by, kind, sent_up_to, started_at)
		VALUES (?, ?, ?, ?, ?, ?, ?)`,
		t.Agent, null(t.Parent), t.Conversation, null(t.SpawnedBy), t.Kind, t.SentUpTo, stamp(t.Started))
	if err == nil && t.Conversation == 0 {
		err = tx.one(`UPDATE turns SET conversation = id WHERE id = ?`, id)
	}
	if err != nil {
		return 0, fmt.Errorf("begin turn of agent %d: %w", t.Agent, err)
	}
	return id, nil
}

// AddStep adds the use of a request. Context replaces the last one, unless it is 0.
func (tx *Tx) AddStep(turn int64, s Step) error {
	err := tx.one(`UPDATE turns SET steps = steps + 1, input = input + ?, output = output + ?,
		cache_read = cache_read + ?, cache_write = cache_write + ?, cost = cost + ?, context = ifnull(nullif(?, 0), context) WHERE id = ?`,
		s.Input, s.Output, s.CacheRead, s.CacheWrite, s.Cost, s.Context, turn)
	if err != nil {
		return fmt.Errorf("add step to turn %d: %w", turn, err)
	}
	return nil
}

// SetSentUpTo stores the last entry that a request sent.
func (tx *Tx) SetSentUpTo(turn, seq int64) error {
	if err := tx.one(`UPDATE turns SET sent_up_to = ? WHERE id = ?`, seq, turn); err != nil {
		return fmt.Errorf("set what turn %d sent: %w", turn, err)
	}
	return nil
}

// EndTurn sets the outcome of a running turn. It does not change one that has ended.
func (tx *Tx) EndTurn(turn int64, outcome, cause string) error {
	if _, err := tx.count(`UPDATE turns SET outcome = ?, error = ?, ended_at = ? WHERE id = ? AND outcome = ''`,
		outcome, cause, stamp(tx.Now()), turn); err != nil {
		return fmt.Errorf("end turn %d: %w", turn, err)
	}
	return nil
}

// OpenTurns returns the turns without an outcome, by id.
func (v *View) OpenTurns() ([]Turn, error) {
	ts, err := all(v, scanTurn, `SELECT `+turnColumns+` FROM turns WHERE outcome = '' ORDER BY id`)
	if err != nil {
		return nil, fmt.Errorf("list running turns: %w", err)
	}
	return ts, nil
}

// LastTurn returns the agent's newest turn.
func (v *View) LastTurn(agent int64) (Turn, bool, error) {
	t, ok, err := first(v, scanTurn, `SELECT `+turnColumns+` FROM turns WHERE agent = ? ORDER BY id DESC LIMIT 1`, agent)
	if err != nil {
		return t, false, fmt.Errorf("read last turn of agent %d: %w", agent, err)
	}
	return t, ok, nil
}

// SumTurns returns a Turn with the sums of tokens, cost and steps over all
// turns of the agent, and the Context of the last one that made a request.
func (v *View) SumTurns(agent int64) (t Turn, err error) {
	t.Agent = agent
	err = v.QueryRow(`SELECT ifnull(sum(steps), 0), ifnull(sum(input), 0), ifnull(sum(output), 0),
		ifnull(sum(cache_read), 0), ifnull(sum(cache_write), 0), ifnull(sum(cost), 0),
		ifnull((SELECT context FROM turns WHERE agent = ?1 AND steps > 0 ORDER BY id DESC LIMIT 1), 0)
		FROM turns WHERE agent = ?1`, agent).
		Scan(&t.Steps, &t.Input, &t.Output, &t.CacheRead, &t.CacheWrite, &t.Cost, &t.Context)
	if err != nil {
		return t, fmt.Errorf("sum turns of agent %d: %w", agent, err)
	}
	return t, nil
}

// CountTurns returns how many turns the agent began.
func (v *View) CountTurns(agent int64) (n int, err error) {
	if err := v.QueryRow(`SELECT count(*) FROM turns WHERE agent = ?`, agent).Scan(&n); err != nil {
		return 0, fmt.Errorf("count turns of agent %d: %w", agent, err)
	}
	return n, nil
}

// Turn returns one turn.
func (v *View) Turn(id int64) (Turn, bool, error) {
	t, ok, err := first(v, scanTurn, `SELECT `+turnColumns+` FROM turns WHERE id = ?`, id)
	if err != nil {
		return t, false, fmt.Errorf("read turn %d: %w", id, err)
	}
	return t, ok, nil
}

// Turns returns the turns of the agent's transcript by id: those before it branched off, and its own.
func (v *View) Turns(agent int64) ([]Turn, error) {
	line, err := v.line(agent)
	if err != nil {
		return nil, err
	}
	slices.Reverse(line)
	var ts []Turn
	for _, s := range line {
		more, err := all(v, scanTurn, `SELECT `+turnColumns+` FROM turns WHERE agent = ? AND id <= ? ORDER BY id`, s.agent, s.turn)
		if err != nil {
			return nil, fmt.Errorf("list turns of agent %d: %w", agent, err)
		}
		ts = append(ts, more...)
	}
	return ts, nil
}
