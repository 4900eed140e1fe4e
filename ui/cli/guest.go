package cli

import (
	"context"
	"errors"
	"io"
	"slices"

	"fantail/agents/mail"
	"fantail/tools/sandbox"
	"fantail/ui/cells"
	"fantail/ui/screen"
	"fantail/ui/shell"
)

// Client is a process beside the host that has its errand carried out by the host, which has all at hand that the process
// would first have to load. It gets what it would have printed itself.
type Client struct {
	Args  []string            // of its command line
	Env   func(string) string // its environment
	Below bool                // a host has started it: it is an agent's command's
	Data  string              // the workspace's data directory
	Door  *mail.Client        // as it is for that process
	In    io.Reader           // its standard input
	Typed bool                // which is a terminal
	TTY   bool                // its standard output is one
	Out   io.Writer
	Errs  io.Writer
	Start func(name string, f func()) // begins a goroutine
	// Hands is called before anything is changed. Its error is that the process does not wait any more: then nothing is.
	Hands func(Handback) error
}

// Handback is what becomes of an errand if the host is lost from now on, so that nothing is done twice.
type Handback struct {
	Args []string // the process does it itself, with these arguments more
	Lost string   // instead, the process has failed, and says this; "": it does it itself
}

// pledge is to be called before anything is changed.
func (c *caller) pledge(p Handback) error {
	if c.hands == nil {
		return nil
	}
	p.Lost = cells.Clean(p.Lost)
	return c.hands(p)
}

// ErrElsewhere says that a host does not carry an errand out: nothing is done, and the process does it itself.
var ErrElsewhere = errors.New("it is done without a host")

// Run carries the errand out and returns the exit code, and how it ends if its output can't be written. The error is
// [ErrElsewhere], or that of ctx.
func (g Client) Run(ctx context.Context) (code int, otherwise Unread, err error) {
	if len(g.Args) == 0 || !slices.Contains(screen.Errands(), g.Args[0]) {
		return 0, otherwise, ErrElsewhere
	}
	out := &printed{w: g.Out, tty: g.TTY, unread: Unread{Code: shell.ExitOK}}
	e, _, err := ParseErrand(g.Args, io.Discard)
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
		code = shell.ExitCode(err)
	}
	return code, out.unread, nil
}

// carry carries out the errand that was understood; nil: it is to tell its help.
func (g Client) carry(ctx context.Context, e *Errand, out *printed) (int, error) {
	if e == nil || e.o.dir != "" || e.o.follow || e.o.mine || g.Env(sandbox.MailEnv) != "" {
		return 0, ErrElsewhere
	}
	from := free
	if g.Below {
		from = below
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
		err = errandSaid{err, keys.Text(err.Error())}
	}
	return code, err
}

// errandSaid is an error whose text holds no key.
type errandSaid struct {
	error
	text string
}

func (s errandSaid) Error() string { return s.text }

func (s errandSaid) Unwrap() error { return s.error }
