package proc

import (
	"errors"
	"os"
	"strconv"
	"syscall"
)

// dieWithUs makes the kernel kill the child when the thread that starts it ends. It does not affect the child's
// children.
func dieWithUs(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// started is when the process was started; 0 if there is none.
func started(pid int) int64 {
	p, _ := Look(pid)
	return p.Started
}

// alive reports whether a process of the group runs. Zombies do not count: without a process that reaps orphans they
// stay for ever, and kill(2) still finds them.
func alive(pgid int) bool {
	if err := syscall.Kill(-pgid, 0); errors.Is(err, syscall.ESRCH) {
		return false
	}
	d, err := os.Open("/proc")
	if err != nil {
		return true
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return true
	}
	for _, n := range names {
		pid, err := strconv.Atoi(n)
		if err != nil {
			continue
		}
		if p, ok := Look(pid); ok && p.Group == pgid && !p.Ended() {
			return true
		}
	}
	return false
}
