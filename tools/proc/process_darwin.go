package proc

import "golang.org/x/sys/unix"

// zombie is the state of a process that has ended, as this kernel numbers it.
const zombie = 5

// Look is what the system tells about the process with that number; false if there is none, or
// none that can be seen.
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
