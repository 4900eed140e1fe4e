package workspace

import (
	"io/fs"
	"os"
	"syscall"
)

// openIn opens a regular file of dir after looking at it, and looks again.
func openIn(dir *os.Root, name string, closed map[id]bool) (*os.File, fs.FileInfo, error) {
	fi, err := dir.Lstat(name)
	if err != nil {
		return nil, nil, Plain(err)
	}
	if err := fit(name, fi, closed); err != nil {
		return nil, nil, err
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, Plain(err)
	}
	now, err := f.Stat()
	if err != nil || !os.SameFile(fi, now) {
		f.Close()
		return nil, nil, errMoved
	}
	return f, now, nil
}

// standsAt makes sure that the directory that is held is the one of that path.
func standsAt(r *os.Root, path string) error {
	held, err := r.Stat(".")
	if err != nil {
		return Plain(err)
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
