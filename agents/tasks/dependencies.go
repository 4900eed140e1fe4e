package tasks

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/inbox"
	"fantail/store"
)

// States of a task's row.
const (
	TaskQueued   = "queued"
	TaskRunning  = "running"
	TaskFinished = "finished"
	TaskRemoved  = "removed"
)

// Limits on the work that agents may dispatch.
const (
	MaxLive  = 64  // sub-agents alive at once, waiting ones included
	maxSpawn = 100 // tasks that all agents working for one prompt of a human may push within spawnSpan; a human may push any number
	maxNeeds = 20  // tasks one task may wait for

	spawnSpan = time.Hour
)

// The origin of a task, as its row says.
const (
	OriginHuman = "human"
	OriginAgent = "agent"
	OriginCLI   = "cli" // a command outside the program
	OriginMCP   = "mcp" // another program, over the Model Context Protocol
)

// FromOutside reports whether that origin is outside the program.
func FromOutside(origin string) bool { return origin == OriginCLI || origin == OriginMCP }

// Kinds of tasks.
const (
	KindPrompt  = "prompt"
	KindCommand = "command" // a plain command that the human typed: no model, no question
)

// Sandboxed is the Sandbox of a command that runs in the sandbox of agents' commands, or not at all.
const Sandboxed = "on"

// Task is a task's row.
type Task = store.Task

// MaySpawn refuses a task that an agent pushes beyond the limit. All agents below the same push or conversation of a
// human share the limit, at any depth. A prompt that the human types for the agent, or for one above it, starts a new
// count. It counts in the transaction that pushes, so that concurrent calls can't exceed the limit together.
func MaySpawn(tx *store.Tx, by int64) error {
	first, told, err := tx.Origin(by)
	if err != nil {
		return err
	}
	ago := tx.Now().Add(-spawnSpan)
	since := ago
	if told.After(since) {
		since = told
	}
	n, oldest, err := tx.Pushed(first, since)
	if err != nil || n < maxSpawn {
		return err
	}
	return fmt.Errorf("the agents that work for one prompt of the human's, you among them, pushed %d tasks within an hour, which is the limit; "+
		"the next is possible in %s, or once the human types another prompt", n, inbox.Age(oldest.Sub(ago).Round(time.Second)))
}

// Needed finds the tasks of these names: the one that is queued or runs, otherwise the last that ended. It refuses
// tasks that can't be waited for.
func Needed(v *store.View, names []string) ([]Task, error) {
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
		case t.State == TaskFinished && t.Outcome != string(history.Completed):
			return nil, unmet{name, t}
		}
		ts = append(ts, t)
	}
	return ts, nil
}

// IDs returns the ids of tasks.
func IDs(ts []Task) []int64 {
	ids := make([]int64, len(ts))
	for i, t := range ts {
		ids[i] = t.ID
	}
	return ids
}

// unmet is the error for waiting for a task that ended without completing.
type unmet struct {
	name string
	task Task
}

func (u unmet) Error() string {
	return fmt.Sprintf("after=%s: %s; /retry %s pushes it again",
		u.name, became(u.task.Name, u.task.Outcome, u.task.Error), u.name)
}

// Unquoted returns an error that a model may read: without the reason why another agent failed, which is that agent's
// own text and comes with its message.
func Unquoted(err error) error {
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

// StillQueued returns the task of that name if it is queued. Otherwise the error says what happened to it and what to
// do.
func StillQueued(v *store.View, name string) (Task, error) {
	t, ok, err := v.TaskNamed(name)
	switch {
	case err != nil:
		return t, err
	case !ok:
		return t, fmt.Errorf("there is no task %s; /queue lists them", name)
	case t.State == TaskRunning:
		return t, fmt.Errorf("the task %s has started; /kill %s ends it", name, name)
	case t.State == TaskFinished:
		return t, fmt.Errorf("the task %s has ended (%s); /retry %s pushes it again", name, t.Outcome, name)
	}
	return t, nil
}

// WrapUp is the prompt that asks an agent to finish. The built-in engine recognises its beginning.
const WrapUp = "Wrap up now: finish with what you have. Answer in this turn, and make no tool call that the answer " +
	"does not need."

// Typed returns a task's prompt as it was typed.
func Typed(t store.Task) string {
	if t.Kind == KindCommand {
		return "!" + t.Prompt
	}
	return t.Prompt
}

// QueueView is an agent's task queue, and the prompts queued for the agent itself.
type QueueView struct {
	Tasks   []Task           // in order, including ended ones; queued ones with the model they would start with now
	Holds   map[int64]string // by task: what delays one that could start: "cap", or the vendor of its model
	Prompts []event.Prompt   // typed, not yet absorbed
}

// QueueText lists a queue as /queue prints it: sections `Queued:`, `Running:`, `Finished:` (the last ones, at most
// `most` of them, 0: all, with outcome and age) and `Prompts:`.
func QueueText(l QueueView, now time.Time, most int) string {
	var queued, running, finished, prompts []string
	ended := slices.Clone(l.Tasks)
	slices.SortStableFunc(ended, func(a, b Task) int { return a.Finished.Compare(b.Finished) })
	for _, t := range ended {
		if t.State == TaskFinished {
			finished = append(finished, fmt.Sprintf("  - %s (%s %s ago)%s",
				t.Name, t.Outcome, inbox.Age(now.Sub(t.Finished)), origin(t)))
		}
	}
	for _, t := range l.Tasks {
		switch t.State {
		case TaskQueued:
			queued = append(queued, "  - "+t.Name+l.mark(t)+stays(t)+origin(t))
		case TaskRunning:
			running = append(running, fmt.Sprintf("  - %s (started %s ago)%s%s",
				t.Name, inbox.Age(now.Sub(t.Started)), stays(t), origin(t)))
		}
	}
	if older := len(finished) - most; most > 0 && older > 0 {
		finished = append(finished[older:], fmt.Sprintf("  (+%d older, /queue --all)", older))
	}
	for _, q := range l.Prompts {
		held := ""
		if q.Held {
			held = " (held)"
		}
		prompts = append(prompts, "  - "+inbox.Label(q.Text)+held)
	}
	var parts []string
	for _, s := range []struct {
		title string
		lines []string
	}{{"Queued:", queued}, {"Running:", running}, {"Finished:", finished}, {"Prompts:", prompts}} {
		if len(s.lines) > 0 {
			parts = append(parts, s.title+"\n"+strings.Join(s.lines, "\n"))
		}
	}
	if len(parts) == 0 {
		return "The queue is empty. /push PROMPT adds a task."
	}
	return strings.Join(parts, "\n\n")
}

// stays says that a task's agent awaits input.
func stays(t Task) string {
	if !t.Interactive {
		return ""
	}
	return " (interactive)"
}

// origin says that a task was requested from outside the program.
func origin(t Task) string {
	if !FromOutside(t.Origin) {
		return ""
	}
	return " (from outside: " + t.Origin + ")"
}

// mark says what a queued task waits for: ` (after a, b)`, `: queued (cap)`.
func (l QueueView) mark(t Task) string {
	switch why := l.Holds[t.ID]; {
	case len(t.After) > 0:
		return " (after " + strings.Join(t.After, ", ") + ")"
	case why != "":
		return ": queued (" + why + ")"
	}
	return ""
}

// QueuedTask is a queued task and the tasks it waits for.
type QueuedTask struct {
	Task  store.Task
	Needs []store.Task
	Now   bool // it starts without a window

	Unsealed bool // its row is not as this host wrote it, so that the human is asked before it starts
}

// QueuedTasks reads the queued tasks of all agents.
func QueuedTasks(v *store.View) ([]QueuedTask, error) {
	ts, err := v.QueuedTasks()
	if err != nil {
		return nil, err
	}
	return withNeeds(v, ts)
}

// QueuedOf reads those of the tasks that are queued.
func QueuedOf(v *store.View, ids []int64) ([]QueuedTask, error) {
	var ts []Task
	for _, id := range ids {
		t, ok, err := v.Task(id)
		if err != nil {
			return nil, err
		}
		if ok && t.State == TaskQueued {
			ts = append(ts, t)
		}
	}
	return withNeeds(v, ts)
}

// withNeeds adds what each task waits for.
func withNeeds(v *store.View, ts []Task) (ws []QueuedTask, err error) {
	ws = make([]QueuedTask, len(ts))
	for i, t := range ts {
		ws[i].Task = t
		if len(t.After) > 0 {
			if ws[i].Needs, err = v.Needs(t.ID); err != nil {
				return nil, err
			}
		}
	}
	return ws, nil
}
