// Package single is the life of an agent that has one turn: of forks and observers.
//
// Does: let it begin once there is a slot, end it when its time is over, and close its tab afterwards.
//
// Does not: start it, or say what its end is worth to others.
//
// Imports: agents/ending, agents/event, agents/fleet, agents/turn, store.
package single

import (
	"context"
	"fmt"
	"time"

	"fantail/agents/ending"
	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/turn"
	"fantail/store"
)

// Life is the whole life of such an agent.
type Life struct {
	Fleet *fleet.Fleet
	DB    *store.DB

	Ready error         // why it can't begin; nil: it can
	Limit time.Duration // how long it may take once it has a slot
	Shown time.Duration // how long its tab stays open at its end while the human looks at it
}

// Attend lives it. The tab closes by itself: at the end, or, if the human is looking at it, once they switch away or the
// time is over.
func (s Life) Attend(ctx context.Context, l *turn.Loop) {
	defer s.retire(l)
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
		l.Refuse(ending.Of(ctx, err, l.Kind))
	}
}

// retire closes the tab of an agent that has ended, once nobody looks at it or its time is over.
func (s Life) retire(l *turn.Loop) {
	fleet, db := s.Fleet, s.DB
	fleet.Start(fmt.Sprintf("close agent %d", l.ID), func() {
		moved, unwatch := fleet.Humans.Watch(l.ID)
		defer unwatch()
		t := time.NewTimer(s.Shown)
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
