package hooks

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"fantail/tools/permission"
	"fantail/tools/proc"
	"fantail/tools/sandbox"
	"fantail/tools/secret"
)

const (
	maxOut = 1 << 20                // the bytes that are read of its standard output
	drains = 200 * time.Millisecond // how long its output may stay open after its end
)

// ProgramOptions is what programs need to run.
type ProgramOptions struct {
	Root    string // the workspace, absolute and resolved
	Environ []string
	Keys    *secret.Keys
	Leave   func() permission.Leave                                                              // what rules add to sandboxes; nil: nothing
	Box     func(p sandbox.Profile, leave sandbox.Leave, environ []string) (*sandbox.Box, error) // nil: there is none
	Keep    func(proc.Group) func()                                                              // ends the group if this program dies; nil: off
	Go      func(name string, f func())
}

// ProgramLine is a command line.
type ProgramLine struct {
	Command string          // as a shell reads it
	Args    []string        // $0 and the parameters that it gets
	Env     []string        // in addition to that of all
	Profile sandbox.Profile // of its sandbox; "": it runs in none, it is the user's own
	Input   []byte
	Timeout time.Duration
}

// ProgramDone is the result of a command line.
type ProgramDone struct {
	Exit     int    // -1: a signal ended it, or it never began
	Signal   string // the signal's name
	TimedOut bool
	Fault    string // why it did not begin
	Out, Err string
}

// Run runs a line. The end of ctx ends it.
func (g *ProgramOptions) Run(ctx context.Context, l ProgramLine) (d ProgramDone) {
	d.Exit = -1
	env := append(g.Environ[:len(g.Environ):len(g.Environ)], "CLAUDE_PROJECT_DIR="+g.Root, "FANTAIL_PROJECT_DIR="+g.Root)
	env = append(env, l.Env...)
	box, err := g.box(l, env)
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
		_, _ = p.In.Write(l.Input) // a program need not read it
		_ = p.In.Close()
	})
	g.Go("hear a program", func() {
		defer close(heard)
		out, _ = io.ReadAll(io.LimitReader(p.Out, maxOut))
		_, _ = io.Copy(io.Discard, p.Out)
	})
	late := time.NewTimer(l.Timeout)
	defer late.Stop()
	select {
	case <-p.Exited():
		rest := time.NewTimer(drains)
		select {
		case <-heard:
		case <-rest.C: // a process that it left running holds it open
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

// box makes the sandbox of a line, in which the workspace is writable; nil: there is none.
func (g *ProgramOptions) box(l ProgramLine, env []string) (*sandbox.Box, error) {
	if l.Profile == "" || g.Box == nil {
		return nil, nil
	}
	leave := sandbox.Leave{Write: []string{g.Root}, Words: strings.FieldsFunc(l.Command, parts)}
	if g.Leave != nil {
		given := g.Leave()
		leave.Write, leave.Network = append(leave.Write, given.Write...), given.Network
	}
	return g.Box(l.Profile, leave, env)
}

// parts reports whether a character ends a word of a line, roughly.
func parts(r rune) bool { return strings.ContainsRune(" \t\n\"'`;|&()<>$", r) }

// clean returns output as it is passed on: without keys.
func (g *ProgramOptions) clean(s string) string { return g.Keys.Text(strings.ToValidUTF8(s, "\uFFFD")) }
