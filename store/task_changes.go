package store

import "fmt"

// QueuePlace is where a task is queued.
type QueuePlace struct {
	Task   int64
	Queued bool // false: it started, ended or was removed, and the rest is not set
	Queue  int64
	Place  int64
}

// QueueChanges are the tasks that may have changed since a change number.
type QueueChanges struct {
	Newest int64 // the number of the newest change
	Whole  bool  // some changes are no longer known: Tasks are all queued tasks, and no other task is queued
	Tasks  []QueuePlace
}

// QueueChanges returns what changed in the queues after the change with that number.
func (v *View) QueueChanges(after int64) (c QueueChanges, err error) {
	scan := func(s scanner) (p QueuePlace, err error) {
		err = s.Scan(&p.Task, &p.Queued, &p.Queue, &p.Place)
		return p, err
	}
	var known int64
	err = v.QueryRow(`SELECT ifnull(max(number), 0), (SELECT count(*) FROM task_changes WHERE number > ?) FROM task_changes`, after).
		Scan(&c.Newest, &known)
	if err != nil {
		return c, fmt.Errorf("count the changes of the queue: %w", err)
	}
	if c.Whole = c.Newest-known != after; c.Whole {
		c.Tasks, err = all(v, scan, `SELECT id, 1, queue, place FROM tasks WHERE state = 'queued'`)
	} else if known > 0 {
		c.Tasks, err = all(v, scan, `SELECT c.task, ifnull(t.state = 'queued', 0), ifnull(t.queue, 0), ifnull(t.place, 0)
			FROM (SELECT DISTINCT task FROM task_changes WHERE number > ?) c LEFT JOIN tasks t ON t.id = c.task`, after)
	}
	if err != nil {
		return c, fmt.Errorf("list the changes of the queue: %w", err)
	}
	return c, nil
}
