package sandbox

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// search opens a directory to pass through; here that needs the right to list it.
const search = unix.O_RDONLY

// chmod sets the mode of the file at p in the open directory.
func chmod(dir int, p string, mode uint32) error {
	return unix.Fchmodat(dir, filepath.Base(p), mode&^unix.S_IFMT, unix.AT_SYMLINK_NOFOLLOW)
}
