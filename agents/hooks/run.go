package hooks

import (
	"context"
	"fmt"
	"strings"
	"time"

	"fantail/tools"
	"fantail/tools/sandbox"
)

// maxSaid is how many characters of a hook's text are passed on.
const maxSaid = 10_000

// Ran is the result of a hook.
type Ran struct {
	At       time.Time
	Took     time.Duration
	Exit     int    // -1: a signal ended it, or it never began
	Signal   string // the signal's name
	TimedOut bool
	Withheld bool   // it did not run: the user has not agreed to it as it is
	Fault    string // why it did not begin
	Out, Err string
}

// Says returns how it went, in a word or two.
func (r Ran) Says() string {
	took := r.Took.Round(time.Millisecond).String()
	switch {
	case r.At.IsZero():
		return "never ran"
	case r.Withheld:
		return "did not run: not trusted"
	case r.Fault != "":
		return "did not begin: " + r.Fault
	case r.TimedOut:
		return "was ended after " + took
	case r.Signal != "":
		return "ended by " + r.Signal + " after " + took
	}
	return fmt.Sprintf("exit %d after %s", r.Exit, took)
}

// failed returns what the human should read of a failure; "": nothing.
func (r Ran) failed(h Hook) string {
	how := ""
	switch {
	case r.Fault != "":
		how = "could not be run: " + r.Fault
	case r.TimedOut:
		how = fmt.Sprintf("did not end within %v, and was ended", h.Timeout)
	case r.Signal != "":
		how = "was ended by " + r.Signal
	case r.Exit != 0 && r.Exit != 2:
		how = fmt.Sprintf("failed with exit code %d", r.Exit)
	default:
		return ""
	}
	text := fmt.Sprintf("The hook %s (%s) %s; it goes on without its answer", tools.Line(h.Command), h.Event, how)
	if said := tools.Line(strings.TrimSpace(r.Err)); said != "" {
		text += ": " + said
	}
	return text + "."
}

// run runs a hook. The end of ctx ends it.
func (r *Runner) run(ctx context.Context, h Hook, input []byte) Ran {
	l := ProgramLine{Command: h.Command, Env: []string{"FANTAIL_HOOK_EVENT=" + string(h.Event)}, Input: input, Timeout: h.Timeout}
	if !h.Source.Own {
		l.Profile = sandbox.Server
	}
	at, began := r.o.Now(), time.Now()
	d := r.o.Ground.Run(ctx, l)
	return Ran{At: at, Took: time.Since(began), Exit: d.Exit, Signal: d.Signal, TimedOut: d.TimedOut, Fault: d.Fault, Out: d.Out, Err: d.Err}
}

// short truncates a text for a model or a human.
func short(s string) string {
	s = strings.TrimSpace(s)
	if rs := []rune(s); len(rs) > maxSaid {
		return string(rs[:maxSaid]) + "\n(the rest was left out)"
	}
	return s
}
