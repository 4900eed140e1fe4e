package sqlite

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

// SettleFiles waits, for patience, while another process has the file at path open although -wal or -shm is missing. A
// process that opened the file then would make new ones and miss everything that the other has acknowledged. This is so
// for a moment while a process starts or ends. If its files were deleted, it is so until it ends.
func SettleFiles(ctx context.Context, path string, patience time.Duration) error {
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
			return (&Damage{Log, lacks, "is missing"}).Err("process " + holder +
				" has the database open and keeps what was in it: end that process and try again")
		}
	}
}

// holder is the number of another process that holds SQLite's lock on the file; "" if there is none, or if it is
// unknown.
func holder(path string) string {
	var s syscall.Stat_t
	open := descriptors()
	if open == nil || syscall.Stat(path, &s) != nil {
		return ""
	}
	const sharedByte, sharedSize = 0x40000002, 510 // the bytes that SQLite locks
	var fd int
	if fds := open[identity{dev: s.Dev, ino: s.Ino}]; len(fds) > 0 {
		fd = fds[0]
	} else { // else closing one would drop all locks of this process on the file
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
