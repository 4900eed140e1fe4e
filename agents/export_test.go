package agents

import (
	"context"

	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/recovery"

	"fantail/inbox"
	"fantail/store"
)

// Deposit is what comes from beside the agents: with the pool's own bell.
func (p *Pool) Deposit(m inbox.Message) (int64, error) {
	return p.inbox.Deposit(context.Background(), m)
}

// Wishes counts the turns with mail that wait for their agent.
func (p *Pool) Wishes(agent int64) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.tray(agent).wishes)
}

// Fork makes a fork of an agent for one of its messages.
func (p *Pool) Fork(agent, message int64) error {
	return p.forks.Fork(context.Background(), agent, message)
}

// Parked reports whether a turn with these entries and questions goes on after the
// program ended.
func Parked(es []Entry, rows []store.Approval) bool {
	return recovery.ParkedAt(store.Turn{}, es, rows) != nil
}

// Entering are the messages that would enter an agent's context where it stands, or
// with a prompt there, had the sorter only looked at those up to upTo.
func (p *Pool) Entering(agent, upTo int64, typed bool) ([]int64, error) {
	a, err := p.agent(agent)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	s := arrivals{policy: p.policy(&a.info), who: p.recipient(&a.info, p.o.Now()), now: p.o.Now(), typed: typed, known: sorting{upTo: upTo}}
	p.mu.Unlock()
	err = p.o.DB.Read(context.Background(), func(rx *store.Rx) error { return s.pick(&rx.View, agent) })
	return s.ids, err
}

// Spell is how a conversation is written down for its summary.
func Spell(said []llm.Message, room int) string { return history.Spell(said, room) }
