package sandbox

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// PutBack restores the content, permissions, links and directories that changed. It moves what is at those paths now
// into the directory into, which it makes if needed; the name there is the path with ! for /. Afterwards s holds the
// restored files as its entries: Changes finds nothing there. The error names what could not be restored, and what to
// do about it; everything else is restored.
func (s *Snapshot) PutBack(changes []Change, into string) error {
	if !filepath.IsAbs(into) {
		return fmt.Errorf("put back: %q takes what is moved aside: give an absolute path", into)
	}
	b := &back{state: s, into: into, children: map[string][]string{}, renamed: map[string]bool{}}
	for _, p := range slices.Sorted(maps.Keys(s.entries)) {
		b.children[filepath.Dir(p)] = append(b.children[filepath.Dir(p)], p)
	}
	sorted := slices.SortedFunc(slices.Values(changes), func(x, y Change) int { return strings.Compare(x.Path, y.Path) })
	for _, c := range sorted {
		b.try(filepath.Clean(c.Path))
	}
	b.adopt()
	return errors.Join(b.errs...)
}

// back restores files of a snapshot.
type back struct {
	state    *Snapshot
	into     string
	children map[string][]string // of each directory in the snapshot, its entries
	renamed  map[string]bool     // directories that were renamed back, once each: no endless loop
	done     []string            // restored paths
	errs     []error
}

// try restores p, and everything below if nothing of it exists.
func (b *back) try(p string) {
	if !b.state.covers(p) {
		b.fail(p, errors.New("nobody looked at it before: put it back from where it came"))
		return
	}
	if err := b.restore(p); err != nil {
		b.fail(p, err)
		return
	}
	b.done = append(b.done, p)
}

func (b *back) fail(p string, err error) {
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
		err = fmt.Errorf("%w: give yourself the right to write the directory it is in, and try again", err)
	}
	b.errs = append(b.errs, fmt.Errorf("put back %s: %w", p, err))
}

func (b *back) restore(p string) error {
	dir, err := b.parent(p)
	if err != nil {
		return err
	}
	if dir < 0 {
		return nil // what was made has been removed with its directory
	}
	defer unix.Close(dir)
	o := b.state.entries[p]
	switch o.kind() {
	case 0:
		return b.aside(dir, p)
	case unix.S_IFDIR:
		return b.tree(dir, p, o)
	case unix.S_IFREG, unix.S_IFLNK:
		return b.leaf(dir, p, o)
	}
	if n, err := stat(dir, p); err != nil || n == nil || n.kind() != o.kind() || n.rdev != o.rdev {
		return errors.Join(err, errors.New("it was a pipe, a socket or a device: make it again as it was made"))
	}
	return attributes(dir, p, o)
}

// parent opens the directory of p. It makes directories that existed before and are missing now. It returns -1 if one
// did not exist before either. It follows nothing that has replaced a directory.
func (b *back) parent(p string) (dir int, err error) {
	up := filepath.Dir(p)
	if up == "/" {
		return unix.Open("/", passing, 0)
	}
	above, err := b.parent(up)
	if err != nil || above < 0 {
		return -1, err
	}
	defer unix.Close(above)
	n, err := stat(above, up)
	if err != nil {
		return -1, err
	}
	o := b.state.entries[up]
	switch {
	case n == nil && o.kind() != unix.S_IFDIR:
		return -1, nil
	case n == nil:
		if back, err := b.rename(above, up, o, n); err != nil {
			return -1, err
		} else if back {
			break
		}
		if err := unix.Mkdirat(above, filepath.Base(up), 0o700); err != nil {
			return -1, err
		}
		if err := attributes(above, up, o); err != nil {
			return -1, err
		}
		b.done = append(b.done, up)
	case n.kind() != unix.S_IFDIR:
		return -1, fmt.Errorf("%s is no directory, and what it leads to is not touched: put that back first, or move it away", up)
	}
	return open(above, up, passing)
}

// tree restores a directory. It restores the entries below only if none of them could be seen.
func (b *back) tree(dir int, p string, o *entry) error {
	n, err := stat(dir, p)
	if err != nil {
		return err
	}
	if n == nil || !o.one(n) {
		if back, err := b.rename(dir, p, o, n); err != nil || back {
			return err
		}
	}
	if n.kind() == unix.S_IFDIR {
		if o.passage {
			return nil
		}
		if o.closed {
			return errors.Join(attributes(dir, p, o), errors.New("nobody could look into it before: look what is in it"))
		}
		fd, err := open(dir, p, listing)
		if err == nil {
			_ = unix.Close(fd)
			return attributes(dir, p, o)
		}
		if err := attributes(dir, p, o); err != nil {
			return err
		}
		return b.within(p)
	}
	if n != nil {
		if err := b.aside(dir, p); err != nil {
			return err
		}
	}
	if err := unix.Mkdirat(dir, filepath.Base(p), 0o700); err != nil {
		return err
	}
	for _, c := range b.children[p] {
		b.try(c)
	}
	return attributes(dir, p, o)
}

// rename gives the directory o, which leads to restored paths, its name p again if it is now in the same directory
// under another name: it holds more than the snapshot does. n is what is at p now. Differences below are restored too.
func (b *back) rename(dir int, p string, o, n *entry) (done bool, err error) {
	if !o.passage || b.renamed[p] {
		return false, nil
	}
	q, err := b.beside(dir, p, o)
	if err != nil || q == "" {
		return false, err
	}
	b.renamed[p] = true
	if n != nil {
		if err := b.aside(dir, p); err != nil {
			return false, err
		}
	}
	if err := unix.Renameat(dir, filepath.Base(q), dir, filepath.Base(p)); err != nil {
		return false, err
	}
	return true, b.within(p)
}

// beside finds the directory o under a name other than p; it returns "" if there is none. Inode numbers are reused, so
// the directory must also hold something that is known.
func (b *back) beside(dir int, p string, o *entry) (string, error) {
	fd, err := unix.Openat(dir, ".", listing, 0)
	if err != nil {
		return "", nil // a directory that can't be listed yields nothing
	}
	defer unix.Close(fd)
	names, err := list(fd, maxEntries, make([]byte, 32<<10))
	if err != nil {
		return "", err
	}
	for _, name := range names {
		q := filepath.Join(filepath.Dir(p), name)
		if n, err := stat(dir, q); err != nil || n.kind() != unix.S_IFDIR || !n.one(o) || !b.holds(dir, q, p) {
			continue
		}
		return q, nil
	}
	return "", nil
}

// holds reports whether the directory q holds an entry of p that is unchanged: a new directory may have got the number
// of a removed one.
func (b *back) holds(dir int, q, p string) bool {
	fd, err := open(dir, q, passing)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return slices.ContainsFunc(b.children[p], func(c string) bool {
		n, err := stat(fd, c)
		return err == nil && n != nil && n.untouched(b.state.entries[c])
	})
}

// within restores what differs below a directory that can be read again, or has its name again.
func (b *back) within(p string) error {
	l := newLook(b.state, comparing)
	err := l.all(b.state.paths)
	for _, c := range b.state.against(l) {
		if below(c.Path, p) {
			b.try(c.Path)
		}
	}
	return err
}

// leaf restores a file or a link. The new one replaces what is there in one step.
func (b *back) leaf(dir int, p string, o *entry) error {
	l := newLook(b.state, comparing)
	if err := l.visit(dir, p, 0); err != nil {
		return err
	}
	n := l.now[p]
	now := differ(o, n)
	switch {
	case now == "":
		return nil // it was restored already
	case o.kind() == unix.S_IFREG && o.content == nil && now == Mode:
		return attributes(dir, p, o)
	case o.kind() == unix.S_IFREG && o.content == nil:
		return errors.New("its content was too large to keep, or could not be read: take it from version control or a backup")
	}
	// In p's directory, so that a rename can replace p; the random name is free.
	temp := filepath.Join(filepath.Dir(p), ".keep-"+rand.Text())
	err := write(dir, temp, o)
	if err != nil {
		return errors.Join(err, gone(dir, temp))
	}
	if n != nil && now != Mode && now != Linked { // a new file has one name
		err = b.copy(dir, p)
	}
	if err == nil {
		err = unix.Renameat(dir, filepath.Base(temp), dir, filepath.Base(p))
	}
	if err != nil {
		return errors.Join(err, gone(dir, temp))
	}
	return nil
}

// write creates the file or link p from o. p must not exist.
func write(dir int, p string, o *entry) error {
	if o.kind() == unix.S_IFLNK {
		return unix.Symlinkat(o.target, dir, filepath.Base(p))
	}
	fd, err := unix.Openat(dir, filepath.Base(p), unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if _, err := descriptor(fd).Write(o.content); err != nil {
		return err
	}
	if err := unix.Fchown(fd, int(o.uid), int(o.gid)); err != nil && !errors.Is(err, unix.EPERM) {
		return err
	}
	return unix.Fchmod(fd, o.mode&^unix.S_IFMT)
}

// gone removes a temporary file that has not been renamed.
func gone(dir int, p string) error {
	if err := unix.Unlinkat(dir, filepath.Base(p), 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("remove %s: %w", p, err)
	}
	return nil
}

// attributes sets the owner of the file at p, if this process may, and its permissions.
func attributes(dir int, p string, o *entry) error {
	err := unix.Fchownat(dir, filepath.Base(p), int(o.uid), int(o.gid), unix.AT_SYMLINK_NOFOLLOW)
	if err != nil && !errors.Is(err, unix.EPERM) {
		return err
	}
	return chmod(dir, p, o.mode)
}

// adopt records the restored files as they are now, and reports those that differ from the snapshot.
func (b *back) adopt() {
	if len(b.done) == 0 {
		return
	}
	l := newLook(b.state, comparing)
	if err := l.all(b.state.paths); err != nil {
		b.errs = append(b.errs, err)
	}
	for _, p := range b.done {
		o, n := b.state.entries[p], l.now[p]
		if o.kind() != n.kind() || o == nil {
			continue
		}
		o.dev, o.ino, o.rdev, o.uid, o.gid, o.links, o.mtime, o.ctime = n.dev, n.ino, n.rdev, n.uid, n.gid, n.links, n.mtime, n.ctime
	}
	for _, c := range b.state.against(l) {
		if slices.Contains(b.done, c.Path) {
			b.fail(c.Path, errRaced)
		}
	}
}

// place returns a free name in into for the file at p.
func (b *back) place(p string) (string, error) {
	if err := os.MkdirAll(b.into, 0o700); err != nil {
		return "", fmt.Errorf("make room for what is moved aside: %w", err)
	}
	name := strings.ReplaceAll(p, "/", "!")
	name = filepath.Join(b.into, name[max(0, len(name)-200):])
	for i, free := 2, name; ; i++ {
		if _, err := os.Lstat(free); errors.Is(err, os.ErrNotExist) {
			return free, nil
		} else if err != nil {
			return "", err
		}
		free = name + "." + strconv.Itoa(i)
	}
}

// copy makes a hard link aside to the file at p. It moves what can have no second link, such as a directory.
func (b *back) copy(dir int, p string) error {
	to, err := b.place(p)
	if err != nil {
		return err
	}
	if unix.Linkat(dir, filepath.Base(p), unix.AT_FDCWD, to, 0) == nil {
		return nil
	}
	return b.aside(dir, p)
}

// aside moves the file at p away.
func (b *back) aside(dir int, p string) error {
	to, err := b.place(p)
	if err != nil {
		return err
	}
	move := func() error { return unix.Renameat(dir, filepath.Base(p), unix.AT_FDCWD, to) }
	err = move()
	if errors.Is(err, unix.EACCES) && chmod(dir, p, unix.S_IFDIR|0o700) == nil { // else it can't be moved
		err = move()
	}
	switch {
	case errors.Is(err, unix.ENOENT):
		return nil
	case errors.Is(err, unix.EXDEV):
		c := carrier{left: maxEntries, bytes: maxRead}
		if err = c.carry(dir, p, to, 0); err != nil {
			err = fmt.Errorf("move it to %s, which is another file system's: %w; move it yourself", to, err)
		}
	}
	return err
}

// carrier moves things to another file system, within bounds.
type carrier struct {
	left  int
	bytes int64
}

// carry moves the file at p to the free path to. It only removes what is neither file, link nor directory: that holds
// no data.
func (c *carrier) carry(dir int, p, to string, depth int) error {
	n, err := stat(dir, p)
	if err != nil || n == nil {
		return err
	}
	if c.left--; c.left < 0 || depth > maxDepth {
		return errors.New("it is too large")
	}
	how := 0
	switch n.kind() {
	case unix.S_IFREG:
		err = c.file(dir, p, to)
	case unix.S_IFLNK:
		target, e := readlink(dir, p)
		if err = e; err == nil {
			err = os.Symlink(target, to)
		}
	case unix.S_IFDIR:
		how = unix.AT_REMOVEDIR
		err = c.tree(dir, p, to, depth)
	}
	if err != nil {
		return err
	}
	return unix.Unlinkat(dir, filepath.Base(p), how)
}

func (c *carrier) file(dir int, p, to string) error {
	fd, err := open(dir, p, reading)
	if errors.Is(err, unix.EACCES) && chmod(dir, p, unix.S_IFREG|0o600) == nil {
		fd, err = open(dir, p, reading)
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, io.LimitReader(descriptor(fd), c.bytes+1))
	if c.bytes -= n; err == nil && c.bytes < 0 {
		err = errors.New("it is too large")
	}
	return errors.Join(err, f.Close())
}

func (c *carrier) tree(dir int, p, to string, depth int) error {
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	if err := chmod(dir, p, unix.S_IFDIR|0o700); err != nil {
		return err
	}
	fd, err := open(dir, p, listing)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	names, err := list(fd, c.left, make([]byte, 32<<10))
	if err != nil {
		return err
	}
	for _, n := range names {
		if err := c.carry(fd, filepath.Join(p, n), filepath.Join(to, n), depth+1); err != nil {
			return err
		}
	}
	return nil
}
