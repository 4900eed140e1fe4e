package watch

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
)

// watch waits for changes in a directory that may come and go below a parent. Its
// reads block a thread in the kernel, as the bell's do: a goroutine that waits in
// the runtime's poller is woken at every tick of every timer.
type watch struct {
	fd     int
	above  int // the watch of the parent
	in     int // that of the directory; -1: it is not there
	dir    string
	name   []byte
	closed atomic.Bool
}

const (
	comesOrGoes = syscall.IN_CREATE | syscall.IN_MOVED_TO | syscall.IN_MOVED_FROM | syscall.IN_DELETE | syscall.IN_ONLYDIR
	isWritten   = syscall.IN_CLOSE_WRITE
)

func newWatch(root, dir string) (*watch, error) {
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	w := &watch{fd: fd, in: -1, dir: dir, name: []byte(filepath.Base(dir))}
	if w.above, err = syscall.InotifyAddWatch(fd, root, comesOrGoes); err != nil {
		syscall.Close(fd)
		return nil, os.NewSyscallError("inotify_add_watch", err)
	}
	w.look()
	return w, nil
}

// look watches the directory, if it is there.
func (w *watch) look() {
	if wd, err := syscall.InotifyAddWatch(w.fd, w.dir, comesOrGoes|isWritten); err == nil {
		w.in = wd
	}
}

// changed waits for a change; false: the watch was closed.
func (w *watch) changed() bool {
	buf := make([]byte, 16<<10)
	for {
		n, err := syscall.Read(w.fd, buf)
		if w.closed.Load() || err != nil && err != syscall.EINTR {
			return false
		}
		if n > 0 && w.concerns(buf[:n]) {
			return true
		}
	}
}

// concerns reports whether one of the events is about the directory.
func (w *watch) concerns(events []byte) (is bool) {
	for len(events) >= syscall.SizeofInotifyEvent {
		wd := int(int32(binary.NativeEndian.Uint32(events)))
		mask := binary.NativeEndian.Uint32(events[4:])
		end := syscall.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(events[12:]))
		name := bytes.TrimRight(events[syscall.SizeofInotifyEvent:end], "\x00")
		events = events[end:]
		switch {
		case mask&syscall.IN_Q_OVERFLOW != 0, wd == w.above && bytes.Equal(name, w.name):
			w.look()
			is = true
		case wd == w.in && mask&syscall.IN_IGNORED == 0:
			is = true
		}
	}
	return is
}

// close ends changed.
func (w *watch) close() error {
	w.closed.Store(true)
	_, err := syscall.InotifyRmWatch(w.fd, uint32(w.above)) // which is an event
	return err
}

// free lets the kernel's part go, once nobody waits any more.
func (w *watch) free() error { return syscall.Close(w.fd) }
