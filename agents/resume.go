package agents

import (
	"context"
	"fmt"

	"fantail/agents/history"
	"fantail/agents/tasks"
	"fantail/store"
	"fantail/tools"
)

// Background lets an agent that waits for sync delegations go on. Their work goes on as if it had
// been dispatched async. It returns the names, none if the agent waits for no such work.
func (p *Pool) Background(agent int64) []string {
	p.fleet.Lock()
	defer p.fleet.Unlock()
	return p.putAside(agent)
}

// putAside is Background for a caller that holds the fleet's mutex.
func (p *Pool) putAside(agent int64) []string {
	names, longer := p.waits.Background(agent)
	for _, task := range longer {
		p.fleet.Extend(task, asyncTimeout)
	}
	return names
}

// Resume lets an ended agent go on with its transcript at once. Without a prompt, an agent that was
// cut goes on with its task. For an agent that completed, and for a fork, it only reopens the tab
// and returns ok = false. A closed helper is reopened too, with ok = false, and gets the prompt if
// any.
func (p *Pool) Resume(ctx context.Context, by int64, name, prompt string) (t tasks.Task, ok bool, err error) {
	if done, err := p.reopen(ctx, name, prompt); done || err != nil {
		return tasks.Task{}, false, err
	}
	if row, done, err := p.forks.Reopen(ctx, name, prompt); done || err != nil {
		if err == nil {
			err = p.openEnded(ctx, row)
		}
		return tasks.Task{}, false, err
	}
	if prompt != "" {
		t, err = p.Tasks.Push(ctx, by, tools.Task{Name: name, Prompt: prompt, Start: true, Resume: true})
		return t, err == nil, err
	}
	var row store.Agent
	var last store.Turn
	err = p.o.DB.Write(ctx, "open a tab", func(tx *store.Tx) error {
		if row, err = tasks.Resumable(tx, name); err != nil {
			return err
		}
		if last, _, err = tx.LastTurn(row.ID); err != nil || history.Outcome(last.Outcome) != history.Completed {
			return err
		}
		if row.Closed.IsZero() {
			return fmt.Errorf("%s has completed its task; say what it shall do: /resume %s PROMPT", name, name)
		}
		return tx.OpenAgent(row)
	})
	switch {
	case err != nil:
		return tasks.Task{}, false, fmt.Errorf("resume: %w", err)
	case history.Outcome(last.Outcome) != history.Completed:
		return p.Resume(ctx, by, name, goOn)
	}
	return tasks.Task{}, false, p.openEnded(ctx, row)
}

// openEnded shows the tab of an ended agent again, once its row is open.
func (p *Pool) openEnded(ctx context.Context, row store.Agent) error {
	i, err := p.known(ctx, row)
	if err != nil {
		return fmt.Errorf("resume %s: %w", row.Name, err)
	}
	p.fleet.Lock()
	defer p.fleet.Unlock()
	if p.fleet.Of(row.ID) == nil {
		p.fleet.Open(p.loops.Make(i, row.Task).Agent)
	}
	return nil
}

// goOn is the prompt for an agent that was cut and is resumed without one.
const goOn = "Go on with your task from where it was cut."
