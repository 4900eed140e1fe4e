package turn

import (
	"context"

	"fantail/store"
	"fantail/tools/proc"
)

// Persist calls f until it succeeds or ctx ends. It shows errors as the agent's trouble and retries
// with growing pauses. It returns the last error.
func (l *Loop) Persist(ctx context.Context, what string, f func() error) error {
	return l.o.Disk.Insist(ctx, DiskTry{What: what, Again: func(error) bool { return true }, Trouble: l.Agent.Trouble}, f)
}

// Keep writes what must not be lost. It waits for space on a full disk, until ctx ends.
func (l *Loop) Keep(ctx context.Context, what string, f func(tx *store.Tx) error) error {
	tries := 0
	return l.o.Disk.Insist(ctx, DiskTry{What: what, Again: DiskPasses, Trouble: l.Agent.Trouble}, func() error {
		tries++
		err := l.o.DB.Write(context.WithoutCancel(ctx), what, f)
		if err == nil && tries > 1 {
			l.Agent.Trouble(nil)
		}
		return err
	})
}

// track has a command's group ended if this program dies, and records it as the agent's while it
// runs.
func (l *Loop) track(g proc.Group) (end func()) {
	known, kept := l.o.Commands.Begin(g, CommandRunner{Agent: l.Agent.ID, Turn: l.own.turn}), func() {}
	if l.o.Keep != nil {
		kept = l.o.Keep(g)
	}
	return func() {
		known()
		kept()
	}
}
