package tty

import (
	"fmt"
	"os"
	"syscall"
)

const (
	getModes = syscall.TCGETS
	setModes = syscall.TCSETS
	noFlush  = 0x80   // NOFLSH, which the library has for some machines only
	flush    = 0x540b // TCFLSH, the same
)

func forget(fd int) error { return ioctl(fd, flush, nil) } // nil is TCIFLUSH: what is to be read

// Name is the path of the terminal; "": nothing tells it, or it is none.
func Name(fd int) string {
	if !Is(fd) {
		return ""
	}
	path, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	return path
}
