package proc

import (
	"context"
	"syscall"
	"time"
)

// End ends the group if its leader is still the recorded process: TERM, then KILL after grace. It reports whether there
// was such a group. If the system does not tell when a process started, End does nothing.
func End(g Group, grace time.Duration) bool {
	if g.PGID <= 1 || g.Start == 0 || started(g.PGID) != g.Start || !alive(g.PGID) {
		return false
	}
	end(g.PGID, grace, nil, nil)
	return true
}

// end sends TERM to the group, and KILL to processes that live after grace, or a moment after hurry is closed. The
// leader may know of processes outside the group: quit, if there is one, asks it first, and reports whether it will end
// them. end returns once all processes of the group have ended, at the latest half a second after KILL: a process in an
// uninterruptible call dies when the call returns.
func end(pgid int, grace time.Duration, hurry <-chan struct{}, quit func(pid int) bool) {
	_ = syscall.Kill(-pgid, syscall.SIGTERM)
	// A stopped process acts on TERM only after it continues.
	_ = syscall.Kill(-pgid, syscall.SIGCONT)
	if vanish(pgid, grace, hurry) {
		return
	}
	select {
	case <-hurry:
		if vanish(pgid, min(grace, stopAfter), nil) {
			return
		}
	default:
	}
	if quit != nil && quit(pgid) && vanish(pgid, quits, nil) {
		return
	}
	// A group that forks faster than one sweep of the kernel is swept again.
	for stop := time.Now().Add(reap); time.Now().Before(stop); {
		_ = syscall.Kill(-pgid, syscall.SIGKILL)
		if vanish(pgid, 10*poll, nil) {
			return
		}
	}
}

// vanish waits until all processes of the group have ended, at most d or until done; it reports whether they have.
func vanish(pgid int, d time.Duration, done <-chan struct{}) bool {
	late := time.NewTimer(d)
	defer late.Stop()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		if !alive(pgid) {
			return true
		}
		select {
		case <-tick.C:
		case <-done:
			return !alive(pgid)
		case <-late.C:
			return !alive(pgid)
		}
	}
}

// linger gives processes that the command left a moment to end by themselves, and reports whether a process of the
// group, or a holder of the output, remains.
func linger(ctx context.Context, pgid int, drained <-chan struct{}) bool {
	if !vanish(pgid, lingers, ctx.Done()) {
		return true
	}
	late := time.NewTimer(lingers)
	defer late.Stop()
	select {
	case <-drained:
		return false
	case <-ctx.Done():
		return false
	case <-late.C:
		return true
	}
}
