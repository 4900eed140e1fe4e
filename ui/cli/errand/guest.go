package errand

import (
	"context"
	"errors"
	"io"
	"slices"

	"fantail/agents/outside"
	"fantail/tools/proc"
	"fantail/tools/sandbox"
	"fantail/ui/cli/shell"
	"fantail/ui/frame"
	"fantail/ui/screen"
)

// Guest is a process beside the host that has its errand carried out by the host, which has all at hand that the process
// would first have to load. It gets what it would have printed itself.
type Guest struct {
	Args  []string            // of its command line
	Env   func(string) string // its environment
	PID   int
	Data  string        // the workspace's data directory
	Door  *outside.Door // as it is for that process
	In    io.Reader     // its standard input
	Typed bool          // which is a terminal
	TTY   bool          // its standard output is one
	Out   io.Writer
	Errs  io.Writer
	Start func(name string, f func()) // begins a goroutine
	// Hands is called before anything is changed. Its error is that the process does not wait any more: then nothing is.
	Hands func(Pledge) error
}

// Pledge is what becomes of an errand if the host is lost from now on, so that nothing is done twice.
type Pledge struct {
	Args []string // the process does it itself, with these arguments more
	Lost string   // instead, the process has failed, and says this; "": it does it itself
}

// pledge is to be called before anything is changed.
func (c *caller) pledge(p Pledge) error {
	if c.hands == nil {
		return nil
	}
	p.Lost = frame.Clean(p.Lost)
	return c.hands(p)
}

// ErrElsewhere says that a host does not carry an errand out: nothing is done, and the process does it itself.
var ErrElsewhere = errors.New("it is done without a host")

// Run carries the errand out and returns the exit code, and how it ends if its output can't be written. The error is
// [ErrElsewhere], or that of ctx.
func (g Guest) Run(ctx context.Context) (code int, otherwise Unread, err error) {
	if len(g.Args) == 0 || !slices.Contains(screen.Errands(), g.Args[0]) {
		return 0, otherwise, ErrElsewhere
	}
	out := &printed{w: g.Out, tty: g.TTY, unread: Unread{Code: shell.OK}}
	e, _, err := Parse(g.Args, io.Discard)
	if err == nil {
		code, err = g.carry(ctx, e, out)
	}
	switch {
	case errors.Is(err, ErrElsewhere):
		return 0, otherwise, ErrElsewhere
	case ctx.Err() != nil:
		return 0, otherwise, ctx.Err()
	case err != nil:
		shell.Warn(g.Errs, "%v", err)
		code = shell.Code(err)
	}
	return code, out.unread, nil
}

// carry carries out the errand that was understood; nil: it is to tell its help.
func (g Guest) carry(ctx context.Context, e *Errand, out *printed) (int, error) {
	if e == nil || e.o.dir != "" || e.o.follow || e.o.mine || g.Env(sandbox.MailEnv) != "" {
		return 0, ErrElsewhere
	}
	from := sourceOf(g.PID, g.Env, g.Data)
	if _, there := proc.Look(g.PID); !there {
		return 0, ErrElsewhere // nobody can tell who it was
	}
	e.tty = g.TTY
	if err := e.may(from); err != nil {
		return 0, err
	}
	keys, err := e.withheld(g.Env)
	if err != nil {
		return 0, err
	}
	out.json = e.o.json
	c := &caller{
		ctx: ctx, start: g.Start, env: g.Env, in: g.In, typed: g.Typed, out: out, errs: g.Errs, keys: keys, door: g.Door,
		data: g.Data, from: from, hands: g.Hands,
	}
	code, err := e.run(e, c)
	if err != nil && !errors.Is(err, ErrElsewhere) {
		err = said{err, keys.Text(err.Error())}
	}
	return code, err
}

// said is an error whose text holds no key.
type said struct {
	error
	text string
}

func (s said) Error() string { return s.text }

func (s said) Unwrap() error { return s.error }
