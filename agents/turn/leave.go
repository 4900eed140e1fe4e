package turn

import (
	"context"
	"fmt"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/store"
)

// Leave closes the helper: what it is doing is ended, its transcript and mail are kept, and its open work passes to the
// agent above. It returns once the loop has ended.
func (l *Loop) Leave(ctx context.Context) error {
	w := &leave{failed: make(chan error, 1)}
	l.o.Fleet.Lock()
	l.leaves = w
	l.o.Fleet.Unlock()
	l.Halt(fleet.ErrStopped)
	l.Poke()
	select {
	case <-l.Gone:
		return nil
	case err := <-w.failed:
		return fmt.Errorf("close %s: %w", l.Known().Name, err)
	case <-ctx.Done():
		return fmt.Errorf("wait for %s to end: %w", l.Known().Name, ctx.Err())
	}
}

// closes reports whether the human wants the helper closed.
func (l *Loop) closes() bool {
	l.o.Fleet.Lock()
	defer l.o.Fleet.Unlock()
	return l.leaves != nil
}

// left carries out a request to close, if there is one; true ends the loop.
func (l *Loop) left(ctx context.Context) bool {
	l.o.Fleet.Lock()
	w := l.leaves
	l.leaves = nil
	l.o.Fleet.Unlock()
	if w == nil {
		return false
	}
	err := l.o.DB.Write(context.WithoutCancel(ctx), "close a helper", func(tx *store.Tx) error {
		if err := l.o.Ends.Close(tx, l.ID); err != nil {
			return err
		}
		tx.AfterCommit(func() {
			l.o.Fleet.Lock()
			defer l.o.Fleet.Unlock()
			l.Change(func(i *event.Info) { i.State, i.Ended = event.Done, l.o.Now() })
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
