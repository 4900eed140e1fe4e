package agents

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/tasks"
	"fantail/store"
)

// Tell gives the agent of that name a prompt from the human. The prompt enters at the agent's next
// seam and ends whatever the agent waits for; an agent at rest begins a turn. The error is an
// [*event.EndedError] if the agent has ended.
func (p *Pool) Tell(ctx context.Context, name, text string) error {
	if strings.TrimSpace(text) == "" {
		return errors.New("there is nothing to tell")
	}
	a, i, err := p.working(ctx, name)
	switch {
	case err != nil:
		return err
	case i.Kind.HasPrompt():
		return p.Prompt(ctx, a.ID, text)
	case i.Kind.Handles():
		return fmt.Errorf("%s is a fork: it handles one message and is told nothing", name)
	case i.Kind.Observes():
		return fmt.Errorf("%s is an observer: it does what its schedule says and is told nothing", name)
	case strings.HasPrefix(i.Prompt, "!"):
		return fmt.Errorf("%s runs a command, which reads nothing", name)
	}
	return p.steer(ctx, a.ID, "tell "+name, text, func(a *fleet.Agent, q event.Prompt) {
		a.Steer(q)
		a.Env.Typed(q.ID, fleet.EnvironmentOf(ctx))
	})
}

// WrapUp asks the agent of that name, for the human, to finish with what it has. The prompt enters
// at the agent's next seam. An agent that waits for a message or for its own work stops waiting.
func (p *Pool) WrapUp(ctx context.Context, name string) error {
	a, i, err := p.working(ctx, name)
	if err != nil {
		return err
	}
	p.fleet.Lock()
	turn, asked := a.ShownTurn, a.AskedToWrapUp()
	p.fleet.Unlock()
	switch {
	case i.Await != nil && i.State == event.Idle:
		return fmt.Errorf("%s is idle: it has finished what it was told; /end %s ends it", name, name)
	case i.Kind.HasPrompt() && turn == 0:
		return fmt.Errorf("the agent %s runs no turn that could be wrapped up", name)
	case asked:
		return fmt.Errorf("the agent %s has been asked to wrap up already; /kill %s ends it now", name, name)
	}
	return p.steer(ctx, a.ID, "wrap up "+name, tasks.WrapUp, func(a *fleet.Agent, q event.Prompt) {
		a.WrapUp(q)
		p.putAside(a.ID)
	})
}

// End ends the agent of that name, as done, after its present turn and the prompts that wait for
// it; an idle agent ends now. It is an error for an agent that does not await input, which ends by
// itself.
func (p *Pool) End(ctx context.Context, name string) error {
	a, i, err := p.working(ctx, name)
	switch {
	case err != nil:
		return err
	case i.Kind.HasPrompt():
		return fmt.Errorf("%s is there to be talked to and has no end; /agent close closes a helper", name)
	case i.Await == nil:
		return fmt.Errorf("%s ends with its turn by itself; /wrapup %s hurries it, /kill %s ends it now", name, name, name)
	case i.Await.Ends:
		return fmt.Errorf("%s has been told to end already; /kill %s ends it now", name, name)
	}
	p.fleet.Lock()
	defer p.fleet.Unlock()
	a.Await.End()
	return nil
}

// Named returns the Info of the agent that a typed name means.
func (p *Pool) Named(ctx context.Context, word string) (event.Info, error) {
	_, i, err := p.named(ctx, word)
	return i, err
}

// Attach notes that a program follows the agent of that name, until detach is called. The agent
// stays as long as any program follows it. Attach returns the agent's Info.
func (p *Pool) Attach(ctx context.Context, name string) (i event.Info, detach func(), err error) {
	a, _, err := p.named(ctx, name)
	if err != nil {
		return event.Info{}, nil, err
	}
	detach = a.Await.Attach()
	return a.Known(), detach, nil
}

// working returns the agent of that name if it has not ended.
func (p *Pool) working(ctx context.Context, name string) (*fleet.Agent, event.Info, error) {
	if task, _ := p.fleet.Line.Waiting(name); task != 0 {
		return nil, event.Info{}, fmt.Errorf("the task %s has not started; /kill %s takes it out of the queue", name, name)
	}
	a, i, err := p.named(ctx, name)
	if err == nil && i.State.Terminal() {
		err = &event.EndedError{Name: i.Name, State: i.State}
	}
	return a, i, err
}

// steer commits a prompt from the human for an agent. After the commit it calls shows with the
// fleet's mutex held and the agent as it is then: it may have ended and been resumed since it was
// looked up.
func (p *Pool) steer(
	ctx context.Context, agent int64, what, text string, shows func(a *fleet.Agent, q event.Prompt),
) error {
	err := p.o.DB.Write(ctx, what, func(tx *store.Tx) error {
		row, ok, err := tx.Agent(agent)
		if err != nil {
			return err
		}
		if state := event.State(row.State); !ok || state.Terminal() {
			return &event.EndedError{Name: row.Name, State: state}
		}
		id, err := tx.AddPrompt(agent, text, false)
		if err != nil {
			return err
		}
		tx.AfterCommit(func() {
			p.fleet.Lock()
			defer p.fleet.Unlock()
			if a := p.fleet.Of(agent); a != nil {
				shows(a, event.Prompt{ID: id, Text: text})
				a.Poke()
			}
		})
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
