package turn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fantail/store"
)

// DiskTry describes a write that is retried.
type DiskTry struct {
	What    string
	Again   func(error) bool // reports which errors are retried
	Trouble func(error)      // gets each error that is retried
}

// Insist calls f until it succeeds, fails with an error that is not retried, or ctx ends, with
// growing pauses. It returns the last error.
func (d *Disk) Insist(ctx context.Context, t DiskTry, f func() error) error {
	began := d.now()
	for wait := time.Second; ; wait = min(2*wait, 30*time.Second) {
		err := f()
		if err == nil {
			return nil
		}
		err = fmt.Errorf("%s: %w", t.What, err)
		if !t.Again(err) {
			return err
		}
		t.Trouble(fmt.Errorf("trying again: %w", err))
		d.Refused(began, err)
		pause := time.NewTimer(wait)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return err
		}
	}
}

// DiskPasses reports whether a write failed for a reason that may pass on its own, so that retrying makes sense.
func DiskPasses(err error) bool {
	return errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrBusy) ||
		errors.Is(err, store.ErrChanged) && !store.Stopped(err)
}
