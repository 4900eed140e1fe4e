package hooks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"fantail/tools"
	"fantail/tools/proc"
	"fantail/tools/sandbox"
)

const (
	mostOut  = 1 << 20                // bytes of what a hook writes to its standard output that are read
	mostSaid = 10_000                 // characters of what one hook says that go on
	drains   = 200 * time.Millisecond // what its output may take to end after it
)

// Ran is what a hook did.
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

// Says is how it went, in a word or two.
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

// failed says what a human should hear of it; "": nothing.
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
func (r *Room) run(ctx context.Context, h Hook, input []byte) (ran Ran) {
	ran.At, ran.Exit = r.o.Now(), -1
	began := time.Now()
	defer func() { ran.Took = time.Since(began) }()
	env := append(r.o.Environ[:len(r.o.Environ):len(r.o.Environ)],
		"CLAUDE_PROJECT_DIR="+r.o.Root, "FANTAIL_PROJECT_DIR="+r.o.Root, "FANTAIL_HOOK_EVENT="+string(h.Event))
	var box *sandbox.Box
	if !h.Source.Own && r.o.Box != nil {
		leave := sandbox.Leave{Write: []string{r.o.Root}}
		if r.o.Leave != nil {
			given := r.o.Leave()
			leave.Write, leave.Network = append(leave.Write, given.Write...), given.Network
		}
		var err error
		if box, err = r.o.Box(sandbox.Server, leave, env); err != nil {
			ran.Fault = err.Error()
			return ran
		}
	}
	p, err := proc.Serve(proc.Spec{Argv: []string{shell(), "-c", h.Command}, Dir: r.o.Root, Env: env, Box: box, Keep: r.o.Keep, Keys: r.o.Keys})
	if err != nil {
		ran.Fault = err.Error()
		return ran
	}
	fed, heard := make(chan struct{}), make(chan struct{})
	var out []byte
	r.o.Go("feed a hook", func() {
		defer close(fed)
		_, _ = p.In.Write(input) // one that does not read it need not
		_ = p.In.Close()
	})
	r.o.Go("hear a hook", func() {
		defer close(heard)
		out, _ = io.ReadAll(io.LimitReader(p.Out, mostOut))
		_, _ = io.Copy(io.Discard, p.Out)
	})
	late := time.NewTimer(h.Timeout)
	defer late.Stop()
	select {
	case <-p.Exited():
		rest := time.NewTimer(drains)
		select {
		case <-heard:
		case <-rest.C: // what it left behind holds it open
		}
		rest.Stop()
	case <-late.C:
		ran.TimedOut = true
	case <-ctx.Done():
	}
	ran.Exit, ran.Signal, err = p.End()
	<-fed
	<-heard
	if err != nil {
		ran.Fault = err.Error()
	}
	if ctx.Err() != nil && !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		ran.Signal = "a stop"
	}
	ran.Out, ran.Err = r.clean(string(out)), r.clean(p.Said())
	return ran
}

// clean is what a hook says as it goes on: without keys, and not too long.
func (r *Room) clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return r.o.Keys.Text(s)
}

// short is as much of a text as goes to a model or a human.
func short(s string) string {
	s = strings.TrimSpace(s)
	if rs := []rune(s); len(rs) > mostSaid {
		return string(rs[:mostSaid]) + "\n(the rest was left out)"
	}
	return s
}

// shell is what reads the command lines.
func shell() string {
	for _, p := range []string{"/bin/bash", "/usr/bin/bash"} {
		if i, err := os.Stat(p); err == nil && i.Mode().IsRegular() {
			return p
		}
	}
	return "/bin/sh"
}
