package files

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// news are the kernel's reports about a workspace's directories.
type news struct {
	file *os.File // of inotify; the garbage collector closes it
	fd   int
	dirs map[int32]string // by the number of a watch, from the root
	of   map[string]int32
	buf  []byte
}

// told are the reported events of a directory: names that come and go in it, and its own removal.
const told = unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_MOVED_FROM | unix.IN_DELETE | unix.IN_ATTRIB | unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW | unix.IN_EXCL_UNLINK

// listen asks the kernel for reports; nil if there are none.
func listen() *news {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil
	}
	return &news{file: os.NewFile(uintptr(fd), "inotify"), fd: fd, dirs: map[int32]string{}, of: map[string]int32{}, buf: make([]byte, 64<<10)}
}

// watch asks for reports about a directory; false: the kernel accepts no more directories.
func (n *news) watch(root, rel string) bool {
	mask := uint32(told)
	if rel == "" {
		mask |= unix.IN_MOVE_SELF | unix.IN_DELETE_SELF
	}
	wd, err := unix.InotifyAddWatch(n.fd, filepath.Join(root, rel), mask)
	switch {
	case err == nil:
		n.dirs[int32(wd)], n.of[rel] = rel, int32(wd)
		return true
	case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ELOOP):
		return rel != "" // it is gone, or not watched
	}
	return false
}

// take brings t up to date with all reports; false: that is not possible.
func (n *news) take(t *ObeyedTree) bool {
	for {
		got, err := unix.Read(n.fd, n.buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if errors.Is(err, unix.EAGAIN) {
			return t.news != nil
		}
		if err != nil || got <= 0 {
			return false
		}
		for b := n.buf[:got]; len(b) >= unix.SizeofInotifyEvent; {
			wd, mask, size := int32(binary.NativeEndian.Uint32(b)), binary.NativeEndian.Uint32(b[4:]), binary.NativeEndian.Uint32(b[12:])
			name := strings.TrimRight(string(b[unix.SizeofInotifyEvent:unix.SizeofInotifyEvent+size]), "\x00")
			b = b[unix.SizeofInotifyEvent+size:]
			if !n.event(t, wd, mask, name) {
				return false
			}
		}
	}
}

// event handles one report.
func (n *news) event(t *ObeyedTree, wd int32, mask uint32, name string) bool {
	rel, known := n.dirs[wd]
	switch {
	case mask&(unix.IN_Q_OVERFLOW|unix.IN_UNMOUNT|unix.IN_MOVE_SELF|unix.IN_DELETE_SELF) != 0:
		return false // more changed than is reported
	case mask&unix.IN_IGNORED != 0:
		if known && n.of[rel] == wd {
			delete(n.of, rel)
		}
		delete(n.dirs, wd)
	case !known:
	case mask&(unix.IN_DELETE|unix.IN_MOVED_FROM) != 0:
		at := filepath.Join(rel, name)
		if t.forget(at); mask&unix.IN_ISDIR != 0 {
			n.leave(at)
		}
	case mask&unix.IN_ATTRIB != 0 && (name == "" || mask&unix.IN_ISDIR == 0 || n.has(filepath.Join(rel, name))):
	default: // it is new, or a directory that was unreadable
		i, err := os.Lstat(filepath.Join(t.root, rel, name))
		if err != nil {
			return true // it vanished, and a report says so
		}
		t.looked++
		t.entry(rel, name, i.Mode())
	}
	return true
}

// has reports whether the directory is watched.
func (n *news) has(rel string) bool { _, is := n.of[rel]; return is }

// leave ends the reports about a directory that has moved, and about everything below it.
func (n *news) leave(at string) {
	for rel, wd := range n.of {
		if rel == at || strings.HasPrefix(rel, at+"/") {
			_, _ = unix.InotifyRmWatch(n.fd, uint32(wd)) // it is gone already, or is now
			delete(n.dirs, wd)
			delete(n.of, rel)
		}
	}
}
