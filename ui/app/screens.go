package app

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"

	"fantail/agents"
	"fantail/agents/audit"
	"fantail/agents/fleet"
	"fantail/store/config"
	"fantail/store/paths"
	"fantail/tools/permission"
	"fantail/ui"
	"fantail/ui/cli"
	"fantail/ui/format"
	"fantail/ui/host"
	"fantail/ui/screen"
	"fantail/ui/shell"
	"fantail/ui/slash"
	"fantail/ui/workspace"
)

// asks returns what a screen asks for: its arguments, and the configuration under them.
func (w *Workspace) asks(h host.Hello) (cli.Flags, config.Config, error) {
	flags, err := cli.Parse(h.Args, io.Discard)
	if err != nil {
		return flags, w.conf, err
	}
	conf, err := cli.Configure(flags, h.Getenv)
	return flags, conf, err
}

// face returns what the program of a screen needs. It is shown before the database is open.
func (w *Workspace) face(h host.Hello) (ui.Options, error) {
	flags, conf, err := w.asks(h)
	if err != nil {
		return ui.Options{}, err
	}
	w.keys.Add(h.Getenv) // before anything is typed there
	brought := w.models.Use(h.Getenv)
	name, file, err := described(w.catalog, flags)
	switch {
	case err != nil:
		return ui.Options{}, err
	case file: // main's role does not change
		return ui.Options{}, shell.Misused("--agent %s: a file describes it, and it does not take main's place: fantail -p --agent %[1]s, or on a screen /push agent=%[1]s or /agent new NAME agent=%[1]s", name)
	}
	choice, err := w.models.Choose(flags.Model, "", nil)
	if err != nil && (flags.Model != "" || h.Getenv("FANTAIL_MODEL") != "") {
		return ui.Options{}, err // otherwise the workspace may remember a model
	}
	at, _ := paths.File(os.Getenv) // the configuration was read from there
	return ui.Options{
		With: audit.As(fleet.Within(context.Background(), cli.Commands(h.Env, h.Umask, w.umask, w.keys)), h.Who()), News: cli.Brought(brought),
		Environ: cli.Environ(conf, h.Env, w.keys), Withhold: w.keys.Text, Theme: conf.Theme, Plain: !conf.Mouse, Notify: conf.Notify,
		Msgs: conf.StatusStyle == "msg", Still: conf.ReduceMotion, Start: choice.Why, Prompt: flags.Prompt, Version: screen.Version(), Usual: cli.Usual(flags, conf),
		Sandbox: w.holds,
		Reload:  func(context.Context) (string, error) { return w.reload() },
		Root:    w.place.Root, Config: at, History: filepath.Join(w.place.Data, "history"),
		Branch: func() string { return cli.Branch(w.place.Root) }, Models: slash.Models{Names: w.models.Names, Facts: w.models.Facts, Ask: w.models.Ask, Unlisted: w.models.Unlisted}, Doubt: w.models.Doubt, Skills: w.catalog, ReadOnly: w.readOnly,
		Remember: func(ctx context.Context, c agents.Choice, name string) error {
			return agents.RememberChoice(ctx, w.db, w.seals, c, name)
		},
	}, nil
}

// opened shows a screen the results of opening the workspace or, if that was open before, carries out the screen's
// arguments there.
func (w *Workspace) opened(ctx context.Context, space host.Workspace, h host.Hello, r ui.Remote, first bool) {
	opening := w.opening
	defer func() {
		if text := w.guard.Before(); text != "" {
			shell.Warn(os.Stderr, "%s", text) // into the log, where no width cuts it
			r.Say(text)
		}
	}()
	if first {
		r.Open(opening)
		for _, text := range []string{workspace.Warning(w.place.Data), w.offers(space.Pool)} {
			if text != "" {
				r.Say(text)
			}
		}
		w.guard.Go("look for a sandbox", func() { w.finds(ctx, space.Pool, r) })
		w.askOllama(ctx, space.Pool, r)
		w.offersModels(ctx, space.Pool, r)
		return
	}
	doubt := ""
	flags, conf, err := w.asks(h)
	if flags.Keep {
		w.keep.Store(true)
	}
	switch {
	case err != nil:
	case flags.Model != "":
		doubt, err = w.give(ctx, space.Pool, flags.Model)
	case w.readOnly == nil:
		err = w.choose(ctx, space.Pool)
	}
	if mode := permission.Mode(conf.PermissionMode); err == nil && (flags.Moded || mode == permission.Yolo) { // otherwise it applies to all screens
		err = space.Pool.SetMode(audit.As(ctx, h.Who()), mode)
	}
	opening.Start, opening.Trouble, opening.Brings = cli.MainModel(space.Pool), doubt, w.waits(ctx, space.Pool)
	if w.readOnly == nil {
		opening.Sandbox = cmp.Or(opening.Sandbox, workspace.SandboxBrief(w.wall()))
	}
	if c, e := agents.RememberedChoices(ctx, w.db, w.seals); e == nil {
		if opening.Rail = c.Rail; h.Getenv("FANTAIL_THEME") == "" {
			opening.Theme = c.Theme
		}
	}
	r.Open(opening)
	if space.Pool.Permissions.Blind() != "" {
		r.Say(w.offers(space.Pool))
	}
	w.askOllama(ctx, space.Pool, r) // perhaps no screen was there before
	if err == nil {
		var text string
		if text, err = w.reload(); text != "" {
			r.Say(text)
		}
	}
	if err != nil {
		r.Say(format.Sentence(err))
	}
	w.offersModels(ctx, space.Pool, r)
}

// left ends what must not go on without a screen.
func (w *Workspace) left(space host.Workspace) {
	if w.keep.Load() {
		return
	}
	w.tame(space.Pool)
}

// deserted ends what a human allowed who has not pressed a key for long.
func (w *Workspace) deserted(space host.Workspace) {
	w.gate.Forget()
	w.tame(space.Pool)
}

// tame ends yolo: the mode is again what the configuration says, or ask.
func (w *Workspace) tame(pool *agents.Pool) {
	if w.gate.Mode() != permission.Yolo {
		return
	}
	mode := cli.Usual(cli.Flags{}, w.conf)
	if mode == permission.Yolo || mode == "" {
		mode = permission.Ask
	}
	ctx := audit.As(context.Background(), "the program: no screen is attached, so yolo ended")
	if err := pool.SetMode(ctx, mode); err != nil {
		shell.Warn(os.Stderr, "yolo ended: %v", err)
	}
}
