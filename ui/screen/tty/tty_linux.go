package tty

import (
	"fmt"
	"os"
	"syscall"
)

const (
	getModes = syscall.TCGETS
	setModes = syscall.TCSETS
)

// Name is the path of the terminal; "": nothing tells it, or it is none.
func Name(fd int) string {
	if !Is(fd) {
		return ""
	}
	path, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	return path
}
