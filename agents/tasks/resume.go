package tasks

import (
	"cmp"
	"errors"
	"fmt"

	"fantail/agents/event"
	"fantail/store"
	"fantail/tools"
)

// Resumable returns the ended agent of that name, for a task that continues its transcript.
func Resumable(tx *store.Tx, name string) (store.Agent, error) {
	if queued, err := tx.TaskQueued(name); err != nil {
		return store.Agent{}, err
	} else if queued {
		return store.Agent{}, fmt.Errorf("%s is queued or runs: it can't be resumed before it ended; %s once it runs",
			name, reach(name))
	}
	a, ok, err := tx.AgentByName(name)
	switch {
	case err != nil:
		return a, err
	case !ok:
		return a, fmt.Errorf("there is no agent %s to resume; without resume a new one starts: %w", name, ErrNoAgent)
	case event.Kind(a.Kind).Nature().Opened && !a.Closed.IsZero():
		return a, IsClosed(a)
	case event.Kind(a.Kind).Handles():
		return a, ForkEnds(name)
	case event.Kind(a.Kind).Observes():
		return a, ObserverEnds(name)
	case !event.Kind(a.Kind).Tasked():
		return a, fmt.Errorf("%s does not end, so it can't be resumed; %s", name, reach(name))
	case !event.State(a.State).Terminal():
		return a, fmt.Errorf("%s still lives (%s): it can't be resumed before it ended; %s", name, a.State, reach(name))
	}
	return a, nil
}

// Resume makes row the task of an ended agent that continues: with its name, and with the model, the time-out and the
// budget of its last task, unless t sets others.
func Resume(tx *store.Tx, row *Task, t tools.Task) error {
	a, err := Resumable(tx, t.Name)
	if err != nil {
		return err
	}
	row.Name, row.Resumes = a.Name, a.ID
	if before, _, err := tx.Task(a.Task); err != nil {
		return err
	} else if row.Kind != KindCommand {
		if !t.Interactive {
			row.Interactive, row.Idle = before.Interactive, before.Idle
		}
		row.Budget, row.Timeout = cmp.Or(row.Budget, before.Budget), cmp.Or(row.Timeout, before.Timeout)
	}
	if t.Model == "" && a.Model != "" && row.Kind != KindCommand {
		row.Model = a.Model
	}
	if !a.Closed.IsZero() {
		return tx.OpenAgent(a) // keeps the name from being taken before the task starts
	}
	return nil
}

// Earlier returns the closed conversation of that name, to be continued unattended.
func Earlier(v *store.View, name string) (store.Agent, error) {
	a, ok, err := v.AgentByName(name)
	if err != nil {
		return a, err
	}
	return a, earlier(a, ok, "there is no conversation "+name)
}

// LastUnattended is Earlier for the last unattended conversation.
func LastUnattended(v *store.View) (store.Agent, error) {
	a, ok, err := store.LastTrusted(v, string(event.Helper), Trust{Unattended: true}.String(), Trust{Unattended: true, Outside: true}.String())
	if err != nil {
		return a, err
	}
	return a, earlier(a, ok, "there is no earlier one; without --continue a new one begins")
}

// earlier returns why a conversation can't be continued; nil: it can.
func earlier(a store.Agent, found bool, none string) error {
	switch {
	case !found:
		return fmt.Errorf("%s: %w", none, ErrNoAgent)
	case event.Kind(a.Kind).Nature().Stays:
		return fmt.Errorf("the conversation of %s belongs to the screens; fantail shows it", a.Name)
	case !event.Kind(a.Kind).Nature().Opened:
		return fmt.Errorf("%s is a %s: only conversations can be gone on with; /resume %s does it at a screen",
			a.Name, event.Kind(a.Kind).Nature().Word, a.Name)
	case a.Closed.IsZero() && TrustIn(a).Unattended:
		return fmt.Errorf("%s is at work: wait until it has ended", a.Name)
	case a.Closed.IsZero():
		return fmt.Errorf("%s is open at a screen: /close %s there first", a.Name, a.Name)
	}
	return nil
}

// Revive makes the agent that a task resumes live again, in its row.
func Revive(tx *store.Tx, t Task, trust Trust) (store.Agent, error) {
	row, ok, err := tx.Agent(t.Resumes)
	if err != nil || !ok {
		return row, errors.Join(err, store.Missing(ok, "agent %d", t.Resumes))
	}
	row.Parent, row.Task, row.Trust, row.Model, row.State = t.Queue, t.ID, trust.String(), t.Model, string(event.Running)
	if ok, err = tx.ReviveAgent(row); err == nil && !ok {
		err = fmt.Errorf("the agent %s has not ended", row.Name)
	}
	return row, err
}
