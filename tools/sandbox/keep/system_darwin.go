package keep

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// search opens a directory that is only passed through; here that takes the right to list it.
const search = unix.O_RDONLY

// chmod gives what stands at p in the open directory its mode.
func chmod(dir int, p string, mode uint32) error {
	return unix.Fchmodat(dir, filepath.Base(p), mode&^unix.S_IFMT, unix.AT_SYMLINK_NOFOLLOW)
}
