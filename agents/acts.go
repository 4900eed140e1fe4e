package agents

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"fantail/agents/audit"
	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/tasks"
	"fantail/store"
	"fantail/tools/permission"
)

// Prompt queues a prompt that the human typed and returns once its row is committed. The prompt
// enters at the agent's next seam. Held prompts stay held: only Unprompt removes them from the
// queue.
func (p *Pool) Prompt(ctx context.Context, agent int64, text string) error {
	a, err := p.fleet.Agent(agent)
	if err != nil {
		return err
	}
	if !a.Kind.HasPrompt() {
		return tasks.ErrNoPrompt
	}
	if strings.TrimSpace(text) == "" {
		return errors.New("the prompt is empty")
	}
	err = p.o.DB.Write(ctx, "prompt", func(tx *store.Tx) error {
		row, _, err := tx.Agent(a.ID)
		if err != nil {
			return err
		}
		if !row.Closed.IsZero() {
			return fmt.Errorf("%s was closed: %w", row.Name, tasks.ErrNoAgent)
		}
		id, err := tx.AddPrompt(a.ID, text, false)
		if err != nil {
			return err
		}
		tx.AfterCommit(func() {
			p.fleet.Lock()
			defer p.fleet.Unlock()
			a.Queued(event.Prompt{ID: id, Text: text})
			a.Env.Typed(id, fleet.EnvironmentOf(ctx))
			a.Poke()
		})
		return nil
	})
	if err != nil {
		return fmt.Errorf("queue the prompt: %w", err)
	}
	return nil
}

// Unprompt removes a queued prompt, a held one, or a command that waits for the end of the turn. It
// returns false if the prompt had entered already. It does not remove a sub-agent's task.
func (p *Pool) Unprompt(ctx context.Context, id int64) (bool, error) {
	a := p.fleet.Prompted(id)
	if a == nil {
		return false, nil
	}
	removed := false
	err := p.o.DB.Write(ctx, "take a prompt back", func(tx *store.Tx) (err error) {
		removed, err = tx.RemovePrompt(id)
		tx.AfterCommit(func() {
			a.Unqueue(id)
			if removed {
				p.Mail.TakenBack(a.ID, id)
			}
		})
		return err
	})
	if err != nil {
		return false, fmt.Errorf("take the prompt back: %w", err)
	}
	return removed, nil
}

// Withdraw removes everything in the agent's own queue as Unprompt does, all or nothing, and
// returns the texts in order. An agent without a prompt box has no such queue.
func (p *Pool) Withdraw(ctx context.Context, agent int64) ([]string, error) {
	a, err := p.fleet.Agent(agent)
	if err != nil || !a.Kind.HasPrompt() {
		return nil, err
	}
	var texts []string
	err = p.o.DB.Write(ctx, "take the prompts back", func(tx *store.Tx) error {
		texts = nil
		waiting, err := tx.WaitingPrompts(a.ID)
		if err != nil {
			return err
		}
		for _, q := range waiting {
			if _, err := tx.RemovePrompt(q.ID); err != nil {
				return err
			}
			texts = append(texts, q.Text)
		}
		tx.AfterCommit(func() {
			for _, q := range waiting {
				a.Unqueue(q.ID)
				p.Mail.TakenBack(a.ID, q.ID)
			}
		})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("take the prompts back: %w", err)
	}
	return texts, nil
}

// Stop ends what the agent does now: its turn with the turn's tools, its wait, and the human's
// command in its tab. It returns at once. An agent whose turn the human stopped stays at rest,
// whatever arrives, until the human does something in its tab.
func (p *Pool) Stop(agent int64) {
	a, err := p.fleet.Agent(agent)
	if err != nil {
		return
	}
	p.fleet.Lock()
	if a.ShownTurn != 0 && a.Kind.HasPrompt() { // stopping it again at rest changes nothing
		p.Mail.Tray(a.ID).Hush()
	}
	idle := a.Kind.Ends() && a.Info.State == event.Idle // it does nothing now and stays open
	p.fleet.Unlock()
	if !idle {
		a.Halt(fleet.ErrStopped)
	}
}

// CloseTab closes the tab of an ended agent. Its transcript and its mail are kept.
func (p *Pool) CloseTab(ctx context.Context, name string) error {
	a, i, err := p.named(ctx, name)
	if err != nil {
		return err
	}
	switch {
	case i.Kind.Nature().Opened:
		return fmt.Errorf("%s is a helper: /agent close %s closes it", name, name)
	case i.Kind.HasPrompt():
		return fmt.Errorf("the tab of %s stays; /new begins a new conversation in it", name)
	case !i.State.Terminal():
		return fmt.Errorf("the agent %s still lives (%s); /kill %s ends it%s", name, i.State, name, orEnd(i))
	}
	err = p.o.DB.Write(ctx, "close a tab", func(tx *store.Tx) error {
		tx.AfterCommit(func() {
			p.fleet.Lock()
			defer p.fleet.Unlock()
			p.fleet.CloseTab(a)
		})
		return tx.CloseAgent(a.ID)
	})
	if err != nil {
		return fmt.Errorf("close %s: %w", name, err)
	}
	return nil
}

// orEnd returns the hint to /end for an agent that awaits input, else "".
func orEnd(i event.Info) string {
	if i.Await == nil {
		return ""
	}
	return ", /end " + i.Name + " once its turn is over"
}

// SetModel changes the agent's model from its next request on. If the agent is main, new agents get
// that model too.
func (p *Pool) SetModel(ctx context.Context, agent int64, name string) error {
	a, err := p.fleet.Agent(agent)
	if err != nil {
		return err
	}
	m, err := p.o.Resolve(name)
	if err != nil {
		return err
	}
	err = p.o.DB.Write(ctx, "set the model", func(tx *store.Tx) error {
		// The hook runs in the order of the commits, so memory and row agree on the last one.
		tx.AfterCommit(func() {
			a.SetModel(m)
			p.Mail.LookAgain(a.ID) // an agent of another vendor can't be forked, one with a model can
		})
		return tx.SetAgentModel(a.ID, m.Name)
	})
	if err != nil {
		return fmt.Errorf("set the model: %w", err)
	}
	return nil
}

// Shell runs the human's own command in the agent's tab, without asking, and appends the command
// and its output to the transcript. The model reads them with the next request. Shell returns once
// the command has ended.
func (p *Pool) Shell(ctx context.Context, agent int64, command string) error {
	if why := p.o.DB.ReadOnly(); why != nil {
		return why
	}
	l, err := p.loops.Of(agent)
	if err != nil {
		return err
	}
	return l.Shell(ctx, command)
}

// Compact has the agent's model summarise its conversation, guided by hint if that is not empty. It
// waits for a running turn to end, and returns once the summary is recorded. After an error nothing
// has changed; the error is [fleet.ErrStopped] if the human stopped it.
func (p *Pool) Compact(ctx context.Context, agent int64, hint string) error {
	l, err := p.loops.Of(agent)
	if err != nil {
		return err
	}
	switch {
	case !l.Agent.Kind.HasPrompt():
		return tasks.ErrNoPrompt
	case p.o.shows():
		return p.o.DB.ReadOnly()
	}
	if err := l.Compact(ctx, hint); err != nil {
		return fmt.Errorf("compact the conversation: %w", err)
	}
	return nil
}

// SetMode changes the permission mode of all agents at once. It answers no open question. After an
// error the mode is either unchanged, because the new one can't hold here, or changed but not
// recorded. The mode auto is remembered for the next start.
func (p *Pool) SetMode(ctx context.Context, m permission.Mode) error {
	was := p.o.Gate.Mode()
	err := p.o.Gate.SetMode(m)
	fleet.Recount(p.fleet) // this also updates the mode that is shown
	if err != nil {
		return err
	}
	return p.moded(ctx, was)
}

// loosens is how long a mode chosen by key must stay chosen before it may allow more.
const loosens = time.Second

// StepMode is SetMode for the key that cycles through the modes. A mode that allows less holds at
// once. A mode that allows more holds after a second in which no other was chosen on any screen.
func (p *Pool) StepMode(ctx context.Context, m permission.Mode) error {
	was := p.o.Gate.Mode()
	settle, err := p.o.Gate.Step(m)
	p.fleet.Lock()
	p.fleet.Told()
	if settle != nil && !p.fleet.Closing() {
		p.fleet.Start("permission mode", func() { p.settles(ctx, settle) })
	}
	p.fleet.Unlock()
	if err != nil {
		return err
	}
	return p.moded(ctx, was)
}

// settles puts a chosen mode in force once it has stayed chosen for long enough.
func (p *Pool) settles(ctx context.Context, settle func() bool) {
	t := time.NewTimer(loosens)
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.fleet.Context().Done():
		return
	}
	was := p.o.Gate.Mode()
	if !settle() {
		return
	}
	fleet.Recount(p.fleet)
	if err := p.moded(ctx, was); err != nil {
		p.fleet.Emit(event.Trouble{Err: err})
	}
}

// moded records the mode in force if it differs from was.
func (p *Pool) moded(ctx context.Context, was permission.Mode) (err error) {
	is := p.o.Gate.Mode()
	if p.o.shows() {
		return nil
	}
	if was != is {
		err = p.o.DB.Write(p.fleet.Context(), "record the mode", func(tx *store.Tx) error {
			return p.audit.Switched(tx, string(was), string(is), audit.Who(ctx))
		})
	}
	chosen := "" // "": what the configuration says
	if is == permission.Auto {
		chosen = string(is)
	}
	if chosen != "" || was == permission.Auto {
		err = errors.Join(err, RememberChoice(p.fleet.Context(), p.o.DB, p.o.Seals, Mode, chosen))
	}
	return err
}

// Clear begins a new conversation. Earlier entries are kept but no longer sent.
func (p *Pool) Clear(ctx context.Context, agent int64) error {
	a, err := p.fleet.Agent(agent)
	if err != nil {
		return err
	}
	err = p.o.DB.Write(ctx, "clear", func(tx *store.Tx) error {
		last, ok, err := tx.LastTurn(a.ID)
		switch {
		case err != nil:
			return err
		case ok && last.Outcome == "":
			return errors.New("a turn runs; Esc stops it, then begin anew")
		}
		tx.AfterCommit(func() {
			a.Set(func(i *event.Info) { i.Context = 0 })
			p.Hooks.Cleared(a.ID)
			p.o.Gate.Forget() // permissions were given for that conversation only
		})
		_, err = a.Book().Batch(tx).Add(0, history.Entry{Kind: history.EntryCleared})
		return err
	})
	if err != nil {
		return fmt.Errorf("begin a new conversation: %w", err)
	}
	return nil
}
