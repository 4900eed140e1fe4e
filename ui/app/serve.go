package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"fantail/agents/skills"
	"fantail/inbox/policy"
	"fantail/store/config"
	"fantail/store/paths"
	"fantail/tools/proc"
	"fantail/ui/cli"
	"fantail/ui/crash"
	"fantail/ui/host"
	"fantail/ui/screen"
	"fantail/ui/shell"
	"fantail/ui/workspace"
)

// Serve runs the workspace's host: screens come and go, and it ends once no agent works.
func Serve(g *crash.Guard, start *host.Startup) (int, error) {
	at, err := workspace.Find("", os.Getenv)
	if err != nil {
		return 0, err
	}
	w := New(g, at)
	defer w.Leave()
	if w.readOnly != nil {
		start.Alone()
		return shell.ExitOK, nil
	}
	g.CrashIn(at.Data)
	if err := w.Configure(cli.Flags{}); err != nil {
		return 0, err
	}
	lock, err := workspace.Take(at.Data, time.Now(), host.Anew, func() bool { return host.Answers(at.Screens) })
	var held *workspace.HeldError
	switch {
	case errors.Is(err, workspace.ErrAnswers):
		start.Serves(nil)
		return shell.ExitOK, nil
	case errors.As(err, &held):
		start.Alone()
		return shell.ExitOK, nil
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
	signals := g.Watch(func() { h.End(shell.ExitFailed, toldToEnd) }, host.Anew)
	h.Rebinds(g.Go, at.Screens)
	start.Serves(h)
	code, err := h.Serve(l)
	if n, signalled := signals.Code(); signalled {
		code = n
	}
	return code, err
}

const toldToEnd = "its host was told to end; messages and transcripts are on disk, start fantail again to go on"

// Stay runs as a service: it is the host of the workspace of dir ("": that of the current directory), once no other
// process is. It opens the workspace at once, and ends only when told to. It also prints its messages to standard
// error. SIGTERM ends it in order, without an error, as service managers expect.
func Stay(g *crash.Guard, dir string) (int, error) {
	at, err := workspace.Find(dir, os.Getenv)
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
		return served(signals, shell.ExitOK), nil
	}
	defer lock.Unlock()
	if err := w.lost(); err != nil {
		return 0, err
	}
	h, l, err := w.listens()
	if err != nil {
		return 0, err
	}
	defer w.Disown()
	defer context.AfterFunc(ctx, func() { h.End(shell.ExitFailed, toldToEnd) })()
	h.Rebinds(g.Go, at.Screens)
	if text := workspace.Warning(at.Data); text != "" {
		shell.Warn(os.Stderr, "%s", text)
	}
	code, err := h.Serve(l)
	return served(signals, code), err
}

// lost returns an error if the database is gone and its log is there under another name, as a host leaves it that
// ended for that reason: a service manager starts a host again by itself, and that would begin with an empty database.
func (w *Workspace) lost() error {
	db := w.place.Database()
	if _, err := os.Stat(db); !errors.Is(err, fs.ErrNotExist) {
		return nil // another error is reported when it is opened
	}
	logs, err := filepath.Glob(db + ".old-*-wal")
	if err != nil || len(logs) == 0 {
		return nil
	}
	return fmt.Errorf("the database %s is gone, and %s is left of it: put a backup there, or move that elsewhere to start empty, and start this again", db, slices.Max(logs))
}

// served returns the exit code of a service that would have ended with code.
func served(signals *crash.Signals, code int) int {
	switch n, signalled := signals.Code(); {
	case !signalled:
		return code
	case n == 128+int(syscall.SIGTERM):
		return shell.ExitOK
	default:
		return n
	}
}

// inherit waits until no other process has the workspace, and takes it; nil: ctx ended first.
func (w *Workspace) inherit(ctx context.Context) (*workspace.HostLock, error) {
	if held := workspace.Holder(w.place.Data); held != nil {
		shell.Warn(os.Stderr, "%v: it goes on here once that has ended", held)
	}
	type got struct {
		lock *workspace.HostLock
		err  error
	}
	took := make(chan got, 1)
	w.guard.Go("inherit", func() {
		lock, err := workspace.Inherit(w.place.Data, time.Now)
		took <- got{lock, err}
	})
	select {
	case g := <-took:
		return g.lock, g.err
	case <-ctx.Done():
		return nil, nil // the lock goes with the process
	}
}

// listens returns the host of the workspace that this process owns, and its listener. Disown ends them.
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

// Alone shows the workspace on the process's own terminal, where no host can run: this process is both.
func (w *Workspace) Alone() (int, error) {
	h, err := w.host("")
	if err != nil {
		return 0, err
	}
	signals := w.guard.Watch(func() { h.End(shell.ExitOK, "") })
	code, err := h.Alone(screen.Hello(os.Args[1:], w.place.Dir))
	if n, signalled := signals.Code(); signalled {
		code, err = n, nil
	}
	return code, err
}

// host returns the host of the workspace, with a log at that path; "": it has none.
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
	if w.watch, err = workspace.NewWatch(w.place.Root, policy.RulesDir); err != nil {
		shell.Warn(os.Stderr, "changed policies will hold from the next start on: watch the policies of the agents: %v", err)
	}
	if w.written, err = workspace.NewDirs(w.place.Root, func(name string) bool { return w.files.Matters(name) }); err != nil {
		shell.Warn(os.Stderr, "changed instruction files will hold from the next start on: watch them: %v", err)
	}
	if w.shelves, err = workspace.NewDirs(w.place.Root, skills.Matters); err != nil {
		shell.Warn(os.Stderr, "changed skills, commands and agents in files will hold from the next start on: watch their directories: %v", err)
	}
	w.serves.watched(w)
	linger, err := w.conf.Linger()
	if err != nil {
		return nil, err
	}
	return host.New(host.Options{
		Guard: w.guard, Version: screen.Version(), Root: w.place.Root, Data: w.place.Data, Log: kept, Linger: linger, Stays: w.stays, Screen: w.face,
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
