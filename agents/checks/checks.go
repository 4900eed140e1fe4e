// Package checks has the commands that the human lets observers run.
//
// Does: keep them in the workspace's database, each an argv; refuse those that destroy, reach for a network or carry out
// any code; make what runs one in a sandbox that keeps the workspace as it is; run one for the human.
//
// Does not: decide who may run which, know an agent or a schedule, run anything where no sandbox prevents harm.
//
// Imports: store, tools, tools/pattern, tools/permit, tools/permit/bash, tools/proc, tools/sandbox, tools/secret.
package checks

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"fantail/store"
	"fantail/tools"
	"fantail/tools/pattern"
	"fantail/tools/permit"
	"fantail/tools/permit/bash"
	"fantail/tools/proc"
	"fantail/tools/sandbox"
	"fantail/tools/secret"
)

const (
	limit     = 4 * time.Minute // an observer that runs one can still say what came of it
	processes = 1024            // that a check may have at once
	most      = 100             // checks of one workspace
)

// Options are what checks need.
type Options struct {
	DB      *store.DB
	Root    string // the workspace
	Wall    func() permit.Wall
	Environ []string // of commands
	Keys    *secret.Keys
	Keep    func(proc.Group) func() // has a check's group ended if this program dies; nil: nobody does
	// Box makes the sandbox for a command; nil: there is none.
	Box func(p sandbox.Profile, leave sandbox.Leave, environ []string) (*sandbox.Box, error)
}

// Room has the checks of a workspace. It is safe for concurrent use.
type Room struct{ o Options }

// New returns the checks of a workspace.
func New(o Options) *Room { return &Room{o} }

// nameForm is the form of a check's name.
var nameForm = pattern.Of(`^[A-Za-z][A-Za-z0-9._-]{0,39}$`)

// hostForm is the form of a host's name, with a port if need be.
var hostForm = pattern.Of(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$`)

// Parse reads a check as it is typed: NAME [net=HOST] ARGV. Quotes keep words together as in a shell; there is none that
// would do more.
func Parse(text string) (store.Check, error) {
	name, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	c := store.Check{Name: name}
	rest = strings.TrimSpace(rest)
	if host, ok := strings.CutPrefix(rest, "net="); ok {
		c.Net, rest, _ = strings.Cut(host, " ")
		if u, err := url.Parse(c.Net); err == nil && u.Host != "" {
			c.Net = u.Host
		}
		if !hostForm.MatchString(c.Net) {
			return c, fmt.Errorf("net=%s names no host: net=api.example.org", c.Net)
		}
	}
	if rest = strings.TrimSpace(rest); rest == "" {
		return c, errors.New("the command is missing")
	}
	script, err := bash.Parse(rest)
	if err != nil {
		return c, fmt.Errorf("read the command: %w", err)
	}
	if len(script.Commands) != 1 || len(script.Reads) > 0 || script.Why != "" {
		return c, plainly(script.Why)
	}
	for _, w := range script.Commands[0].Words {
		if w.Pattern != "" {
			return c, fmt.Errorf("no shell reads a check, so %s matches nothing: quote it, or name the files", w.Text)
		}
		c.Argv = append(c.Argv, w.Text)
	}
	return c, Judge(c)
}

func plainly(why string) error {
	if why == "" {
		why = "it is more than one command"
	}
	return fmt.Errorf("no shell reads a check, it is a program and its arguments: %s; put more into a script and name that", why)
}

// Judge says why the human can't let observers run that; nil: they can.
func Judge(c store.Check) error {
	switch {
	case !nameForm.MatchString(c.Name):
		return fmt.Errorf("the name %q does not do: letters A to Z, digits, dot, dash and underscore, a letter first, at most 40", c.Name)
	case len(c.Argv) == 0:
		return errors.New("the command is missing")
	}
	if why := denied(c.Argv, c.Net); why != "" {
		return fmt.Errorf("that can't be a check: %s", why)
	}
	return nil
}

// Add keeps a check; replaced says whether it takes the place of one of that name.
func (r *Room) Add(ctx context.Context, c store.Check) (replaced bool, err error) {
	if err := Judge(c); err != nil {
		return false, err
	}
	err = r.o.DB.Write(ctx, "keep a check", func(tx *store.Tx) error {
		if cs, err := store.Checks(&tx.View); err != nil {
			return err
		} else if len(cs) >= most {
			return fmt.Errorf("%d checks are the most; /checks rm NAME removes one", most)
		}
		replaced, err = store.SetCheck(tx, c)
		return err
	})
	return replaced, err
}

// Remove takes a check away. What a schedule says of it stays: its observers are told that there is none.
func (r *Room) Remove(ctx context.Context, name string) error {
	return r.o.DB.Write(ctx, "remove a check", func(tx *store.Tx) error {
		had, err := store.RemoveCheck(tx, name)
		if err == nil && !had {
			err = r.none(&tx.View, name)
		}
		return err
	})
}

// List returns all checks, by name.
func (r *Room) List(ctx context.Context) (cs []store.Check, err error) {
	err = r.o.DB.Read(ctx, func(rx *store.Rx) error {
		cs, err = store.Checks(&rx.View)
		return err
	})
	return cs, err
}

// none is the error of a name that no check has.
func (r *Room) none(v *store.View, name string) error {
	cs, err := store.Checks(v)
	if err != nil {
		return err
	}
	var names []string
	for _, c := range cs {
		names = append(names, c.Name)
	}
	if len(names) == 0 {
		return fmt.Errorf("there is no check %q, nor any: /checks add NAME COMMAND adds one", name)
	}
	return fmt.Errorf("there is no check %q; there is %s", name, strings.Join(names, ", "))
}

// Unheld says why no check can run here; nil: they can. Nobody watches one, so that nothing less will do than a sandbox
// that prevents what it must not do.
func (r *Room) Unheld() error {
	switch w := r.o.Wall(); {
	case r.o.Box == nil || w == permit.NoWall:
		return errors.New("checks run only in a sandbox, and there is none here (/sandbox says why)")
	case w != permit.Prevents:
		return errors.New("checks run only in a sandbox that prevents harm, and the one here only detects it (/sandbox says why)")
	}
	return nil
}

// Find makes what runs the check of that name.
func (r *Room) Find(ctx context.Context, name string) (tools.Check, error) {
	var c store.Check
	err := r.o.DB.Read(ctx, func(rx *store.Rx) (err error) {
		var ok bool
		if c, ok, err = store.CheckNamed(&rx.View, name); err == nil && !ok {
			err = r.none(&rx.View, name)
		}
		return err
	})
	if err == nil {
		err = Judge(c) // who wrote the row may not have asked
	}
	if err == nil {
		err = r.Unheld()
	}
	if err != nil {
		return tools.Check{}, err
	}
	env := proc.Bare(proc.Clean(r.o.Environ, r.o.Keys))
	box, err := r.o.Box(sandbox.Check, sandbox.Leave{Network: c.Net != ""}, env)
	if err != nil {
		return tools.Check{}, fmt.Errorf("make the sandbox of the check %s: %w", name, err)
	}
	return tools.Check{Name: name, Spec: proc.Spec{
		Argv: c.Argv, Dir: r.o.Root, Env: env, Box: box, Timeout: limit,
		Limits: proc.Limits{Processes: processes, Memory: proc.Memory() / 4 * 3},
	}}, nil
}

// Run runs a check for the human, and returns what an observer would be told.
func (r *Room) Run(ctx context.Context, name string) (tools.Result, error) {
	k, err := r.Find(ctx, name)
	if err != nil {
		return tools.Result{}, err
	}
	e := &tools.Env{Root: r.o.Root, Keys: r.o.Keys, Keep: r.o.Keep}
	got := e.RunCheck(ctx, "check-"+name, k)
	return got, ctx.Err()
}
