package store

import "fmt"

// TaskLedger counts the tasks of all queues by state.
type TaskLedger struct {
	Queued, Running, Finished, Removed int
	Lost                               []Task // running, though their agents have ended
}

// TaskLedger reads every task: call it for a human's request, not in a loop.
func (v *View) TaskLedger() (l TaskLedger, err error) {
	err = v.QueryRow(`SELECT ifnull(sum(state = 'queued'), 0), ifnull(sum(state = 'running'), 0),
		ifnull(sum(state = 'finished'), 0), ifnull(sum(state = 'removed'), 0) FROM tasks`).
		Scan(&l.Queued, &l.Running, &l.Finished, &l.Removed)
	if err == nil {
		l.Lost, err = all(v, scanTask, `SELECT `+taskColumns+` FROM tasks WHERE state = 'running'
			AND agent IN (SELECT id FROM agents WHERE ended_at IS NOT NULL) ORDER BY id`)
	}
	if err != nil {
		return l, fmt.Errorf("count tasks: %w", err)
	}
	return l, nil
}

// LateApprovals returns the ids of open questions whose turns have ended.
func (v *View) LateApprovals() ([]int64, error) {
	ids, err := all(v, scanNumber, `SELECT id FROM approvals WHERE answered_at IS NULL
		AND turn IN (SELECT id FROM turns WHERE outcome <> '') ORDER BY id`)
	if err != nil {
		return nil, fmt.Errorf("list questions of turns that ended: %w", err)
	}
	return ids, nil
}

// NewestTask is the highest id of a task, 0 if there is none.
func NewestTask(v *View) (id int64, err error) {
	if err := v.QueryRow(`SELECT ifnull(max(id), 0) FROM tasks`).Scan(&id); err != nil {
		return 0, fmt.Errorf("find the newest task: %w", err)
	}
	return id, nil
}

// FinishedTasks returns the ids of the newest finished tasks, at most that many, in order; -1: all.
func (v *View) FinishedTasks(most int) ([]int64, error) {
	ids, err := all(v, scanNumber, `SELECT id FROM (SELECT id FROM tasks WHERE state = 'finished' ORDER BY id DESC LIMIT ?) ORDER BY id`, most)
	if err != nil {
		return nil, fmt.Errorf("list finished tasks: %w", err)
	}
	return ids, nil
}

// AwaitingTasks returns the ids of the running tasks whose agents wait for input.
func AwaitingTasks(v *View) ([]int64, error) {
	ids, err := all(v, scanNumber, `SELECT id FROM tasks WHERE state = 'running' AND idle_ms IS NOT NULL ORDER BY id`)
	if err != nil {
		return nil, fmt.Errorf("list tasks that await input: %w", err)
	}
	return ids, nil
}

func scanNumber(s scanner) (n int64, err error) { return n, s.Scan(&n) }
