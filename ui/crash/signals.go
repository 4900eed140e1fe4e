package crash

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
)

// Signals turns the first ending signal into an orderly end and the second into an immediate one.
type Signals struct {
	guard *Guard
	got   atomic.Int32
}

// endsWithin is how long the orderly end may take. With the emergency end after
// it the program is gone two seconds after the first signal, whatever hangs.
const endsWithin = 1400 * time.Millisecond

// Closing is how long running work gets to be recorded when the program ends.
const Closing = 1200 * time.Millisecond

// Close ends running work within that time; the next start finds what can't be recorded in it.
func Close(end func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), Closing)
	defer cancel()
	return end(ctx)
}

// ending returns the signals that would end the program without its consent. Signals of faults are listed for when
// another process sends them; the runtime handles the program's own faults, and the watchdogs clean up after those it
// can't handle.
func ending() []os.Signal {
	return append([]os.Signal{
		syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGALRM, syscall.SIGVTALRM, syscall.SIGXCPU, syscall.SIGUSR1, syscall.SIGUSR2,
	}, telling()...)
}

// telling returns those of them whose sender wants to know where the program was.
func telling() []os.Signal {
	return []os.Signal{
		syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL, syscall.SIGSYS, syscall.SIGTRAP,
	}
}

// Watch calls end once, after the first signal that ends programs; SIGQUIT and those of faults also write the stacks
// of all goroutines into a crash file. From then on writing to a pipe without a reader is an error, not a signal.
// Signals in but have another meaning.
func (g *Guard) Watch(end func(), but ...os.Signal) *Signals {
	s := &Signals{guard: g}
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	arrived := make(chan os.Signal, 4)
	for _, sig := range ending() {
		// nohup and a shell's background jobs ignore signals on purpose.
		if !signal.Ignored(sig) && !slices.Contains(but, sig) {
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
	if slices.Contains(telling(), os.Signal(sig)) {
		s.guard.Dump(fmt.Sprintf("signal %d (%v): the stacks of all goroutines", int(sig), sig))
	}
	s.guard.Go("end", end)
}

// Code returns the exit code for the signal; false if none came.
func (s *Signals) Code() (int, bool) {
	n := s.got.Load()
	return 128 + int(n), n != 0
}

// HangUp begins the orderly end as if SIGHUP had come, once one of the terminals is gone. If the system can't tell,
// only the signal itself does.
func (s *Signals) HangUp(end func(), terminals ...*os.File) {
	s.guard.Go("terminal", func() {
		if hungUp(terminals...) {
			s.End(syscall.SIGHUP, end)
		}
	})
}
