package ui

import (
	"context"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/ledger"
	"fantail/inbox"
	"fantail/tools/permit"
	"fantail/ui/asking"
	"fantail/ui/drafts"
	"fantail/ui/notice"
	"fantail/ui/panel"
	"fantail/ui/slash/facets"
)

// pool is what the screen asks of an [agents.Pool] and of its rooms; commands, boards and notices
// say themselves what they ask.
type pool struct {
	talk
	read
	pickup interface {
		Next(ctx context.Context, agent, id int64) (inbox.Message, bool, error)
	}
	asks   asking.Pool
	drafts drafts.Pool
	notice notice.Pool
	slash  facets.Pool
	panel  panel.Pool
}

func poolOf(p *agents.Pool) *pool {
	return &pool{
		talk: p, read: p.Ledger, pickup: p.Pickup, asks: p.Asks, drafts: p.Drafts.Arrive(), notice: notice.PoolOf(p), slash: facets.Of(p), panel: panel.PoolOf(p),
	}
}

// talk is what a human and agents say to each other.
type talk interface {
	Subscribe() *event.Feed
	Arrive() *fleet.Human
	Settled(ctx context.Context) error
	Prompt(ctx context.Context, agent int64, text string) error
	Unprompt(ctx context.Context, id int64) (bool, error)
	Withdraw(ctx context.Context, agent int64) ([]string, error)
	Stop(agent int64)
	Shell(ctx context.Context, agent int64, command string) error
	Background(agent int64) []string
	SetMode(ctx context.Context, m permit.Mode) error
}

// read tells what is known of agents.
type read interface {
	Page(ctx context.Context, agent, before int64, limit int) ([]history.Entry, error)
	Facts(ctx context.Context, agent int64) (ledger.Facts, error)
}
