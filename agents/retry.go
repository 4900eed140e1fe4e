package agents

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"fantail/agents/roster"
	"fantail/store"
)

// Retry pushes the task of that name, which has ended, again in the queue of
// `by`, with its model, time-out and deliver. How it ended and the human's hint
// go along beside its prompt. before is how it ended.
func (p *Pool) Retry(ctx context.Context, by int64, name, hint string) (row Task, before Outcome, err error) {
	a, err := p.agent(by)
	if err != nil {
		return Task{}, "", err
	}
	err = p.o.DB.Write(ctx, "retry", func(tx *store.Tx) error {
		old, err := p.lastOf(tx, name)
		if err != nil {
			return err
		}
		switch {
		case old.State != roster.TaskFinished:
			return fmt.Errorf("%s has not ended; /kill %s ends it", name, name)
		case old.Kind == roster.KindCommand && hint != "":
			return errors.New("a command takes no hint; /push !CMD pushes another")
		}
		needs, err := tx.Needs(old.ID)
		if err != nil {
			return err
		}
		again := []Task{old}
		for _, n := range needs {
			if n.Name == old.Name {
				continue // an attempt before
			}
			now, err := roster.Needed(&tx.View, []string{n.Name})
			if err != nil {
				return err
			}
			again = append(again, now...)
		}
		row, before = old, Outcome(old.Outcome)
		row.ID, row.Queue, row.State, row.Outcome, row.Error, row.Agent, row.Resumes = 0, by, roster.TaskQueued, "", "", 0, 0
		row.Hint = strings.TrimSpace(hint)
		if pusher, err := tx.PusherTrust(old.ID); err != nil {
			return err
		} else if pusher != roster.TrustOutside { // what such an agent pushed stays as strict
			last, _, err := tx.LastTurn(a.id)
			if err != nil {
				return err
			}
			if last.Outcome == "" { // it runs
				row.SpawnedBy = last.ID
			}
		}
		row.Started, row.Finished, row.Created = time.Time{}, time.Time{}, time.Time{}
		trust, err := roster.TrustOf(tx, old)
		switch {
		case err != nil:
			return err
		case trust != roster.TrustOutside:
			row.Origin = roster.OriginHuman
		case !roster.FromOutside(row.Origin): // an agent wrote its prompt that somebody outside set to work
			row.Origin = OriginCLI
		}
		if row.Name, err = p.nameFor(tx, old.Name); err != nil {
			return err
		}
		return p.addTask(tx, &row, again, false)
	})
	if err != nil {
		return Task{}, "", fmt.Errorf("retry: %w", err)
	}
	return row, before, nil
}

// lastOf is the task of the agent of that name, else the last one called so.
func (p *Pool) lastOf(tx *store.Tx, name string) (Task, error) {
	if a, ok, err := tx.AgentByName(name); err != nil {
		return Task{}, err
	} else if ok && strings.Contains(name, "·") && a.Task != 0 {
		t, ok, err := tx.Task(a.Task)
		return t, errors.Join(err, store.Missing(ok, "the task of %s", name))
	}
	t, ok, err := tx.TaskNamed(name)
	if err == nil && !ok {
		err = fmt.Errorf("there is no task %s; /queue --all lists them", name)
	}
	return t, err
}
