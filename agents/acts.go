package agents

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"fantail/store"
	"fantail/tools/proc"
)

// Prompt queues what the human typed; it returns once the row is committed. It
// enters at the agent's next seam. Prompts that are held stay so: only Unprompt
// takes them out of the queue.
func (p *Pool) Prompt(ctx context.Context, agent int64, text string) error {
	a, err := p.agent(agent)
	if err != nil {
		return err
	}
	if !a.kind.HasPrompt() {
		return ErrNoPrompt
	}
	if strings.TrimSpace(text) == "" {
		return errors.New("the prompt is empty")
	}
	err = p.o.DB.Write(ctx, "prompt", func(tx *store.Tx) error {
		row, _, err := tx.Agent(a.id)
		if err != nil {
			return err
		}
		if !row.Closed.IsZero() {
			return fmt.Errorf("%s was closed: %w", row.Name, ErrNoAgent)
		}
		id, err := tx.AddPrompt(a.id, text, false)
		if err != nil {
			return err
		}
		tx.AfterCommit(func() {
			a.set(func(i *Info) {
				i.Prompts = append(i.Prompts[:len(i.Prompts):len(i.Prompts)], Prompt{ID: id, Text: text})
			})
			a.poked()
		})
		return nil
	})
	if err != nil {
		return fmt.Errorf("queue the prompt: %w", err)
	}
	return nil
}

// Unprompt takes a queued prompt back, a held one too, or a command that waits for
// the end of the turn; false: it had entered. A sub-agent's task is none of these.
func (p *Pool) Unprompt(ctx context.Context, id int64) (bool, error) {
	a := p.prompted(id)
	if a == nil {
		return false, nil
	}
	removed := false
	err := p.o.DB.Write(ctx, "take a prompt back", func(tx *store.Tx) (err error) {
		removed, err = tx.RemovePrompt(id)
		tx.AfterCommit(func() {
			a.dropPrompt(id)
			if removed {
				p.Room.TakenBack(a.id, id)
			}
		})
		return err
	})
	if err != nil {
		return false, fmt.Errorf("take the prompt back: %w", err)
	}
	return removed, nil
}

// Withdraw takes back all that is queued for an agent as Unprompt does, all or nothing,
// and returns the texts in their order. Nobody's but a prompt box's own queue is touched.
func (p *Pool) Withdraw(ctx context.Context, agent int64) ([]string, error) {
	a, err := p.agent(agent)
	if err != nil || !a.kind.HasPrompt() {
		return nil, err
	}
	var texts []string
	err = p.o.DB.Write(ctx, "take the prompts back", func(tx *store.Tx) error {
		texts = nil
		waiting, err := tx.WaitingPrompts(a.id)
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
				a.dropPrompt(q.ID)
				p.Room.TakenBack(a.id, q.ID)
			}
		})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("take the prompts back: %w", err)
	}
	return texts, nil
}

// prompted returns the agent in whose tab that prompt is queued.
func (p *Pool) prompted(id int64) *agent {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.agents {
		for _, q := range a.info.Prompts {
			if q.ID == id && a.kind.HasPrompt() {
				return a
			}
		}
	}
	return nil
}

// Stop ends what the agent does now: its turn and the tools of it, its wait, the
// human's command in its tab. It returns at once. An agent whose turn the human
// stopped stays at rest, whatever comes, until they do something in its tab.
func (p *Pool) Stop(agent int64) {
	a, err := p.agent(agent)
	if err != nil {
		return
	}
	p.mu.Lock()
	if a.shownTurn != 0 && a.kind.HasPrompt() { // a second one at rest changes nothing
		p.Room.Tray(a.id).Hush()
	}
	p.mu.Unlock()
	a.halt(ErrStopped)
}

// CloseTab closes the tab of an ended agent; its transcript and its mail are kept.
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
		return fmt.Errorf("the agent %s still lives (%s); /kill %s ends it", name, i.State, name)
	}
	err = p.o.DB.Write(ctx, "close a tab", func(tx *store.Tx) error {
		tx.AfterCommit(func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			delete(p.agents, a.id)
			p.hub.Emit(Closed{Agent: a.id})
		})
		return tx.CloseAgent(a.id)
	})
	if err != nil {
		return fmt.Errorf("close %s: %w", name, err)
	}
	return nil
}

// SetModel changes the agent's model from its next request on; new agents get it
// too if it is main's.
func (p *Pool) SetModel(ctx context.Context, agent int64, name string) error {
	a, err := p.agent(agent)
	if err != nil {
		return err
	}
	m, err := p.o.Resolve(name)
	if err != nil {
		return err
	}
	err = p.o.DB.Write(ctx, "set the model", func(tx *store.Tx) error {
		// In the order of the commits, so that the last one holds here as it does in the row.
		tx.AfterCommit(func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			a.model = m
			if a.kind == Main {
				p.model = m.Name
			}
			a.change(func(i *Info) { i.Model, i.Window, i.Priced = m.Name, m.Window, m.Price != nil })
		})
		return tx.SetAgentModel(a.id, m.Name)
	})
	if err != nil {
		return fmt.Errorf("set the model: %w", err)
	}
	return nil
}

// Shell runs a command of the human's own in the agent's tab, without a
// question, and appends it with its output; the model reads it with the next
// request. It returns once the command ended.
func (p *Pool) Shell(ctx context.Context, agent int64, command string) error {
	a, err := p.agent(agent)
	if err != nil {
		return err
	}
	ctx, release, err := a.visit(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := a.prepare(); err != nil {
		return err
	}
	command = p.o.Keys.Text(command) // what runs is what is shown and kept
	began := time.Now()
	file := filepath.Join(a.env.Outputs, fmt.Sprintf("shell-%d.txt", p.o.Now().UnixNano()))
	r, err := proc.Run(ctx, proc.Spec{
		Shell: command, Dir: p.o.Root, Env: p.o.Environ, Keys: p.o.Keys, Output: file, Head: 8 << 10, Tail: 8 << 10, Keep: p.o.Keep,
		Tick: func(tail string) { p.hub.Emit(Output{Agent: a.id, Call: "!" + command, Tail: tail}) },
	})
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("run %s: %w", command, err)
	}
	s := &Shell{Command: command, Output: r.Text, Exit: r.Exit, Millis: time.Since(began).Milliseconds()}
	if r.Cut {
		s.File = file
	}
	if ctx.Err() != nil {
		s.Output = strings.TrimRight(s.Output, "\n") + "\n(stopped)"
	}
	err = p.o.DB.Write(context.WithoutCancel(ctx), "shell", func(tx *store.Tx) error {
		_, err := a.book().Batch(tx, false).Add(0, Entry{Kind: EntryShell, Shell: s})
		return err
	})
	if err != nil {
		return fmt.Errorf("record %s: %w", command, err)
	}
	return nil
}

// Clear begins a new conversation: what stands before is kept but no longer sent.
func (p *Pool) Clear(ctx context.Context, agent int64) error {
	a, err := p.agent(agent)
	if err != nil {
		return err
	}
	err = p.o.DB.Write(ctx, "clear", func(tx *store.Tx) error {
		last, ok, err := tx.LastTurn(a.id)
		switch {
		case err != nil:
			return err
		case ok && last.Outcome == "":
			return errors.New("a turn runs; Esc stops it, then begin anew")
		}
		tx.AfterCommit(func() { a.set(func(i *Info) { i.Context = 0 }) })
		_, err = a.book().Batch(tx, false).Add(0, Entry{Kind: EntryCleared})
		return err
	})
	if err != nil {
		return fmt.Errorf("begin a new conversation: %w", err)
	}
	return nil
}
