package turn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fantail/agents/event"
	"fantail/store"
)

// Persist calls f until it works, or ctx ends: errors show as the agent's trouble and are
// tried again, with growing pauses. It returns the last one.
func (c *conversation) Persist(ctx context.Context, what string, f func() error) error {
	return c.insist(ctx, what, func(error) bool { return true }, f)
}

// insist is Persist for errors that again says may pass; others end it.
func (c *conversation) insist(ctx context.Context, what string, again func(error) bool, f func() error) error {
	began := c.o.Now()
	for wait := time.Second; ; wait = min(2*wait, 30*time.Second) {
		err := f()
		if err == nil {
			return nil
		}
		err = fmt.Errorf("%s: %w", what, err)
		if !again(err) {
			return err
		}
		c.Trouble(fmt.Errorf("trying again: %w", err))
		c.o.Disk.Refused(began, err)
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return err
		}
	}
}

// passes reports whether err undid a write for a reason that can pass by itself,
// so that the same write may be tried again.
func passes(err error) bool {
	return errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrBusy) || errors.Is(err, store.ErrChanged) && !store.Stopped(err)
}

// Keep writes what must not be lost: a disk that is full is waited for, until ctx
// ends.
func (c *conversation) Keep(ctx context.Context, what string, f func(tx *store.Tx) error) error {
	tries := 0
	return c.insist(ctx, what, passes, func() error {
		tries++
		err := c.o.DB.Write(context.WithoutCancel(ctx), what, f)
		if err == nil && tries > 1 {
			c.Set(func(i *event.Info) { i.Why = "" })
		}
		return err
	})
}
