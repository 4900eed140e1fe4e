package sandbox

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// purpose says why a look is made.
type purpose int

const (
	taking    purpose = iota // read every file, and keep contents
	comparing                // read only what shows a difference
)

// look is one look at some paths. It opens each directory by its name in its parent, and follows no link.
type look struct {
	purpose purpose
	old     map[string]*entry // the entries of an earlier look
	first   time.Time         // see State
	now     map[string]*entry
	dirs    map[string]int  // the directories that lead to the paths, open; -1: it is none
	failed  map[string]bool // paths that could not be read, each with all below
	count   int             // files that were read
	files   int             // number of files that may still be kept
	content int64           // number of bytes that may still be kept
	unread  int64           // bytes that may still be read
	top     string          // the path that is being read
	left    int             // entries that may still be below it
	buf     []byte
}

func newLook(s *Snapshot, p purpose) *look {
	return &look{
		purpose: p, old: s.entries, first: s.first, now: make(map[string]*entry, len(s.entries)), dirs: map[string]int{}, failed: map[string]bool{},
		files: maxFiles, content: maxContent, unread: maxRead,
	}
}

// all looks at the paths, and closes the directories that it opened.
func (l *look) all(paths []string) error {
	defer l.close()
	var errs []error
	for _, p := range paths {
		dir, err := l.passage(filepath.Dir(p))
		if err == nil && dir >= 0 {
			l.top, l.left = p, maxEntries
			err = l.visit(dir, p, 0)
		}
		if err == nil {
			continue
		}
		l.failed[p] = true
		var f *fault
		if errors.As(err, &f) {
			l.failed[f.path] = true
		}
		if len(errs) == 0 || errs[len(errs)-1].Error() != err.Error() { // the same passage leads to many
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (l *look) close() {
	for _, fd := range l.dirs {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
	clear(l.dirs)
}

// passage opens a directory that leads to a path; -1 if it is not there, or no directory.
func (l *look) passage(p string) (int, error) {
	if fd, ok := l.dirs[p]; ok {
		return fd, nil
	}
	fd := -1
	err := settle(p, func() error {
		if p == "/" {
			return again(func() (err error) { fd, err = unix.Open(p, passing, 0); return err })
		}
		up, err := l.passage(filepath.Dir(p))
		if err != nil || up < 0 {
			return err
		}
		e, err := stat(up, p)
		if err != nil || e == nil {
			return err
		}
		if e.kind() != unix.S_IFDIR {
			return l.leaf(up, p, e)
		}
		if fd, err = open(up, p, passing); err != nil {
			return err
		}
		var st unix.Stat_t
		if err = unix.Fstat(fd, &st); err != nil {
			_ = unix.Close(fd)
			return err
		}
		e = entryOf(&st)
		e.passage = true
		l.now[p] = e
		return nil
	})
	if err != nil {
		return -1, err
	}
	l.dirs[p] = fd
	return fd, nil
}

// visit looks at p, in the open directory, and at everything below.
func (l *look) visit(dir int, p string, depth int) error {
	return settle(p, func() error {
		e, err := stat(dir, p)
		if err != nil || e == nil {
			return err
		}
		if e.kind() == unix.S_IFDIR {
			return l.tree(dir, p, e, depth)
		}
		return l.leaf(dir, p, e)
	})
}

// tree reads a directory.
func (l *look) tree(dir int, p string, e *entry, depth int) error {
	if old := l.old[p]; l.purpose == comparing && (old.kind() != unix.S_IFDIR || old.closed) {
		if old.kind() == unix.S_IFDIR { // it was closed; if it still is, nothing changed
			if fd, err := open(dir, p, listing); errors.Is(err, unix.EACCES) {
				e.closed = true
			} else if err == nil {
				_ = unix.Close(fd)
			} else {
				return err
			}
		}
		l.now[p] = e
		return nil
	}
	if depth >= maxDepth {
		return fmt.Errorf("it is more than %d directories deep below %s: remove what is not needed there", maxDepth, l.top)
	}
	fd, err := open(dir, p, listing)
	if errors.Is(err, unix.EACCES) {
		e.closed = true
		l.now[p] = e
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	names, err := l.list(fd)
	if err != nil {
		return err
	}
	l.now[p] = entryOf(&st)
	for _, n := range names {
		if err := l.visit(fd, filepath.Join(p, n), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// list returns the names in an open directory, sorted.
func (l *look) list(fd int) (names []string, err error) {
	names, err = list(fd, l.left, l.buffer())
	if err == nil && len(names) > l.left {
		err = fmt.Errorf("there are more than %d files below %s: remove what is not needed there", maxEntries, l.top)
	}
	l.left -= len(names)
	return names, err
}

// leaf looks at something other than a directory.
func (l *look) leaf(dir int, p string, e *entry) (err error) {
	switch e.kind() {
	case unix.S_IFLNK:
		if e.target, err = readlink(dir, p); err != nil {
			return err
		}
	case unix.S_IFREG:
		if e, err = l.file(dir, p, e); err != nil {
			return err
		}
	}
	l.now[p] = e
	return nil
}

// file looks at a file, and reads it if needed.
func (l *look) file(dir int, p string, e *entry) (*entry, error) {
	old := l.old[p]
	if old != nil && old.read && old.untouched(e) && old.settled(l.first) {
		if l.purpose == comparing || old.content != nil && l.keeps(e.size) || old.content == nil && !l.keeps(e.size) {
			e.read, e.hash = true, old.hash
			if l.purpose == taking && old.content != nil {
				l.keep(e, old.content)
			}
			return e, nil
		}
	}
	if l.purpose == comparing && (old.kind() != unix.S_IFREG || !old.read || old.size != e.size) {
		return e, nil // reading it would show nothing more
	}
	fd, err := open(dir, p, reading)
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
		return e, nil
	}
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	e = entryOf(&st)
	if e.kind() != unix.S_IFREG {
		return nil, errRaced
	}
	if e.size > l.unread {
		return e, nil
	}
	l.count++
	l.unread -= e.size
	return e, l.digest(fd, e)
}

// digest reads the file, and keeps its content if the limits allow it.
func (l *look) digest(fd int, e *entry) error {
	if l.purpose == taking && l.keeps(e.size) || e.size <= int64(len(l.buffer())) {
		data := l.buffer()
		if l.purpose == taking && l.keeps(e.size) {
			data = make([]byte, e.size)
		}
		if _, err := io.ReadFull(descriptor(fd), data[:e.size]); err != nil {
			return shrunk(err)
		}
		e.hash, e.read = sha256.Sum256(data[:e.size]), true
		if l.purpose == taking && l.keeps(e.size) {
			l.keep(e, data)
		}
		return nil
	}
	h := sha256.New()
	if _, err := io.CopyBuffer(h, io.LimitReader(descriptor(fd), e.size), l.buffer()); err != nil {
		return err
	}
	e.read = true
	h.Sum(e.hash[:0])
	return nil
}

// shrunk is the error of a read that ended early.
func shrunk(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errRaced
	}
	return err
}

func (l *look) keeps(size int64) bool { return l.files > 0 && size <= l.content }

func (l *look) keep(e *entry, content []byte) {
	e.content = content
	l.files--
	l.content -= e.size
}

func (l *look) buffer() []byte {
	if l.buf == nil {
		l.buf = make([]byte, 32<<10)
	}
	return l.buf
}

// again does f until no signal interrupts it.
func again(f func() error) error {
	for {
		if err := f(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// settle repeats f until the file at p does not change meanwhile, at most ten times. The error names p.
func settle(p string, f func() error) error {
	var told *fault
	err := errRaced
	for tries := 0; tries < 10 && errors.Is(err, errRaced); tries++ {
		if err = f(); err == nil || errors.As(err, &told) { // a fault below has had its own tries
			return err
		}
	}
	if errors.Is(err, unix.EACCES) {
		err = fmt.Errorf("%w: give yourself the right to enter the directories that lead there", err)
	}
	return &fault{path: p, err: err}
}

// fault is the error of a path.
type fault struct {
	path string
	err  error
}

func (f *fault) Error() string { return "look at " + f.path + ": " + f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

// Flags to open with. They follow no link, and don't block.
const (
	passing = search | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	listing = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
	reading = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
)

// open opens p in the open directory. It returns errRaced if p has become something else.
func open(dir int, p string, how int) (fd int, err error) {
	err = again(func() error {
		fd, err = unix.Openat(dir, filepath.Base(p), how, 0)
		return err
	})
	switch {
	case err == nil:
		return fd, nil
	case slices.Contains([]error{unix.ENOENT, unix.ENOTDIR, unix.ELOOP, unix.ENXIO, unix.ENODEV, unix.EOPNOTSUPP, unix.EAGAIN}, err):
		err = errRaced
	}
	return -1, err
}

// stat returns the entry at p in the open directory, or nil if there is none.
func stat(dir int, p string) (*entry, error) {
	var st unix.Stat_t
	err := again(func() error { return unix.Fstatat(dir, filepath.Base(p), &st, unix.AT_SYMLINK_NOFOLLOW) })
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return entryOf(&st), nil
}

func readlink(dir int, p string) (string, error) {
	var buf [unix.PathMax + 1]byte
	n, err := unix.Readlinkat(dir, filepath.Base(p), buf[:])
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EINVAL) {
		return "", errRaced
	}
	return string(buf[:max(n, 0)]), err
}

// list returns the names in an open directory, sorted; it ends when there are more than enough.
func list(fd, enough int, buf []byte) (names []string, err error) {
	for len(names) <= enough {
		n := 0
		if err = again(func() error { n, err = unix.ReadDirent(fd, buf); return err }); err != nil {
			return nil, err
		}
		if n <= 0 {
			break
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
	}
	slices.Sort(names)
	return names, nil
}

// descriptor is an open file, to read and write.
type descriptor int

func (d descriptor) Read(b []byte) (n int, err error) {
	err = again(func() error { n, err = unix.Read(int(d), b); return err })
	if n <= 0 && err == nil && len(b) > 0 {
		err = io.EOF
	}
	return max(n, 0), err
}

func (d descriptor) Write(b []byte) (done int, err error) {
	for done < len(b) && err == nil {
		n := 0
		err = again(func() error { n, err = unix.Write(int(d), b[done:]); return err })
		done += max(n, 0)
	}
	return done, err
}
