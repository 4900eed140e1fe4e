package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/tasks"
	"fantail/agents/turn"
	"fantail/store"
)

// Attend runs a fork from start to end: one turn, once it has a slot.
func (f *Forks) Attend(ctx context.Context, l *turn.Loop) {
	SingleTurn{Fleet: f.o.Fleet, DB: f.o.DB, Limit: forkLimit, Shown: forkIdle}.Attend(ctx, l)
}

// Reopen reopens the closed tab of a fork or an observer for the human to read, and returns its
// row. It returns false if no fork or observer has that name.
func (f *Forks) Reopen(ctx context.Context, name, prompt string) (row store.Agent, found bool, err error) {
	err = f.o.DB.Write(ctx, "open the tab of a fork", func(tx *store.Tx) (err error) {
		row, found, err = tx.AgentByName(name)
		found = found && event.Kind(row.Kind).Fleeting()
		switch {
		case err != nil || !found:
			return err
		case prompt != "" && event.Kind(row.Kind).Observes():
			return tasks.ObserverEnds(name)
		case prompt != "":
			return tasks.ForkEnds(name)
		case row.Closed.IsZero():
			return fmt.Errorf("the tab of %s is open", name)
		}
		return tx.OpenAgent(row)
	})
	if err != nil {
		return store.Agent{}, found, fmt.Errorf("resume: %w", err)
	}
	row.Closed = time.Time{}
	return row, found, nil
}

// MayWrite returns an error if a fork may not write to one of the names. A fork may write only to
// the message's sender, to its parent and to the agent that its outcomes name.
func (f *Forks) MayWrite(ctx context.Context, a *fleet.Agent, names []string) error {
	h := f.handled(a.ID)
	if h == nil {
		return nil
	}
	to, err := f.o.Letters.Addressees(ctx, names)
	if err != nil {
		return err
	}
	ids := []int64{h.message.Sender, a.Known().Parent}
	var allowed []string
	err = f.o.DB.Read(ctx, func(rx *store.Rx) error {
		allowed = nil
		if o, ok, err := rx.AgentByName(h.outcomes.Escalate); err != nil {
			return err
		} else if ok {
			ids = append(ids, o.ID)
		}
		for i, id := range ids {
			if id == 0 {
				continue
			}
			row, err := tasks.Reader(&rx.View, id)
			if err != nil {
				return err
			}
			ids[i], allowed = row.ID, append(allowed, row.Name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, i := range to {
		if !slices.Contains(ids, i.ID) {
			slices.Sort(allowed)
			return fmt.Errorf("send to %s: a fork writes only to %s; nothing was sent",
				i.Name, strings.Join(slices.Compact(allowed), ", "))
		}
	}
	return nil
}

// errWaited is returned to a fork that has waited as long as it may.
var errWaited = errors.New("you have waited as long as a fork may; say what you found and end your turn")

// MayWait returns how long an agent may wait for a message, given how long it asked to; 0: as long
// as one can arrive.
func (f *Forks) MayWait(agent int64, asked time.Duration) (time.Duration, error) {
	switch h := f.handled(agent); {
	case h == nil:
		return asked, nil
	case h.waited:
		return 0, errWaited
	case asked == 0 || asked > forkIdle:
		return forkIdle, nil
	}
	return asked, nil
}

// WaitedFor records that a fork waited for d in vain.
func (f *Forks) WaitedFor(agent int64, d time.Duration) {
	f.o.Fleet.Lock()
	defer f.o.Fleet.Unlock()
	if h := f.handles[agent]; h != nil && d >= forkIdle {
		h.waited = true
	}
}

// Concerns reports whether the agent may read and answer a message: it is the recipient, or a fork
// that handles the message.
func (f *Forks) Concerns(agent, recipient, message int64) bool {
	h := f.handled(agent)
	return recipient == agent || h != nil && message == h.message.ID
}
