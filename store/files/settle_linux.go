package files

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Settle waits, for patience, while another process has the file at path open although -wal or
// -shm is not there. Who opened the file then would make new ones and see nothing
// of what that process has acknowledged. A process that begins or ends is like that
// for a moment, one whose files somebody deleted until its next write.
func Settle(ctx context.Context, path string, patience time.Duration) error {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return nil // there is no file
		}
		lacks := ""
		for _, p := range []string{real + "-wal", real + "-shm"} {
			if _, err := os.Lstat(p); errors.Is(err, fs.ErrNotExist) {
				lacks = p
			}
		}
		if lacks == "" {
			return nil
		}
		holder := holder(real)
		if holder == "" {
			return nil
		}
		again := time.NewTimer(5 * time.Millisecond)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return ctx.Err()
		case <-late.C:
			again.Stop()
			return (&Damage{Journal, lacks, "is missing"}).Err("process " + holder +
				" has the database open and keeps what is in it: it puts it back with its next write, or when it ends; then try again")
		}
	}
}

// holder is the number of another process that holds SQLite's lock on the file;
// "" if there is none, or the system does not tell.
func holder(path string) string {
	var s syscall.Stat_t
	open := descriptors()
	if open == nil || syscall.Stat(path, &s) != nil {
		return ""
	}
	var fd int
	if fds := open[identity{dev: s.Dev, ino: s.Ino}]; len(fds) > 0 {
		fd = fds[0]
	} else { // else to close one would drop all locks that this process has on the file
		var err error
		if fd, err = syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0); err != nil {
			return ""
		}
		defer func() { _ = syscall.Close(fd) }()
	}
	l := syscall.Flock_t{Type: syscall.F_WRLCK, Start: sharedByte, Len: sharedSize}
	if syscall.FcntlFlock(uintptr(fd), syscall.F_GETLK, &l) != nil || l.Type == syscall.F_UNLCK {
		return ""
	}
	return strconv.Itoa(int(l.Pid))
}
