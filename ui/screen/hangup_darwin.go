package screen

import (
	"syscall"
	"unsafe"
)

// hungUp reports whether the other end of a connection is closed, even if unread bytes remain.
func hungUp(fd int) bool {
	const hup = 0x10 // POLLHUP, which this kernel reports only on request
	p := struct {
		fd             int32
		events, became int16
	}{fd: int32(fd), events: hup}
	n, _, _ := syscall.Syscall(syscall.SYS_POLL, uintptr(unsafe.Pointer(&p)), 1, 0)
	return int(n) == 1 && p.became&hup != 0
}
