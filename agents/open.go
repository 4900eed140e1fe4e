package agents

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"fantail/agents/roster"
	"fantail/store"
)

// A helper is an agent the human opens beside main and talks to in its tab: it
// has a prompt box, a queue and an inbox of its own, and lives until it is
// closed.

// NewHelper opens a helper and returns what is known of it. Without a name it
// gets one, without a model main's.
func (p *Pool) NewHelper(ctx context.Context, name, model string) (Info, error) {
	i, err := p.addHelper(ctx, store.Agent{Name: name, Model: model}, "")
	if err != nil {
		return Info{}, fmt.Errorf("open a helper: %w", err)
	}
	return i, nil
}

// addHelper makes the helper of a row whose Name, Model (else main's) and Branch
// are set, and starts it. Its transcript begins, or goes on, with a notice if
// there is one.
func (p *Pool) addHelper(ctx context.Context, want store.Agent, notice string) (Info, error) {
	p.mu.Lock()
	if want.Model == "" {
		want.Model = p.model
	}
	for _, a := range p.agents {
		if a.kind == Main {
			want.Parent = a.id // who gets its open tasks once it is closed
		}
	}
	p.mu.Unlock()
	m, err := p.o.Resolve(want.Model)
	if err != nil {
		return Info{}, err
	}
	want.Kind, want.Trust, want.Model, want.State = string(Helper), roster.TrustAttended, m.Name, string(Idle)
	var i Info
	err = p.o.DB.Write(ctx, "open a helper", func(tx *store.Tx) error {
		row := want
		var err error
		if row.Name, err = roster.NameFor(tx, want.Name, line{p}.Renamed); err != nil {
			return err
		}
		var behind store.Turn
		if want.Branch != 0 {
			if behind, _, err = tx.Turn(want.Branch); err != nil {
				return err
			}
			of, _, err := tx.Agent(behind.Agent)
			if err != nil {
				return err
			}
			row.Trust = of.Trust
		}
		if row.ID, err = tx.AddAgent(row); err != nil {
			return err
		}
		i = Info{
			ID: row.ID, Name: row.Name, Kind: Helper, Parent: row.Parent, State: Idle,
			Model: m.Name, Window: m.Window, Priced: m.Price != nil, Created: tx.Now(),
			Context: behind.Context, Outside: row.Trust == roster.TrustOutside,
		}
		if notice != "" {
			if _, err := p.book(row.ID).Batch(tx, false).Add(0, Entry{Kind: EntryNotice, Text: notice}); err != nil {
				return err
			}
		}
		tx.AfterCommit(func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.live(i) // its tab reads what was appended with its first page
		})
		return nil
	})
	return i, err
}

// RenameHelper gives a helper another name. Mail, tasks and transcript belong to
// the agent, not to its name; what it sent before keeps the name it was sent
// under.
func (p *Pool) RenameHelper(ctx context.Context, name, to string) error {
	a, i, err := p.named(ctx, name)
	switch {
	case err != nil:
		return err
	case !i.Kind.Nature().Opened:
		return fmt.Errorf("the agent %s keeps its name: only a helper can be renamed", name)
	case to == "":
		return errors.New("the new name is missing")
	case to == name:
		return fmt.Errorf("it is called %s already", name)
	}
	err = p.o.DB.Write(ctx, "rename a helper", func(tx *store.Tx) error {
		to, err := roster.NameFor(tx, to, line{p}.Renamed)
		if err != nil {
			return err
		}
		if err := tx.RenameAgent(a.id, to); err != nil {
			return err
		}
		tx.AfterCommit(func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			a.change(func(i *Info) { i.Name = to })
			p.told() // who waits for the old name waits in vain
		})
		return nil
	})
	if err != nil {
		return fmt.Errorf("rename %s: %w", name, err)
	}
	return nil
}

// Unfinished is what a helper that shall be closed would leave behind.
type Unfinished struct {
	Name    string
	Busy    bool // a turn runs, or the human's own command or wait
	Running int  // sub-agents it dispatched
	Queued  int  // tasks in its queue
	Unread  int  // messages in its inbox
	Prompts int  // typed and not sent
}

// Error says it in one sentence.
func (u *Unfinished) Error() string {
	var parts []string
	add := func(n int, one, many string) {
		switch {
		case n == 1:
			parts = append(parts, "1 "+one)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", n, many))
		}
	}
	if u.Busy {
		parts = append(parts, "it is at work")
	}
	add(u.Running, "agent of its own still lives", "agents of its own still live")
	add(u.Queued, "task is queued", "tasks are queued")
	add(u.Prompts, "prompt is not sent", "prompts are not sent")
	add(u.Unread, "message is unread", "messages are unread")
	return fmt.Sprintf("%s is not finished: %s", u.Name, strings.Join(parts, ", "))
}

// unfinished is what a would leave behind, nil if nothing.
func (p *Pool) unfinished(a *agent) *Unfinished {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := a.info
	u := &Unfinished{
		Name: i.Name, Busy: i.State != Idle || len(a.stops) > 0, Queued: len(p.queue.Of(a.id)), Unread: i.Pending, Running: len(p.workOf(a.id)), Prompts: len(i.Prompts),
	}
	if *u == (Unfinished{Name: i.Name}) {
		return nil
	}
	return u
}

// CloseHelper closes a helper: its transcript and its mail are kept, its open
// tasks pass to main, its name is free again. One that is not finished is closed
// only if force is set, which ends what it does now; else the error is an
// *Unfinished.
func (p *Pool) CloseHelper(ctx context.Context, name string, force bool) error {
	a, i, err := p.named(ctx, name)
	switch {
	case err != nil:
		return err
	case i.Kind.Nature().Stays:
		return errors.New("main stays; /new begins a new conversation in it, /quit leaves the program")
	case !i.Kind.Nature().Opened:
		return fmt.Errorf("the agent %s is no helper: /close %s closes its tab once it ended, /kill %s ends it", name, name, name)
	}
	if p.o.shows() {
		return p.o.DB.ReadOnly()
	}
	if u := p.unfinished(a); u != nil && !force {
		return u
	}
	l := &leave{failed: make(chan error, 1)}
	p.mu.Lock()
	a.leaves = l
	p.mu.Unlock()
	a.halt(ErrStopped)
	a.poked()
	select {
	case <-a.gone:
		return nil
	case err := <-l.failed:
		return fmt.Errorf("close %s: %w", name, err)
	case <-ctx.Done():
		return fmt.Errorf("wait for %s to end: %w", name, ctx.Err())
	}
}

// reopen opens a helper that was closed: it is at rest, with its transcript and
// the mail it has not read; what was typed and not sent is held. False: the name
// is no closed helper's.
func (p *Pool) reopen(ctx context.Context, name, prompt string) (bool, error) {
	var row store.Agent
	found := false
	err := p.o.DB.Write(ctx, "open a helper again", func(tx *store.Tx) (err error) {
		row, found, err = tx.AgentByName(name)
		found = found && Kind(row.Kind).Nature().Opened && !row.Closed.IsZero()
		if err != nil || !found {
			return err
		}
		row.State, row.Ended, row.Closed = string(Idle), time.Time{}, time.Time{}
		return errors.Join(tx.SetAgentState(row.ID, row.State, false), tx.OpenAgent(row), tx.HoldPrompts(row.ID))
	})
	if err == nil && found {
		err = p.loaded(ctx, row)
	}
	if err == nil && found && prompt != "" {
		err = p.Prompt(ctx, row.ID, prompt)
	}
	if err != nil {
		return found, fmt.Errorf("open %s again: %w", name, err)
	}
	return found, nil
}

// loaded starts the helper of a row.
func (p *Pool) loaded(ctx context.Context, row store.Agent) error {
	i, err := p.known(ctx, row)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live(i)
	return nil
}

// live starts a helper. The caller holds mu.
func (p *Pool) live(i Info) {
	if p.closing {
		return // the next start opens it
	}
	a := p.newAgent(i, 0)
	p.open(a)
	p.hub.Emit(Changed{Info: i})
	p.told()
	p.start("agent "+i.Name, a.loop)
}

// leave is the human's wish that a helper be closed; its loop carries it out at
// rest.
type leave struct{ failed chan error }

// left carries out the wish to be closed, if there is one: true ends the loop.
func (a *agent) left(ctx context.Context) bool {
	a.p.mu.Lock()
	l := a.leaves
	a.leaves = nil
	a.p.mu.Unlock()
	if l == nil {
		return false
	}
	err := a.p.o.DB.Write(context.WithoutCancel(ctx), "close a helper", func(tx *store.Tx) error {
		if err := tx.SetAgentState(a.id, string(Done), true); err != nil {
			return err
		}
		if err := a.p.ends.Pass(tx, a.id, Done); err != nil {
			return err
		}
		if err := tx.CloseAgent(a.id); err != nil {
			return err
		}
		tx.AfterCommit(func() {
			a.p.mu.Lock()
			defer a.p.mu.Unlock()
			a.change(func(i *Info) { i.State, i.Ended = Done, a.p.o.Now() })
			delete(a.p.agents, a.id)
			a.p.hub.Emit(Closed{Agent: a.id})
		})
		return nil
	})
	if err != nil {
		l.failed <- err
		return false
	}
	return true
}
