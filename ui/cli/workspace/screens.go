package workspace

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"

	"fantail/agents"
	"fantail/agents/audit"
	"fantail/agents/choices"
	"fantail/agents/fleet"
	"fantail/store/config"
	"fantail/tools/permit"
	"fantail/ui"
	"fantail/ui/cli"
	"fantail/ui/cli/host"
	"fantail/ui/cli/place"
	"fantail/ui/cli/shell"
	"fantail/ui/cli/wall"
	"fantail/ui/words"
)

// asks is what a screen asks for: its arguments, and the configuration under them.
func (w *Workspace) asks(h host.Hello) (cli.Flags, config.Config, error) {
	flags, err := cli.Parse(h.Args, io.Discard)
	if err != nil {
		return flags, w.conf, err
	}
	conf, err := cli.Configure(flags, h.Getenv)
	return flags, conf, err
}

// face is what the program of a screen needs. It shows itself before the database is open.
func (w *Workspace) face(h host.Hello) (ui.Options, error) {
	flags, conf, err := w.asks(h)
	if err != nil {
		return ui.Options{}, err
	}
	w.keys.Add(h.Getenv) // before anything is typed there
	brought := w.models.Use(h.Getenv)
	choice, err := w.models.Choose(flags.Model, "", nil)
	if err != nil && (flags.Model != "" || h.Getenv("FANTAIL_MODEL") != "") {
		return ui.Options{}, err // else the workspace may remember another one
	}
	return ui.Options{
		With: audit.As(fleet.Within(context.Background(), cli.Commands(h.Env, h.Umask, w.umask, w.keys)), h.Who()), News: cli.Brought(brought),
		Environ: cli.Environ(conf, h.Env, w.keys), Withhold: w.keys.Text, Theme: conf.Theme, Plain: !conf.Mouse, Notify: conf.Notify,
		Msgs: conf.StatusStyle == "msg", Start: choice.Why, Version: shell.Version(), Usual: cli.Usual(flags, conf),
		Sandbox: w.holds,
		Reload:  func(context.Context) (string, error) { return w.reload() },
		Root:    w.place.Root, History: filepath.Join(w.place.Data, "history"),
		Branch: func() string { return cli.Branch(w.place.Root) }, Models: w.models.Names, Doubt: w.models.Doubt, Shelf: w.shelf, ReadOnly: w.readOnly,
		Remember: func(ctx context.Context, c choices.Choice, name string) error {
			return choices.Remember(ctx, w.db, c, name)
		},
	}, nil
}

// opened tells a screen what the opening of the workspace brought, or, if that was opened before,
// does there what its arguments ask for.
func (w *Workspace) opened(ctx context.Context, space host.Workspace, h host.Hello, r ui.Remote, first bool) {
	opening := w.opening
	if first {
		r.Open(opening)
		for _, text := range []string{place.Warning(w.place.Data), w.offers(space.Pool)} {
			if text != "" {
				r.Say(text)
			}
		}
		w.guard.Go("look for a sandbox", func() { w.finds(ctx, space.Pool, r) })
		w.askOllama(ctx, space.Pool, r)
		return
	}
	flags, conf, err := w.asks(h)
	if flags.Keep {
		w.keep.Store(true)
	}
	switch {
	case err != nil:
	case flags.Model != "":
		err = w.give(ctx, space.Pool, flags.Model)
	case w.readOnly == nil:
		err = w.choose(ctx, space.Pool)
	}
	if mode := permit.Mode(conf.PermissionMode); err == nil && (flags.Moded || mode == permit.Yolo) { // else it is everybody's
		err = space.Pool.SetMode(audit.As(ctx, h.Who()), mode)
	}
	opening.Start, opening.Trouble, opening.Brings = cli.MainModel(space.Pool), "", w.brings.brief()
	if w.readOnly == nil {
		opening.Sandbox = cmp.Or(opening.Sandbox, wall.Brief(w.wall()))
	}
	if c, e := choices.Remembered(ctx, w.db); e == nil && h.Getenv("FANTAIL_THEME") == "" {
		opening.Theme = c.Theme
	}
	r.Open(opening)
	w.askOllama(ctx, space.Pool, r) // perhaps no screen was there before
	if err == nil {
		var text string
		if text, err = w.reload(); text != "" {
			r.Say(text)
		}
	}
	if err != nil {
		r.Say(words.Sentence(err))
	}
}

// left ends what is too much to go on with nobody there.
func (w *Workspace) left(space host.Workspace) {
	if w.keep.Load() {
		return
	}
	w.tame(space.Pool)
}

// deserted ends what a human allowed who has not been there for long.
func (w *Workspace) deserted(space host.Workspace) {
	w.gate.Forget()
	w.tame(space.Pool)
}

// tame ends yolo: the mode is again what the configuration says, or ask.
func (w *Workspace) tame(pool *agents.Pool) {
	if w.gate.Mode() != permit.Yolo {
		return
	}
	mode := cli.Usual(cli.Flags{}, w.conf)
	if mode == permit.Yolo || mode == "" {
		mode = permit.Ask
	}
	ctx := audit.As(context.Background(), "the program: nobody is at a screen, and that ends yolo")
	if err := pool.SetMode(ctx, mode); err != nil {
		shell.Warn(os.Stderr, "yolo ended: %v", err)
	}
}
