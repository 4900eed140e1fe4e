package screen

import (
	"syscall"
	"unsafe"
)

// peer returns the process at the other end of a connection, 0 if it is unknown, and its user.
func peer(fd int) (pid, uid int, err error) {
	const local, peerCred, peerPID = 0, 1, 2 // SOL_LOCAL, LOCAL_PEERCRED, LOCAL_PEERPID
	var c struct {
		version, uid uint32
		groups       int16
		group        [16]uint32
	}
	size := uint32(unsafe.Sizeof(c))
	if _, _, e := syscall.Syscall6(syscall.SYS_GETSOCKOPT, uintptr(fd), local, peerCred, uintptr(unsafe.Pointer(&c)), uintptr(unsafe.Pointer(&size)), 0); e != 0 {
		return 0, -1, e
	}
	n, err := syscall.GetsockoptInt(fd, local, peerPID)
	if err != nil {
		n = 0
	}
	return n, int(c.uid), nil
}
