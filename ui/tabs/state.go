package tabs

import (
	"fmt"
	"strings"

	"fantail/agents/event"
	"fantail/ui/format"
)

// StateText returns what the agent is doing, in a few words; over reports that its question shows already, so that the
// words need not repeat it.
func (t *Tab) StateText(over bool) string {
	switch i := t.Info; {
	case i.Handles != 0 && !i.State.Terminal():
		return fmt.Sprintf("handles #%d · %s", i.Handles, t.doing(over))
	case i.Await != nil && i.Await.Ends && format.Working(i.State):
		return t.doing(over) + " · then ends"
	}
	return t.doing(over)
}

// doing is StateText without what a fork is for.
func (t *Tab) doing(over bool) string {
	i := t.Info
	if mark := t.stallMark(); mark != "" {
		return mark
	}
	if format.Awaits(i) {
		if t == t.of.Focus {
			return format.IdleHere(i, t.of.Now())
		}
		return format.Idle(i, t.of.Now())
	}
	switch i.State {
	case event.Running:
		if i.Retry != nil {
			return fmt.Sprintf("tries again (%d of %d)", i.Retry.Attempt, i.Retry.Of)
		}
		return format.Doing(i)
	case event.Waiting:
		if i.Why != "" {
			return i.Why
		}
	case event.Asking:
		if i.Question != nil && !over {
			return "asks: " + i.Question.Gist()
		}
	case event.Done:
		if i.Gist != "" {
			return string(i.State) + ": " + i.Gist
		}
	case event.Failed, event.Crashed, event.Killed:
		if why, _, _ := strings.Cut(strings.TrimSpace(i.Why), "\n"); why != "" && why != string(i.State) {
			return string(i.State) + ": " + why
		}
	}
	return string(i.State)
}

// stallMark returns for how long an agent has shown no sign of life and what it waits for; "": it is not stalled.
func (t *Tab) stallMark() string {
	quiet, ok := t.Info.Stalled(t.Active, t.of.Now())
	if !ok {
		return ""
	}
	return "stalled " + format.Silence(quiet) + " · " + format.Doing(t.Info)
}
