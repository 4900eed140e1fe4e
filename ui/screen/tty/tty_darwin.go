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
	what := int32(1) // FREAD: what is to be read
	return ioctl(fd, syscall.TIOCFLUSH, unsafe.Pointer(&what))
}

// Name is the path of the terminal; "": nothing tells it, or it is none.
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
