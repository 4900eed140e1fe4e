package turn

import (
	"context"
	"fmt"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/store"
)

// leave is the human's request to close a helper. Its loop carries it out between turns.
type leave struct{ failed chan error }

// Leave closes the helper: what it does is ended, its transcript and mail are kept, and its open
// work passes to the agent above. Leave returns once the loop has ended.
func (l *Loop) Leave(ctx context.Context) error {
	w := &leave{failed: make(chan error, 1)}
	l.o.Fleet.Lock()
	l.shared.leaves = w
	l.o.Fleet.Unlock()
	l.Agent.Halt(fleet.ErrStopped)
	l.Agent.Poke()
	select {
	case <-l.Agent.Gone:
		return nil
	case err := <-w.failed:
		return fmt.Errorf("close %s: %w", l.Agent.Known().Name, err)
	case <-ctx.Done():
		return fmt.Errorf("wait for %s to end: %w", l.Agent.Known().Name, ctx.Err())
	}
}

// leaving reports whether the human wants the helper closed.
func (l *Loop) leaving() bool {
	l.o.Fleet.Lock()
	defer l.o.Fleet.Unlock()
	return l.shared.leaves != nil
}

// leaveIfAsked carries out a request to close, if there is one. It returns true to end the loop.
func (l *Loop) leaveIfAsked(ctx context.Context) bool {
	l.o.Fleet.Lock()
	w := l.shared.leaves
	l.shared.leaves = nil
	l.o.Fleet.Unlock()
	if w == nil {
		return false
	}
	err := l.o.DB.Write(context.WithoutCancel(ctx), "close a helper", func(tx *store.Tx) error {
		if err := l.o.Ends.Close(tx, l.Agent.ID); err != nil {
			return err
		}
		tx.AfterCommit(func() {
			l.o.Fleet.Lock()
			defer l.o.Fleet.Unlock()
			l.Agent.Change(func(i *event.Info) { i.State, i.Ended = event.Done, l.o.Now() })
			l.o.Fleet.CloseTab(l.Agent)
		})
		return nil
	})
	if err != nil {
		w.failed <- err
		return false
	}
	return true
}
