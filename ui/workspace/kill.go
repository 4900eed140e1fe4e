package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// How long a host may take to end after a signal, and to be gone after it was killed.
const (
	obeysWithin = 5 * time.Second
	diesWithin  = 5 * time.Second
)

// Kill ends the host of the workspace whose data directory is dir, which does not answer. It continues a stopped host
// and tells it to end; if it does not, Kill kills it. It returns what was done, for people. It signals only the
// process that wrote the note in the lock, never another one that has its number now.
func Kill(ctx context.Context, dir string) (did string, err error) {
	held := Holder(dir)
	if held == nil {
		return "the host had just ended", nil
	}
	if !held.Host || held.PID <= 0 || held.Beyond != "" {
		return "", fmt.Errorf("%w: it can't be ended from here; end it where it runs", held)
	}
	p, err := os.FindProcess(held.PID) // this very process from here on, if the system supports that
	if err != nil {
		return "", fmt.Errorf("%w, which can't be found: %w", held, err)
	}
	defer func() { _ = p.Release() }()
	if thisRun(held.PID) != held.run {
		return "", fmt.Errorf("%w: another process has that number now, so none is ended; whoever has %s open keeps the lock", held, hostLock)
	}
	for _, s := range []struct {
		signals []os.Signal
		within  time.Duration
		did     string
	}{
		{[]os.Signal{syscall.SIGTERM, syscall.SIGCONT}, obeysWithin, "the host (process %d) did not answer, and ended when it was told to by a signal"},
		{[]os.Signal{syscall.SIGKILL}, diesWithin, "the host (process %d) did not answer or obey SIGTERM and was killed; recorded work is on disk"},
	} {
		for _, sig := range s.signals {
			if err := p.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
				return "", fmt.Errorf("%w: send it %v: %w", held, sig, err)
			}
		}
		if held.lets(ctx, dir, s.within) {
			return fmt.Sprintf(s.did, held.PID), nil
		}
		if err := ctx.Err(); err != nil {
			return "", err
		}
	}
	return "", fmt.Errorf("%w, and does not end even when it is killed: the system may wait for a disk", held)
}

// lets reports whether the owner of the workspace releases it within that time. Another one may take it at once.
func (e *HeldError) lets(ctx context.Context, dir string, within time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	again := time.NewTicker(takesEvery)
	defer again.Stop()
	for {
		if now := Holder(dir); now == nil || now.PID != e.PID || now.run != e.run {
			return true
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return false
		}
	}
}
