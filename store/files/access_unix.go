//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package files

import (
	"errors"
	"syscall"
)

// writable is why this user can't write to path; nil: it can, or that is not known.
func writable(path string) error {
	const forWriting = 2 // W_OK
	err := syscall.Access(path, forWriting)
	if errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EPERM) {
		return err
	}
	return nil
}
