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

// A helper is an agent that the human opens beside main and talks to in its tab. It has a prompt
// box, a queue and an inbox of its own, and lives until it is closed.

// NewHelper opens a helper and returns its Info. Without a name it gets a generated one, without a
// model main's.
func (p *Pool) NewHelper(ctx context.Context, name, model string) (event.Info, error) {
	i, err := p.addHelper(ctx, store.Agent{Name: name, Model: model}, "", "", "")
	if err != nil {
		return event.Info{}, fmt.Errorf("open a helper: %w", err)
	}
	return i, nil
}

// addHelper creates and starts the helper of a row with Name, Model (default: model, else main's)
// and Branch. If mode is not empty, the helper is unattended. If notice is not empty, it is
// appended to the transcript.
func (p *Pool) addHelper(ctx context.Context, want store.Agent, model string, mode permission.Mode, notice string) (event.Info, error) {
	as := tools.Task{Model: want.Model}
	role, err := p.Tasks.Cast(ctx, &as)
	if err != nil {
		return event.Info{}, err
	}
	want.Model = cmp.Or(as.Model, model, p.fleet.ModelOf(0))
	if m := p.fleet.Main(); m != nil {
		want.Parent = m.ID // main inherits its open tasks once it is closed
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
			p.live(ctx, i, mode) // its tab reads the appended entries with its first page
		})
		return nil
	})
	return i, err
}

// RenameHelper renames a helper. Mail, tasks and transcript belong to the agent, not to its name.
// Messages sent before keep the old name.
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
			p.fleet.Told() // whoever waits for mail from the old name now waits in vain
		})
		return nil
	})
	if err != nil {
		return fmt.Errorf("rename %s: %w", name, err)
	}
	return nil
}

// Unfinished is what closing a helper would leave behind.
type Unfinished struct {
	Name    string
	Busy    bool // a turn runs, or the human's own command or wait
	Running int  // sub-agents it dispatched
	Queued  int  // tasks in its queue
	Unread  int  // messages in its inbox
	Prompts int  // typed and not sent
}

// Error lists all of it in one sentence.
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

// unfinished returns what closing a would leave behind; nil: nothing.
func (p *Pool) unfinished(a *fleet.Agent) *Unfinished {
	p.fleet.Lock()
	defer p.fleet.Unlock()
	i := a.Info
	u := &Unfinished{
		Name: i.Name, Busy: i.State != event.Idle || a.Stops(), Running: len(p.fleet.Work(a.ID)),
		Queued: len(p.fleet.Queue.Of(a.ID)), Unread: i.Pending + i.Asks, Prompts: len(i.Prompts),
	}
	if *u == (Unfinished{Name: i.Name}) {
		return nil
	}
	return u
}

// CloseHelper closes a helper. Its transcript and mail are kept, its open tasks pass to main, its
// name becomes free. An unfinished helper is closed only with force, which ends what it does; else
// the error is an *Unfinished.
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

// reopen reopens a closed helper. It is at rest, with its transcript and unread mail; prompts that
// were not sent are held. It returns false if no closed helper has that name.
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

// reopens marks the row of a closed helper as open and holds its unsent prompts.
func reopens(tx *store.Tx, row store.Agent, trust tasks.Trust) (store.Agent, error) {
	row.State, row.Trust, row.Ended, row.Closed = string(event.Idle), trust.String(), time.Time{}, time.Time{}
	return row, errors.Join(tx.SetAgentState(row.ID, row.State, false), tx.OpenAgent(row), tx.HoldPrompts(row.ID))
}

// rejoin starts the helper of a reopened row. If mode is not empty, it is unattended.
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

// live starts a helper in the environment of ctx. If mode is not empty, it is unattended. The
// caller holds the fleet's mutex.
func (p *Pool) live(ctx context.Context, i event.Info, mode permission.Mode) {
	if p.fleet.Closing() {
		return // the next start of the program opens it
	}
	l := p.loops.Make(i, 0)
	if mode != "" && (i.Role == nil || i.Role.Mode == "") { // a mode in its file takes precedence
		l.SetMode(mode)
	}
	l.Agent.Env.Adopt(fleet.EnvironmentOf(ctx))
	p.fleet.Open(l.Agent)
	l.Start()
}
