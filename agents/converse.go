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

// Unattended is what a conversation goes by that nobody attends: what it, or an agent below it, would ask is denied,
// whoever is at a screen.
type Unattended struct {
	Mode  permission.Mode // that its calls are judged in, without what was allowed for the session
	Model string          // provider/name; "": the one it had, or that of new agents
	Else  string          // the model of a new one if Model names a file's agent that has none of its own
	Goes  string          // the name of an earlier one to go on with; "": a new one
	Last  bool            // go on with the last one
}

// Conversation is one that nobody attends, with a prompt box, an inbox and a queue of its own.
type Conversation struct {
	Info event.Info // as it began
	pool *Pool
}

// Scripts opens conversations that nobody attends.
type Scripts struct{ pool *Pool }

// Open opens one. Its commands run in the environment of ctx ([fleet.Within]).
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

// begins opens a new one.
func (s Scripts) begins(ctx context.Context, u Unattended) (int64, error) {
	i, err := s.pool.addHelper(ctx, store.Agent{Model: u.Model}, u.Else, u.Mode, "")
	return i.ID, err
}

// goesOn opens an earlier one.
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

// Rest returns nil once nothing goes on that needs no human: questions wait in the database for whoever can answer. It
// is an error if the disk takes nothing any more, or if ctx ends, whose cause it is then.
func (s Scripts) Rest(ctx context.Context) error {
	return s.settled(ctx, func(a *fleet.Agent) bool { return a.Info.State != event.Asking })
}

// settled returns nil once those agents are at rest.
func (s Scripts) settled(ctx context.Context, counts func(a *fleet.Agent) bool) error {
	gaveUp, leave := s.pool.disk.Watch()
	defer leave()
	return settled(ctx, func() (bool, <-chan struct{}) { return s.pool.fleet.RestOf(counts) }, gaveUp)
}

// Prompt is [Pool.Prompt].
func (c *Conversation) Prompt(ctx context.Context, text string) error {
	return c.pool.Prompt(ctx, c.Info.ID, text)
}

// Settled returns nil once neither the conversation nor an agent below it goes on; why, if the disk takes nothing any
// more; or the cause of ctx's end.
func (c *Conversation) Settled(ctx context.Context) error {
	return c.pool.Scripts.settled(ctx, fleet.Under(c.Info.ID))
}

// End ends what still runs and closes the conversation: it can be gone on with. It returns what it leaves: its mail
// stays with it, its queued tasks pass to main.
func (c *Conversation) End(ctx context.Context) (left Unfinished, err error) {
	p := c.pool
	p.Stop(c.Info.ID)
	if err := fell(ctx, p.fleet, map[int64]bool{c.Info.ID: true}); err != nil {
		return left, err
	}
	a, err := p.fleet.Agent(c.Info.ID)
	if err != nil {
		return left, nil // somebody closed it
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

// tidy closes the tabs of those below it, which have ended: no screen opened them.
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
