package app

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
	"fantail/store/paths"
	"fantail/tools"
	"fantail/tools/permission"
	"fantail/tools/proc"
	"fantail/ui/attach"
	"fantail/ui/cli"
	"fantail/ui/crash"
	"fantail/ui/host"
	"fantail/ui/screen"
	"fantail/ui/shell"
	"fantail/ui/workspace"
)

// Print carries out one prompt and prints the answer, without a screen. The workspace's host carries it out.
func (w *Workspace) Print(flags cli.Flags) (int, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := w.guard.Watch(cancel)
	prompt, err := cli.ReadPrompt(ctx, w.guard.Go, flags.Prompt, os.Stdin, os.Stderr)
	if code, signalled := signals.Code(); signalled {
		return code, nil
	}
	if err != nil {
		return 0, err
	}
	asking := attach.Asking{
		Args: os.Args[1:], Dir: w.place.Dir, Log: filepath.Join(w.place.Data, paths.HostLog), Plain: shell.IsTerminal(os.Stdout), Out: os.Stdout, Err: os.Stderr, Stopped: signals.Code,
	}
	why := w.readOnly
	if why == nil {
		code, err := asking.Print(ctx, prompt)
		var refused *attach.RefusedError
		if !errors.As(err, &refused) {
			return code, err
		}
		why = refused
		if held := workspace.Holder(w.place.Data); held != nil {
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
	if e := crash.Close(pool.Close); err == nil {
		err = e
	}
	return code, err
}

// prints carries out a prompt in an unattended conversation.
func (w *Workspace) prints(ctx context.Context, space host.Workspace, j host.Job) (int, error) {
	flags, conf, err := w.asks(j.Hello)
	if err != nil {
		return 0, err
	}
	if err := w.rules.readable(); err != nil {
		return 0, err
	}
	if text := space.Pool.Rows.Brief(ctx); text != "" {
		shell.Warn(j.Err, "%s", text)
	}
	w.keys.Add(j.Getenv)
	w.models.Use(j.Getenv)
	mode, err := permission.ParseMode(string(cli.Mode(conf)))
	if err != nil {
		return 0, err
	}
	terms := agents.Unattended{Mode: mode, Goes: flags.Resume, Last: flags.Last}
	name, file, err := described(w.catalog, flags)
	switch {
	case err != nil:
		return 0, err
	case file && (terms.Last || terms.Goes != ""):
		return 0, shell.Misused("a conversation that goes on stays what it was: leave --agent %s away", name)
	case file:
		terms.Model, flags.Model = flags.Model, ""
	}
	if flags.Model != "" || terms.Goes == "" && !terms.Last {
		choice, err := w.models.ChooseIn(j.Getenv, flags.Model, func() string { return cli.Ollama(ctx, j.Getenv) })
		if err != nil {
			return 0, err
		}
		if choice.Doubt != "" {
			shell.Warn(j.Err, "%s", choice.Doubt)
		}
		terms.Else = choice.Name()
		terms.Model = cmp.Or(terms.Model, terms.Else)
	}
	p := cli.Printer{
		Pool: space.Pool, Go: w.guard.Go, Terms: terms, Format: flags.Format, Plain: j.Plain, Dir: w.place.Root, Tools: cli.ToolNames(w.tools),
		Out: j.Out, Err: j.Err, Now: time.Now, Stopped: j.Stopped, Missed: w.serves.live.Missed,
	}
	return p.Run(fleet.Within(ctx, cli.Commands(j.Env, j.Umask, w.umask, w.keys)), w.keys.Text(j.Prompt)), nil
}

// described returns the name after --agent, and whether a file describes that agent; if not, it is another vendor's,
// or there is none.
func described(catalog *skills.Catalog, flags cli.Flags) (name string, file bool, err error) {
	name, is := tools.VendorOf(flags.Model)
	if !is {
		return "", false, nil
	}
	of, err := catalog.Agent(name)
	if err != nil {
		return name, false, shell.Misused("--agent %s: %v", name, err)
	}
	return name, of.File, nil
}

// spawns returns the environment, as a context, and the model of a task that a human starts at a shell.
func (w *Workspace) spawns(ctx context.Context, space host.Workspace, h host.Hello, model string) (context.Context, string, error) {
	w.keys.Add(h.Getenv)
	w.models.Use(h.Getenv)
	if model == "" && w.choice.AskOllama && cli.MainModel(space.Pool) == w.choice.Name() {
		choice, err := w.models.ChooseIn(h.Getenv, "", func() string { return cli.Ollama(ctx, h.Getenv) })
		if err != nil {
			return ctx, "", err
		}
		model = choice.Name()
	}
	return fleet.Within(ctx, cli.Commands(h.Env, h.Umask, w.umask, w.keys)), model, nil
}
