package tty

import (
	"bytes"
	"syscall"
	"unsafe"
)

const (
	getModes = syscall.TIOCGETA
	setModes = syscall.TIOCSETA
	noFlush  = syscall.NOFLSH
)

func forget(fd int) error {
	what := int32(1) // FREAD: the unread input
	return ioctl(fd, syscall.TIOCFLUSH, unsafe.Pointer(&what))
}

// Stty spells m as stty -g does. The format is not known here, and stty never reports "-": the shell does the rest.
func (m Modes) Stty() string { return "-" }

// Name returns the path of the terminal; "" if it is unknown, or fd is no terminal.
func Name(fd int) string {
	var path [1024]byte // MAXPATHLEN
	if !Is(fd) {
		return ""
	}
	if _, _, e := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETPATH, uintptr(unsafe.Pointer(&path))); e != 0 {
		return ""
	}
	name, _, _ := bytes.Cut(path[:], []byte{0})
	return string(name)
}
