package agents

import (
	"context"
	"fmt"

	"fantail/agents/event"
	"fantail/store"
)

// wrapUp asks an agent to finish. The built-in engine knows it by its beginning.
const wrapUp = "Wrap up now: finish with what you have. Answer in this turn, and make no tool call that the answer " +
	"does not need."

// WrapUp asks the agent of that name, for the human, to finish with what it has.
// The prompt enters at its next seam; an agent that waits for a message or for
// its own work goes on for it, and no longer waits for that work.
func (p *Pool) WrapUp(ctx context.Context, name string) error {
	if task, _ := p.fleet.Line.Waiting(name); task != 0 {
		return fmt.Errorf("the task %s has not started; /kill %s takes it out of the queue", name, name)
	}
	a, i, err := p.named(ctx, name)
	if err != nil {
		return err
	}
	p.fleet.Lock()
	turn, asked := a.ShownTurn, a.AskedToWrapUp()
	p.fleet.Unlock()
	switch {
	case i.State.Terminal():
		return fmt.Errorf("the agent %s has ended already (%s)", name, i.State)
	case i.Kind.HasPrompt() && turn == 0:
		return fmt.Errorf("the agent %s runs no turn that could be wrapped up", name)
	case asked:
		return fmt.Errorf("the agent %s has been asked to wrap up already; /kill %s ends it now", name, name)
	}
	err = p.o.DB.Write(ctx, "wrap up", func(tx *store.Tx) error {
		if row, ok, err := tx.Agent(a.ID); err != nil {
			return err
		} else if !ok || event.State(row.State).Terminal() {
			return fmt.Errorf("the agent %s has just ended", name)
		}
		id, err := tx.AddPrompt(a.ID, wrapUp, false)
		if err != nil {
			return err
		}
		tx.AfterCommit(func() {
			p.fleet.Lock()
			defer p.fleet.Unlock()
			a.WrapUp(event.Prompt{ID: id, Text: wrapUp})
			p.putAside(a.ID)
			a.Poke()
		})
		return nil
	})
	if err != nil {
		return fmt.Errorf("wrap up %s: %w", name, err)
	}
	return nil
}
