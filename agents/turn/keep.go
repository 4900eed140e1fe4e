package turn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fantail/agents/commands"
	"fantail/store"
	"fantail/tools/proc"
)

// Persist calls f until it succeeds or ctx ends. Errors are shown as the agent's trouble and f is retried, with growing
// pauses. It returns the last error.
func (c *conversation) Persist(ctx context.Context, what string, f func() error) error {
	return c.insist(ctx, what, func(error) bool { return true }, f)
}

// insist is Persist, but retries only the errors that again accepts.
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

// passes reports whether a write failed for a reason that may pass on its own, so that retrying makes sense.
func passes(err error) bool {
	return errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrBusy) ||
		errors.Is(err, store.ErrChanged) && !store.Stopped(err)
}

// Keep writes what must not be lost: it waits out a full disk, until ctx ends.
func (c *conversation) Keep(ctx context.Context, what string, f func(tx *store.Tx) error) error {
	tries := 0
	return c.insist(ctx, what, passes, func() error {
		tries++
		err := c.o.DB.Write(context.WithoutCancel(ctx), what, f)
		if err == nil && tries > 1 {
			c.Trouble(nil)
		}
		return err
	})
}

// keep has a command's group ended if this program dies, and known as the agent's while it runs.
func (w *workbench) keep(g proc.Group) (end func()) {
	known, kept := w.o.Commands.Begin(g, commands.Runner{Agent: w.ID, Turn: w.turn}), func() {}
	if w.o.Keep != nil {
		kept = w.o.Keep(g)
	}
	return func() {
		known()
		kept()
	}
}
