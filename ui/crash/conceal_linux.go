package crash

import (
	"os"
	"strconv"
	"syscall"
)

// Conceal prevents the user's other processes, above all the commands of agents, from reading this one's environment
// and memory, where the keys are, and from getting files that were open when it began. It also turns off core dumps.
// If the system does not allow it, nothing changes.
func Conceal() {
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, 0, 0)
	open, _ := os.ReadDir("/proc/self/fd")
	for _, d := range open {
		if fd, err := strconv.Atoi(d.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}
