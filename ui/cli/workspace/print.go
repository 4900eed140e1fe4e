package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"fantail/agents"
	"fantail/agents/fleet"
	"fantail/agents/skills"
	"fantail/store/config"
	"fantail/store/config/paths"
	"fantail/tools"
	"fantail/tools/permit"
	"fantail/tools/proc"
	"fantail/ui/cli"
	"fantail/ui/cli/guard"
	"fantail/ui/cli/host"
	"fantail/ui/cli/models"
	"fantail/ui/cli/place"
	"fantail/ui/cli/printer"
	"fantail/ui/cli/reach"
	"fantail/ui/cli/shell"
	"fantail/ui/screen"
)

// Print is the face without a screen: one prompt, one answer. The workspace's host carries it out.
func (w *Workspace) Print(flags cli.Flags) (int, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := w.guard.Watch(cancel)
	prompt, err := printer.ReadPrompt(ctx, w.guard.Go, flags.Prompt, os.Stdin, os.Stderr)
	if code, signalled := signals.Code(); signalled {
		return code, nil
	}
	if err != nil {
		return 0, err
	}
	asking := reach.Asking{
		Args: os.Args[1:], Dir: w.place.Dir, Log: filepath.Join(w.place.Data, paths.HostLog), Plain: shell.IsTerminal(os.Stdout), Out: os.Stdout, Err: os.Stderr, Stopped: signals.Code,
	}
	why := w.readOnly
	if why == nil {
		code, err := asking.Print(ctx, prompt)
		var refused *reach.RefusedError
		if !errors.As(err, &refused) {
			return code, err
		}
		why = refused
		if held := place.Holder(w.place.Data); held != nil {
			why = held
		}
	}
	if flags.Last || flags.Resume != "" {
		return 0, fmt.Errorf("%w: no earlier conversation can be gone on with", why)
	}
	shell.Warn(os.Stderr, "%v; this prompt runs beside it, in a temporary database of its own", why)
	return w.aside(ctx, host.Job{
		Hello: host.HelloOf(screen.Shell(asking.Args, asking.Dir)), Prompt: prompt, Plain: asking.Plain, Out: asking.Out, Err: asking.Err, Stopped: asking.Stopped,
	})
}

// aside carries out a prompt where no host can.
func (w *Workspace) aside(ctx context.Context, j host.Job) (code int, err error) {
	if w.place, err = w.place.Aside(); err != nil {
		return 0, err
	}
	defer w.place.Leave()
	w.readOnly, w.umask = nil, proc.OwnUmask()
	flags, err := cli.Parse(j.Args, io.Discard)
	if err != nil {
		return 0, err
	}
	if err := w.Configure(flags); err != nil {
		return 0, err
	}
	pool, err := w.open(ctx, func(string) (config.Choice, error) { return w.models.Choose("", "", nil) })
	if err != nil {
		return 0, err
	}
	defer w.db.Close()
	code, err = w.prints(ctx, host.Workspace{Pool: pool}, j)
	if e := guard.Close(pool.Close); err == nil {
		err = e
	}
	return code, err
}

// prints carries out a prompt in a conversation that nobody attends.
func (w *Workspace) prints(ctx context.Context, space host.Workspace, j host.Job) (int, error) {
	flags, conf, err := w.asks(j.Hello)
	if err != nil {
		return 0, err
	}
	w.keys.Add(j.Getenv)
	w.models.Use(j.Getenv)
	mode, err := permit.ParseMode(string(cli.Mode(conf)))
	if err != nil {
		return 0, err
	}
	terms := agents.Unattended{Mode: mode, Goes: flags.Resume, Last: flags.Last}
	name, file, err := described(w.shelf, flags)
	switch {
	case err != nil:
		return 0, err
	case file && (terms.Last || terms.Goes != ""):
		return 0, shell.Misused("a conversation that goes on stays what it was: leave --agent %s away", name)
	case file:
		terms.Model, flags.Model = flags.Model, ""
	}
	if flags.Model != "" || terms.Goes == "" && !terms.Last {
		choice, err := w.models.ChooseIn(j.Getenv, flags.Model, func() string { return models.Ollama(ctx, j.Getenv) })
		if err != nil {
			return 0, err
		}
		terms.Else = choice.Name()
		terms.Model = cmp.Or(terms.Model, terms.Else)
	}
	p := printer.Printer{
		Pool: space.Pool, Go: w.guard.Go, Terms: terms, Format: flags.Format, Plain: j.Plain, Dir: w.place.Root, Tools: printer.Names(w.tools),
		Out: j.Out, Err: j.Err, Now: time.Now, Stopped: j.Stopped,
	}
	return p.Run(fleet.Within(ctx, cli.Commands(j.Env, j.Umask, w.umask, w.keys)), w.keys.Text(j.Prompt)), nil
}

// described returns the name behind --agent, and whether a file describes that agent; else another vendor's is meant, or none.
func described(shelf *skills.Shelf, flags cli.Flags) (name string, file bool, err error) {
	name, is := tools.VendorOf(flags.Model)
	if !is {
		return "", false, nil
	}
	of, err := shelf.Agent(name)
	if err != nil {
		return name, false, shell.Misused("--agent %s: %v", name, err)
	}
	return name, of.File, nil
}

// spawns says in whose environment a task runs that a human begins at a shell, and with which model.
func (w *Workspace) spawns(ctx context.Context, space host.Workspace, h host.Hello, model string) (context.Context, string, error) {
	w.keys.Add(h.Getenv)
	w.models.Use(h.Getenv)
	if model == "" && w.choice.AskOllama && cli.MainModel(space.Pool) == w.choice.Name() {
		choice, err := w.models.ChooseIn(h.Getenv, "", func() string { return models.Ollama(ctx, h.Getenv) })
		if err != nil {
			return ctx, "", err
		}
		model = choice.Name()
	}
	return fleet.Within(ctx, cli.Commands(h.Env, h.Umask, w.umask, w.keys)), model, nil
}
