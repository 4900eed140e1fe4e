package agents

import (
	"fantail/agents/roster"
	"fantail/store"
)

// nameFor is nameFor for who keeps the agents in memory.
func (p *Pool) nameFor(tx *store.Tx, want string) (string, error) {
	return roster.NameFor(tx, want, func(agent int64, name string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if a := p.agents[agent]; a != nil {
			a.change(func(i *Info) { i.Name = name })
		}
	})
}
