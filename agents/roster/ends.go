package roster

import (
	"errors"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/inbox"
	"fantail/store"
)

// Ends carries out what the end of a task or of an agent means for others, in the
// transaction that ends it.
type Ends struct {
	Inbox  *inbox.Inbox
	Unread func(tx *store.Tx, from, to int64, state event.State) error // tells senders what an agent did not read
	Ended  func(task int64)                                            // a task has ended; called after the commit
	Passed func(from, to int64)                                        // to has what was from's; called after the commit
}

// Finish ends a task with its one message. False: it had ended before.
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

// Remove takes a queued task out of its queue. False: it had started.
func (e *Ends) Remove(tx *store.Tx, t Task) (bool, error) {
	removed, err := tx.RemoveTask(t.ID)
	if err != nil || !removed {
		return false, err
	}
	return true, e.release(tx, t, TaskRemoved, "")
}

// release lets go those that wait for a task: after anything but a success they can't
// start, and end with a message of their own.
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

// Drop removes the queued tasks of an agent that ends with all below it.
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

// Pass gives the open tasks of an agent that ends, the results it has not read and
// the agents that live below it to the nearest agent above it that lives: a task is
// always in the queue of somebody who can start it and read its result, and above a
// living agent all live. A window closes with the agent that opened it. Senders hear
// what the agent did not read.
func (e *Ends) Pass(tx *store.Tx, from int64, state event.State) error {
	to, err := Heir(tx, from)
	if err != nil {
		return err
	}
	pass := e.Inbox.Pass
	if row, _, err := tx.Agent(from); err != nil {
		return err
	} else if event.Kind(row.Kind).Nature().Handles { // what was for a fork is for its parent
		pass = e.Inbox.PassAll
	}
	if err := errors.Join(tx.PassTasks(from, to), tx.PassAgents(from, to), pass(tx, from, to), e.Unread(tx, from, to, state)); err != nil {
		return err
	}
	tx.AfterCommit(func() { e.Passed(from, to) })
	return nil
}
