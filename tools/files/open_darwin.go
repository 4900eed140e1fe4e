package files

import (
	"io/fs"
	"os"
	"syscall"
)

// openIn checks a regular file of dir, opens it, and checks it again.
func openIn(dir *os.Root, name string, closed map[id]bool) (*os.File, fs.FileInfo, error) {
	fi, err := dir.Lstat(name)
	if err != nil {
		return nil, nil, PlainError(err)
	}
	if err := fit(name, fi, closed); err != nil {
		return nil, nil, err
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, PlainError(err)
	}
	now, err := f.Stat()
	if err != nil || !os.SameFile(fi, now) {
		f.Close()
		return nil, nil, errMoved
	}
	return f, now, nil
}

// standsAt returns an error if the open directory is not the one at path.
func standsAt(r *os.Root, path string) error {
	held, err := r.Stat(".")
	if err != nil {
		return PlainError(err)
	}
	there, err := os.Lstat(path)
	if err != nil || !os.SameFile(held, there) {
		return errMoved
	}
	if at, err := resolve(path); err != nil || at != path {
		return errMoved
	}
	return nil
}
