package agents

import (
	"context"
	"fmt"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/tasks"
	"fantail/store"
	"fantail/tools/permission"
)

// Unattended configures a conversation without a human. Whatever it, or an agent below it, would
// ask is denied, even if a human is at a screen.
type Unattended struct {
	Mode  permission.Mode // judges its calls; nothing allowed for the session applies
	Model string          // provider/name; "": the one it had, or the default for new agents
	Else  string          // model of a new conversation if Model names an agent file that sets none
	Goes  string          // name of an earlier conversation to continue; "": a new one
	Last  bool            // continue the last one
}

// Conversation is an unattended conversation with a prompt box, an inbox and a queue of its own.
type Conversation struct {
	Info event.Info // as of its start
	pool *Pool
}

// Scripts opens unattended conversations.
type Scripts struct{ pool *Pool }

// Open opens a conversation. Its commands run in the environment of ctx ([fleet.Within]).
func (s Scripts) Open(ctx context.Context, u Unattended) (*Conversation, error) {
	if err := s.pool.o.Gate.Admits(u.Mode); err != nil {
		return nil, err
	}
	do, open := "open a conversation", s.begins
	if u.Goes != "" || u.Last {
		do, open = "go on with a conversation", s.goesOn
	}
	id, err := open(ctx, u)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", do, err)
	}
	a, err := s.pool.fleet.Agent(id)
	if err != nil {
		return nil, err
	}
	return &Conversation{Info: a.Known(), pool: s.pool}, nil
}

// begins opens a new conversation.
func (s Scripts) begins(ctx context.Context, u Unattended) (int64, error) {
	i, err := s.pool.addHelper(ctx, store.Agent{Model: u.Model}, u.Else, u.Mode, "")
	return i.ID, err
}

// goesOn reopens an earlier conversation.
func (s Scripts) goesOn(ctx context.Context, u Unattended) (int64, error) {
	p := s.pool
	var row store.Agent
	err := p.o.DB.Write(ctx, "go on with a conversation", func(tx *store.Tx) (err error) {
		if u.Last {
			row, err = tasks.LastUnattended(&tx.View)
		} else {
			row, err = tasks.Earlier(&tx.View, u.Goes)
		}
		if err != nil {
			return err
		}
		trust := tasks.TrustIn(row)
		trust.Unattended = true
		row, err = reopens(tx, row, trust)
		return err
	})
	if err == nil {
		err = p.rejoin(ctx, row, u.Mode)
	}
	if err == nil && u.Model != "" {
		err = p.SetModel(ctx, row.ID, u.Model)
	}
	return row.ID, err
}

// Rest returns nil once no agent works without needing a human; questions wait in the database for
// an answer. It returns an error if the disk refuses writes, or the cause of ctx's end.
func (s Scripts) Rest(ctx context.Context) error {
	return s.settled(ctx, func(a *fleet.Agent) bool { return a.Info.State != event.Asking })
}

// settled returns nil once the agents for which counts is true are at rest.
func (s Scripts) settled(ctx context.Context, counts func(a *fleet.Agent) bool) error {
	gaveUp, leave := s.pool.disk.Watch()
	defer leave()
	return settled(ctx, func() (bool, <-chan struct{}) { return s.pool.fleet.RestOf(counts) }, gaveUp)
}

// Prompt is [Pool.Prompt].
func (c *Conversation) Prompt(ctx context.Context, text string) error {
	return c.pool.Prompt(ctx, c.Info.ID, text)
}

// Settled returns nil once the conversation and the agents below it are at rest. It returns an
// error if the disk refuses writes, or the cause of ctx's end.
func (c *Conversation) Settled(ctx context.Context) error {
	return c.pool.Scripts.settled(ctx, fleet.Under(c.Info.ID))
}

// End ends what still runs and closes the conversation, which can be reopened. It returns what is
// left over: the mail stays with the conversation, queued tasks pass to main.
func (c *Conversation) End(ctx context.Context) (left Unfinished, err error) {
	p := c.pool
	p.Stop(c.Info.ID)
	if err := fell(ctx, p.fleet, map[int64]bool{c.Info.ID: true}); err != nil {
		return left, err
	}
	a, err := p.fleet.Agent(c.Info.ID)
	if err != nil {
		return left, nil // it was closed meanwhile
	}
	if u := p.unfinished(a); u != nil {
		left = *u
	}
	l, err := p.loops.Of(a.ID)
	if err == nil {
		err = c.tidy(ctx)
	}
	if err != nil {
		return left, err
	}
	return left, l.Leave(ctx)
}

// tidy closes the tabs of the ended agents below the conversation. No screen opened them.
func (c *Conversation) tidy(ctx context.Context) error {
	p := c.pool
	below := map[int64]bool{c.Info.ID: true}
	p.fleet.Below(below)
	delete(below, c.Info.ID)
	return p.o.DB.Write(ctx, "close the tabs of a conversation", func(tx *store.Tx) error {
		for id := range below {
			if err := tx.CloseAgent(id); err != nil {
				return err
			}
		}
		tx.AfterCommit(func() {
			p.fleet.Lock()
			defer p.fleet.Unlock()
			for id := range below {
				if a := p.fleet.Of(id); a != nil {
					p.fleet.CloseTab(a)
				}
			}
		})
		return nil
	})
}
