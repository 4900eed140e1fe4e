package workspace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
)

// several waits for changes in directories, in a thread that blocks in the kernel, as watch does.
type several struct {
	listener
	root    int // its watch
	matters func(name string) bool
	closed  atomic.Bool
	fresh   atomic.Bool // a directory is newly watched; changes in it before that must be reported

	mu  sync.Mutex
	dir map[string]int // the watches except that of root
}

func newSeveral(root string, matters func(name string) bool) (*several, error) {
	l, err := listen()
	if err != nil {
		return nil, err
	}
	wd, err := syscall.InotifyAddWatch(l.fd, root, comesOrGoes|isWritten)
	if err != nil {
		return nil, errors.Join(os.NewSyscallError("inotify_add_watch", err), l.free())
	}
	return &several{listener: l, root: wd, matters: matters, dir: map[string]int{}}, nil
}

// set watches those directories, and no others. A directory that was recreated gets another watch than before.
func (s *several) set(dirs []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed.Load() {
		return
	}
	old := s.dir
	s.dir = map[string]int{}
	for _, dir := range dirs {
		if wd, err := syscall.InotifyAddWatch(s.fd, dir, comesOrGoes|isWritten); err == nil && wd != s.root {
			s.dir[dir] = wd
		}
	}
	had, kept := map[int]bool{}, map[int]bool{}
	for _, wd := range old {
		had[wd] = true
	}
	for _, wd := range s.dir {
		if kept[wd] = true; !had[wd] {
			s.fresh.Store(true)
		}
	}
	for _, wd := range old {
		if !kept[wd] {
			_, _ = syscall.InotifyRmWatch(s.fd, uint32(wd)) // it may be gone with its directory
		}
	}
}

// changed waits for a change; false: the watch was closed.
func (s *several) changed() bool {
	if s.fresh.Swap(false) && !s.closed.Load() {
		return true
	}
	buf := make([]byte, 16<<10)
	for n := s.hear(buf); n > 0; n = s.hear(buf) {
		if s.concerns(buf[:n]) {
			return true
		}
	}
	return false
}

// concerns reports whether one of the events matters.
func (s *several) concerns(events []byte) (is bool) {
	for len(events) >= syscall.SizeofInotifyEvent {
		mask := binary.NativeEndian.Uint32(events[4:])
		end := syscall.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(events[12:]))
		name := bytes.TrimRight(events[syscall.SizeofInotifyEvent:end], "\x00")
		events = events[end:]
		switch {
		case mask&syscall.IN_Q_OVERFLOW != 0, mask&syscall.IN_ISDIR != 0:
			is = true
		case mask&syscall.IN_IGNORED == 0 && s.matters(string(name)):
			is = true
		}
	}
	return is
}

// watching returns the watched directories except root, in order.
func (s *several) watching() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var dirs []string
	for dir := range s.dir {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	return dirs
}

// close ends changed.
func (s *several) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed.Store(true)
	return s.end()
}
