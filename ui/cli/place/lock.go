package place

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// HostLock is held by the process that owns a workspace's agents and database.
// The operating system lets go of it when the process ends, however it ends, so
// the file that stays behind means nothing.
type HostLock struct{ file *flock.Flock }

// HeldError says that another process is the workspace's host.
type HeldError struct {
	PID   int       // 0: unknown
	Since time.Time // zero: unknown
}

func (e *HeldError) Error() string {
	who := "another process"
	if e.PID != 0 {
		who = fmt.Sprintf("process %d", e.PID)
	}
	if !e.Since.IsZero() {
		who += ", since " + e.Since.Local().Format("2006-01-02 15:04:05")
	}
	return "this workspace is already open in another fantail (" + who + ")"
}

const hostLock = "host.lock"

// Lock makes this process the host of the workspace whose data directory is dir,
// or returns a *HeldError.
func Lock(dir string, now time.Time) (*HostLock, error) {
	path := filepath.Join(dir, hostLock)
	f := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	got, err := f.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the workspace: %w", err)
	}
	if !got {
		return nil, holder(path)
	}
	// The note is for people; the lock is the operating system's.
	note := fmt.Sprintf("%d\n%s\n", os.Getpid(), now.UTC().Format(time.RFC3339))
	if err := os.WriteFile(path, []byte(note), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("lock the workspace: %w", err), f.Unlock())
	}
	return &HostLock{f}, nil
}

// Hosted reports whether another process is the host of the workspace whose data
// directory is dir, which need not be writable.
func Hosted(dir string) bool {
	f := flock.New(filepath.Join(dir, hostLock), flock.SetFlag(os.O_RDONLY))
	free, err := f.TryRLock()
	if free {
		_ = f.Unlock() // it was only a look
	}
	return err == nil && !free
}

// Unlock lets another process be the host.
func (l *HostLock) Unlock() error { return l.file.Unlock() }

// holder reads who holds the lock at path.
func holder(path string) *HeldError {
	e := &HeldError{}
	text, err := os.ReadFile(path)
	if err != nil {
		return e
	}
	pid, since, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	e.PID, _ = strconv.Atoi(pid)
	e.Since, _ = time.Parse(time.RFC3339, since)
	return e
}

// Outdated keeps a database of an older schema from being changed under its host,
// which is an older program then and could not go on. Where there is none, it keeps
// one from starting until done is called.
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
