package figures

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// chance are system calls whose number is the scheduler's and the collector's: of threads, clocks and memory. Those that
// set up a signal are as many in all Go programs.
var chance = []int{
	unix.SYS_CLONE, unix.SYS_CLONE3, unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_GETTID, unix.SYS_SIGALTSTACK, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGRETURN,
	unix.SYS_FUTEX, unix.SYS_SCHED_YIELD, unix.SYS_NANOSLEEP, unix.SYS_EPOLL_PWAIT, unix.SYS_TGKILL, unix.SYS_GETPID, unix.SYS_EXIT, unix.SYS_RESTART_SYSCALL,
	unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MADVISE, unix.SYS_MPROTECT, unix.SYS_MINCORE, unix.SYS_PRCTL,
}

// countErrands counts the system calls of each errand beside a host: the least of some runs.
func countErrands(t *testing.T, now counts) {
	if ours.path() == "" {
		return
	}
	s := newSite(t, ours, model{})
	s.open().stop()
	for _, args := range errands() {
		least := math.Inf(1)
		for range 5 {
			n, err := s.calls(args...)
			if errors.Is(err, fs.ErrPermission) {
				t.Logf("no errand is counted: a process may not be traced here: %v", err)
				return
			}
			if err != nil {
				t.Fatalf("%q: %v", args, err)
			}
			least = min(least, float64(n))
		}
		now["errand "+args[0]+": system calls"] = least
	}
}

// calls counts the system calls of the site's program with those arguments, without those of chance.
func (s *site) calls(args ...string) (n int, err error) {
	runtime.LockOSThread() // only this thread may trace what it started
	defer runtime.UnlockOSThread()
	c := s.command(args...)
	c.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := c.Start(); err != nil {
		return 0, err
	}
	pid := c.Process.Pid
	defer func() { _ = c.Process.Release() }()
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &ws, unix.WALL, nil); err != nil {
		return 0, err
	}
	const options = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_EXITKILL
	if err := syscall.PtraceSetOptions(pid, options); err != nil {
		return 0, err
	}
	within := map[int]bool{} // of threads: whether it is in a call
	for on, signal := pid, 0; ; {
		if err := syscall.PtraceSyscall(on, signal); err != nil && !errors.Is(err, syscall.ESRCH) { // it may be ended meanwhile
			return 0, err
		}
		if on, err = syscall.Wait4(-1, &ws, unix.WALL|unix.WNOTHREAD, nil); err != nil {
			return 0, err
		}
		for ws.Exited() || ws.Signaled() {
			if on == pid && ws.Exited() && (ws.ExitStatus() == 0 || ws.ExitStatus() == 3) {
				return n, nil
			}
			if on == pid {
				return 0, fmt.Errorf("it ended with %#x", uint32(ws))
			}
			if on, err = syscall.Wait4(-1, &ws, unix.WALL|unix.WNOTHREAD, nil); err != nil {
				return 0, err
			}
		}
		signal = 0
		switch stop := ws.StopSignal(); {
		case stop == syscall.SIGTRAP|0x80:
			if within[on] = !within[on]; within[on] && !slices.Contains(chance, number(on)) {
				n++
			}
		case stop != syscall.SIGTRAP && stop != syscall.SIGSTOP: // those are the tracer's
			signal = int(stop)
		}
	}
}

// number is that of the call which the stopped thread makes; -1: unknown.
func number(thread int) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", thread))
	word, _, _ := bytes.Cut(text, []byte(" "))
	n, err := strconv.Atoi(string(word))
	if err != nil {
		return -1
	}
	return n
}
