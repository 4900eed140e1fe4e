package sqlite

import (
	"bytes"
	"encoding/binary"
	"syscall"
)

// wal is the log as SQLite has it open, with the start of its index. A committed frame is unchanged until the log
// starts over, and then its content is in the file: so the last frame shows whether anything before it was taken away.
type wal struct {
	fd    int    // for reading: SQLite takes no locks on the log; -1: unreadable
	index []byte // the start of -shm, shared with all processes that have it open; nil: unknown

	seen  head   // the head when the log was last found whole
	last  []byte // the last frame then; empty: there was none
	frame []byte // a buffer for one
}

// progress is which log is being copied into the file, and how far that went.
type progress struct {
	salt        [8]byte
	begun, done uint32 // frames
}

// runs reports whether a copy may be running.
func (p progress) runs() bool { return p.begun != p.done }

// head is the part of -shm that is read.
type head struct {
	progress
	frames uint32 // committed ones in the log
	page   int64  // bytes
	known  bool   // else unreadable, or being written
}

const (
	indexHead = 136 // bytes of -shm that are read
	logHead   = 32  // bytes before the first frame
	frameHead = 24  // bytes before each page
)

// openLog reads the log and index that are open as the descriptors pin and index of this process. Unlike a descriptor,
// a mapping can be released without dropping SQLite's locks, and reading it costs nothing.
func openLog(pin, index int) (w wal) {
	var err error
	if w.fd, err = syscall.Open(link(pin), syscall.O_RDONLY|syscall.O_CLOEXEC, 0); err != nil {
		w.fd = -1
	}
	if index >= 0 {
		w.index, _ = syscall.Mmap(index, 0, indexHead, syscall.PROT_READ, syscall.MAP_SHARED)
	}
	return w
}

func (w *wal) close() {
	if w.fd >= 0 {
		_ = syscall.Close(w.fd)
	}
	if w.index != nil {
		_ = syscall.Munmap(w.index)
	}
}

// head reads the index. The layout is SQLite's documented wal-index format.
func (w *wal) head() (h head) {
	if w.index == nil {
		return h
	}
	var b [indexHead]byte
	copy(b[:], w.index)
	if b[12] != 1 || string(b[:48]) != string(b[48:96]) {
		return h
	}
	native := binary.NativeEndian
	h.known = true
	h.page = int64(native.Uint16(b[14:]))
	if h.page == 1 {
		h.page = 1 << 16
	}
	h.frames = native.Uint32(b[16:])
	copy(h.salt[:], b[32:40])
	h.done, h.begun = native.Uint32(b[96:]), native.Uint32(b[128:])
	return h
}

// read reads the n-th frame into w.frame; false if the log is too short.
func (w *wal) read(h head, n uint32) bool {
	size := int(frameHead + h.page)
	if cap(w.frame) < size {
		w.frame = make([]byte, size)
	}
	w.frame = w.frame[:size]
	got, err := syscall.Pread(w.fd, w.frame, logHead+int64(n-1)*int64(size))
	return err == nil && got == size
}

// lacks says how a log was changed so that it lacks committed frames; "": it is whole. It remembers the log's end.
func (w *wal) lacks(h head) string {
	for range 3 { // another process may be writing; a writer excludes that
		if w.fd < 0 || !h.known {
			return ""
		}
		what := w.compare(h)
		if what == "" {
			return ""
		}
		again := w.head()
		if again == h {
			return what
		}
		h = again
	}
	return ""
}

// compare is lacks for a head that does not change meanwhile. A log that is cut during a transaction grows again with
// the commit, around a hole: so compare also checks its former end.
func (w *wal) compare(h head) string {
	if len(w.last) > 0 && h.salt == w.seen.salt {
		if !w.read(h, w.seen.frames) || !bytes.Equal(w.frame, w.last) {
			return "was cut short or overwritten"
		}
		if h.frames == w.seen.frames {
			return ""
		}
	}
	if h.frames == 0 {
		w.last = w.last[:0]
		return ""
	}
	if !w.read(h, h.frames) {
		return "was cut short"
	}
	var salt [8]byte
	n, err := syscall.Pread(w.fd, salt[:], 16)
	if err != nil || n != len(salt) || salt != h.salt || !bytes.Equal(w.frame[8:16], h.salt[:]) {
		return "was overwritten"
	}
	w.seen, w.last, w.frame = h, w.frame, w.last
	return ""
}
