package agents

import (
	"context"
	"errors"
	"fmt"

	"fantail/store"
)

// wrapUp asks an agent to finish. The built-in engine knows it by its beginning.
const wrapUp = "Wrap up now: finish with what you have. Answer in this turn, and make no tool call that the answer does not need."

var errSteered = errors.New("the user wrote meanwhile")

// WrapUp asks the agent of that name, for the human, to finish with what it has.
// The prompt enters at its next seam; an agent that waits for a message or for
// its own work goes on for it, and no longer waits for that work.
func (p *Pool) WrapUp(ctx context.Context, name string) error {
	p.mu.Lock()
	waits := p.queue.Named(name) != nil
	p.mu.Unlock()
	if waits {
		return fmt.Errorf("the task %s has not started; /kill %s takes it out of the queue", name, name)
	}
	a, i, err := p.named(ctx, name)
	if err != nil {
		return err
	}
	p.mu.Lock()
	turn, asked := a.shownTurn, a.steer != 0 || a.wrapping
	p.mu.Unlock()
	switch {
	case i.State.Terminal():
		return fmt.Errorf("the agent %s has ended already (%s)", name, i.State)
	case i.Kind.HasPrompt() && turn == 0:
		return fmt.Errorf("the agent %s runs no turn that could be wrapped up", name)
	case asked:
		return fmt.Errorf("the agent %s has been asked to wrap up already; /kill %s ends it now", name, name)
	}
	err = p.o.DB.Write(ctx, "wrap up", func(tx *store.Tx) error {
		if row, ok, err := tx.Agent(a.id); err != nil {
			return err
		} else if !ok || State(row.State).Terminal() {
			return fmt.Errorf("the agent %s has just ended", name)
		}
		id, err := tx.AddPrompt(a.id, wrapUp, false)
		if err != nil {
			return err
		}
		tx.AfterCommit(func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			a.steer, a.wrapping = id, true
			a.change(func(i *Info) {
				i.Prompts = append(i.Prompts[:len(i.Prompts):len(i.Prompts)], Prompt{ID: id, Text: wrapUp})
			})
			for s := range a.waiters {
				s.cancel(errSteered)
			}
			p.putAside(a.id)
			a.poked()
		})
		return nil
	})
	if err != nil {
		return fmt.Errorf("wrap up %s: %w", name, err)
	}
	return nil
}

// steerable returns a context for a wait inside a turn, which ends when the
// human bids the agent go on, with errSteered as its cause; and what ends the
// arrangement.
func (a *agent) steerable(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	s := &stop{cancel}
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	a.waiters[s] = true
	if a.steer != 0 {
		cancel(errSteered)
	}
	return ctx, func() {
		a.p.mu.Lock()
		delete(a.waiters, s)
		a.p.mu.Unlock()
		cancel(nil)
	}
}

// wrapsUp reports whether the agent was asked to finish in this turn.
func (a *agent) wrapsUp() bool {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	return a.wrapping && a.steer == 0
}

// wrapped forgets at a turn's end that it was to be the last.
func (a *agent) wrapped() {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	a.wrapping = a.steer != 0
}

// forgetPrompts takes back what has not entered when the agent ends: one that
// goes on later has a new task.
func (a *agent) forgetPrompts(tx *store.Tx) error {
	waiting, err := tx.WaitingPrompts(a.id)
	if err != nil {
		return err
	}
	for _, q := range waiting {
		if _, err := tx.RemovePrompt(q.ID); err != nil {
			return err
		}
	}
	return nil
}
