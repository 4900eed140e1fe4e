package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// errMoved says that a path leads elsewhere than when it was judged.
var errMoved = errors.New("the path changed while it was opened; try again")

// hold opens the directory of a target and makes sure that it is the one that was judged: if it is renamed meanwhile,
// all work still happens in it. With create, it makes missing directories.
func (tr *Tree) hold(t Target, create bool) (*os.Root, error) {
	if err := t.Refused(); err != nil {
		return nil, err
	}
	return tr.holdDir(filepath.Dir(t.Abs), create)
}

// holdDir is hold for the directory itself.
func (tr *Tree) holdDir(dir string, create bool) (*os.Root, error) {
	have, missing := dir, ""
	for create && have != "/" {
		if _, err := os.Lstat(have); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		missing, have = filepath.Join(filepath.Base(have), missing), filepath.Dir(have)
	}
	r, err := tr.existing(have)
	if err != nil || missing == "" {
		return r, err
	}
	// Make directories only in one that is known to be where it was judged.
	defer r.Close()
	if err := tr.makeAll(r, missing); err != nil {
		return nil, PlainError(err)
	}
	sub, err := r.OpenRoot(missing)
	if err != nil {
		return nil, PlainError(err)
	}
	if err := standsAt(sub, dir); err != nil {
		sub.Close()
		return nil, err
	}
	return sub, nil
}

// makeAll makes the directories on the way to one in r, and that one itself.
func (tr *Tree) makeAll(r *os.Root, dir string) error {
	if up := filepath.Dir(dir); up != "." {
		if err := tr.makeAll(r, up); err != nil {
			return err
		}
	}
	const perm = 0o777
	err := r.Mkdir(dir, perm)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	fi, err := r.Lstat(dir)
	if err != nil {
		return err
	}
	if mode, differs := tr.Umask.Of(perm, fi.Mode()); differs && fi.IsDir() {
		_ = r.Chmod(dir, mode) // a file system without permissions has no umask either
	}
	return nil
}

// existing opens an existing directory: one of the workspace by way of the workspace.
func (tr *Tree) existing(dir string) (*os.Root, error) {
	top, rel := dir, "."
	if in, ok := below(tr.Root, dir); ok {
		top, rel = tr.Root, in
	}
	if fi, err := os.Lstat(dir); err != nil {
		return nil, PlainError(err)
	} else if !fi.IsDir() {
		return nil, fmt.Errorf("%s is not a directory", dir)
	}
	r, err := os.OpenRoot(top)
	if err != nil {
		return nil, PlainError(err)
	}
	if rel != "." {
		defer r.Close()
		if r, err = r.OpenRoot(rel); err != nil {
			return nil, PlainError(err)
		}
	}
	if err := standsAt(r, dir); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// PlainError removes the system call's name and the path from an error: the caller names the path.
func PlainError(err error) error {
	var pe *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fs.ErrNotExist
	case errors.As(err, &pe):
		return pe.Err
	}
	return err
}

// Open opens a regular file for reading. It checks the kind of file before it opens it: it never blocks on a pipe,
// wakes a device or touches a private file.
func (tr *Tree) Open(t Target) (*os.File, fs.FileInfo, error) {
	dir, err := tr.hold(t, false)
	if err != nil {
		return nil, nil, err
	}
	defer dir.Close()
	var closed map[id]bool
	if t.forbidden == "" && !tr.owns(t) {
		closed = tr.privateIDs()
	}
	f, fi, err := openIn(dir, filepath.Base(t.Abs), closed)
	if err == nil && t.Sensitive == "" && closed != nil && holdsSecrets(f, t.Abs) != "" {
		f.Close()
		return nil, nil, errSecret
	}
	return f, fi, err
}

// owns reports whether the target is one of the agent's own output files.
func (tr *Tree) owns(t Target) bool {
	out, err := resolve(tr.Outputs)
	_, ok := below(out, t.Abs)
	return tr.Outputs != "" && err == nil && ok
}

// Regular returns an error if the target is not a file that can be read or replaced.
func (t Target) Regular() error {
	fi, err := os.Lstat(t.Abs)
	if err != nil {
		return PlainError(err)
	}
	return fit(t.Show(), fi, nil)
}

// fit returns an error for a file that can't be read: it is not a regular one, or it is closed.
func fit(name string, fi fs.FileInfo, closed map[id]bool) error {
	switch m := fi.Mode(); {
	case m.IsDir():
		return fmt.Errorf("%s is a directory; use list_files", name)
	case m&fs.ModeSymlink != 0:
		return errMoved
	case m&fs.ModeNamedPipe != 0:
		return fmt.Errorf("%s is a named pipe, not a file", name)
	case m&fs.ModeSocket != 0:
		return fmt.Errorf("%s is a socket, not a file", name)
	case !m.IsRegular():
		return fmt.Errorf("%s is a device, not a file", name)
	}
	if closed[identity(fi)] {
		return fmt.Errorf("%s is a file of Fantail's own (its database, sockets and configuration are closed to tools)", name)
	}
	return nil
}
