//go:build !linux

package screen

import (
	"os"
	"syscall"
)

// stops does nothing here: the group is stopped by a signal that can't be caught.
func stops() (undo func()) { return func() {} }

// stopGroup stops all processes of the group, unless no shell would continue it.
func stopGroup() {
	if sid, _, e := syscall.Syscall(syscall.SYS_GETSID, 0, 0, 0); e == 0 && int(sid) != os.Getpid() && os.Getppid() != 1 {
		_ = syscall.Kill(0, syscall.SIGSTOP)
	}
}
