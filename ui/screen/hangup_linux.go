package screen

import (
	"syscall"
	"unsafe"
)

// hungUp reports whether the other end of a connection is closed, even if unread bytes remain.
func hungUp(fd int) bool {
	p := struct {
		fd             int32
		events, became int16
	}{fd: int32(fd)}
	var now syscall.Timespec
	n, _, _ := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&p)), 1, uintptr(unsafe.Pointer(&now)), 0, 0, 0)
	return n == 1 && p.became != 0
}
