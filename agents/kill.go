package agents

import (
	"context"
	"fmt"
	"slices"

	"fantail/agents/fleet"
	"fantail/store"
)

// Kill ends the sub-agent of that name and everything it runs, and returns once it has ended. A
// queued task of that name is removed. The agents below it go on and report to the nearest living
// agent above; with cascade they end too.
func (p *Pool) Kill(ctx context.Context, name string, cascade bool) error {
	if removed, err := p.killQueued(ctx, name); removed || err != nil {
		return err
	}
	a, i, err := p.named(ctx, name)
	if err == nil {
		err = i.Killable()
	}
	switch {
	case err != nil:
		return err
	case p.o.shows():
		return p.o.DB.ReadOnly()
	case !cascade:
		a.Halt(fleet.ErrKilled)
		return a.AwaitEnd(ctx)
	}
	return fell(ctx, p.fleet, map[int64]bool{a.ID: true})
}

// fell ends the agents in `in` and all below them, except agents that rest between turns, of which
// it ends only the turn. The end of an agent removes the tasks queued below it; a task that starts
// before that starts halted.
func fell(ctx context.Context, f *fleet.Fleet, in map[int64]bool) error {
	for {
		as := slices.DeleteFunc(f.Below(in), func(a *fleet.Agent) bool { return !a.Kind.Ends() })
		if len(as) == 0 {
			return nil
		}
		for _, b := range as {
			b.Halt(fleet.ErrFelled)
		}
		for _, b := range as {
			if err := b.AwaitEnd(ctx); err != nil {
				return err
			}
		}
	}
}

// killQueued removes a queued task. It returns false if none has that name.
func (p *Pool) killQueued(ctx context.Context, name string) (bool, error) {
	for {
		_, changed := p.fleet.Rest()
		id, _ := p.fleet.Line.Waiting(name)
		if id == 0 {
			return false, nil
		}
		removed := false
		err := p.o.DB.Write(ctx, "remove a task", func(tx *store.Tx) error {
			t, ok, err := tx.Task(id)
			if err == nil && ok {
				removed, err = p.ends.Remove(tx, t)
			}
			return err
		})
		if err != nil {
			return false, fmt.Errorf("remove %s from the queue: %w", name, err)
		}
		if removed {
			return true, nil
		}
		select { // the task has just started, so its agent appears in a moment
		case <-changed:
		case <-ctx.Done():
			return false, fmt.Errorf("wait for %s to start: %w", name, ctx.Err())
		}
	}
}
