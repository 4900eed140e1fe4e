package watch

import (
	"bytes"
	"encoding/binary"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
)

// dirs waits for changes in directories, as watch does in one.
type dirs struct {
	fd     int
	of     func() map[string][]string
	root   int                // a watch that tells nothing; its end ends changed
	names  map[int32][]string // what counts in each that is watched; nil: all
	closed atomic.Bool
}

func newDirs(of func() map[string][]string) (*dirs, error) {
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	d := &dirs{fd: fd, of: of, names: map[int32][]string{}}
	if d.root, err = syscall.InotifyAddWatch(fd, "/", syscall.IN_DELETE_SELF); err != nil {
		syscall.Close(fd)
		return nil, os.NewSyscallError("inotify_add_watch", err)
	}
	d.look()
	return d, nil
}

// look watches those of the directories that are there.
func (d *dirs) look() {
	for dir, names := range d.of() {
		if wd, err := syscall.InotifyAddWatch(d.fd, dir, comesOrGoes|isWritten); err == nil && wd != d.root {
			d.names[int32(wd)] = names
		}
	}
}

// changed waits for a change; false: the watch was closed.
func (d *dirs) changed() bool {
	buf := make([]byte, 16<<10)
	for {
		n, err := syscall.Read(d.fd, buf)
		if d.closed.Load() || err != nil && err != syscall.EINTR {
			return false
		}
		if n > 0 && d.concerns(buf[:n]) {
			return true
		}
	}
}

// concerns reports whether one of the events counts.
func (d *dirs) concerns(events []byte) (is bool) {
	for len(events) >= syscall.SizeofInotifyEvent {
		wd := int32(binary.NativeEndian.Uint32(events))
		mask := binary.NativeEndian.Uint32(events[4:])
		end := syscall.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(events[12:]))
		name := string(bytes.TrimRight(events[syscall.SizeofInotifyEvent:end], "\x00"))
		events = events[end:]
		names, watched := d.names[wd]
		switch {
		case mask&syscall.IN_Q_OVERFLOW != 0:
			is = true
		case mask&syscall.IN_IGNORED != 0: // it is gone
			delete(d.names, wd)
		case watched && (names == nil || slices.Contains(names, name)):
			is = true
		}
	}
	return is
}

// close ends changed.
func (d *dirs) close() error {
	d.closed.Store(true)
	_, err := syscall.InotifyRmWatch(d.fd, uint32(d.root)) // which is an event
	return err
}

// free lets the kernel's part go, once nobody waits any more.
func (d *dirs) free() error { return syscall.Close(d.fd) }
