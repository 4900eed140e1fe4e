package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// trio is the database's three files as SQLite has them open. It compares them
// with what their paths lead to. It never opens or closes the file or -shm: that
// would drop SQLite's locks. An O_PATH descriptor touches no lock and keeps the
// number of a deleted file from being given to another one.
type trio struct {
	pins  [3]pin   // the file, -wal, -shm
	log   *os.File // -wal for reading: SQLite takes no locks on it; nil if it can't be read
	index int      // SQLite's own descriptor of -shm; -1: unknown
	file  int      // one of its own descriptors of the file, as index

	mu   sync.Mutex
	seen state // of the file at the last look
}

// pin is one file.
type pin struct {
	path string
	fd   int // O_PATH
	id   identity
}

// identity is which file it is. What other names -wal and -shm have is nobody's way in:
// theirs are not counted.
type identity struct{ dev, ino, links uint64 }

// state is when a file's content last changed, how far the log had been copied into
// it before, and what it held then.
type state struct {
	size    int64
	mtime   syscall.Timespec
	copied  progress
	unknown bool // the log's index could not be read
	sample  sample
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
	oPath      = 0x200000 // O_PATH, which package syscall lacks
	logHead    = 32       // bytes before the first frame
	frameHead  = 24       // bytes before each page
	copyLock   = 121      // the byte of -shm that is locked while the log is copied into the file
	sharedByte = 0x40000002
	sharedSize = 510
	setOFDLock = 37 // F_OFD_SETLK
)

// identify is the identity of the i-th of the files.
func identify(s *syscall.Stat_t, i int) identity {
	id := identity{dev: s.Dev, ino: s.Ino}
	if i == 0 {
		id.links = uint64(s.Nlink) //nolint:unconvert // narrower elsewhere
	}
	return id
}

// holdTrio notes the files of path, which a connection of this process has open
// and has read from.
func holdTrio(path string) (_ *trio, err error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	t := &trio{index: -1, file: -1}
	for i := range t.pins {
		t.pins[i].fd = -1
	}
	defer func() {
		if err != nil {
			t.release()
		}
	}()
	for i, p := range [...]string{path, real + "-wal", real + "-shm"} {
		var s syscall.Stat_t
		fd, err := syscall.Open(p, oPath|syscall.O_CLOEXEC, 0)
		if err == nil {
			t.pins[i] = pin{path: p, fd: fd}
			err = syscall.Fstat(fd, &s)
		}
		if err != nil {
			return nil, fmt.Errorf("look at %s: %w", p, err)
		}
		t.pins[i].id = identify(&s, i)
	}
	if n := t.pins[0].id.links; n > 1 {
		return nil, (&damage{away, path, fmt.Sprintf("has %d names (hard links)", n)}).err(
			"whoever opens it by another one overwrites what is written here: remove the others (find DIR -samefile FILE lists them)")
	}
	open := descriptors()
	for i, p := range t.pins {
		fds, known := open[identity{dev: p.id.dev, ino: p.id.ino}], open != nil
		if known && len(fds) == 0 {
			return nil, (&damage{replaced, p.path, "was replaced while it was opened"}).err("try again")
		}
		switch {
		case i == 0 && known:
			t.file = fds[0]
		case i == 2 && known:
			t.index = fds[0]
		}
	}
	t.log, _ = os.Open(link(t.pins[1].fd))
	h, known := t.head()
	var s syscall.Stat_t
	if err := syscall.Fstat(t.pins[0].fd, &s); err != nil {
		return nil, err
	}
	t.seen = state{s.Size, s.Mtim, h.progress, !known, t.take(s.Size, h)}
	return t, nil
}

// descriptors are this process's open files but for O_PATH ones; nil if the
// system does not tell.
func descriptors() map[identity][]int {
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil
	}
	open := make(map[identity][]int, len(names))
	for _, n := range names {
		fd, err := strconv.Atoi(n.Name())
		if err != nil {
			continue
		}
		flags, _, e := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFL, 0)
		var s syscall.Stat_t
		if e != 0 || flags&oPath != 0 || syscall.Fstat(fd, &s) != nil {
			continue
		}
		id := identity{dev: s.Dev, ino: s.Ino}
		open[id] = append(open[id], fd)
	}
	return open
}

// link is a path to the file of a descriptor, whatever became of its name.
func link(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

func (t *trio) release() {
	for _, p := range t.pins {
		if p.fd >= 0 {
			_ = syscall.Close(p.fd)
		}
	}
	if t.log != nil {
		_ = t.log.Close()
	}
}

// calm reports that nothing needs a look: the paths lead where they led, and the
// file's content is what it was at the last look. It is safe for concurrent use.
func (t *trio) calm() bool {
	var s syscall.Stat_t
	for i := len(t.pins) - 1; i >= 0; i-- { // the file last: s is its
		if syscall.Stat(t.pins[i].path, &s) != nil || identify(&s, i) != t.pins[i].id {
			return false
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return s.Size == t.seen.size && s.Mtim == t.seen.mtime
}

// look compares the files with what SQLite has open; nil: nothing happened to
// them. A connection is open meanwhile.
func (t *trio) look() *damage {
	// The index is read before the files' times, so that what is copied in between
	// counts as not seen.
	h, known := t.head()
	var now [3]syscall.Stat_t
	named := t.named(&now)
	if named == nil {
		if d := t.short(h, known, now[1].Size); d != nil {
			return d
		}
	}
	// A log must not be put back beside a file that somebody overwrote. With
	// another -shm, though, the one that is open can't tell who wrote to the file.
	if named == nil || named.harm == journal {
		if d := t.content(h, known, &now[0]); d != nil {
			return d
		}
	}
	return named
}

// named compares what the paths lead to, which now becomes, up to the first that
// leads elsewhere.
func (t *trio) named(now *[3]syscall.Stat_t) *damage {
	for i, p := range t.pins {
		err := syscall.Stat(p.path, &now[i])
		id := identify(&now[i], i)
		if err == nil && id == p.id {
			continue
		}
		var held syscall.Stat_t
		if e := syscall.Fstat(p.fd, &held); e != nil {
			return &damage{away, p.path, "can't be looked at: " + e.Error()}
		}
		harm := [...]harm{replaced, journal, index}[i]
		switch {
		case err == nil && id.dev == p.id.dev && id.ino == p.id.ino:
			return &damage{away, p.path, fmt.Sprintf("has %d names (hard links)", id.links)}
		case err == nil:
			return &damage{harm, p.path, "was replaced by another file"}
		case !errors.Is(err, syscall.ENOENT) && !errors.Is(err, syscall.ENOTDIR):
			return &damage{away, p.path, "can't be looked at: " + err.Error()}
		case held.Nlink == 0 && i == 0:
			return &damage{deleted, p.path, "was deleted"}
		case held.Nlink == 0:
			return &damage{harm, p.path, "was deleted"}
		case i == 0:
			return &damage{away, p.path, "was moved" + t.whither(p)}
		default:
			return &damage{harm, p.path, "was moved" + t.whither(p)}
		}
	}
	return nil
}

// whither says where a file is now, if the system tells.
func (t *trio) whither(p pin) string {
	to, err := os.Readlink(link(p.fd))
	if err != nil || to == p.path || strings.HasSuffix(to, " (deleted)") {
		return ""
	}
	return " to " + to
}

// content finds a file that changed although, as the log's index says, SQLite
// copied nothing into it. One whose time was set holds what it held. The index was
// before, and the file is s.
func (t *trio) content(before head, known bool, s *syscall.Stat_t) *damage {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.Size == t.seen.size && s.Mtim == t.seen.mtime {
		if before.progress != t.seen.copied { // its end may fall into the same tick of the file's clock
			t.seen.sample = t.take(s.Size, before)
		}
		t.seen.copied, t.seen.unknown = before.progress, !known
		return nil
	}
	copying := t.copying()
	if after, ok := t.head(); ok && !t.seen.unknown && !copying && after.progress == t.seen.copied {
		if s.Size != t.seen.size || !t.holds(t.seen.sample) {
			return &damage{overwritten, t.pins[0].path, "was overwritten"}
		}
		t.seen.mtime = s.Mtim
		return nil
	}
	t.seen = state{s.Size, s.Mtim, before.progress, !known, t.take(s.Size, before)}
	return nil
}

// copying reports whether another process is copying the log into the file.
func (t *trio) copying() bool {
	l := syscall.Flock_t{Type: syscall.F_WRLCK, Start: copyLock, Len: 1}
	return t.index >= 0 && (syscall.FcntlFlock(uintptr(t.index), syscall.F_GETLK, &l) != nil || l.Type != syscall.F_UNLCK)
}

// short finds a log that lacks what is committed in it. Its index is h, if that is
// known, and its size was read after that.
func (t *trio) short(h head, known bool, size int64) *damage {
	if t.log == nil {
		return nil
	}
	for range 3 { // another process may be writing; the writer itself keeps them out
		if !known || h.frames == 0 {
			return nil
		}
		var salt [8]byte
		_, err := t.log.ReadAt(salt[:], 16)
		whole := size >= logHead+int64(h.frames)*(frameHead+h.page) && err == nil
		if whole && salt == h.salt {
			return nil
		}
		again, ok := t.head()
		if ok && again == h {
			if whole {
				return &damage{overwritten, t.pins[1].path, "was overwritten"}
			}
			return &damage{overwritten, t.pins[1].path, "was cut short"}
		}
		var s syscall.Stat_t
		if syscall.Fstat(t.pins[1].fd, &s) != nil {
			return nil
		}
		h, known, size = again, ok, s.Size
	}
	return nil
}

// head reads the start of -shm through SQLite's own descriptor; false if that
// is not to be had or is being written. The layout is SQLite's documented
// wal-index format.
func (t *trio) head() (h head, known bool) {
	var s syscall.Stat_t
	if t.index < 0 || syscall.Fstat(t.index, &s) != nil || s.Dev != t.pins[2].id.dev || s.Ino != t.pins[2].id.ino {
		return h, false
	}
	var b [136]byte
	if n, err := syscall.Pread(t.index, b[:], 0); err != nil || n != len(b) {
		return h, false
	}
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

// missing waits while another process has the file at path open although -wal or
// -shm is not there. Who opened the file then would make new ones and see nothing
// of what that process has acknowledged. A process that begins or ends is like that
// for a moment, one whose files somebody deleted until its next write.
func missing(ctx context.Context, path string) error {
	late := time.NewTimer(busyTimeout)
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
			return (&damage{journal, lacks, "is missing"}).err("process " + holder +
				" has the database open and keeps what is in it: it puts it back with its next write, or when it ends; then try again")
		}
	}
}

// holder is the number of another process that holds SQLite's lock on the file;
// "" if there is none, or the system does not tell.
func holder(path string) string {
	var s syscall.Stat_t
	locks, err := os.ReadFile("/proc/locks")
	if err != nil || syscall.Stat(path, &s) != nil {
		return ""
	}
	inode, start, self := ":"+strconv.FormatUint(s.Ino, 10), strconv.Itoa(sharedByte), strconv.Itoa(os.Getpid())
	for line := range strings.Lines(string(locks)) {
		// 1: POSIX ADVISORY READ PID DEVICE:INODE START END
		f := strings.Fields(line)
		if len(f) == 8 && f[1] == "POSIX" && strings.HasSuffix(f[5], inode) && f[6] == start && f[4] != self {
			return f[4]
		}
	}
	return ""
}
