package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

// trio is the database's three files as SQLite has them open. It compares them
// with what their paths lead to. It never opens or closes the file or -shm: that
// would drop SQLite's locks. An O_PATH descriptor touches no lock and keeps the
// number of a deleted file from being given to another one.
type trio struct {
	pins  [3]pin // the file, -wal, -shm
	log   wal
	watch atomic.Pointer[watch] // nil: each look asks for the paths
	index int                   // SQLite's own descriptor of -shm; -1: unknown
	file  int                   // one of its own descriptors of the file, as index

	mu   sync.Mutex
	seen state // of the file at the last look

	watchable bool // the path is no symbolic link
	glances   int  // the writer alone counts
}

// watchFrom is the glance from which the files are watched: to let a watch go takes the
// kernel tens of milliseconds, which whoever writes a few times and ends would wait for.
const watchFrom = 64

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
	begun   bool // somebody was copying, so the sample may be of the midst of it
	sample  sample
}

const (
	oPath      = 0x200000 // O_PATH, which package syscall lacks
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
	t := &trio{index: -1, file: -1, log: wal{fd: -1}}
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
		return nil, (&Damage{Away, path, fmt.Sprintf("has %d names (hard links)", n)}).Err(
			"whoever opens it by another one overwrites what is written here: remove the others (find DIR -samefile FILE lists them)")
	}
	open := descriptors()
	for i, p := range t.pins {
		fds, known := open[identity{dev: p.id.dev, ino: p.id.ino}], open != nil
		if known && len(fds) == 0 {
			return nil, (&Damage{Replaced, p.path, "was replaced while it was opened"}).Err("try again")
		}
		switch {
		case i == 0 && known:
			t.file = fds[0]
		case i == 2 && known:
			t.index = fds[0]
		}
	}
	t.watchable = real == path
	t.log = openLog(t.pins[1].path, t.pins[1].fd, t.index)
	h, known := t.log.head()
	var s syscall.Stat_t
	if err := syscall.Fstat(t.pins[0].fd, &s); err != nil {
		return nil, err
	}
	t.seen = t.state(&s, h, known)
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
	t.log.close()
	if w := t.watch.Load(); w != nil {
		w.close()
	}
}

// calm reports that nothing needs a look: the paths lead where they led, and the
// file's content is what it was at the last look. It is safe for concurrent use.
func (t *trio) calm() bool {
	if w := t.watch.Load(); w != nil {
		return w.quiet()
	}
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

// glance is look while the log's lock is held. Where nothing was noted of the paths
// only the log's end is compared; nobody wrote to the file then, however far the log
// went on.
func (t *trio) glance() *Damage {
	if t.glances++; t.glances == watchFrom && t.watchable {
		t.watch.Store(watchFile(t.pins[0].path, t.pins[0].fd))
	}
	h, known := t.log.head()
	if w := t.watch.Load(); w == nil || !w.quiet() || !known || t.seen.unknown || t.seen.begun && h.progress != t.seen.copied {
		return t.look()
	}
	t.seen.copied = h.progress
	return t.log.whole(h, known)
}

// kept finds a log that lost what was committed in it since the last look.
func (t *trio) kept() *Damage { return t.log.kept() }

// look compares the files with what SQLite has open; nil: nothing happened to
// them. A connection is open meanwhile.
func (t *trio) look() *Damage {
	w := t.watch.Load() // one that is set meanwhile has not seen what this look has
	if w != nil {
		w.begin()
	}
	// The index is read before the files' times, so that what is copied in between
	// counts as not seen.
	h, known := t.log.head()
	var now [3]syscall.Stat_t
	named := t.named(&now)
	if named == nil {
		if d := t.log.whole(h, known); d != nil {
			return d
		}
	}
	// A log must not be put back beside a file that somebody overwrote. With
	// another -shm, though, the one that is open can't tell who wrote to the file.
	if named == nil || named.Harm == Journal {
		if d := t.content(h, known, &now[0]); d != nil {
			return d
		}
	}
	if named == nil && w != nil {
		w.found()
	}
	return named
}

// named compares what the paths lead to, which now becomes, up to the first that
// leads elsewhere.
func (t *trio) named(now *[3]syscall.Stat_t) *Damage {
	for i, p := range t.pins {
		err := syscall.Stat(p.path, &now[i])
		id := identify(&now[i], i)
		if err == nil && id == p.id {
			continue
		}
		var held syscall.Stat_t
		if e := syscall.Fstat(p.fd, &held); e != nil {
			return &Damage{Away, p.path, "can't be looked at: " + e.Error()}
		}
		harm := [...]Harm{Replaced, Journal, Index}[i]
		switch {
		case err == nil && id.dev == p.id.dev && id.ino == p.id.ino:
			return &Damage{Away, p.path, fmt.Sprintf("has %d names (hard links)", id.links)}
		case err == nil:
			return &Damage{harm, p.path, "was replaced by another file"}
		case !errors.Is(err, syscall.ENOENT) && !errors.Is(err, syscall.ENOTDIR):
			return &Damage{Away, p.path, "can't be looked at: " + err.Error()}
		case held.Nlink == 0 && i == 0:
			return &Damage{Deleted, p.path, "was deleted"}
		case held.Nlink == 0:
			return &Damage{harm, p.path, "was deleted"}
		case i == 0:
			return &Damage{Away, p.path, "was moved" + t.whither(p)}
		default:
			return &Damage{harm, p.path, "was moved" + t.whither(p)}
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
func (t *trio) content(before head, known bool, s *syscall.Stat_t) *Damage {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.Size == t.seen.size && s.Mtim == t.seen.mtime {
		if before.progress != t.seen.copied || known == t.seen.unknown { // its end may fall into the same tick of the file's clock
			t.seen = t.state(s, before, known)
		}
		return nil
	}
	copying := t.copying()
	if after, ok := t.log.head(); ok && !t.seen.unknown && !copying && after.progress == t.seen.copied {
		if s.Size != t.seen.size || !t.holds(t.seen.sample) {
			return &Damage{Overwritten, t.pins[0].path, "was overwritten"}
		}
		t.seen.mtime = s.Mtim
		return nil
	}
	t.seen = t.state(s, before, known)
	return nil
}

// state is what the file, which is s, holds when the log's index is h.
func (t *trio) state(s *syscall.Stat_t, h head, known bool) state {
	return state{s.Size, s.Mtim, h.progress, !known, h.begun != h.done, t.take(s.Size, h)}
}

// copying reports whether another process is copying the log into the file.
func (t *trio) copying() bool {
	var s syscall.Stat_t
	if t.index < 0 || syscall.Fstat(t.index, &s) != nil || s.Dev != t.pins[2].id.dev || s.Ino != t.pins[2].id.ino {
		return true // not known
	}
	l := syscall.Flock_t{Type: syscall.F_WRLCK, Start: copyLock, Len: 1}
	return (syscall.FcntlFlock(uintptr(t.index), syscall.F_GETLK, &l) != nil || l.Type != syscall.F_UNLCK)
}
