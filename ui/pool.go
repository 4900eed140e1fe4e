package ui

import (
	"context"

	"fantail/agents"
	"fantail/inbox"
	"fantail/tools/permit"
	"fantail/ui/notice"
	"fantail/ui/panel"
	"fantail/ui/slash"
)

// pool is what the screen asks of an [agents.Pool], by what it is about; what its rooms
// ask is theirs to say.
type pool struct {
	talk
	read
	notice.Pool
	slash slash.Pool
	panel panel.Pool
}

func poolOf(p *agents.Pool) *pool {
	return &pool{
		talk: p, read: p, Pool: p,
		slash: slash.Pool{Mail: p, Shelf: p, Tasks: p, Agents: p, Memory: p.Memory, Policy: p, Questions: p.Asks},
		panel: panel.Pool{Mail: p, Put: p, Take: p, Tasks: p, End: p},
	}
}

// talk is what a human says to agents, and what they say.
type talk interface {
	Subscribe() *agents.Feed
	Human() *agents.Human
	Settled(ctx context.Context) error
	Prompt(ctx context.Context, agent int64, text string) error
	Unprompt(ctx context.Context, id int64) (bool, error)
	Withdraw(ctx context.Context, agent int64) ([]string, error)
	Stop(agent int64)
	Send(ctx context.Context, from int64, to, body string, pr inbox.Priority) (int64, error)
	Shell(ctx context.Context, agent int64, command string) error
	Background(agent int64) []string
	SetMode(m permit.Mode) error
	Next(ctx context.Context, agent, id int64) (inbox.Message, bool, error)
}

// read is what is known of agents and messages.
type read interface {
	Page(ctx context.Context, agent, before int64, limit int) ([]agents.Entry, error)
	Facts(ctx context.Context, agent int64) (agents.Facts, error)
}
