// Package program runs the command lines that files name.
//
// Does: start one in the workspace, a repository's in a sandbox and the user's as the user; feed it, bound its time and what
// is read of its output, and end it with all that it started; keep keys out of what it says.
//
// Does not: know whether it may run, or what its output means.
//
// Imports: tools/permit, tools/proc, tools/sandbox, tools/secret.
package program

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"fantail/tools/permit"
	"fantail/tools/proc"
	"fantail/tools/sandbox"
	"fantail/tools/secret"
)

const (
	mostOut = 1 << 20                // bytes of what one writes to its standard output that are read
	drains  = 200 * time.Millisecond // what its output may take to end after it
)

// Ground is what they run on.
type Ground struct {
	Root    string // the workspace, absolute and resolved
	Environ []string
	Keys    *secret.Keys
	Leave   func() permit.Leave                                                                  // what rules add to sandboxes; nil: nothing
	Box     func(p sandbox.Profile, leave sandbox.Leave, environ []string) (*sandbox.Box, error) // nil: there is none
	Keep    func(proc.Group) func()                                                              // ends one if this program dies; nil: nobody does
	Go      func(name string, f func())
}

// Line is a command line.
type Line struct {
	Command string          // as a shell reads it
	Args    []string        // $0 and the parameters that it gets
	Env     []string        // beside that of all
	Profile sandbox.Profile // of its sandbox; "": it runs in none, it is the user's own
	Input   []byte
	Timeout time.Duration
}

// Done is what became of one.
type Done struct {
	Exit     int    // -1: a signal ended it, or it never began
	Signal   string // the signal's name
	TimedOut bool
	Fault    string // why it did not begin
	Out, Err string
}

// Run runs a line. The end of ctx ends it.
func (g *Ground) Run(ctx context.Context, l Line) (d Done) {
	d.Exit = -1
	env := append(g.Environ[:len(g.Environ):len(g.Environ)], "CLAUDE_PROJECT_DIR="+g.Root, "FANTAIL_PROJECT_DIR="+g.Root)
	env = append(env, l.Env...)
	box, err := g.box(l.Profile, env)
	if err != nil {
		d.Fault = err.Error()
		return d
	}
	shell, err := proc.Shell()
	if err != nil {
		d.Fault = err.Error()
		return d
	}
	argv := append([]string{shell, "-c", l.Command}, l.Args...)
	p, err := proc.Serve(proc.Spec{Argv: argv, Dir: g.Root, Env: env, Box: box, Keep: g.Keep, Keys: g.Keys})
	if err != nil {
		d.Fault = err.Error()
		return d
	}
	fed, heard := make(chan struct{}), make(chan struct{})
	var out []byte
	g.Go("feed a program", func() {
		defer close(fed)
		_, _ = p.In.Write(l.Input) // one that does not read it need not
		_ = p.In.Close()
	})
	g.Go("hear a program", func() {
		defer close(heard)
		out, _ = io.ReadAll(io.LimitReader(p.Out, mostOut))
		_, _ = io.Copy(io.Discard, p.Out)
	})
	late := time.NewTimer(l.Timeout)
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
		d.TimedOut = true
	case <-ctx.Done():
	}
	d.Exit, d.Signal, err = p.End()
	<-fed
	<-heard
	if err != nil {
		d.Fault = err.Error()
	}
	if ctx.Err() != nil && !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		d.Signal = "a stop"
	}
	d.Out, d.Err = g.clean(string(out)), g.clean(p.Said())
	return d
}

// box makes the sandbox of a profile, in which the workspace may be written; nil: there is none.
func (g *Ground) box(p sandbox.Profile, env []string) (*sandbox.Box, error) {
	if p == "" || g.Box == nil {
		return nil, nil
	}
	leave := sandbox.Leave{Write: []string{g.Root}}
	if g.Leave != nil {
		given := g.Leave()
		leave.Write, leave.Network = append(leave.Write, given.Write...), given.Network
	}
	return g.Box(p, leave, env)
}

// clean is what one says as it goes on: without keys.
func (g *Ground) clean(s string) string { return g.Keys.Text(strings.ToValidUTF8(s, "\uFFFD")) }
