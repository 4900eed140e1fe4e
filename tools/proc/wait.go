package proc

import (
	"syscall"
	"unsafe"
)

// awaitExit returns when the child has ended, and leaves it unreaped: the number of an unreaped leader's group is not
// reused.
func awaitExit(pid int) {
	const byPID = 1    // P_PID
	var info [128]byte // siginfo_t, the largest of the systems built for
	for {
		_, _, e := syscall.Syscall6(syscall.SYS_WAITID, byPID, uintptr(pid),
			uintptr(unsafe.Pointer(&info[0])), syscall.WEXITED|syscall.WNOWAIT, 0, 0)
		if e != syscall.EINTR {
			return
		}
	}
}
