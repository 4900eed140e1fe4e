package screen

import (
	"syscall"
	"unsafe"
)

// stops gives SIGTSTP its default action, which stops the process, until undo. The Go runtime can't do that: it keeps
// its handler once it was asked for the signal.
func stops() (undo func()) {
	var was, plain struct {
		handler  uintptr
		flags    uint64
		restorer uintptr
		mask     uint64
	}
	set := func(to, old unsafe.Pointer) {
		_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(syscall.SIGTSTP), uintptr(to), uintptr(old), unsafe.Sizeof(was.mask), 0, 0)
	}
	set(unsafe.Pointer(&plain), unsafe.Pointer(&was))
	return func() { set(unsafe.Pointer(&was), nil) }
}

// stopGroup stops all processes of the group.
func stopGroup() { _ = syscall.Kill(0, syscall.SIGTSTP) }
