package store

import (
	"database/sql"
	"fmt"
	"time"
)

// FirstAt returns the first id of a table whose row is of that time or later. query selects the id and the time of the
// first row from an id on. The cost is a few lookups for any number of rows: later rows have later times, except where
// the clock was set back. There the id may be of an earlier row or a later one.
func (v *View) FirstAt(query string, t time.Time) (int64, error) {
	row := func(from int64) (id int64, before bool, err error) {
		var at int64
		if err = v.QueryRow(query, from).Scan(&id, &at); err == sql.ErrNoRows {
			return 0, false, nil
		}
		return id, at < t.UnixMilli(), err
	}
	low, high := int64(1), int64(1)
	for {
		id, before, err := row(high)
		if err != nil {
			return 0, err
		}
		if !before {
			break
		}
		low = id + 1
		high = 2 * low
	}
	for low < high {
		middle := low + (high-low)/2
		switch id, before, err := row(middle); {
		case err != nil:
			return 0, err
		case before:
			low = id + 1
		default:
			high = middle
		}
	}
	return low, nil
}

// Lapse is when something that an agent did or had began and ended.
type Lapse struct {
	Agent, ID int64
	Call      string    // of a call
	Word      string    // a turn's outcome, what a row of the audit is about, a queued task's name
	From, To  time.Time // To is zero if it has not ended
}

func scanLapse(s scanner) (l Lapse, err error) {
	var from, to sql.NullInt64
	err = s.Scan(&l.Agent, &l.ID, &l.Call, &l.Word, &from, &to)
	l.From, l.To = moment(from), moment(to)
	return l, err
}

// lapses runs a query of these columns.
func (v *View) lapses(what, query string, args ...any) ([]Lapse, error) {
	ls, err := all(v, scanLapse, query, args...)
	if err != nil {
		return nil, fmt.Errorf("list %s of a time: %w", what, err)
	}
	return ls, nil
}

// FirstTurn returns when the first turn of all began; zero: there is none.
func (v *View) FirstTurn() (time.Time, error) {
	var at sql.NullInt64
	err := v.QueryRow(`SELECT started_at FROM turns ORDER BY id LIMIT 1`).Scan(&at)
	if err == sql.ErrNoRows {
		err = nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("find the first turn: %w", err)
	}
	return moment(at), nil
}

// TurnsBetween returns the turns that ran at some time between the two, at most limit. A turn that a crash cut ends with
// the last entry that its agent made itself: the next start ended it later.
func (v *View) TurnsBetween(from, to time.Time, limit int) ([]Lapse, error) {
	below, err := v.FirstAt(`SELECT id, started_at FROM turns WHERE id >= ? ORDER BY id LIMIT 1`, to)
	if err != nil {
		return nil, fmt.Errorf("find the turns of a time: %w", err)
	}
	return v.lapses("the turns", `SELECT agent, id, '', outcome, started_at, iif(outcome <> 'crashed', ended_at, ifnull(
			(SELECT created_at FROM entries WHERE turn = turns.id AND created_at < turns.ended_at ORDER BY seq DESC LIMIT 1), started_at))
		FROM turns WHERE id IN (
			SELECT id FROM turns WHERE outcome = ''
			UNION SELECT id FROM (SELECT id FROM turns WHERE ended_at >= ?1 AND id < ?2 ORDER BY ended_at LIMIT ?3))
		ORDER BY id LIMIT ?3`, from.UnixMilli(), below, limit)
}

// QuestionsOf returns when the questions of these turns were asked and answered, at most limit, the newest ones.
func (v *View) QuestionsOf(turns []Lapse, from, to time.Time, limit int) (ls []Lapse, err error) {
	for _, t := range turns {
		more, err := v.lapses("the questions", `SELECT agent, turn, call, '', created_at, answered_at FROM approvals
			WHERE turn = ? AND created_at < ? AND ifnull(answered_at, ?) >= ? ORDER BY id DESC LIMIT ?`,
			t.ID, to.UnixMilli(), to.UnixMilli(), from.UnixMilli(), limit-len(ls))
		if err != nil {
			return nil, err
		}
		if ls = append(ls, more...); len(ls) >= limit {
			break
		}
	}
	return ls, nil
}

// CallsBetween returns the rows of the audit about calls that began or ended between the two, at most limit, the newest
// ones, oldest first. The row of a call that ended has its beginning and its end, any other the time at which it was
// written.
func (v *View) CallsBetween(from, to time.Time, limit int) ([]Lapse, error) {
	const at = `SELECT id, at FROM audit WHERE id >= ? ORDER BY id LIMIT 1`
	low, err := v.FirstAt(at, from)
	if err != nil {
		return nil, fmt.Errorf("find the calls of a time: %w", err)
	}
	high, err := v.FirstAt(at, to)
	if err != nil {
		return nil, fmt.Errorf("find the calls of a time: %w", err)
	}
	return v.lapses("the calls", `SELECT * FROM (
		SELECT agent, id, call, what, iif(what = 'ended', ifnull(began, at - millis), at), iif(what = 'ended', ifnull(began + millis, at), NULL)
		FROM audit WHERE id >= ? AND id < ? AND what IN ('call', 'ended') ORDER BY id DESC LIMIT ?) ORDER BY id`, low, high, limit)
}

// CallAt returns when a call of the turn began that ran at that time; zero: none did.
func (v *View) CallAt(turn int64, at time.Time) (time.Time, error) {
	var kind string
	var began sql.NullInt64
	err := v.QueryRow(`SELECT kind, created_at FROM entries WHERE turn = ? AND created_at < ? ORDER BY seq DESC LIMIT 1`, turn, at.UnixMilli()).
		Scan(&kind, &began)
	switch {
	case err == sql.ErrNoRows:
		return time.Time{}, nil
	case err != nil:
		return time.Time{}, fmt.Errorf("find what turn %d did at a time: %w", turn, err)
	case kind != "call" && kind != "started" && kind != "delegated":
		return time.Time{}, nil
	}
	return moment(began), nil
}

// TasksQueued returns from when to when the tasks of open agents were queued, and those that still are: their agent is
// the one in whose queue they are, and their Word is their name. At most limit each.
func (v *View) TasksQueued(limit int) (started, queued []Lapse, err error) {
	started, err = v.lapses("the tasks", `SELECT agent, id, '', '', created_at, started_at FROM tasks
		WHERE agent IN (SELECT id FROM agents WHERE closed_at IS NULL) AND started_at IS NOT NULL ORDER BY id DESC LIMIT ?`, limit)
	if err != nil {
		return nil, nil, err
	}
	queued, err = v.lapses("the tasks", `SELECT queue, id, '', name, created_at, NULL FROM tasks WHERE state = 'queued' ORDER BY queue, place, id LIMIT ?`, limit)
	return started, queued, err
}

// SeqAt returns the seq of the first entry of all agents at that time or later.
func (v *View) SeqAt(t time.Time) (int64, error) {
	seq, err := v.FirstAt(`SELECT seq, created_at FROM entries WHERE seq >= ? ORDER BY seq LIMIT 1`, t)
	if err != nil {
		return 0, fmt.Errorf("find the entries of a time: %w", err)
	}
	return seq, nil
}
