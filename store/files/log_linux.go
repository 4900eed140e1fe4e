package files

import (
	"bytes"
	"encoding/binary"
	"os"
	"syscall"
)

// wal is the log as SQLite has it open, with the start of its index. A frame that
// was committed stays as it is until the log starts over, which is when all of it
// is in the file: so the last one tells whether anything was taken away before it.
type wal struct {
	path  string
	file  *os.File // for reading: SQLite takes no locks on the log; nil if it can't be read
	fd    int      // file's
	index []byte   // the start of -shm, shared with all who have it open; nil: unknown

	seen  head   // what the index said when the log was last found whole
	last  []byte // the last frame then; empty: there was none
	frame []byte // room for one
}

// progress is which log is being copied into the file, and how far that went.
type progress struct {
	salt        [8]byte
	begun, done uint32 // frames
}

// head is the part of -shm that is looked at.
type head struct {
	progress
	frames uint32 // committed ones in the log
	page   int64  // bytes
}

const (
	indexHead = 136 // bytes of -shm that are looked at
	logHead   = 32  // bytes before the first frame
	frameHead = 24  // bytes before each page
)

// openLog reads the log and index that are open as the descriptors fd and index of
// this process. A mapping, other than a descriptor, can be let go of without
// dropping SQLite's locks, and to read it costs nothing.
func openLog(path string, fd, index int) (w wal) {
	w.path, w.fd = path, -1
	if f, err := os.Open(link(fd)); err == nil {
		w.file, w.fd = f, int(f.Fd())
	}
	if index >= 0 {
		w.index, _ = syscall.Mmap(index, 0, indexHead, syscall.PROT_READ, syscall.MAP_SHARED)
	}
	return w
}

func (w *wal) close() {
	if w.file != nil {
		_ = w.file.Close()
	}
	if w.index != nil {
		_ = syscall.Munmap(w.index)
	}
	w.file, w.index = nil, nil
}

// head reads the index; false if it is not to be had or is being written. The
// layout is SQLite's documented wal-index format.
func (w *wal) head() (h head, known bool) {
	if w.index == nil {
		return h, false
	}
	var b [indexHead]byte
	copy(b[:], w.index)
	if b[12] != 1 || string(b[:48]) != string(b[48:96]) {
		return h, false
	}
	native := binary.NativeEndian
	h.page = int64(native.Uint16(b[14:]))
	if h.page == 1 {
		h.page = 1 << 16
	}
	h.frames = native.Uint32(b[16:])
	copy(h.salt[:], b[32:40])
	h.done, h.begun = native.Uint32(b[96:]), native.Uint32(b[128:])
	return h, true
}

// read reads the n-th frame into w.frame; false if the log does not have all of it.
func (w *wal) read(h head, n uint32) bool {
	size := int(frameHead + h.page)
	if cap(w.frame) < size {
		w.frame = make([]byte, size)
	}
	w.frame = w.frame[:size]
	got, err := syscall.Pread(w.fd, w.frame, logHead+int64(n-1)*int64(size))
	return err == nil && got == size
}

// lacks is what was done to a log that does not hold what its index says; "": nothing.
func (w *wal) lacks(h head) string {
	if !w.read(h, h.frames) {
		return "was cut short"
	}
	var salt [8]byte
	n, err := syscall.Pread(w.fd, salt[:], 16)
	if err != nil || n != len(salt) || salt != h.salt || !bytes.Equal(w.frame[8:16], h.salt[:]) {
		return "was overwritten"
	}
	return ""
}

// whole finds a log that lacks what is committed in it, and remembers its end.
func (w *wal) whole(h head, known bool) *Damage {
	w.last = w.last[:0]
	for range 3 { // another process may be writing; the writer itself keeps them out
		if w.file == nil || !known || h.frames == 0 {
			return nil
		}
		what := w.lacks(h)
		if what == "" {
			w.seen, w.last, w.frame = h, w.frame, w.last
			return nil
		}
		again, ok := w.head()
		if ok && again == h {
			return &Damage{Overwritten, w.path, what}
		}
		h, known = again, ok
	}
	return nil
}

// kept finds a log that lacks what was just committed, or what was in it before: one
// that is cut while a transaction runs grows again with its commit, around a hole.
func (w *wal) kept() *Damage {
	h, known := w.head()
	if known && len(w.last) > 0 && h.salt == w.seen.salt && (!w.read(h, w.seen.frames) || !bytes.Equal(w.frame, w.last)) {
		if again, ok := w.head(); ok && again.salt == w.seen.salt {
			return &Damage{Overwritten, w.path, "was cut short or overwritten while it was written to"}
		}
	}
	return w.whole(h, known)
}
