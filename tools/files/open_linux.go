package files

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// oPath opens a name without opening the file: it reads, locks and wakes nothing.
const oPath = 0x200000

// openIn checks a regular file of dir, and then opens it.
func openIn(dir *os.Root, name string, closed map[id]bool) (*os.File, fs.FileInfo, error) {
	p, err := dir.OpenFile(name, oPath, 0)
	if err != nil {
		return nil, nil, PlainError(err)
	}
	defer p.Close()
	fi, err := p.Stat()
	if err != nil {
		return nil, nil, PlainError(err)
	}
	if err := fit(name, fi, closed); err != nil {
		return nil, nil, err
	}
	// Unlike os.Open, this does not ask the kernel whether a regular file can be waited for.
	again := "/proc/self/fd/" + strconv.Itoa(int(p.Fd()))
	for {
		fd, err := syscall.Open(again, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.ENOENT):
			return nil, nil, fs.ErrNotExist
		case err != nil:
			return nil, nil, err
		default:
			return os.NewFile(uintptr(fd), name), fi, nil
		}
	}
}

// standsAt returns an error if the open directory is not the one at path.
func standsAt(r *os.Root, path string) error {
	d, err := r.OpenFile(".", oPath, 0)
	if err != nil {
		return PlainError(err)
	}
	defer d.Close()
	at, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(d.Fd())))
	if err != nil {
		return PlainError(err)
	}
	if at != path {
		return errMoved
	}
	return nil
}
