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

func forget(fd int) error { return ioctl(fd, flush, nil) } // nil is TCIFLUSH: the unread input

// Stty spells m in the words of stty -g.
func (m Modes) Stty() string {
	s := fmt.Sprintf("%x:%x:%x:%x", m.t.Iflag, m.t.Oflag, m.t.Cflag, m.t.Lflag)
	for _, c := range m.t.Cc {
		s += fmt.Sprintf(":%x", c)
	}
	return s
}

// Name returns the path of the terminal; "" if it is unknown, or fd is no terminal.
func Name(fd int) string {
	if !Is(fd) {
		return ""
	}
	path, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	return path
}
