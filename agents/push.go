package agents

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
)

// Bounds of what agents may have others do.
const (
	maxLive  = 64  // sub-agents that live at once, those that wait included
	maxSpawn = 100 // tasks one agent may push within spawnSpan; a human may push any number
	maxNeeds = 20  // tasks one task may wait for

	spawnSpan = time.Hour
)

// Who asked for a task, as its row says.
const (
	originHuman = "human"
	originAgent = "agent"
	OriginCLI   = "cli" // a command outside of the program
	OriginMCP   = "mcp" // another program that speaks the Model Context Protocol
)

// fromOutside reports whether that origin is outside of the program.
func fromOutside(origin string) bool { return origin == OriginCLI || origin == OriginMCP }

// What a task is.
const (
	kindPrompt  = "prompt"
	kindCommand = "command" // a plain command of the human's own: no model, no question
)

// Task is a task as it stands in its queue.
type Task = store.Task

// Push queues a task that the human typed in the queue of `by` and returns it
// with its name. Nothing runs until Run, unless a window is open or the task
// asks to start. A prompt that begins with `!` is a command.
func (p *Pool) Push(ctx context.Context, by int64, t tools.Task) (Task, error) {
	return p.push(ctx, by, t, originHuman, nil)
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
		if origin == originAgent {
			if err = spawns(tx, by); err != nil {
				return err
			}
		}
		if t.Resume {
			err = again(tx, &row, t)
		} else {
			row.Name, err = p.nameFor(tx, t.Name)
		}
		if err != nil {
			return err
		}
		needs, err := needed(&tx.View, t.After)
		if err != nil && origin == originAgent {
			err = unquoted(err)
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
		Queue: by, Prompt: t.Prompt, Kind: kindPrompt, Origin: origin, Model: model, Timeout: t.Timeout, Deliver: t.Deliver,
		SpawnedBy: turn, State: taskQueued,
	}
	if command, ok := strings.CutPrefix(strings.TrimSpace(t.Prompt), "!"); ok {
		if origin != originHuman {
			return Task{}, errors.New("only the human can push a command (!CMD); write what is to be done as a prompt, its agent has the tool bash")
		}
		if t.Model != "" {
			return Task{}, errors.New("a command needs no model; leave model= away")
		}
		row.Kind, row.Prompt, row.Model = kindCommand, strings.TrimSpace(command), ""
	}
	if strings.TrimSpace(row.Prompt) == "" {
		return Task{}, errors.New("a task needs a prompt")
	}
	if live >= maxLive {
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
		if n.State != taskFinished {
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

// spawns refuses what an agent pushes beyond its limit. It looks in the
// transaction that pushes, so that calls side by side can't pass it together.
func spawns(tx *store.Tx, by int64) error {
	since := tx.Now().Add(-spawnSpan)
	n, first, err := tx.Pushed(by, originAgent, since)
	if err != nil || n < maxSpawn {
		return err
	}
	return fmt.Errorf("you pushed %d tasks within an hour, which is the limit; the next is possible in %s",
		n, inbox.Age(first.Sub(since).Round(time.Second)))
}

// needed finds the tasks of these names: the one that is queued or runs, else
// the last that ended. It refuses what can't be waited for.
func needed(v *store.View, names []string) ([]Task, error) {
	if len(names) > maxNeeds {
		return nil, fmt.Errorf("after= names %d tasks; a task can wait for at most %d", len(names), maxNeeds)
	}
	var ts []Task
	for _, name := range names {
		t, ok, err := v.TaskNamed(name)
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return nil, fmt.Errorf("after=%s: there is no task of that name; /queue lists them", name)
		case t.State == taskFinished && t.Outcome != string(Completed):
			return nil, unmet{name, t}
		}
		ts = append(ts, t)
	}
	return ts, nil
}

// unmet is the error of who would wait for a task that has not completed.
type unmet struct {
	name string
	task Task
}

func (u unmet) Error() string {
	return fmt.Sprintf("after=%s: %s; /retry %s pushes it again", u.name, became(u.task.Name, u.task.Outcome, u.task.Error), u.name)
}

// unquoted is an error as a model may read it: without why another agent failed, which
// is that one's text and stands in its message.
func unquoted(err error) error {
	if u := (unmet{}); errors.As(err, &u) {
		u.task.Error = ""
		return u
	}
	return err
}

// became says how a task ended that did not complete: `a failed: no such file`.
func became(name, outcome, cause string) string {
	word := strings.ReplaceAll(outcome, "_", " ")
	switch {
	case strings.HasPrefix(cause, word):
		return name + " " + cause
	case cause == "":
		return name + " " + word
	}
	return name + " " + word + ": " + cause
}
