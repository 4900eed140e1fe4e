package agents

import (
	"context"

	"fantail/agents/ledger"
	"fantail/agents/llm"
)

// books is the ledger under a name that leaves Pool a method called Ledger.
type books = ledger.Ledger

// Ledger is [ledger.Ledger.Balance].
func (p *Pool) Ledger(ctx context.Context) (Balance, error) { return p.Balance(ctx) }

// subjects is the agents as the ledger sees them.
type subjects struct{ *Pool }

var _ ledger.Agents = subjects{}

// Preamble returns what is known of an agent, and its request before anything was said.
func (s subjects) Preamble(agent int64) (Info, *llm.Request, error) {
	l, err := s.loops.Of(agent)
	if err != nil {
		return Info{}, nil, err
	}
	return l.Known(), l.Preamble(), nil
}
