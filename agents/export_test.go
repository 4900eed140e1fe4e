package agents

import (
	"context"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/recovery"
	"fantail/agents/turn"

	"fantail/inbox"
	"fantail/store"
)

// Deposit is what comes from beside the agents: with the pool's own bell.
func (p *Pool) Deposit(m inbox.Message) (int64, error) {
	return p.inbox.Deposit(context.Background(), m)
}

// Held is how many slots agents hold.
func (p *Pool) Held() int {
	p.fleet.Lock()
	defer p.fleet.Unlock()
	return p.fleet.Queue.Running()
}

// Wishes is 1 while a turn with mail waits for the agent, else 0.
func (p *Pool) Wishes(agent int64) int {
	p.fleet.Lock()
	defer p.fleet.Unlock()
	if p.Mail.Tray(agent).Reasons().Wish != nil {
		return 1
	}
	return 0
}

// Fork makes a fork of an agent for one of its messages.
func (p *Pool) Fork(agent, message int64) error {
	return p.forks.Fork(context.Background(), agent, message)
}

// Parked reports whether a turn with these entries and questions goes on after the
// program ended.
func Parked(es []history.Entry, rows []store.Approval) bool {
	return recovery.ParkedAt(store.Turn{}, es, rows) != nil
}

// Spell is how a conversation is written down for its summary.
func Spell(said []llm.Message, room int) string { return history.Spell(said, room) }

// Loop and Input are turn's.
type (
	Loop  = turn.Loop
	Input = turn.Input
)

// Script has agents that await input get it from there.
func (p *Pool) Script(input func(i event.Info) Input) { p.loops.Input = input }
