package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// errMoved says that a path leads elsewhere than when it was judged.
var errMoved = errors.New("the path changed while it was opened; try again")

// hold opens the directory of a target and makes sure that it is the one that
// was judged: whatever is renamed meanwhile, work in it happens nowhere else.
// With create, missing directories are made.
func (e *Env) hold(t target, create bool) (*os.Root, error) {
	if err := t.refused(); err != nil {
		return nil, err
	}
	return e.holdDir(filepath.Dir(t.abs), create)
}

// holdDir is hold for the directory itself.
func (e *Env) holdDir(dir string, create bool) (*os.Root, error) {
	have, missing := dir, ""
	for create && have != "/" {
		if _, err := os.Lstat(have); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		missing, have = filepath.Join(filepath.Base(have), missing), filepath.Dir(have)
	}
	r, err := e.existing(have)
	if err != nil || missing == "" {
		return r, err
	}
	// Directories are made in one that is known to stand where it was judged.
	defer r.Close()
	if err := r.MkdirAll(missing, 0o777); err != nil {
		return nil, plain(err)
	}
	sub, err := r.OpenRoot(missing)
	if err != nil {
		return nil, plain(err)
	}
	if err := standsAt(sub, dir); err != nil {
		sub.Close()
		return nil, err
	}
	return sub, nil
}

// existing holds a directory that is there: one of the workspace through the workspace.
func (e *Env) existing(dir string) (*os.Root, error) {
	top, rel := dir, "."
	if in, ok := below(e.Root, dir); ok {
		top, rel = e.Root, in
	}
	if fi, err := os.Lstat(dir); err != nil {
		return nil, plain(err)
	} else if !fi.IsDir() {
		return nil, fmt.Errorf("%s is not a directory", dir)
	}
	r, err := os.OpenRoot(top)
	if err != nil {
		return nil, plain(err)
	}
	if rel != "." {
		defer r.Close()
		if r, err = r.OpenRoot(rel); err != nil {
			return nil, plain(err)
		}
	}
	if err := standsAt(r, dir); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// plain removes the system call's name and the path from an error: the caller names the path.
func plain(err error) error {
	var pe *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fs.ErrNotExist
	case errors.As(err, &pe):
		return pe.Err
	}
	return err
}

// openFile opens a regular file for reading. What it is, is known before it is
// opened: nothing hangs on a pipe, wakes a device or touches a private file.
func (e *Env) openFile(t target) (*os.File, fs.FileInfo, error) {
	dir, err := e.hold(t, false)
	if err != nil {
		return nil, nil, err
	}
	defer dir.Close()
	var closed map[id]bool
	if t.forbidden == "" && !e.owns(t) {
		closed = e.privateIDs()
	}
	f, fi, err := openIn(dir, filepath.Base(t.abs), closed)
	if err == nil && t.sensitive == "" && closed != nil && holdsSecrets(f, t.abs) != "" {
		f.Close()
		return nil, nil, errSecret
	}
	return f, fi, err
}

// owns reports whether the target is one of the agent's own output files.
func (e *Env) owns(t target) bool {
	out, err := resolve(e.Outputs)
	_, ok := below(out, t.abs)
	return e.Outputs != "" && err == nil && ok
}

// fit says why a file can't be read: it is not a regular one, or it is closed.
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
