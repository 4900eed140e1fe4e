package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/tasks"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/permission"
)

// A helper is an agent the human opens beside main and talks to in its tab: it
// has a prompt box, a queue and an inbox of its own, and lives until it is
// closed.

// NewHelper opens a helper and returns what is known of it. Without a name it gets one, without a model main's.
func (p *Pool) NewHelper(ctx context.Context, name, model string) (event.Info, error) {
	i, err := p.addHelper(ctx, store.Agent{Name: name, Model: model}, "", "", "")
	if err != nil {
		return event.Info{}, fmt.Errorf("open a helper: %w", err)
	}
	return i, nil
}

// addHelper makes the helper of a row whose Name, Model (else the one behind it, else main's) and Branch are set, and starts
// it; with a mode, nobody attends it. Its transcript begins, or goes on, with a notice if there is one.
func (p *Pool) addHelper(ctx context.Context, want store.Agent, model string, mode permission.Mode, notice string) (event.Info, error) {
	as := tools.Task{Model: want.Model}
	role, err := p.Tasks.Cast(ctx, &as)
	if err != nil {
		return event.Info{}, err
	}
	want.Model = cmp.Or(as.Model, model, p.fleet.ModelOf(0))
	if m := p.fleet.Main(); m != nil {
		want.Parent = m.ID // who gets its open tasks once it is closed
	}
	m, err := p.o.Resolve(want.Model)
	if err != nil {
		return event.Info{}, err
	}
	trust := tasks.Trust{Unattended: mode != ""}
	want.Kind, want.Model, want.State = string(event.Helper), m.Name, string(event.Idle)
	var i event.Info
	err = p.o.DB.Write(ctx, "open a helper", func(tx *store.Tx) error {
		row := want
		var err error
		if trust.Unattended {
			row.Name, err = tasks.PromptName(&tx.View)
		}
		if err == nil {
			row.Name, err = tasks.NameFor(tx, row.Name, p.fleet.Line.Renamed)
		}
		if err != nil {
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
			trust.Outside, row.Role = tasks.TrustIn(of).Outside, of.Role
			if role, err = tasks.RoleNamed(&tx.View, of.Role); err != nil {
				return err
			}
		} else if role != nil {
			row.Role, err = tasks.KeepRole(tx, role)
		}
		if err != nil {
			return err
		}
		row.Trust = trust.String()
		if row.ID, err = tx.AddAgent(row); err != nil {
			return err
		}
		i = event.Info{
			ID: row.ID, Name: row.Name, Kind: event.Helper, Parent: row.Parent, State: event.Idle,
			Model: m.Name, Spent: event.Spent{Window: m.Window, Priced: m.Price != nil, Context: behind.Context},
			Created: tx.Now(), Judged: event.Judged{Role: role},
		}
		trust.Mark(&i)
		if notice != "" {
			e := history.Entry{Kind: history.EntryNotice, Text: notice}
			if _, err := p.fleet.Book(row.ID).Batch(tx).Add(0, e); err != nil {
				return err
			}
		}
		tx.AfterCommit(func() {
			p.fleet.Lock()
			defer p.fleet.Unlock()
			p.live(ctx, i, mode) // its tab reads what was appended with its first page
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
		to, err := tasks.NameFor(tx, to, p.fleet.Line.Renamed)
		if err != nil {
			return err
		}
		if err := tx.RenameAgent(a.ID, to); err != nil {
			return err
		}
		tx.AfterCommit(func() {
			p.fleet.Lock()
			defer p.fleet.Unlock()
			a.Change(func(i *event.Info) { i.Name = to })
			p.fleet.Told() // who waits for the old name waits in vain
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
func (p *Pool) unfinished(a *fleet.Agent) *Unfinished {
	p.fleet.Lock()
	defer p.fleet.Unlock()
	i := a.Info
	u := &Unfinished{
		Name: i.Name, Busy: i.State != event.Idle || a.Stops(), Running: len(p.fleet.Work(a.ID)),
		Queued: len(p.fleet.Queue.Of(a.ID)), Unread: i.Pending, Prompts: len(i.Prompts),
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
		return fmt.Errorf(
			"the agent %s is no helper: /close %s closes its tab once it ended, /kill %s ends it", name, name, name)
	}
	if p.o.shows() {
		return p.o.DB.ReadOnly()
	}
	if u := p.unfinished(a); u != nil && !force {
		return u
	}
	l, err := p.loops.Of(a.ID)
	if err != nil {
		return err
	}
	return l.Leave(ctx)
}

// reopen opens a helper that was closed: it is at rest, with its transcript and
// the mail it has not read; what was typed and not sent is held. False: the name
// is no closed helper's.
func (p *Pool) reopen(ctx context.Context, name, prompt string) (bool, error) {
	var row store.Agent
	found := false
	err := p.o.DB.Write(ctx, "open a helper again", func(tx *store.Tx) (err error) {
		row, found, err = tx.AgentByName(name)
		found = found && event.Kind(row.Kind).Nature().Opened && !row.Closed.IsZero()
		if err != nil || !found {
			return err
		}
		trust := tasks.TrustIn(row)
		trust.Unattended = false
		row, err = reopens(tx, row, trust)
		return err
	})
	if err == nil && found {
		err = p.rejoin(ctx, row, "")
	}
	if err == nil && found && prompt != "" {
		err = p.Prompt(ctx, row.ID, prompt)
	}
	if err != nil {
		return found, fmt.Errorf("open %s again: %w", name, err)
	}
	return found, nil
}

// reopens opens the row of a closed helper; what was typed and not sent is held.
func reopens(tx *store.Tx, row store.Agent, trust tasks.Trust) (store.Agent, error) {
	row.State, row.Trust, row.Ended, row.Closed = string(event.Idle), trust.String(), time.Time{}, time.Time{}
	return row, errors.Join(tx.SetAgentState(row.ID, row.State, false), tx.OpenAgent(row), tx.HoldPrompts(row.ID))
}

// rejoin starts the helper of a row that was closed; with a mode, nobody attends it.
func (p *Pool) rejoin(ctx context.Context, row store.Agent, mode permission.Mode) error {
	i, err := p.known(ctx, row)
	if err != nil {
		return err
	}
	p.fleet.Lock()
	defer p.fleet.Unlock()
	p.live(ctx, i, mode)
	return nil
}

// live starts a helper where ctx says; with a mode, nobody attends it. The caller holds the fleet's mutex.
func (p *Pool) live(ctx context.Context, i event.Info, mode permission.Mode) {
	if p.fleet.Closing() {
		return // the next start opens it
	}
	l := p.loops.Make(i, 0)
	if mode != "" && (i.Role == nil || i.Role.Mode == "") { // what its file says is the tighter one
		l.SetMode(mode)
	}
	l.Agent.Env.Adopt(fleet.EnvironmentOf(ctx))
	p.fleet.Open(l.Agent)
	l.Start()
}
