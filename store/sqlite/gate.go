package sqlite

import (
	"os"
	"syscall"
	"time"
)

// gate makes processes that write all the time take turns. SQLite admits the process that asks at the right moment, and
// a waiting process asks ever more rarely: next to a busy writer another one waits for seconds. The gate only provides
// fairness. SQLite itself excludes concurrent writes, so if the gate fails the write goes on without it.
//
// There are two locks. A writer waits for next, then, holding next, for turn, and releases next when it has turn. A
// process that has just written must wait for next like all others, so the holder of next is sure to be first.
type gate struct {
	path       string
	next, turn *os.File // opened by the first write; nil if they can't be
	opened     bool
}

const (
	gatePatience = time.Second // a stopped process may hold a lock without writing
	gatePause    = 200 * time.Microsecond
)

// enter waits for the turn to write and returns a function that ends it.
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

// close releases the locks; the next write reopens them.
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

// tryLock locks f unless another open of it, here or elsewhere, holds the lock.
func tryLock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

func unlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) } // closing unlocks as well
