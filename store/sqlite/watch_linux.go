package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Watcher reports the first change of the files after Begin: of their names, of the directories above, and of their
// content. Later changes are not reported, so that a commit costs something only after a rest.
type Watcher struct {
	in   *os.File // of inotify
	news chan struct{}
}

const (
	namesChange = syscall.IN_CREATE | syscall.IN_DELETE | syscall.IN_MOVED_FROM | syscall.IN_MOVED_TO
	itMoves     = syscall.IN_MOVE_SELF | syscall.IN_DELETE_SELF
	anyChange   = syscall.IN_MODIFY | syscall.IN_ATTRIB | itMoves
	once        = 0x80000000 // IN_ONESHOT
)

// localKinds are the file systems, by statfs's numbers, on which every change goes through this kernel.
var localKinds = map[int64]bool{
	0xEF53: true, 0x58465342: true, 0x9123683E: true, // ext4, xfs, btrfs
	0x01021994: true, 0x794C7630: true, 0xF2F52010: true, // tmpfs, overlay, f2fs
	0xCA451A4E: true, 0x2FC12FC1: true, // bcachefs, zfs
}

// NewWatcher returns a watcher whose goroutine, begun by start, runs until Close; nil: the kernel has no such reports.
func NewWatcher(start func(name string, f func())) *Watcher {
	in, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		return nil
	}
	w := &Watcher{in: os.NewFile(uintptr(in), "inotify"), news: make(chan struct{}, 1)}
	start("hear what is done to the database's files", w.hear)
	return w
}

func (w *Watcher) hear() {
	var notes [4096]byte
	for {
		_, err := w.in.Read(notes[:])
		switch {
		case errors.Is(err, fs.ErrClosed):
			return
		case err != nil:
			_ = w.in.Close() // then Begin returns false
		}
		select {
		case w.news <- struct{}{}:
		default:
		}
	}
}

// Begin starts reports of all changes of the files; a check must follow. It returns false if some would be missed: the
// path is a symbolic link, or leads to a file system that other machines change too.
func (w *Watcher) Begin(h *Held) bool {
	if w == nil || h.noted[0] == nil || h.linked {
		return false
	}
	select {
	case <-w.news:
	default:
	}
	ears, err := w.in.SyscallConn()
	if err != nil {
		return false
	}
	ok := true
	err = ears.Control(func(in uintptr) {
		add := func(path string, mask uint32) {
			var fs syscall.Statfs_t
			if ok = ok && syscall.Statfs(path, &fs) == nil && localKinds[int64(fs.Type)]; ok { //nolint:unconvert // narrower elsewhere
				_, err := syscall.InotifyAddWatch(int(in), path, mask|once)
				ok = err == nil
			}
		}
		for _, fd := range h.open.pins {
			add(link(fd), anyChange)
		}
		dir := filepath.Dir(h.paths[0])
		add(dir, namesChange|itMoves|syscall.IN_ONLYDIR)
		for up := filepath.Dir(dir); up != dir; dir, up = up, filepath.Dir(up) {
			add(up, itMoves|syscall.IN_ONLYDIR)
		}
	})
	return ok && err == nil
}

// News returns a channel that holds a token when something changed since Begin.
func (w *Watcher) News() <-chan struct{} { return w.news }

// Close ends the watch. The kernel may take tens of milliseconds for it.
func (w *Watcher) Close() {
	if w != nil {
		_ = w.in.Close()
	}
}
