package agents

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fantail/agents/roster"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
)

// Push queues a task that the human typed in the queue of `by` and returns it
// with its name. Nothing runs until Run, unless a window is open or the task
// asks to start. A prompt that begins with `!` is a command.
func (p *Pool) Push(ctx context.Context, by int64, t tools.Task) (Task, error) {
	return p.push(ctx, by, t, roster.OriginHuman, nil)
}

// Joins reports whether a task that was pushed starts without another run: one drains
// its queue, or it has begun already.
func (p *Pool) Joins(task int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.queue.Task(task)
	return t == nil || p.queue.Wanted(t)
}

// push queues a task for whom origin says; also, if it is not nil, adds to its
// transaction.
func (p *Pool) push(ctx context.Context, by int64, t tools.Task, origin string, also func(tx *store.Tx, row Task) error) (Task, error) {
	row, err := p.newTask(by, t, origin)
	if err != nil {
		return Task{}, err
	}
	err = p.o.DB.Write(ctx, "push", func(tx *store.Tx) error {
		var err error
		if origin == roster.OriginAgent {
			if err = roster.MaySpawn(tx, by); err != nil {
				return err
			}
		}
		if t.Resume {
			err = roster.Resume(tx, &row, t)
		} else {
			row.Name, err = p.nameFor(tx, t.Name)
		}
		if err != nil {
			return err
		}
		needs, err := roster.Needed(&tx.View, t.After)
		if err != nil && origin == roster.OriginAgent {
			err = roster.Unquoted(err)
		}
		if err == nil {
			err = p.addTask(tx, &row, needs, t.Start)
		}
		if err == nil && also != nil {
			err = also(tx, row)
		}
		return err
	})
	if err != nil {
		return Task{}, fmt.Errorf("queue the task: %w", err)
	}
	return row, nil
}

// newTask is the row of a task that may be pushed.
func (p *Pool) newTask(by int64, t tools.Task, origin string) (Task, error) {
	a, err := p.agent(by)
	if err != nil {
		return Task{}, err
	}
	p.mu.Lock()
	model, live, turn := a.info.Model, 0, a.shownTurn
	for _, b := range p.living {
		if b.kind == Sub {
			live++
		}
	}
	p.mu.Unlock()
	row := Task{
		Queue: by, Prompt: t.Prompt, Kind: roster.KindPrompt, Origin: origin, Model: model, Timeout: t.Timeout, Deliver: t.Deliver,
		SpawnedBy: turn, State: roster.TaskQueued,
	}
	if command, ok := strings.CutPrefix(strings.TrimSpace(t.Prompt), "!"); ok {
		if origin != roster.OriginHuman {
			return Task{}, errors.New("only the human can push a command (!CMD); write what is to be done as a prompt, its agent has the tool bash")
		}
		if t.Model != "" {
			return Task{}, errors.New("a command needs no model; leave model= away")
		}
		row.Kind, row.Prompt, row.Model = roster.KindCommand, strings.TrimSpace(command), ""
	}
	if strings.TrimSpace(row.Prompt) == "" {
		return Task{}, errors.New("a task needs a prompt")
	}
	if live >= roster.MaxLive {
		return Task{}, fmt.Errorf("%d agents live already; wait for some to end, or /kill one", live)
	}
	if t.Model != "" {
		m, err := p.o.Resolve(t.Model)
		if err != nil {
			return Task{}, err
		}
		row.Model = m.Name
	}
	switch inbox.Deliver(row.Deliver) {
	case "":
		row.Deliver = string(inbox.Hold)
	case inbox.Hold, inbox.Next, inbox.Wake:
	default:
		return Task{}, fmt.Errorf("deliver=%s: it is hold, next or wake", row.Deliver)
	}
	return row, nil
}

// addTask writes a task's row with what it needs, and queues it after the commit.
func (p *Pool) addTask(tx *store.Tx, row *Task, needs []Task, start bool) error {
	var err error
	if row.ID, err = tx.AddTask(*row); err != nil {
		return err
	}
	row.Created, row.Place, row.After = tx.Now(), row.ID, nil
	for _, n := range needs {
		if err := tx.NeedTask(row.ID, n.ID); err != nil {
			return err
		}
		if n.State != roster.TaskFinished {
			row.After = append(row.After, n.Name)
		}
	}
	q := *row
	tx.AfterCommit(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.shutDrained() // it joins none that is drained
		p.enqueue(q, needs, start)
		p.told()
	})
	return nil
}
