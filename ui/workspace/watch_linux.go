package workspace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// listener receives the kernel's events about directories, until it is told to end. It blocks a thread in the kernel,
// as Waker does: a goroutine that waits in the runtime's poller is woken at every tick of every timer.
type listener struct {
	fd   int // of inotify
	over int // of an eventfd; it becomes readable at the end, even if the directories are gone
}

func listen() (listener, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return listener{}, os.NewSyscallError("inotify_init1", err)
	}
	over, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		_ = unix.Close(fd)
		return listener{}, os.NewSyscallError("eventfd", err)
	}
	return listener{fd, over}, nil
}

// hear waits for events and reads them into buf; 0: it must end.
func (l listener) hear(buf []byte) int {
	waits := []unix.PollFd{{Fd: int32(l.fd), Events: unix.POLLIN}, {Fd: int32(l.over), Events: unix.POLLIN}}
	for {
		if _, err := unix.Poll(waits, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return 0
		}
		if waits[1].Revents != 0 {
			return 0
		}
		n, err := unix.Read(l.fd, buf)
		switch {
		case n > 0:
			return n
		case err != nil && !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN):
			return 0
		}
	}
}

// end makes every hear return 0.
func (l listener) end() error {
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	_, err := unix.Write(l.over, one[:])
	return os.NewSyscallError("write", err)
}

// free closes the descriptors, once no goroutine waits.
func (l listener) free() error { return errors.Join(unix.Close(l.fd), unix.Close(l.over)) }

// watch waits for changes in a directory that may come and go below a parent.
type watch struct {
	listener
	above int // the watch of the parent
	in    int // that of the directory; -1: it is not there
	dir   string
	name  []byte
}

const (
	comesOrGoes = syscall.IN_CREATE | syscall.IN_MOVED_TO | syscall.IN_MOVED_FROM | syscall.IN_DELETE | syscall.IN_ONLYDIR
	isWritten   = syscall.IN_CLOSE_WRITE
)

func newWatch(root, dir string) (*watch, error) {
	l, err := listen()
	if err != nil {
		return nil, err
	}
	w := &watch{listener: l, in: -1, dir: dir, name: []byte(filepath.Base(dir))}
	if w.above, err = syscall.InotifyAddWatch(l.fd, root, comesOrGoes); err != nil {
		return nil, errors.Join(os.NewSyscallError("inotify_add_watch", err), l.free())
	}
	w.look()
	return w, nil
}

// look watches the directory, if it exists.
func (w *watch) look() {
	if wd, err := syscall.InotifyAddWatch(w.fd, w.dir, comesOrGoes|isWritten); err == nil {
		w.in = wd
	}
}

// changed waits for a change; false: the watch was closed.
func (w *watch) changed() bool {
	buf := make([]byte, 16<<10)
	for n := w.hear(buf); n > 0; n = w.hear(buf) {
		if w.concerns(buf[:n]) {
			return true
		}
	}
	return false
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
func (w *watch) close() error { return w.end() }
