package tasks

import (
	"errors"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/inbox"
	"fantail/store"
)

// Ends carries out the consequences of the end of a task or an agent, in the transaction that ends it.
type Ends struct {
	Inbox  *inbox.Inbox
	Seals  *SealKey
	Unread func(tx *store.Tx, from, to int64, state event.State) error // tells senders which messages an agent did not read
	Ended  func(task int64)                                            // a task has ended; called after the commit
	Passed func(from, to int64)                                        // to inherits from; called after the commit

	// Scheduled reports a task's end in another way if a schedule started it, and returns whether one did. Removed is
	// called for a task that ends without having started. nil: there are no schedules.
	Scheduled func(tx *store.Tx, t Task, end End) (bool, error)
	Removed   func(tx *store.Tx, t Task) error
}

// End is how a turn of a task, or the task itself, ends.
type End struct {
	Agent   int64 // the agent that carried it out; 0: none began
	Turn    int64 // that ended; 0: none ran
	Outcome history.Outcome
	Cause   string // why it did not complete
	Text    string // the last answer
}

// Finish ends a task with its last message. It returns false if the task had ended already.
func (e *Ends) Finish(tx *store.Tx, t Task, end End) (bool, error) {
	ended, err := tx.FinishTask(t.ID, string(end.Outcome), end.Cause)
	if err != nil || !ended {
		return false, err
	}
	told := false
	if e.Scheduled != nil {
		told, err = e.Scheduled(tx, t, end)
	}
	if err == nil && !told {
		err = e.Report(tx, t, end)
	}
	if err != nil {
		return false, err
	}
	return true, e.release(tx, t, end.Outcome, end.Cause)
}

// Report deposits the result of a turn, for a task that goes on.
func (e *Ends) Report(tx *store.Tx, t Task, end End) error {
	_, err := e.Inbox.Add(tx, ResultOf(t, end))
	return err
}

// Conclude ends a task whose results are deposited, without another message.
func (e *Ends) Conclude(tx *store.Tx, t Task) error {
	ended, err := tx.FinishTask(t.ID, string(history.Completed), "")
	if err != nil || !ended {
		return err
	}
	return e.release(tx, t, history.Completed, "")
}

// Remove removes a queued task from its queue. It returns false if the task had started.
func (e *Ends) Remove(tx *store.Tx, t Task) (bool, error) {
	removed, err := tx.RemoveTask(t.ID)
	if err == nil && removed && e.Removed != nil {
		err = e.Removed(tx, t)
	}
	if err != nil || !removed {
		return false, err
	}
	return true, e.release(tx, t, TaskRemoved, "")
}

// release frees the tasks that wait for t. Unless t completed they can never start, so each fails with a message of
// its own.
func (e *Ends) release(tx *store.Tx, t Task, o history.Outcome, cause string) error {
	tx.AfterCommit(func() {
		e.Seals.Spend(t.ID)
		e.Ended(t.ID)
	})
	if o == history.Completed {
		return nil
	}
	waiting, err := tx.NeededBy(t.ID)
	if err != nil {
		return err
	}
	why := history.Fit("not started: "+became(t.Name, string(o), cause), history.MaxSubject)
	for _, w := range waiting {
		if _, err := e.Finish(tx, w, End{Outcome: history.OutFailed, Cause: why}); err != nil {
			return err
		}
	}
	return nil
}

// Drop removes the queued tasks of an agent that ends together with everything below it.
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

// Close ends an agent that rests between turns and closes its tab.
func (e *Ends) Close(tx *store.Tx, agent int64) error {
	if err := tx.SetAgentState(agent, string(event.Done), true); err != nil {
		return err
	}
	if err := e.Pass(tx, agent, event.Done); err != nil {
		return err
	}
	return tx.CloseAgent(agent)
}

// Pass gives the open tasks of an ending agent, its unread results and the agents alive below it to the nearest live
// agent above it. So every task is in the queue of an agent that can start it and read its result, and no living agent
// is below a dead one. A window closes with the agent that opened it. Pass tells senders which messages the agent did
// not read.
func (e *Ends) Pass(tx *store.Tx, from int64, state event.State) error {
	to, err := Heir(tx, from)
	if err != nil {
		return err
	}
	passMail := e.Inbox.Pass
	row, _, err := tx.Agent(from)
	switch {
	case err != nil:
		return err
	case event.Kind(row.Kind).Fleeting(): // mail to it goes on to its parent
		passMail = e.Inbox.PassAll
	case event.Kind(row.Kind).HasPrompt() && TrustIn(row).Unattended: // the agent that continues the conversation reads the mail there
		passMail = func(*store.Tx, int64, int64) error { return nil }
	}
	if err := errors.Join(pass(tx, e.Seals, from, to), tx.PassAgents(from, to), passMail(tx, from, to),
		e.Unread(tx, from, to, state)); err != nil {
		return err
	}
	tx.AfterCommit(func() { e.Passed(from, to) })
	return nil
}
