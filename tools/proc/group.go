package proc

import (
	"context"
	"syscall"
	"time"
)

// End ends the group if its leader is still the process it was: TERM, then KILL
// after grace. It reports whether there was anything to end. Where the system
// does not tell when a process started it ends nothing.
func End(g Group, grace time.Duration) bool {
	if g.PGID <= 1 || g.Start == 0 || started(g.PGID) != g.Start || !alive(g.PGID) {
		return false
	}
	end(g.PGID, grace, nil, nil)
	return true
}

// end sends TERM to the group, and KILL to what lives after grace, or a moment
// after hurry is closed. Who leads the group may know of more than the group that
// is to end: quit, if there is one, asks it first, and tells whether it does. It
// returns once nobody of the group lives, at the latest half a second after KILL: a
// process in an uninterruptible call dies when the call returns.
func end(pgid int, grace time.Duration, hurry <-chan struct{}, quit func(pid int) bool) {
	_ = syscall.Kill(-pgid, syscall.SIGTERM)
	// A stopped process acts on TERM only once it goes on.
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

// vanish waits until nobody of the group lives, at most d or until done; it
// reports whether that is so.
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

// linger gives what the command left behind a moment to end by itself and
// reports whether anybody of the group, or a holder of the output, remains.
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
