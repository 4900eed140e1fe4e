package skills

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"fantail/tools"
)

// What is read of files.
const (
	mostFile  = 256 << 10 // bytes of a file
	mostHead  = 36 << 10  // of those that say what it is: the matter, and what follows
	mostFiles = 2000      // in a directory and below it
	mostDepth = 4         // directories below that of commands or agents
)

// tree is what stands below a directory.
type tree struct {
	dir   string
	bound bool     // links that lead out of it are followed nowhere: it is not the user's own
	root  *os.Root // of a bound one, while much of it is read; nil: it is opened each time
}

// place is a directory that holds files of a kind.
type place struct {
	tree tree
	rel  string // in the tree
	show string // as people name it
	kind Kind
}

// open opens what has that path in the tree. What is no regular file, or leads out of a bound tree, is not opened for
// ever: a pipe's other end is not waited for.
func (t tree) open(rel string) (*os.File, error) {
	if !t.bound {
		return os.OpenFile(filepath.Join(t.dir, rel), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	}
	root := t.root
	if root == nil && t.dir == "" {
		return nil, fs.ErrNotExist
	}
	if root == nil {
		var err error
		if root, err = os.OpenRoot(t.dir); err != nil {
			return nil, err
		}
		defer root.Close()
	}
	return root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// list returns the names in a directory, in order; none if it is not there.
func (t tree) list(rel string) ([]fs.DirEntry, error) {
	f, err := t.open(rel)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := f.ReadDir(mostFiles)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	sortEntries(all)
	return all, err
}

// read returns the beginning of a file, at most so many bytes, and how many it has. Errors speak of no path.
func (t tree) read(rel string, most int) (text []byte, size int64, err error) {
	f, err := t.open(rel)
	if err != nil {
		return nil, 0, plain(err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, 0, plain(err)
	case !info.Mode().IsRegular():
		return nil, 0, errors.New("it is no regular file")
	case info.Size() > mostFile:
		return nil, 0, fmt.Errorf("it has %d bytes, at most %d are read", info.Size(), mostFile)
	}
	text = make([]byte, min(info.Size(), int64(most))) // what it grows by meanwhile is not read
	n, err := io.ReadFull(f, text)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return text[:n], info.Size(), plain(err)
}

// plain is an error without its path, which people know by another name.
func plain(err error) error {
	var e *fs.PathError
	if !errors.As(err, &e) {
		return err
	}
	if strings.Contains(e.Err.Error(), "escapes") {
		return errors.New("it leads out of the workspace")
	}
	return e.Err
}

// flat is text on one line, at most so many bytes, without what a terminal would obey.
func flat(s string, most int) string {
	var b strings.Builder
	for _, w := range strings.Fields(s) {
		for part := range strings.SplitSeq(w, "\x00") {
			if w = tools.Line(part); w == "" {
				continue
			}
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			if b.Len()+len(w) > most {
				return b.String() + "…"
			}
			b.WriteString(w)
		}
	}
	return b.String()
}
