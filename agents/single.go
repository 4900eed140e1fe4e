package agents

import (
	"context"
	"fmt"
	"time"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/turn"
	"fantail/store"
)

// SingleTurn runs an agent that has one turn and then closes: a fork or an observer.
type SingleTurn struct {
	Fleet *fleet.Fleet
	DB    *store.DB

	Ready error         // why it can't begin; nil: it can
	Limit time.Duration // how long it may run once it has a slot
	Shown time.Duration // how long its tab stays open after its end while the human views it
}

// Attend runs the agent from start to end. Its tab then closes by itself: at once, or, if the human
// views it, when they switch away or after Shown.
func (s SingleTurn) Attend(ctx context.Context, l *turn.Loop) {
	defer s.retire(l)
	defer l.Agent.Spent()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ctx, release := l.Agent.Stoppable(ctx)
	defer release()
	err := s.Ready
	if err == nil {
		err = l.Agent.Regain(ctx)
	}
	if err == nil {
		l.Agent.Watch(s.Limit, cancel)
		if model, now := l.Agent.Present(); model.Provider == nil {
			err = fmt.Errorf("the model %s is not configured", now.Model)
		}
	}
	if err == nil {
		err = l.Work(ctx)
	}
	if err != nil {
		l.Refuse(turn.EndingOf(ctx, err, l.Agent.Kind))
	}
}

// retire closes the tab of an ended agent once it is no longer viewed, or after Shown.
func (s SingleTurn) retire(l *turn.Loop) {
	fleet, db := s.Fleet, s.DB
	fleet.Start(fmt.Sprintf("close agent %d", l.Agent.ID), func() {
		moved, unwatch := fleet.Humans.Watch(l.Agent.ID)
		defer unwatch()
		t := time.NewTimer(s.Shown)
		defer t.Stop()
		for over := false; !over && fleet.Humans.LooksAt(l.Agent.ID); {
			select {
			case <-moved:
			case <-t.C:
				over = true
			case <-fleet.Context().Done():
				return // the next start of the program closes it
			}
		}
		err := l.Persist(fleet.Context(), "close the tab", func() error {
			return db.Write(context.WithoutCancel(fleet.Context()), "close a "+l.Agent.Kind.Nature().Word, func(tx *store.Tx) error {
				row, ok, err := tx.Agent(l.Agent.ID)
				if err != nil || !ok || !event.State(row.State).Terminal() {
					return err // its end is not written: the next start of the program does both
				}
				return tx.CloseAgent(l.Agent.ID)
			})
		})
		if err != nil {
			return
		}
		fleet.Lock()
		defer fleet.Unlock()
		if l.Agent.Info.State.Terminal() {
			fleet.CloseTab(l.Agent)
		}
	})
}
