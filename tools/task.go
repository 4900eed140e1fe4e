package tools

import (
	"cmp"
	"errors"
	"strings"
	"time"
)

// Arguments that delegate and push share, in the form of their schemas.
const (
	taskArguments = `"prompt":{"type":"string","description":"The whole task: the agent knows nothing of this conversation"},` +
		`"name":{"type":"string","description":"A short name for the agent; default one is made up"},`
	workerArguments = `"model":{"type":"string","description":"provider/name; default yours"},` +
		`"agent":{"type":"string","description":"An agent that your system prompt lists (it works with model, if given), or another vendor's: claude, codex, opencode (the user is asked once)"},`
	budgetArgument = `"budget":{"type":"string","description":"What it and its own agents may use: 50k tokens or $2; default the user's"},`
	staysArguments = `"interactive":{"type":"boolean","description":"It stays when it has answered, and the user may tell it more; default false"},` +
		`"idle":{"type":"integer","description":"interactive: seconds it stays without input, 0 for ever; default the user's"},`
)

// task is the title of a call that hands over a task.
func (a loose) task(verb string) string { return verb + " " + cmp.Or(a.word("name"), a.word("prompt")) }

// check sets the limits of a task and returns the errors of its arguments. word is the error of arguments that are not
// the task's own.
func (t *Task) check(word error, timeout, idle *int, of string) error {
	err := need("prompt", strings.TrimSpace(t.Prompt))
	if err == nil {
		err = word
	}
	if err == nil && t.Resume {
		err = need("name", t.Name)
	}
	var late, wrong, none error
	t.Timeout, late = seconds(timeout)
	t.Idle, wrong = t.awaits(idle)
	t.Budget, none = budget(of)
	return errors.Join(err, late, wrong, none)
}

// awaits is for how long the agent of a task awaits input, as in [Task].
func (t *Task) awaits(seconds *int) (time.Duration, error) {
	switch {
	case seconds == nil:
		return 0, nil
	case !t.Interactive:
		return 0, errors.New(`the argument "idle" needs "interactive": true`)
	case *seconds == 0:
		return Forever, nil
	}
	return time.Duration(*seconds) * time.Second, between("idle", *seconds, 0, maxSeconds)
}
