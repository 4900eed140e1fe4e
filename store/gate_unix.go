//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package store

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks f unless another open of it, here or elsewhere, holds the lock.
func tryLock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

func unlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) } // closing unlocks as well

// writable is why this user can't write to path; nil: it can, or that is not known.
func writable(path string) error {
	const forWriting = 2 // W_OK
	err := syscall.Access(path, forWriting)
	if errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EPERM) {
		return err
	}
	return nil
}
