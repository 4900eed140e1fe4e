package cli

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"

	"fantail/agents/mail"
	"fantail/tools/sandbox"
	"fantail/ui/cells"
	"fantail/ui/screen"
	"fantail/ui/shell"
)

// Client is a process that has the host carry out its errand, because the host has loaded
// everything already. It gets the output that it would have printed itself.
type Client struct {
	Args  []string            // arguments of its command line
	Env   func(string) string // its environment
	Below bool                // a host started it: it is an agent's command
	Data  string              // data directory of the workspace
	Host  string              // socket of the host
	Dir   string              // where it was started
	Door  *mail.Client        // with that process's identity
	In    io.Reader           // its standard input
	Typed bool                // In is a terminal
	TTY   bool                // its standard output is a terminal
	Out   io.Writer
	Errs  io.Writer
	Start func(name string, f func()) // starts a goroutine
	// Hands is called before anything is changed. An error means that the process has stopped
	// waiting, and nothing must be changed.
	Hands func(Handback) error
}

// Handback says what the process does if it loses the host from now on, so that nothing is done
// twice.
type Handback struct {
	Args []string // the process runs the errand itself with these arguments added
	Lost string   // the process fails with this text instead; "": it runs the errand itself
}

// pledge must be called before anything is changed.
func (c *caller) pledge(p Handback) error {
	if c.hands == nil {
		return nil
	}
	if b, is := c.out.w.(*bounded); is {
		b.room = math.MaxInt // from now on the host alone can tell what it did
	}
	p.Lost = cells.Clean(p.Lost)
	return c.hands(p)
}

// ErrElsewhere is the error of an errand that a host does not carry out. Nothing was done; the
// process carries it out itself.
var ErrElsewhere = errors.New("it is done without a host")

// Run carries out the errand. It returns the exit code and how the errand ends if its output can't
// be written. The error is [ErrElsewhere] or that of ctx.
func (g Client) Run(ctx context.Context) (code int, otherwise Unread, err error) {
	if len(g.Args) == 0 || !slices.Contains(screen.Errands(), g.Args[0]) {
		return 0, otherwise, ErrElsewhere
	}
	out := &printed{w: &bounded{g.Out, roomHere}, tty: g.TTY}
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
	if out.unread == nil {
		return code, Unread{Code: code}, nil
	}
	return code, *out.unread, nil
}

// bounded is an output with room for that many bytes more. If there is none left, its error is [ErrElsewhere].
type bounded struct {
	io.Writer
	room int
}

// Write implements [io.Writer].
func (b *bounded) Write(p []byte) (int, error) {
	if b.room -= len(p); b.room < 0 {
		return 0, ErrElsewhere
	}
	return b.Writer.Write(p)
}

// carry carries out a parsed errand; nil: the errand asks for help.
func (g Client) carry(ctx context.Context, e *Errand, out *printed) (int, error) {
	if e == nil || e.o.dir != "" || e.o.follow || e.o.mine || g.Env(sandbox.MailEnv) != "" {
		return 0, ErrElsewhere
	}
	from := free
	if g.Below {
		from = below
	}
	if what, words := e.verb(); e.hosted[what] != nil && len(e.words) > len(words) {
		return 0, ErrElsewhere
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
		data: g.Data, host: g.Host, dir: g.Dir, from: from, hands: g.Hands,
	}
	run := e.run
	if e.apart != nil {
		run = e.apart
	}
	code, err := run(e, c)
	if err != nil && !errors.Is(err, ErrElsewhere) {
		err = errandSaid{err, keys.Text(err.Error())}
	}
	return code, err
}

// errandSaid is an error with the keys removed from its text.
type errandSaid struct {
	error
	text string
}

func (s errandSaid) Error() string { return s.text }

func (s errandSaid) Unwrap() error { return s.error }
