package agents

import (
	"context"
	"fmt"

	"fantail/agents/roster"
	"fantail/store"
)

// Names as they are typed: whole, or a beginning that only one agent has. Here
// and nowhere else a word becomes an agent.

// named returns the agent that a word means, and what is known of it. The name of
// an agent whose tab is closed is nobody's beginning.
func (p *Pool) named(ctx context.Context, word string) (*agent, Info, error) {
	a, i, err := p.tabbed(word)
	if err == nil && i.Name == word {
		return a, i, nil
	}
	var old store.Agent
	var had bool
	if e := p.o.DB.Read(ctx, func(rx *store.Rx) (err error) {
		old, had, err = rx.AgentByName(word)
		return err
	}); e != nil {
		return nil, Info{}, e
	}
	if had && !old.Closed.IsZero() {
		return nil, Info{}, roster.IsClosed(old)
	}
	return a, i, err
}

// tabbed returns the agent with an open tab that a word means.
func (p *Pool) tabbed(word string) (*agent, Info, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	cs := make([]roster.Called, 0, len(p.agents))
	for _, a := range p.agents {
		cs = append(cs, roster.Called{Id: a.id, Name: a.info.Name, State: a.info.State})
	}
	id, err := roster.Meant(word, cs)
	if err != nil {
		return nil, Info{}, err
	}
	return p.agents[id], p.agents[id].info, nil
}

// notStarted says why nobody reads mail for that name: a task of that name has
// not started; nil: there is none.
func (p *Pool) notStarted(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch q := p.queue.Named(name); {
	case q == nil:
		return nil
	case p.queue.Wanted(q):
		return fmt.Errorf("%q: that task has not started, so nobody reads its mail yet: %s", name, p.holdUp(q))
	}
	return roster.NotStarted(name)
}
