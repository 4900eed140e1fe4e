package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Writable is an error if there is a file at path and it, or its directory, can't be
// written.
func Writable(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil //nolint:nilerr // what is missing can be made, or opening it says why not
	}
	for _, p := range []string{filepath.Dir(real), real} {
		const forWriting = 2 // W_OK
		err := syscall.Access(p, forWriting)
		if errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EPERM) {
			return &os.PathError{Op: "write", Path: p, Err: err}
		}
	}
	return nil
}

// MakeDir makes dir and its parents, 0700, and syncs their names: a database whose directory is lost in a power cut is
// lost too.
func MakeDir(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := MakeDir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	syncDir(parent)
	return nil
}

// syncDir syncs the names in dir if possible: not every directory is readable, and not every file system can sync one.
func syncDir(dir string) {
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	defer f.Close()
	_ = f.Sync()
}
