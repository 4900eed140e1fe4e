package sqlite

import (
	"os"
	"time"
)

// gate makes processes that write all the time take turns. SQLite lets whoever
// asks at the right moment in, and who waits asks ever more rarely: beside a
// busy writer another one waits for seconds. It is only about fairness. What
// must not run at once SQLite keeps apart, so when the gate can't be had the
// write goes on without it.
//
// There are two locks: who wants to write waits for next, then, holding next,
// for turn, and lets next go when it has turn. Who has just written must wait
// for next like all others, so whoever holds it is sure to come before.
type gate struct {
	path       string
	next, turn *os.File // opened by the first write; nil if they can't be
	opened     bool
}

const (
	gatePatience = time.Second // a stopped process may hold a lock without writing
	gatePause    = 200 * time.Microsecond
)

// enter waits for the turn to write and returns what gives it up.
func (g *gate) enter() (leave func()) {
	if !g.opened {
		g.opened = true
		g.next, g.turn = lockFile(g.path+"-next"), lockFile(g.path+"-turn")
	}
	if g.next == nil || g.turn == nil {
		return func() {}
	}
	var patience *time.Timer
	wait := func(f *os.File) bool {
		for pause := gatePause; !tryLock(f); pause = min(2*pause, 10*gatePause) {
			if patience == nil {
				patience = time.NewTimer(gatePatience)
			}
			again := time.NewTimer(pause)
			select {
			case <-again.C:
			case <-patience.C:
				again.Stop()
				return false
			}
		}
		return true
	}
	got := wait(g.next)
	if got {
		got = wait(g.turn)
		unlock(g.next)
	}
	if patience != nil {
		patience.Stop()
	}
	if !got {
		return func() {}
	}
	turn := g.turn
	return func() { unlock(turn) }
}

// close lets go of the locks; the next write opens them anew.
func (g *gate) close() {
	for _, f := range []*os.File{g.next, g.turn} {
		if f != nil {
			_ = f.Close() // it was never written to
		}
	}
	g.next, g.turn, g.opened = nil, nil, false
}

// lockFile opens an empty file to be locked; nil if that is not possible here.
func lockFile(path string) *os.File {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil
	}
	return f
}
