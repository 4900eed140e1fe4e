package agents

import (
	"context"

	"fantail/agents/history"
	"fantail/agents/mail"
	"fantail/inbox"
)

// room is how much of the model's window one take may fill, in tokens.
func (a *agent) room() int {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	if a.info.Window == 0 {
		return history.SomeWindow / 4
	}
	return a.info.Window / 4
}

// Check takes what is ready and matches into the agent's transcript, without
// starting a turn: as many as fit in a quarter of the model's window, at most
// q.Limit (0: 200); left counts the others.
func (p *Pool) Check(ctx context.Context, agent int64, q inbox.Query) (ms []inbox.Message, left int, err error) {
	return p.take(ctx, agent, q, "check")
}

// Show is Check for the human alone: what it takes stands in the transcript, and the
// model never reads it.
func (p *Pool) Show(ctx context.Context, agent int64, q inbox.Query) (ms []inbox.Message, left int, err error) {
	return p.take(ctx, agent, q, mail.ByShow)
}

func (p *Pool) take(ctx context.Context, agent int64, q inbox.Query, by string) (ms []inbox.Message, left int, err error) {
	a, err := p.agent(agent)
	if err != nil {
		return nil, 0, err
	}
	if q.From, err = p.Sender(ctx, agent, q.From); err != nil {
		return nil, 0, err
	}
	return p.takes.Check(ctx, a.book(), q, by, mail.AtRest(by), nil)
}
