package store

import (
	"fmt"
	"time"
)

// FinishedSince returns the tasks that finished at that time or later, in that
// order, at most limit. Tasks that were removed did not finish.
func (v *View) FinishedSince(t time.Time, limit int) ([]Task, error) {
	ts, err := all(v, scanTask, `SELECT `+taskColumns+` FROM tasks
		WHERE finished_at >= ? AND state = 'finished' ORDER BY finished_at, id LIMIT ?`, t.UnixMilli(), limit)
	if err != nil {
		return nil, fmt.Errorf("list what finished lately: %w", err)
	}
	return ts, nil
}

// EndedSince returns the turns that ended at that time or later, in that order, at
// most limit.
func (v *View) EndedSince(t time.Time, limit int) ([]Turn, error) {
	ts, err := all(v, scanTurn, `SELECT `+turnColumns+` FROM turns
		WHERE ended_at >= ? ORDER BY ended_at, id LIMIT ?`, t.UnixMilli(), limit)
	if err != nil {
		return nil, fmt.Errorf("list the turns that ended lately: %w", err)
	}
	return ts, nil
}

// SpentSince returns the use of the turns that ended at t or later, or still run: tokens read and written, and their
// cost in millionths of a dollar.
func (v *View) SpentSince(t time.Time) (tokens int, cost int64, err error) {
	err = v.QueryRow(`SELECT ifnull(sum(input + output), 0), ifnull(sum(cost), 0) FROM (
		SELECT input, output, cost FROM turns WHERE ended_at >= ?
		UNION ALL SELECT input, output, cost FROM turns WHERE outcome = '')`, t.UnixMilli()).Scan(&tokens, &cost)
	if err != nil {
		return 0, 0, fmt.Errorf("sum what was spent lately: %w", err)
	}
	return tokens, cost, nil
}
