// Package tree opens files below a directory in which others may write.
//
// Does: open regular files and list directories there, bounded, whatever a name has become meanwhile; count as no file what a
// link leads to out of a workspace.
//
// Does not: decide what a file is for, judge what a tool may touch (tools/workspace does), follow changes.
//
// Imports: .
package tree

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

// Tree is a directory with all below it.
type Tree struct {
	Dir      string // absolute
	Bound    bool   // links that lead out of it are followed nowhere: it is not the user's own
	Resolved bool   // paths in it were freed of links before: what has become one since is not opened
}

// Hold is a tree while much of it is read. It is for one goroutine.
type Hold struct {
	Tree
	root *os.Root // of a bound one; nil: it can't be opened
	near *os.Root // of the directory [Hold.Near] names; nil: of none
	at   string   // that directory
	why  error    // why it can't be opened
}

// Open begins to read. What can't be opened is an error of what is read in it.
func (t Tree) Open() *Hold {
	h := &Hold{Tree: t}
	if t.Bound {
		if h.root, h.why = os.OpenRoot(t.Dir); h.why != nil {
			h.root = nil
		}
	}
	return h
}

// Close ends that.
func (h *Hold) Close() {
	for _, r := range []*os.Root{h.near, h.root} {
		if r != nil {
			_ = r.Close()
		}
	}
}

// Err is why the directory itself can't be opened; nil: it can.
func (h *Hold) Err() error { return Plain(h.why) }

// Near says that what is read next lies in that directory or below it: that takes fewer steps.
func (h *Hold) Near(dir string) {
	if h.root == nil || h.near != nil && h.at == dir {
		return
	}
	if h.near != nil {
		_ = h.near.Close()
	}
	var err error
	if h.near, err = h.root.OpenRoot(dir); err != nil {
		h.near = nil // what is read there says so
	}
	h.at = dir
}

// open opens what has that path in the tree. Of a bound one, nothing outside is opened, whatever becomes of the path. A pipe's
// other end is not waited for.
func (h *Hold) open(rel string) (*os.File, error) {
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
func (h *Hold) nearest(rel string) (from *os.Root, in string) {
	if near, err := filepath.Rel(h.at, rel); h.near != nil && err == nil && filepath.IsLocal(near) {
		return h.near, near
	}
	return h.root, rel
}

// is makes sure that a file that was opened is the one of that name where no path had links: a root follows those that stay in
// it, whatever it is told.
func (h *Hold) is(rel string, opened fs.FileInfo) error {
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

// List returns what is in a directory by name, at most so many; none if it is not there.
func (h *Hold) List(rel string, most int) ([]fs.DirEntry, error) {
	f, err := h.open(rel)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, Plain(err)
	}
	defer f.Close()
	all, err := f.ReadDir(most)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return all, Plain(err)
}

// ErrDirectory says that a name is that of a directory.
var ErrDirectory = errors.New("it is a directory")

// Read returns the beginning of a regular file, at most so many bytes, and how many it has. What it grows by meanwhile is not
// read. Errors speak of no path.
func (h *Hold) Read(rel string, most int64) (text []byte, size int64, err error) {
	f, err := h.open(rel)
	if err != nil {
		return nil, 0, Plain(err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, 0, Plain(err)
	case info.IsDir():
		return nil, 0, ErrDirectory
	case !info.Mode().IsRegular():
		return nil, 0, errors.New("it is no regular file")
	}
	if err := h.is(rel, info); err != nil {
		return nil, 0, Plain(err)
	}
	text = make([]byte, min(info.Size(), most))
	n, err := io.ReadFull(f, text)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // it shrank
	}
	return text[:n], info.Size(), Plain(err)
}

// Whole returns all of a regular file that has at most so many bytes, and opens the tree for it alone.
func (t Tree) Whole(rel string, most int64) ([]byte, error) {
	h := t.Open()
	defer h.Close()
	text, _, err := h.Head(rel, most, most)
	return text, err
}

// Head is Read, but of a file that has more than most bytes nothing is read.
func (h *Hold) Head(rel string, head, most int64) (text []byte, size int64, err error) {
	text, size, err = h.Read(rel, head)
	if err == nil && size > most {
		return nil, size, fmt.Errorf("it has %d bytes, at most %d are read", size, most)
	}
	return text, size, err
}

// Plain is an error without its path, which people know by another name.
func Plain(err error) error {
	var e *fs.PathError
	if !errors.As(err, &e) {
		return err
	}
	if strings.Contains(e.Err.Error(), "escapes") {
		return errors.New("it leads out of the workspace")
	}
	return e.Err
}
