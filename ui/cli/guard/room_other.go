//go:build !linux

package guard

import (
	"os"

	"golang.org/x/sys/unix"
)

// NeedRoom is not known here.
func NeedRoom() error { return nil }

// narrow is not known here.
func narrow() string { return "" }

// Redirect makes a descriptor be that file.
func Redirect(f *os.File, fd int) error { return unix.Dup2(int(f.Fd()), fd) }
