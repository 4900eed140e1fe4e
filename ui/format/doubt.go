package format

import (
	"fmt"
	"strings"

	"fantail/agents/tasks"
)

// Doubt returns in one line why the model of that name can't carry out a prompt; "": as far as
// known it can. A nil Doubt knows nothing. Every way to queue or start a task first warns with its
// methods, in the same words.
type Doubt func(model, prompt string) string

// plainly says what works without a model.
const plainly = "without a model only plain instructions work, such as run CMD, read PATH, grep PATTERN, say TEXT"

// Of warns of a task that will fail; "": no reason is known.
func (d Doubt) Of(t tasks.Task) string {
	if why := d.why(t); why != "" {
		return "It will fail: " + why + " (" + plainly + ")"
	}
	return ""
}

func (d Doubt) why(t tasks.Task) string {
	if d == nil || t.Kind == "command" {
		return ""
	}
	return d(t.Model, t.Prompt)
}

// Queued warns of all queued tasks that will fail.
func (d Doubt) Queued(q tasks.QueueView) string {
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

// WhenQueued returns the answer to queueing a task: that it joins the current run, or what starts
// it.
func (d Doubt) WhenQueued(t tasks.Task, how, start string, joins bool) string {
	then := start + " to start"
	if joins {
		then = "It joins the current run"
	}
	return d.queued(t, how, then)
}

// WhenRespawned returns the answer to queueing a task again. The task starts without another run
// unless an earlier host wrote its row.
func (d Doubt) WhenRespawned(t tasks.Task) string {
	if t.Seal == "" {
		return d.queued(t, " again", "An earlier host wrote it. /run to review and start")
	}
	return d.queued(t, " again", "It starts on its own")
}

func (d Doubt) queued(t tasks.Task, how, then string) string {
	return Warned("Queued "+t.Name+how+staying(t)+". "+then, d.Of(t))
}

// staying says that a task's agent awaits input after its turns; "": it does not.
func staying(t tasks.Task) string {
	if !t.Interactive {
		return ""
	}
	if t.Idle == 0 {
		return " (interactive, stays until you end it)"
	}
	return " (interactive, closes after " + Lasted(t.Idle) + " without input)"
}

// WhenEdited returns the answer to editing the prompt of a queued task in that queue.
func (d Doubt) WhenEdited(name string, q tasks.QueueView) string {
	text := "Changed the prompt of " + name
	for _, t := range q.Tasks {
		if t.State == "queued" && t.Name == name {
			return Warned(text, d.Of(t))
		}
	}
	return text
}

// Warned appends a warning, if any, to the answer of a command.
func Warned(text, warning string) string {
	if warning != "" {
		text += "\n" + warning
	}
	return text
}
