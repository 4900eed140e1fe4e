package schedule

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"fantail/agents/tasks"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/permission"
	"fantail/tools/permission/shell"
	"fantail/tools/proc"
	"fantail/tools/sandbox"
	"fantail/tools/secret"
)

const (
	limit     = 4 * time.Minute // an observer that runs one can still say what came of it
	processes = 1024            // that a check may have at once
	most      = 100             // checks of one workspace
)

// ChecksOptions are what checks need.
type ChecksOptions struct {
	DB      *store.DB
	Root    string // the workspace
	Wall    func() permission.Sandbox
	Environ []string // of commands
	Keys    *secret.Keys
	Seals   *tasks.LastingSeal      // of the rows: one without its seal does not run
	Keep    func(proc.Group) func() // has a check's process group ended if this program dies; nil: off
	// Box makes the sandbox for a command; nil: there is none.
	Box func(p sandbox.Profile, leave sandbox.Leave, environ []string) (*sandbox.Box, error)
}

// Checks manages the checks of a workspace. It is safe for concurrent use.
type Checks struct{ o ChecksOptions }

// NewChecks returns the checks of a workspace.
func NewChecks(o ChecksOptions) *Checks { return &Checks{o} }

// nameForm is the form of a check's name.
var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]{0,39}$`) })

// hostForm matches a host's name, with an optional port.
var hostForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$`)
})

// ParseCheck reads a check as it is typed: NAME [net=HOST] ARGV. Quotes group words as in a shell, but no shell runs.
func ParseCheck(text string) (store.Check, error) {
	name, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	c := store.Check{Name: name}
	rest = strings.TrimSpace(rest)
	if host, ok := strings.CutPrefix(rest, "net="); ok {
		c.Net, rest, _ = strings.Cut(host, " ")
		if u, err := url.Parse(c.Net); err == nil && u.Host != "" {
			c.Net = u.Host
		}
		if !hostForm().MatchString(c.Net) {
			return c, fmt.Errorf("net=%s names no host: net=api.example.org", c.Net)
		}
	}
	if rest = strings.TrimSpace(rest); rest == "" {
		return c, errors.New("the command is missing")
	}
	script, err := shell.Parse(rest)
	if err != nil {
		return c, fmt.Errorf("read the command: %w", err)
	}
	if why := beyond(script); why != "" {
		return c, fmt.Errorf("no shell reads a check, it is a program and its arguments: %s; put more into a script and name that", why)
	}
	for _, w := range script.Commands[0].Words {
		if w.Pattern != "" {
			return c, fmt.Errorf("no shell reads a check, so %s matches nothing: quote it, or name the files", w.Text)
		}
		c.Argv = append(c.Argv, w.Text)
	}
	return c, JudgeCheck(c)
}

// beyond says what a script contains besides a program and its arguments; "" if nothing.
func beyond(s *shell.Script) string {
	switch {
	case s.Why != "":
		return s.Why
	case len(s.Commands) != 1:
		return "it is more than one command"
	case len(s.Reads)+len(s.Outs) > 0:
		return "it redirects its input or output"
	case len(s.Commands[0].Given) > 0:
		return "it is given a text as its input"
	case s.Commands[0].Sets:
		return "it sets a variable"
	case s.Beside:
		return "it runs in the background"
	}
	return ""
}

// JudgeCheck says why the human can't allow observers to run that; nil: they can.
func JudgeCheck(c store.Check) error {
	switch {
	case !nameForm().MatchString(c.Name):
		return fmt.Errorf("the name %q does not do: letters A to Z, digits, dot, dash and underscore, a letter first, at most 40", c.Name)
	case len(c.Argv) == 0:
		return errors.New("the command is missing")
	}
	if why := denied(c.Argv, c.Net); why != "" {
		return fmt.Errorf("that can't be a check: %s", why)
	}
	return nil
}

// Add stores a check; replaced reports whether it replaced one of that name.
func (r *Checks) Add(ctx context.Context, c store.Check) (replaced bool, err error) {
	if err := JudgeCheck(c); err != nil {
		return false, err
	}
	err = r.o.DB.Write(ctx, "keep a check", func(tx *store.Tx) error {
		if cs, err := store.Checks(&tx.View); err != nil {
			return err
		} else if len(cs) >= most {
			return fmt.Errorf("%d checks are the most; /checks rm NAME removes one", most)
		}
		if replaced, err = store.SetCheck(tx, c); err != nil {
			return err
		}
		return r.o.Seals.Seal(tx, store.KeptChecks, c.Name)
	})
	return replaced, err
}

// Remove removes a check. Schedules may still name it: their observers are told that there is none.
func (r *Checks) Remove(ctx context.Context, name string) error {
	return r.o.DB.Write(ctx, "remove a check", func(tx *store.Tx) error {
		had, err := store.RemoveCheck(tx, name)
		if err == nil && !had {
			err = r.none(&tx.View, name)
		}
		return err
	})
}

// List returns all checks, by name.
func (r *Checks) List(ctx context.Context) (cs []store.Check, err error) {
	err = r.o.DB.Read(ctx, func(rx *store.Rx) error {
		cs, err = store.Checks(&rx.View)
		return err
	})
	return cs, err
}

// none returns the error of a name that no check has.
func (r *Checks) none(v *store.View, name string) error {
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

// Unheld says why no check can run here; nil: they can. No human watches a check, so it requires a sandbox that
// prevents what it must not do.
func (r *Checks) Unheld() error {
	switch w := r.o.Wall(); {
	case r.o.Box == nil || w == permission.NoSandbox:
		return errors.New("checks run only in a sandbox, and there is none here (/sandbox says why)")
	case w != permission.Prevents:
		return errors.New("checks run only in a sandbox that prevents harm, and the one here only detects it (/sandbox says why)")
	}
	return nil
}

// Find returns the check of that name, ready to run.
func (r *Checks) Find(ctx context.Context, name string) (tools.Check, error) {
	var c store.Check
	err := r.o.DB.Read(ctx, func(rx *store.Rx) (err error) {
		var ok bool
		if c, ok, err = store.CheckNamed(&rx.View, name); err == nil && !ok {
			err = r.none(&rx.View, name)
		}
		if err == nil {
			ok, err = r.o.Seals.Sealed(&rx.View, store.KeptChecks, name)
		}
		if err == nil && !ok {
			err = fmt.Errorf("the check %s is of an older version, or another program wrote it: it waits for the user's yes on a screen (/confirm)", name)
		}
		return err
	})
	if err == nil {
		err = JudgeCheck(c) // the rules for checks may have changed since
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

// Run runs a check for the human, and returns the result that an observer would get.
func (r *Checks) Run(ctx context.Context, name string) (tools.Result, error) {
	k, err := r.Find(ctx, name)
	if err != nil {
		return tools.Result{}, err
	}
	e := &tools.Runtime{Root: r.o.Root, Keys: r.o.Keys, Keep: r.o.Keep}
	got := e.RunCheck(ctx, "check-"+name, k)
	return got, ctx.Err()
}
