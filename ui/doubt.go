package ui

import (
	"fmt"
	"strings"

	"fantail/agents"
)

// Doubt says why the model of that name can't carry out a prompt, in a line; "": as far
// as is known it can. nil: nobody knows. Each door by which tasks are queued or started
// says so beforehand, in the words of its methods.
type Doubt func(model, prompt string) string

// plainly is what can be done without a model.
const plainly = "without a model only plain instructions work, such as run CMD, read PATH, grep PATTERN, say TEXT"

// Of is a sentence about a task that will fail; "": nothing is known against it.
func (d Doubt) Of(t agents.Task) string {
	if why := d.why(t); why != "" {
		return "It will fail: " + why + " (" + plainly + ")"
	}
	return ""
}

func (d Doubt) why(t agents.Task) string {
	if d == nil || t.Kind == "command" {
		return ""
	}
	return d(t.Model, t.Prompt)
}

// Queued is a sentence about all queued tasks that will fail.
func (d Doubt) Queued(q agents.Queue) string {
	var names []string
	for _, t := range q.Tasks {
		if t.State == "queued" && d.why(t) != "" {
			names = append(names, t.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	const most = 5
	more := ""
	if len(names) > most {
		names, more = names[:most], fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ") + more + " will fail: " + plainly
}

// warned adds a warning, if there is one, to what a command says.
func warned(text, warning string) string {
	if warning != "" {
		text += "\n⚠ " + warning
	}
	return text
}

// queued is what is said of a task that was just queued and that the command run
// starts. It runs in a command.
func (a *App) queued(t agents.Task, how, run string) string {
	if a.pool.Joins(t.ID) {
		run = "it joins the run that goes on"
	} else {
		run += " starts it"
	}
	return warned("Queued "+t.Name+how+"; "+run, a.o.Doubt.Of(t))
}

// edited is what is said of a queued task of that agent whose prompt was changed. It runs
// in a command.
func (a *App) edited(agent int64, name string) string {
	text := "Changed the prompt of " + name
	q, err := a.pool.Queue(a.ctx, agent)
	if err != nil {
		return text // it is changed; the queue was not asked for
	}
	for _, t := range q.Tasks {
		if t.State == "queued" && t.Name == name {
			return warned(text, a.o.Doubt.Of(t))
		}
	}
	return text
}

// doubts is [Doubt.Queued] of an agent's queue. It runs in a command.
func (a *App) doubts(agent int64) string {
	q, err := a.pool.Queue(a.ctx, agent)
	if err != nil {
		return "" // it is the run that is asked for
	}
	return a.o.Doubt.Queued(q)
}
