package agents

import (
	"cmp"
	"context"
	"fmt"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/tasks"
	"fantail/store"
)

// A typed name is a full name or a prefix that only one agent has. Only the functions here resolve
// typed names to agents.

// named returns the agent that a typed name means, and its Info. A prefix does not match agents
// whose tab is closed.
func (p *Pool) named(ctx context.Context, word string) (*fleet.Agent, event.Info, error) {
	a, i, err := p.fleet.Meant(word)
	if err == nil && i.Name == word {
		return a, i, nil
	}
	var old store.Agent
	var had bool
	if e := p.o.DB.Read(ctx, func(rx *store.Rx) (err error) {
		old, had, err = rx.AgentByName(word)
		return err
	}); e != nil {
		return nil, event.Info{}, e
	}
	if had && !old.Closed.IsZero() {
		return nil, event.Info{}, tasks.IsClosed(old)
	}
	return a, i, err
}

// notStarted returns an error if the name belongs to a task that has not started, so that no agent
// reads its mail; else nil.
func (p *Pool) notStarted(name string) error {
	p.fleet.Lock()
	defer p.fleet.Unlock()
	switch q := p.fleet.Queue.Named(name); {
	case q == nil:
		return nil
	case p.fleet.Queue.Wanted(q):
		return fmt.Errorf("%q: that task has not started, so nobody reads its mail yet: %s", name, p.fleet.HoldUp(q))
	}
	return tasks.NotStarted(name)
}

// reader returns the agent that reads mail to that name.
func (p *Pool) reader(ctx context.Context, name string) (event.Info, error) {
	_, i, err := p.named(ctx, name)
	return i, cmp.Or(p.notStarted(name), err)
}
