package agents

import (
	"context"
	"errors"
	"fmt"

	"fantail/agents/event"
	"fantail/agents/tasks"
	"fantail/store"
)

// Branch opens a helper that continues an agent's conversation after the turn with that number, or
// after the last ended turn if number is 0. The helper begins with everything said up to then; the
// agent itself is not affected. Without a name the helper is named after the agent.
func (p *Pool) Branch(ctx context.Context, agent int64, number int, name string) (event.Info, error) {
	a, err := p.fleet.Agent(agent)
	if err != nil {
		return event.Info{}, err
	}
	p.fleet.Lock()
	of, model := a.Info.Name, a.Model.Name
	p.fleet.Unlock()
	if !a.Kind.Nature().Forks {
		return event.Info{}, fmt.Errorf(
			"a fork is not forked: %s handles one message and closes, and its conversation has no branches", of)
	}
	var behind store.Turn
	err = p.o.DB.Read(ctx, func(rx *store.Rx) error {
		ts, err := rx.Turns(agent)
		if err != nil {
			return err
		}
		if behind, number, err = pick(ts, number); err != nil {
			return err
		}
		if name == "" {
			name, err = tasks.BranchName(&rx.View, of)
		}
		return err
	})
	if err != nil {
		return event.Info{}, fmt.Errorf("branch the conversation of %s: %w", of, err)
	}
	i, err := p.addHelper(ctx, store.Agent{Name: name, Model: model, Branch: behind.ID}, "", "",
		fmt.Sprintf("Branched from %s behind turn %d. What stands above is sent as it was said there.", of, number))
	if err != nil {
		return event.Info{}, fmt.Errorf("branch the conversation of %s: %w", of, err)
	}
	return i, nil
}

// pick returns the turn with that number (0: the last ended one) and its number.
func pick(ts []store.Turn, number int) (store.Turn, int, error) {
	if number == 0 {
		for number = len(ts); number > 0 && ts[number-1].Outcome == ""; number-- {
		}
		if number == 0 {
			return store.Turn{}, 0, errors.New("no turn has ended yet")
		}
	}
	switch {
	case number < 1 || number > len(ts):
		return store.Turn{}, 0, fmt.Errorf("there is no turn %d; the conversation has %d", number, len(ts))
	case ts[number-1].Outcome == "":
		return store.Turn{}, 0, fmt.Errorf("turn %d still runs", number)
	}
	return ts[number-1], number, nil
}
