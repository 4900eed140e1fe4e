package files

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

const (
	editBytes = 32 << 20 // the largest file that is edited
	newFile   = 0o666    // the permissions of a new one, before the umask
)

var errChanged = errors.New("the file changed meanwhile; read it again")

// Load reads the whole of a file before a change.
func (tr *Tree) Load(t Target) ([]byte, fs.FileInfo, error) {
	f, fi, err := tr.Open(t)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if fi.Size() > editBytes {
		return nil, nil, fmt.Errorf("the file has %d bytes, at most %d can be edited; change it with a command", fi.Size(), editBytes)
	}
	data, err := io.ReadAll(io.LimitReader(f, editBytes+1))
	if err != nil {
		return nil, nil, PlainError(err)
	}
	return data, fi, nil
}

// Save replaces the file by data: readers see the old content or the new one, never a part. old is the state of the
// file when it was read, nil if there was none. Mode, owner and extended attributes are kept. If this process may not
// set the owner or group, it writes the file in place.
func (tr *Tree) Save(t Target, data []byte, old fs.FileInfo) (fs.FileInfo, error) {
	dir, err := tr.hold(t, old == nil)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	base := filepath.Base(t.Abs)
	if err := unchanged(dir, base, old); err != nil {
		return nil, err
	}
	if old != nil && old.Mode().Perm()&0o222 == 0 {
		return nil, fmt.Errorf("the file is read-only (mode %04o)", old.Mode().Perm())
	}
	tmp := ".fantail-" + rand.Text()[:12] + ".tmp"
	f, err := dir.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, newFile)
	if err != nil {
		return nil, PlainError(err)
	}
	defer f.Close()
	err = tr.fillTemp(f, data, old)
	if foreign := (*ownerError)(nil); errors.As(err, &foreign) && links(old) == 1 {
		return overwrite(dir, base, tmp, data, old)
	}
	if err == nil && old != nil {
		err = keepAttributes(dir, base, f)
	}
	if err == nil {
		err = unchanged(dir, base, old)
	}
	if err == nil && old == nil {
		// A link fails if the file has been made meanwhile; a rename would replace it.
		if err = dir.Link(tmp, base); err == nil {
			err = dir.Remove(tmp)
		} else if !errors.Is(err, fs.ErrExist) {
			err = dir.Rename(tmp, base)
		}
	} else if err == nil {
		err = dir.Rename(tmp, base)
	}
	if err != nil {
		_ = dir.Remove(tmp)
		return nil, plainLink(err)
	}
	return f.Stat()
}

// overwrite writes data into the file itself. tmp keeps a copy until that is done, so that no data is lost when the
// disk is full.
func overwrite(dir *os.Root, base, tmp string, data []byte, old fs.FileInfo) (fs.FileInfo, error) {
	f, err := dir.OpenFile(base, os.O_WRONLY, 0)
	if err == nil {
		defer f.Close()
		err = unchanged(dir, base, old)
	}
	if err == nil {
		var fi fs.FileInfo
		if fi, err = f.Stat(); err == nil && identity(fi) != identity(old) {
			err = errChanged
		}
	}
	if err != nil {
		_ = dir.Remove(tmp)
		return nil, PlainError(err)
	}
	if _, err = f.Write(data); err == nil {
		err = f.Truncate(int64(len(data)))
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return nil, fmt.Errorf("%w; the file may hold a part of the new text, %s beside it may hold all of it", PlainError(err), tmp)
	}
	_ = dir.Remove(tmp)
	return f.Stat()
}

// ownerError means that a file's owner or group can't be given to another file.
type ownerError struct {
	uid, gid uint32
	err      error
}

func (e *ownerError) Error() string {
	return fmt.Sprintf("the file belongs to user %d and group %d, which could not be kept: %v", e.uid, e.gid, e.err)
}

func (e *ownerError) Unwrap() error { return e.err }

// plainLink is plain for errors that name two files.
func plainLink(err error) error {
	var le *os.LinkError
	if errors.As(err, &le) {
		return le.Err
	}
	return PlainError(err)
}

// fillTemp writes the temporary file and gives it the attributes of the old one.
func (tr *Tree) fillTemp(f *os.File, data []byte, old fs.FileInfo) error {
	if _, err := f.Write(data); err != nil {
		return err
	}
	if old != nil {
		if err := keepOwner(f, old); err != nil {
			return err
		}
		if err := f.Chmod(old.Mode()); err != nil {
			return err
		}
	} else if fi, err := f.Stat(); err != nil {
		return err
	} else if mode, differs := tr.Umask.Of(newFile, fi.Mode()); differs {
		_ = f.Chmod(mode) // a file system without permissions has no umask either
	}
	return f.Sync()
}

// keepOwner gives the file the owner and group of the old one.
func keepOwner(f *os.File, old fs.FileInfo) error {
	was, ok := old.Sys().(*syscall.Stat_t)
	fi, err := f.Stat()
	if err != nil || !ok {
		return err
	}
	now, ok := fi.Sys().(*syscall.Stat_t)
	if !ok || now.Uid == was.Uid && now.Gid == was.Gid {
		return nil
	}
	if err := f.Chown(int(was.Uid), int(was.Gid)); err != nil {
		return &ownerError{was.Uid, was.Gid, PlainError(err)}
	}
	return nil
}

// unchanged makes sure that the name still has the file that was read, or still has none.
func unchanged(dir *os.Root, base string, old fs.FileInfo) error {
	fi, err := dir.Lstat(base)
	switch {
	case old == nil && errors.Is(err, fs.ErrNotExist):
		return nil
	case old == nil && err == nil:
		return errors.New("somebody made the file meanwhile; read it first")
	case err != nil:
		return PlainError(err)
	case identity(fi) != identity(old) || fi.Size() != old.Size() || !fi.ModTime().Equal(old.ModTime()):
		return errChanged
	}
	return nil
}
