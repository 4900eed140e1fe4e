package screen

import (
	"syscall"
	"unsafe"
)

// peer is the user at the other end of a connection.
func peer(fd int) (uid int, err error) {
	const local, peerCred = 0, 1 // SOL_LOCAL, LOCAL_PEERCRED
	var c struct {
		version, uid uint32
		groups       int16
		group        [16]uint32
	}
	size := uint32(unsafe.Sizeof(c))
	if _, _, e := syscall.Syscall6(syscall.SYS_GETSOCKOPT, uintptr(fd), local, peerCred, uintptr(unsafe.Pointer(&c)), uintptr(unsafe.Pointer(&size)), 0); e != 0 {
		return -1, e
	}
	return int(c.uid), nil
}
