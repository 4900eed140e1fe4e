package agents

import (
	"fantail/agents/history"
	"fantail/agents/roster"
	"fantail/store"
)

// endTask ends a task with its one message, in tx. False: it had ended before.
func (p *Pool) endTask(tx *store.Tx, t store.Task, agent int64, e ending, text string) (bool, error) {
	ended, err := tx.FinishTask(t.ID, string(e.outcome), e.cause)
	if err != nil || !ended {
		return false, err
	}
	if _, err = p.inbox.Add(tx, roster.ResultOf(t, agent, e.outcome, e.cause, text)); err != nil {
		return false, err
	}
	return true, p.release(tx, t, e)
}

// removeTask takes a queued task out of its queue, in tx. False: it had started.
func (p *Pool) removeTask(tx *store.Tx, t store.Task) (bool, error) {
	removed, err := tx.RemoveTask(t.ID)
	if err != nil || !removed {
		return false, err
	}
	return true, p.release(tx, t, ending{outcome: roster.TaskRemoved})
}

// release lets go those that wait for a task, in the transaction that ends it:
// after anything but a success they can't start, and end with a message of
// their own.
func (p *Pool) release(tx *store.Tx, t store.Task, e ending) error {
	tx.AfterCommit(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.ended(t.ID)
	})
	if e.outcome == Completed {
		return nil
	}
	waiting, err := tx.NeededBy(t.ID)
	if err != nil {
		return err
	}
	cause := "not started: " + roster.Became(t.Name, string(e.outcome), e.cause)
	for _, w := range waiting {
		if _, err := p.endTask(tx, w, 0, ending{OutFailed, history.Fit(cause, history.MostSubject)}, ""); err != nil {
			return err
		}
	}
	return nil
}
