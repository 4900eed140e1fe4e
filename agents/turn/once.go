package turn

import (
	"context"
	"fmt"
	"time"

	"fantail/agents/event"
	"fantail/store"
)

// Single is the life of an agent that has one turn.
type Single struct {
	Ready error         // why it can't begin; nil: it can
	Limit time.Duration // how long it may take once it has a slot
	Shown time.Duration // how long its tab stays open at its end while the human looks at it
}

// Once is the whole life of such an agent. Its tab closes by itself: at its end, or, if the human is looking at it, once
// they switch away or the time is over.
func Once(ctx context.Context, l *Loop, s Single) {
	defer retire(l, s.Shown)
	defer l.Spent()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ctx, release := l.Stoppable(ctx)
	defer release()
	err := s.Ready
	if err == nil {
		err = l.Regain(ctx)
	}
	if err == nil {
		l.Watch(s.Limit, cancel)
		if model, now := l.Present(); model.Provider == nil {
			err = fmt.Errorf("the model %s is not configured", now.Model)
		}
	}
	if err == nil {
		err = l.Work(ctx)
	}
	if err != nil {
		l.Refuse(l.EndingOf(ctx, err))
	}
}

// retire closes the tab of an agent that has ended, once nobody looks at it or shown has passed.
func retire(l *Loop, shown time.Duration) {
	fleet, db := l.o.Fleet, l.o.DB
	fleet.Start(fmt.Sprintf("close agent %d", l.ID), func() {
		moved, unwatch := fleet.Humans.Watch(l.ID)
		defer unwatch()
		t := time.NewTimer(shown)
		defer t.Stop()
		for over := false; !over && fleet.Humans.LooksAt(l.ID); {
			select {
			case <-moved:
			case <-t.C:
				over = true
			case <-fleet.Context().Done():
				return // the next start of the program closes it
			}
		}
		err := l.Persist(fleet.Context(), "close the tab", func() error {
			return db.Write(context.WithoutCancel(fleet.Context()), "close a "+l.Kind.Nature().Word, func(tx *store.Tx) error {
				row, ok, err := tx.Agent(l.ID)
				if err != nil || !ok || !event.State(row.State).Terminal() {
					return err // its end is not written: the next start of the program does both
				}
				return tx.CloseAgent(l.ID)
			})
		})
		if err != nil {
			return
		}
		fleet.Lock()
		defer fleet.Unlock()
		if l.Info.State.Terminal() {
			fleet.CloseTab(l.Agent)
		}
	})
}
