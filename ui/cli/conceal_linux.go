package cli

import "syscall"

// Conceal keeps the user's other processes, the commands of agents above all,
// from reading this one's environment and memory, where the keys are. Its core is
// not dumped either. Without the system's leave nothing changes.
func Conceal() {
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, 0, 0)
}
