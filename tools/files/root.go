package files

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Root is a directory with everything below it.
type Root struct {
	Dir      string // absolute
	Bound    bool   // links that lead out of it are not followed: it is not the user's own
	Resolved bool   // paths in it were resolved before: a later link is not opened
}

// RootHold is an open Root, for several reads. It is for one goroutine.
type RootHold struct {
	Root
	root *os.Root // of a bound one; nil: it can't be opened
	near *os.Root // the directory of [RootHold.Near]; nil: none
	at   string   // that directory
	why  error    // why it can't be opened
}

// Open begins to read. If it fails, each read returns the error.
func (t Root) Open() *RootHold {
	h := &RootHold{Root: t}
	if t.Bound {
		if h.root, h.why = os.OpenRoot(t.Dir); h.why != nil {
			h.root = nil
		}
	}
	return h
}

// Close ends that.
func (h *RootHold) Close() {
	for _, r := range []*os.Root{h.near, h.root} {
		if r != nil {
			_ = r.Close()
		}
	}
}

// Err is why the directory itself can't be opened; nil: it can.
func (h *RootHold) Err() error { return plainRootError(h.why) }

// Near says that the next reads are in that directory or below it, which makes them cheaper.
func (h *RootHold) Near(dir string) {
	if h.root == nil || h.near != nil && h.at == dir {
		return
	}
	if h.near != nil {
		_ = h.near.Close()
	}
	var err error
	if h.near, err = h.root.OpenRoot(dir); err != nil {
		h.near = nil // reads there return the error
	}
	h.at = dir
}

// open opens the file at a path in the tree. If the tree is bound, it opens nothing outside, however the path changes.
// It does not block on a pipe.
func (h *RootHold) open(rel string) (*os.File, error) {
	how := os.O_RDONLY | syscall.O_NONBLOCK
	if !h.Bound {
		if h.Resolved {
			how |= syscall.O_NOFOLLOW
		}
		return os.OpenFile(filepath.Join(h.Dir, rel), how, 0)
	}
	if h.root == nil {
		return nil, h.why
	}
	from, in := h.nearest(rel)
	f, err := from.OpenFile(in, how, 0)
	if err != nil && from == h.near && !h.Resolved && !errors.Is(err, fs.ErrNotExist) {
		return h.root.OpenFile(rel, how, 0) // a link may lead to another place in the tree
	}
	return f, err
}

// nearest returns from where a path of a bound tree is opened, and the path from there.
func (h *RootHold) nearest(rel string) (from *os.Root, in string) {
	if near, err := filepath.Rel(h.at, rel); h.near != nil && err == nil && filepath.IsLocal(near) {
		return h.near, near
	}
	return h.root, rel
}

// is checks that an opened file is the one at that path without links, if paths were resolved before: an os.Root always
// follows links that stay in it.
func (h *RootHold) is(rel string, opened fs.FileInfo) error {
	if !h.Bound || !h.Resolved {
		return nil
	}
	from, in := h.nearest(rel)
	named, err := from.Lstat(in)
	if err == nil && !os.SameFile(opened, named) {
		err = errors.New("it has become a link")
	}
	return err
}

// List returns the entries of a directory by name, at most so many; none if it does not exist.
func (h *RootHold) List(rel string, most int) ([]fs.DirEntry, error) {
	f, err := h.open(rel)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, plainRootError(err)
	}
	defer f.Close()
	all, err := f.ReadDir(most)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return all, plainRootError(err)
}

// ErrDirectory is the error of reading a directory as a file.
var ErrDirectory = errors.New("it is a directory")

// Read returns the beginning of a regular file, at most so many bytes, and its size. It does not read what is appended
// meanwhile. Its errors contain no path.
func (h *RootHold) Read(rel string, most int64) (text []byte, size int64, err error) {
	f, err := h.open(rel)
	if err != nil {
		return nil, 0, plainRootError(err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, 0, plainRootError(err)
	case info.IsDir():
		return nil, 0, ErrDirectory
	case !info.Mode().IsRegular():
		return nil, 0, errors.New("it is no regular file")
	}
	if err := h.is(rel, info); err != nil {
		return nil, 0, plainRootError(err)
	}
	text = make([]byte, min(info.Size(), most))
	n, err := io.ReadFull(f, text)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // it shrank
	}
	return text[:n], info.Size(), plainRootError(err)
}

// Whole reads a regular file of at most so many bytes, and opens the tree only for that.
func (t Root) Whole(rel string, most int64) ([]byte, error) {
	h := t.Open()
	defer h.Close()
	text, _, err := h.Head(rel, most, most)
	return text, err
}

// Head is Read with a limit on the size: of a larger file it returns nothing.
func (h *RootHold) Head(rel string, head, most int64) (text []byte, size int64, err error) {
	text, size, err = h.Read(rel, head)
	if err == nil && size > most {
		return nil, size, fmt.Errorf("it has %d bytes, at most %d are read", size, most)
	}
	return text, size, err
}

// plainRootError is an error without its path, which people know by another name.
func plainRootError(err error) error {
	var e *fs.PathError
	if !errors.As(err, &e) {
		return err
	}
	if strings.Contains(e.Err.Error(), "escapes") {
		return errors.New("it leads out of the workspace")
	}
	return e.Err
}
