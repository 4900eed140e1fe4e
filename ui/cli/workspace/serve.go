package workspace

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"fantail/agents/skills"
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
	defer w.Leave()
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
	h, l, err := w.listens()
	if err != nil {
		return 0, err
	}
	defer w.Disown()
	signals := g.Watch(func() { h.End(shell.Failed, toldToEnd) }, host.Anew)
	h.Rebinds(g.Go, at.Screens)
	start.Serves(h)
	code, err := h.Serve(l)
	if n, signalled := signals.Code(); signalled {
		code = n
	}
	return code, err
}

const toldToEnd = "its host was told to end; messages and transcripts are on disk, start fantail again to go on"

// Stay is the face of a service: the host of the workspace of dir ("": that of the present directory), once no other
// process is. It opens the workspace at once, and ends only when it is told to. What there is to say goes to standard
// error, too. SIGTERM is how services end: in order, that is no failure.
func Stay(g *guard.Guard, dir string) (int, error) {
	at, err := place.Find(dir, os.Getenv)
	if err != nil {
		return 0, err
	}
	w := New(g, at)
	defer w.Leave()
	w.stays = at.Dir
	if w.readOnly != nil {
		return 0, fmt.Errorf("no host can be here: %w", w.readOnly)
	}
	g.CrashIn(at.Data)
	if err := w.Configure(cli.Flags{}); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := g.Watch(cancel, host.Anew)
	lock, err := w.inherit(ctx)
	if err != nil {
		return 0, err
	}
	if lock == nil {
		return served(signals, shell.OK), nil
	}
	defer lock.Unlock()
	h, l, err := w.listens()
	if err != nil {
		return 0, err
	}
	defer w.Disown()
	defer context.AfterFunc(ctx, func() { h.End(shell.Failed, toldToEnd) })()
	h.Rebinds(g.Go, at.Screens)
	if text := place.Warning(at.Data); text != "" {
		shell.Warn(os.Stderr, "%s", text)
	}
	code, err := h.Serve(l)
	return served(signals, code), err
}

// served is the exit code of a service that would have ended with code.
func served(signals *guard.Signals, code int) int {
	switch n, signalled := signals.Code(); {
	case !signalled:
		return code
	case n == 128+int(syscall.SIGTERM):
		return shell.OK
	default:
		return n
	}
}

// inherit waits until no other process has the workspace, and takes it; nil: ctx ended first.
func (w *Workspace) inherit(ctx context.Context) (*place.HostLock, error) {
	if held := place.Holder(w.place.Data); held != nil {
		shell.Warn(os.Stderr, "%v: it goes on here once that has ended", held)
	}
	type got struct {
		lock *place.HostLock
		err  error
	}
	took := make(chan got, 1)
	w.guard.Go("inherit", func() {
		lock, err := place.Inherit(w.place.Data, time.Now)
		took <- got{lock, err}
	})
	select {
	case g := <-took:
		return g.lock, g.err
	case <-ctx.Done():
		return nil, nil // the lock goes with the process
	}
}

// listens is the host of the workspace that this process owns, and where it is reached. Disown ends what it has.
func (w *Workspace) listens() (*host.Host, *net.UnixListener, error) {
	if err := w.Own(); err != nil {
		return nil, nil, err
	}
	l, err := host.Listen(w.place.Screens)
	if err != nil {
		w.Disown()
		return nil, nil, err
	}
	h, err := w.host(filepath.Join(w.place.Data, paths.HostLog))
	if err != nil {
		w.Disown()
		return nil, nil, err
	}
	return h, l, nil
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
	keep := host.Keep
	if w.stays != "" {
		keep = host.Copy
	}
	kept, err := keep(log, w.guard.Go)
	if err != nil {
		return nil, err
	}
	if w.watch, err = watch.New(w.place.Root, rules.Dir); err != nil {
		shell.Warn(os.Stderr, "changed policies will hold from the next start on: watch the policies of the agents: %v", err)
	}
	if w.written, err = watch.NewDirs(w.place.Root, func(name string) bool { return w.files.Matters(name) }); err != nil {
		shell.Warn(os.Stderr, "changed instruction files will hold from the next start on: watch them: %v", err)
	}
	if w.shelves, err = watch.NewDirs(w.place.Root, skills.Matters); err != nil {
		shell.Warn(os.Stderr, "changed skills, commands and agents in files will hold from the next start on: watch their directories: %v", err)
	}
	w.serves.watched(w)
	linger, err := w.conf.Linger()
	if err != nil {
		return nil, err
	}
	return host.New(host.Options{
		Guard: w.guard, Version: shell.Version(), Root: w.place.Root, Data: w.place.Data, Log: kept, Linger: linger, Stays: w.stays, Screen: w.face,
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
			pool, err := w.open(ctx, func(remembered string) (config.Choice, error) { return w.picks(ctx, flags.Model, remembered) })
			return host.Workspace{Pool: pool, Close: w.close}, err
		},
		Opened: w.opened, Print: w.prints, Spawns: w.spawns, Left: w.left, Deserted: w.deserted,
	}), nil
}
