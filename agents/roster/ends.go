package roster

import (
	"errors"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/inbox"
	"fantail/store"
)

// Ends does what the end of a task or of an agent means for others, in the transaction that ends it.
type Ends struct {
	Inbox  *inbox.Inbox
	Unread func(tx *store.Tx, from, to int64, state event.State) error // tells senders what an agent did not read
	Ended  func(task int64)                                            // a task has ended; called after the commit
	Passed func(from, to int64)                                        // to inherits from; called after the commit
}

// Finish ends a task with its one message. It returns false if the task had ended already.
func (e *Ends) Finish(tx *store.Tx, t Task, agent int64, o history.Outcome, cause, text string) (bool, error) {
	ended, err := tx.FinishTask(t.ID, string(o), cause)
	if err != nil || !ended {
		return false, err
	}
	if _, err = e.Inbox.Add(tx, ResultOf(t, agent, o, cause, text)); err != nil {
		return false, err
	}
	return true, e.release(tx, t, o, cause)
}

// Remove takes a queued task out of its queue. It returns false if the task had started.
func (e *Ends) Remove(tx *store.Tx, t Task) (bool, error) {
	removed, err := tx.RemoveTask(t.ID)
	if err != nil || !removed {
		return false, err
	}
	return true, e.release(tx, t, TaskRemoved, "")
}

// release frees the tasks that wait for t. Unless t completed they can never start, so each ends with a message of its
// own.
func (e *Ends) release(tx *store.Tx, t Task, o history.Outcome, cause string) error {
	tx.AfterCommit(func() { e.Ended(t.ID) })
	if o == history.Completed {
		return nil
	}
	waiting, err := tx.NeededBy(t.ID)
	if err != nil {
		return err
	}
	why := history.Fit("not started: "+Became(t.Name, string(o), cause), history.MostSubject)
	for _, w := range waiting {
		if _, err := e.Finish(tx, w, 0, history.OutFailed, why, ""); err != nil {
			return err
		}
	}
	return nil
}

// Drop removes the queued tasks of an agent that ends with everything below it.
func (e *Ends) Drop(tx *store.Tx, from int64) error {
	ts, err := tx.Tasks(from)
	if err != nil {
		return err
	}
	for _, t := range ts {
		if t.State != TaskQueued {
			continue
		}
		if _, err := e.Remove(tx, t); err != nil {
			return err
		}
	}
	return nil
}

// Pass gives the open tasks of an ending agent, its unread results and the agents alive below it to the nearest live
// agent above it. So every task is in the queue of an agent that can start it and read its result, and no living agent
// is below a dead one. A window closes with the agent that opened it. Senders are told what the agent did not read.
func (e *Ends) Pass(tx *store.Tx, from int64, state event.State) error {
	to, err := Heir(tx, from)
	if err != nil {
		return err
	}
	pass := e.Inbox.Pass
	if row, _, err := tx.Agent(from); err != nil {
		return err
	} else if event.Kind(row.Kind).Handles() { // mail to a fork goes on to its parent
		pass = e.Inbox.PassAll
	}
	if err := errors.Join(tx.PassTasks(from, to), tx.PassAgents(from, to), pass(tx, from, to),
		e.Unread(tx, from, to, state)); err != nil {
		return err
	}
	tx.AfterCommit(func() { e.Passed(from, to) })
	return nil
}
