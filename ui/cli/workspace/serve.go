package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"fantail/inbox/rules"
	"fantail/store/config"
	"fantail/store/config/paths"
	"fantail/tools/proc"
	"fantail/ui/cli"
	"fantail/ui/cli/guard"
	"fantail/ui/cli/host"
	"fantail/ui/cli/place"
	"fantail/ui/cli/shell"
	"fantail/ui/cli/watch"
	"fantail/ui/screen"
)

// Serve is the face that stays: screens come and go, and it ends when nothing goes on.
func Serve(g *guard.Guard, start *host.Startup) (int, error) {
	at, err := place.Find("", os.Getenv)
	if err != nil {
		return 0, err
	}
	w := New(g, at)
	if w.readOnly != nil {
		start.Alone()
		return shell.OK, nil
	}
	g.CrashIn(at.Data)
	if err := w.Configure(cli.Flags{}); err != nil {
		return 0, err
	}
	lock, err := place.Take(at.Data, time.Now(), host.Anew, func() bool { return host.Answers(at.Screens) })
	var held *place.HeldError
	switch {
	case errors.Is(err, place.ErrAnswers):
		start.Serves(nil)
		return shell.OK, nil
	case errors.As(err, &held):
		start.Alone()
		return shell.OK, nil
	}
	if err != nil {
		return 0, err
	}
	defer lock.Unlock()
	if err := w.Own(); err != nil {
		return 0, err
	}
	defer w.Disown()
	l, err := host.Listen(at.Screens)
	if err != nil {
		return 0, err
	}
	h, err := w.host(filepath.Join(at.Data, paths.HostLog))
	if err != nil {
		return 0, err
	}
	signals := g.Watch(func() {
		h.End(shell.Failed, "its host was told to end; messages and transcripts are on disk, start fantail again to go on")
	}, host.Anew)
	h.Rebinds(g.Go, at.Screens)
	start.Serves(h)
	code, err := h.Serve(l)
	if n, signalled := signals.Code(); signalled {
		code = n
	}
	return code, err
}

// Alone is the face on the process's own terminal, where no host can be: this process is both.
func (w *Workspace) Alone() (int, error) {
	h, err := w.host("")
	if err != nil {
		return 0, err
	}
	w.guard.Terminal(os.Stdin, os.Stdout)
	signals := w.guard.Watch(func() { h.End(shell.OK, "") })
	code, err := h.Alone(screen.Hello(os.Args[1:], w.place.Dir), w.guard.Restored)
	if n, signalled := signals.Code(); signalled {
		code, err = n, nil
	}
	return code, err
}

// host is what shows the workspace on screens, with a log at that path; "": it has none.
func (w *Workspace) host(log string) (*host.Host, error) {
	w.umask = proc.OwnUmask()
	kept, err := host.Keep(log, w.guard.Go)
	if err != nil {
		return nil, err
	}
	if w.watch, err = watch.New(w.place.Root, rules.Dir); err != nil {
		shell.Warn(os.Stderr, "changed policies will hold from the next start on: watch the policies of the agents: %v", err)
	}
	linger, err := w.conf.Linger()
	if err != nil {
		return nil, err
	}
	return host.New(host.Options{
		Guard: w.guard, Version: shell.Version(), Root: w.place.Root, Log: kept, Linger: linger, Screen: w.face,
		Open: func(ctx context.Context, first host.Hello) (host.Workspace, error) {
			flags, conf, err := w.asks(first)
			if err != nil {
				return host.Workspace{}, err
			}
			if flags.Print { // what it asks for concerns its own conversation
				flags, conf.PermissionMode = cli.Flags{}, w.conf.PermissionMode
			}
			w.conf.PermissionMode, w.flagged = conf.PermissionMode, flags.Moded
			w.keep.Store(flags.Keep)
			pool, err := w.open(ctx, func(remembered string) (config.Choice, error) { return w.models.Choose(flags.Model, remembered, nil) })
			return host.Workspace{Pool: pool, Close: w.close}, err
		},
		Opened: w.opened, Print: w.prints, Spawns: w.spawns, Left: w.left, Deserted: w.deserted,
	}), nil
}
