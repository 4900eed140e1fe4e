package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// HostLock is held by the process that owns a workspace's agents and database. The operating system releases it when
// the process ends in any way, so a leftover file means nothing.
type HostLock struct{ file *flock.Flock }

// HeldError says that another process has the workspace's lock.
type HeldError struct {
	PID    int       // 0: unknown
	Since  time.Time // zero: unknown
	Host   bool      // it shows the workspace on screens; otherwise it answers one prompt
	Beyond string    // where it runs if that is another machine, or one that can't see this machine's processes; "": here

	run run
}

// run identifies one run of a process.
type run struct{ started, boot, machine, pids string }

func (e *HeldError) Error() string {
	who := "another process"
	if e.PID != 0 {
		who = fmt.Sprintf("process %d", e.PID)
	}
	if e.Beyond != "" {
		who += " " + e.Beyond
	}
	if !e.Since.IsZero() {
		who += ", since " + e.Since.Local().Format("2006-01-02 15:04:05")
	}
	return "this workspace is already open in another fantail (" + who + ")"
}

// serving is the role in a host's note.
const serving = "host"

const hostLock = "host.lock"

// Lock makes this process the owner of the workspace whose data directory is dir, on a terminal of its own where no
// host can run, or returns a *HeldError.
func Lock(dir string, now time.Time) (*HostLock, error) { return lock(dir, now, "alone") }

func lock(dir string, now time.Time, role string) (*HostLock, error) {
	path := filepath.Join(dir, hostLock)
	f := lockFile(path)
	got, err := f.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the workspace: %w", err)
	}
	if !got {
		return nil, holder(path)
	}
	return noted(f, now, role)
}

// Inherit makes this process the owner of the workspace whose data directory is dir, as its host, once no other
// process is. It waits in the kernel, however long that takes, and wakes up for nothing else; it can't be cancelled.
func Inherit(dir string, now func() time.Time) (*HostLock, error) {
	f := lockFile(filepath.Join(dir, hostLock))
	if err := f.Lock(); err != nil {
		return nil, fmt.Errorf("wait for the workspace: %w", err)
	}
	return noted(f, now(), serving)
}

func lockFile(path string) *flock.Flock {
	return flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
}

// noted writes a note about this process into the file of a lock that it holds. The lock is the operating system's;
// the note says which process to contact.
func noted(f *flock.Flock, now time.Time, role string) (*HostLock, error) {
	note := fmt.Sprintf("%d\n%s\n", os.Getpid(), now.UTC().Format(time.RFC3339))
	me := thisRun(os.Getpid())
	for _, kv := range [][2]string{{"role", role}, {"started", me.started}, {"boot", me.boot}, {"machine", me.machine}, {"pids", me.pids}} {
		note += kv[0] + "=" + strings.ReplaceAll(kv[1], "\n", " ") + "\n"
	}
	if err := os.WriteFile(f.Path(), []byte(note), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("lock the workspace: %w", err), f.Unlock())
	}
	return &HostLock{f}, nil
}

// ErrAnswers is returned by Take if there is a host already.
var ErrAnswers = errors.New("the workspace has a host that answers")

// How long Take waits for a host that ends, or listens again, and how often it checks.
const (
	takesWithin = 10 * time.Second
	takesEvery  = 10 * time.Millisecond
)

// Take makes this process the owner of the workspace whose data directory is dir, as its host. The present owner may
// be about to end, or have lost its socket: Take sends it the signal anew, to listen once more. It returns
// [ErrAnswers] once answers returns true, and a *HeldError if nothing comes of it.
func Take(dir string, now time.Time, anew syscall.Signal, answers func() bool) (*HostLock, error) {
	var told bool
	for end := time.Now().Add(takesWithin); ; {
		l, err := lock(dir, now, serving)
		var held *HeldError
		switch {
		case !errors.As(err, &held):
			return l, err
		case held.Beyond != "" || !held.Host && held.PID != 0:
			return nil, held
		case answers():
			return nil, ErrAnswers
		case !told && held.PID != 0 && thisRun(held.PID) == held.run:
			told = true
			_ = syscall.Kill(held.PID, anew)
		}
		if time.Now().After(end) {
			return nil, held
		}
		t := time.NewTimer(takesEvery)
		<-t.C
	}
}

// Hosted reports whether another process is the host of the workspace whose data directory is dir, which need not be
// writable.
func Hosted(dir string) bool {
	f := flock.New(filepath.Join(dir, hostLock), flock.SetFlag(os.O_RDONLY))
	free, err := f.TryRLock()
	if free {
		_ = f.Unlock() // it was only a look
	}
	return err == nil && !free
}

// Holder returns the owner of the workspace whose data directory is dir; nil: there is none.
func Holder(dir string) *HeldError {
	if !Hosted(dir) {
		return nil
	}
	return holder(filepath.Join(dir, hostLock))
}

// Await waits until no process owns the workspace whose data directory is dir, at most as long as within. The error
// names the owner.
func Await(ctx context.Context, dir string, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	again := time.NewTicker(takesEvery)
	defer again.Stop()
	for {
		held := Holder(dir)
		if held == nil {
			return nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return held
		}
	}
}

// Unlock lets another process be the host.
func (l *HostLock) Unlock() error { return l.file.Unlock() }

// holder reads the note of the lock's owner at path.
func holder(path string) *HeldError {
	e := &HeldError{}
	text, err := os.ReadFile(path)
	if err != nil {
		return e
	}
	lines := strings.Split(string(text), "\n")
	e.PID, _ = strconv.Atoi(strings.TrimSpace(lines[0]))
	if len(lines) < 2 {
		return e
	}
	e.Since, _ = time.Parse(time.RFC3339, strings.TrimSpace(lines[1]))
	for _, line := range lines[2:] {
		switch name, value, _ := strings.Cut(line, "="); name {
		case "role":
			e.Host = value == serving
		case "started":
			e.run.started = value
		case "boot":
			e.run.boot = value
		case "machine":
			e.run.machine = value
		case "pids":
			e.run.pids = value
		}
	}
	switch me := thisRun(os.Getpid()); {
	case e.run.machine != "" && e.run.machine != me.machine:
		e.Beyond = "on the machine " + e.run.machine
	case e.run.pids != me.pids && e.run.pids != "":
		e.Beyond = "in another container of this machine"
	}
	return e
}

// Outdated prevents a change of a database with an older schema under its host, which is an older program then and
// could not go on. If there is no host, it prevents one from starting until done is called.
func Outdated(dir string, now time.Time) (upgrade func() error, done func()) {
	var l *HostLock
	return func() (err error) {
			var held *HeldError
			if l, err = Lock(dir, now); errors.As(err, &held) {
				return fmt.Errorf("%w, which is an older version: end it and start this one, or use the older one until then", err)
			}
			return err
		}, func() {
			if l != nil {
				_ = l.Unlock() // the process that has it ends soon
			}
		}
}
