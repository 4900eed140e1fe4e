package cli

import (
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// Signals turns the first ending signal into an orderly end and the second into
// an immediate one.
type Signals struct {
	guard *Guard
	got   atomic.Int32
}

// endsWithin is how long the orderly end may take. With the emergency end after
// it the program is gone two seconds after the first signal, whatever hangs.
const endsWithin = 1400 * time.Millisecond

// Watch calls end once, after the first of SIGINT, SIGTERM, SIGHUP and SIGQUIT;
// SIGQUIT also writes the stacks of all goroutines into a crash file. Writing to
// a pipe nobody reads is an error from then on, not a signal.
func (g *Guard) Watch(end func()) *Signals {
	s := &Signals{guard: g}
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	arrived := make(chan os.Signal, 4)
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		// nohup and a shell's background jobs mean it.
		if !signal.Ignored(sig) {
			signal.Notify(arrived, sig)
		}
	}
	g.Go("signals", func() {
		s.End((<-arrived).(syscall.Signal), end)
		sig := (<-arrived).(syscall.Signal)
		g.Leave(128 + int(sig))
	})
	return s
}

// End begins the orderly end as if sig had come first.
func (s *Signals) End(sig syscall.Signal, end func()) {
	if !s.got.CompareAndSwap(0, int32(sig)) {
		return
	}
	s.guard.Go("deadline", func() {
		<-time.NewTimer(endsWithin).C
		s.guard.Leave(128 + int(sig))
	})
	if sig == syscall.SIGQUIT {
		s.guard.Dump("SIGQUIT: the stacks of all goroutines")
	}
	s.guard.Go("end", end)
}

// Code is the exit code the signal asks for; false if none came.
func (s *Signals) Code() (int, bool) {
	n := s.got.Load()
	return 128 + int(n), n != 0
}
