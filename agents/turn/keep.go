package turn

import (
	"context"

	"fantail/agents/commands"
	"fantail/agents/disk"
	"fantail/store"
	"fantail/tools/proc"
)

// Persist calls f until it succeeds or ctx ends. Errors are shown as the agent's trouble and f is retried, with growing
// pauses. It returns the last error.
func (c *conversation) Persist(ctx context.Context, what string, f func() error) error {
	return c.o.Disk.Insist(ctx, disk.Try{What: what, Again: func(error) bool { return true }, Trouble: c.Trouble}, f)
}

// Keep writes what must not be lost: it waits out a full disk, until ctx ends.
func (c *conversation) Keep(ctx context.Context, what string, f func(tx *store.Tx) error) error {
	tries := 0
	return c.o.Disk.Insist(ctx, disk.Try{What: what, Again: disk.Passes, Trouble: c.Trouble}, func() error {
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
