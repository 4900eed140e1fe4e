package sandbox

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// search opens a directory to pass through, without the right to list it.
const search = unix.O_PATH

// chmod sets the mode of the file at p in the open directory, if it is of that kind. It needs no right to open it.
func chmod(dir int, p string, mode uint32) error {
	fd, err := open(dir, p, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != mode&unix.S_IFMT {
		return errRaced
	}
	return unix.Chmod("/proc/self/fd/"+strconv.Itoa(fd), mode&^unix.S_IFMT)
}
