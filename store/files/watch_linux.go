package files

import (
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// watch has the kernel note what is done to the names of the three files, to those
// of the directories above them, and to the content of the database's file. The note
// is there before whoever did it goes on, and to ask for one is the cheapest look
// there is. What it does not see is another file system mounted above the files and
// what becomes of the log's content, which every commit changes.
type watch struct {
	mu sync.RWMutex
	fd int // of inotify; -1: closed

	// uneasy: something was noted, and since then no look has found all in order.
	uneasy atomic.Bool
}

const (
	namesChange = syscall.IN_CREATE | syscall.IN_DELETE | syscall.IN_MOVED_FROM | syscall.IN_MOVED_TO
	itMoves     = syscall.IN_MOVE_SELF | syscall.IN_DELETE_SELF
	fileChanges = syscall.IN_MODIFY | syscall.IN_ATTRIB
	sameToo     = 0x20000000 // IN_MASK_ADD: a directory may stand above the files twice

	bytesToRead = 0x541B // FIONREAD
)

// local are the file systems on which all that is done to a file is done through
// this kernel, by what statfs calls them.
var local = map[int64]bool{
	0xEF53: true, 0x58465342: true, 0x9123683E: true, // ext4, xfs, btrfs
	0x01021994: true, 0x794C7630: true, 0xF2F52010: true, // tmpfs, overlay, f2fs
	0xCA451A4E: true, 0x2FC12FC1: true, // bcachefs, zfs
}

// watchFile watches the file that path leads to without symbolic links, and that is
// open as fd. nil: it can't be relied on here.
func watchFile(path string, fd int) *watch {
	in, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		return nil
	}
	w := &watch{fd: in}
	w.uneasy.Store(true) // until the first look, which comes after
	add := func(path string, mask uint32) bool {
		var fs syscall.Statfs_t
		if syscall.Statfs(path, &fs) != nil || !local[int64(fs.Type)] { //nolint:unconvert // narrower elsewhere
			return false
		}
		_, err := syscall.InotifyAddWatch(in, path, mask|sameToo)
		return err == nil
	}
	dir := filepath.Dir(path)
	ok := add(link(fd), fileChanges|itMoves) && add(dir, namesChange|itMoves|syscall.IN_ONLYDIR)
	for up := filepath.Dir(dir); ok && up != dir; dir, up = up, filepath.Dir(up) {
		ok = add(up, itMoves|syscall.IN_ONLYDIR)
	}
	if !ok {
		w.close()
		return nil
	}
	return w
}

func (w *watch) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fd >= 0 {
		_ = syscall.Close(w.fd)
		w.fd = -1
	}
}

// quiet reports that nothing was noted since the last look that found all in order.
func (w *watch) quiet() bool {
	if w.uneasy.Load() {
		return false
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	var n int32
	_, _, err := syscall.RawSyscall(syscall.SYS_IOCTL, uintptr(w.fd), bytesToRead, uintptr(unsafe.Pointer(&n)))
	return err == 0 && n == 0
}

// begin is called before a look, and found after one that found all in order. What
// is noted in between is not forgotten.
func (w *watch) begin() {
	w.uneasy.Store(true)
	w.mu.RLock()
	defer w.mu.RUnlock()
	var notes [4096]byte
	for {
		if _, err := syscall.Read(w.fd, notes[:]); err != nil && err != syscall.EINTR {
			return // there are none left
		}
	}
}

func (w *watch) found() { w.uneasy.Store(false) }
