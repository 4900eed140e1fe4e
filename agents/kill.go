package agents

import (
	"context"
	"fmt"

	"fantail/store"
)

// Kill ends the sub-agent of that name now, with everything it runs, and
// returns when it ended; a queued task of that name is removed.
func (p *Pool) Kill(ctx context.Context, name string) error {
	for {
		id, ok := p.queuedTask(name)
		if !ok {
			break
		}
		removed := false
		err := p.o.DB.Write(ctx, "remove a task", func(tx *store.Tx) error {
			t, ok, err := tx.Task(id)
			if err == nil && ok {
				removed, err = p.removeTask(tx, t)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("remove %s from the queue: %w", name, err)
		}
		if removed {
			return nil
		}
		// It has just started: its agent is there in a moment.
		p.mu.Lock()
		changed, still := p.changed, p.queued[id] != nil
		p.mu.Unlock()
		if !still {
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for %s to start: %w", name, ctx.Err())
		}
	}
	a, i, err := p.named(name)
	switch {
	case err != nil:
		return err
	case i.Kind.HasPrompt():
		return fmt.Errorf("the agent %s can't be killed; Esc stops its turn", name)
	case i.State.Terminal():
		return fmt.Errorf("the agent %s has ended already (%s)", name, i.State)
	}
	a.halt(errKilled)
	select {
	case <-a.gone:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for %s to end: %w", name, ctx.Err())
	}
}

// queuedTask finds a queued task by name.
func (p *Pool) queuedTask(name string) (task int64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, q := range p.queued {
		if q.name == name {
			return q.id, true
		}
	}
	return 0, false
}
