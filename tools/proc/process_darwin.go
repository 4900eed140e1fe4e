package proc

import "golang.org/x/sys/unix"

// zombie is this kernel's number for the state of a process that has ended.
const zombie = 5

// Look returns what the system knows about the process with that number; false if there is none, or none that can be
// seen.
func Look(pid int) (Process, bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return Process{}, false
	}
	p := Process{Parent: int(k.Eproc.Ppid), Group: int(k.Eproc.Pgid), Foreground: int(k.Eproc.Tpgid), Started: k.Proc.P_starttime.Nano()}
	if k.Proc.P_stat == zombie {
		p.State = 'Z'
	}
	return p, true
}
