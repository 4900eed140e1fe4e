package mail

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"fantail/inbox"
	"fantail/store"
)

// The methods here are what a human does with the messages of an inbox without taking any into a conversation. They
// work for agents that have ended, too.

// Select returns a page of an inbox.
func (ls *Letters) Select(ctx context.Context, s inbox.Selection) ([]inbox.Message, error) {
	return ls.inbox.Select(ctx, s)
}

// Lanes counts the agent's pending messages in each lane.
func (ls *Letters) Lanes(ctx context.Context, agent int64) (map[inbox.Lane]int, error) {
	return ls.inbox.Lanes(ctx, agent)
}

// Questions returns the messages in an inbox that wait for the human's answer.
func (ls *Letters) Questions(ctx context.Context, agent int64) ([]inbox.Message, error) {
	return ls.inbox.Questions(ctx, agent)
}

// Archive removes messages from the agent's inbox without taking them into its conversation: all of them, or none, with
// the reason. It returns how many.
func (ls *Letters) Archive(ctx context.Context, agent int64, ids []int64) (int, error) {
	return ls.arrange(ctx, "archive", agent, ids, aside("archived"), func(tx *store.Tx) (int, error) {
		return ls.inbox.SetAside(tx, agent, ids, time.Time{})
	})
}

// Snooze removes messages from the agent's inbox until a time: all of them, or none, with the reason.
func (ls *Letters) Snooze(ctx context.Context, agent int64, ids []int64, until time.Time) error {
	if !until.After(ls.now()) {
		return fmt.Errorf("snooze: %s is over; say when it is to come back, as 30m, 14:00 or tomorrow",
			until.Local().Format("Mon 15:04"))
	}
	_, err := ls.arrange(ctx, "snooze", agent, ids, aside("snoozed"), func(tx *store.Tx) (int, error) {
		return ls.inbox.SetAside(tx, agent, ids, until)
	})
	ls.snooze()
	return err
}

// Restore makes archived or snoozed messages pending again: all of them, or none, with the reason. It returns how many.
func (ls *Letters) Restore(ctx context.Context, agent int64, ids []int64) (int, error) {
	may := func(m inbox.Message) error {
		switch {
		case m.Taken.IsZero():
			return fmt.Errorf("message #%d waits in the inbox already", m.ID)
		case !m.Aside():
			return fmt.Errorf("message #%d was neither archived nor snoozed: %s; "+
				"/inbox undo puts back what was taken last", m.ID, Fate(m))
		}
		return nil
	}
	return ls.arrange(ctx, "restore", agent, ids, may, func(tx *store.Tx) (int, error) {
		return ls.inbox.Restore(tx, agent, ids)
	})
}

// Pin marks a pending message as prominent, or removes the mark.
func (ls *Letters) Pin(ctx context.Context, agent, id int64, on bool) error {
	_, err := ls.arrange(ctx, "pin", agent, []int64{id}, pending, func(tx *store.Tx) (int, error) {
		return 1, ls.inbox.Pin(tx, agent, id, on)
	})
	return err
}

// Dismiss records that the human saw the notice of a message and put it off; the message stays pending.
func (ls *Letters) Dismiss(ctx context.Context, agent, id int64) error {
	_, err := ls.arrange(ctx, "dismiss", agent, []int64{id}, pending, func(tx *store.Tx) (int, error) {
		return 1, ls.inbox.Dismiss(tx, agent, id)
	})
	return err
}

// Undismiss reverses Dismiss.
func (ls *Letters) Undismiss(ctx context.Context, agent, id int64) error {
	_, err := ls.arrange(ctx, "bring back", agent, []int64{id}, pending, func(tx *store.Tx) (int, error) {
		return 1, ls.inbox.Undismiss(tx, agent, id)
	})
	return err
}

// Mute silently holds the thread of a message, including messages still to come, or ends that. It returns how many of
// its messages wait.
func (ls *Letters) Mute(ctx context.Context, agent, id int64, on bool) (n int, err error) {
	any := func(inbox.Message) error { return nil }
	return ls.arrange(ctx, "mute", agent, []int64{id}, any, func(tx *store.Tx) (int, error) {
		return ls.inbox.Mute(tx, agent, id, on)
	})
}

// aside returns a check for messages that can't be set aside; done is what the human would call it.
func aside(done string) func(m inbox.Message) error {
	return func(m inbox.Message) error {
		switch {
		case m.Asks():
			return fmt.Errorf("message #%d is a question: an agent waits for your answer, and it can't be %s; "+
				"/answer %d", m.ID, done, m.ID)
		case !m.Taken.IsZero() && !m.Aside():
			return gone(m)
		}
		return nil
	}
}

// pending says why a message is not pending; nil: it is.
func pending(m inbox.Message) error {
	switch {
	case m.Aside():
		return fmt.Errorf("message #%d does not wait: %s; /inbox restore %d brings it back", m.ID, Fate(m), m.ID)
	case !m.Taken.IsZero():
		return gone(m)
	}
	return nil
}

// gone returns the error for a message that was already taken.
func gone(m inbox.Message) error {
	return fmt.Errorf("message #%d does not wait any more: %s; /messages show %d prints it", m.ID, Fate(m), m.ID)
}

// arrange changes messages of an agent, provided that may allows it for each of them.
func (ls *Letters) arrange(
	ctx context.Context, what string, agent int64, ids []int64, may func(m inbox.Message) error,
	do func(tx *store.Tx) (int, error),
) (n int, err error) {
	err = ls.db.Write(ctx, what, func(tx *store.Tx) error {
		for _, id := range ids {
			m, why, err := own(&tx.View, agent, id)
			if err == nil && why == nil {
				why = may(m)
			}
			if err := cmp.Or(err, why); err != nil {
				return err
			}
		}
		n, err = do(tx)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	return n, nil
}

// own finds a message of the agent's; why says why it is not one.
func own(v *store.View, agent, id int64) (m inbox.Message, why, err error) {
	m, ok, err := inbox.Find(v, id)
	switch {
	case err != nil:
		return m, nil, err
	case !ok:
		return m, fmt.Errorf("there is no message #%d. /inbox to list your mail", id), nil
	case m.Recipient != agent:
		name, _, err := v.AgentName(m.Recipient)
		return m, fmt.Errorf("message #%d is in the inbox of %s: say it in its tab; /messages show %d prints it",
			id, name, id), err
	}
	return m, nil, nil
}

// AllWait says which of these messages are not pending for the agent, and that therefore none was taken; nil: all are.
func AllWait(v *store.View, agent int64, ids []int64) error {
	var why []error
	for _, id := range ids {
		m, not, err := own(v, agent, id)
		if err != nil {
			return err
		}
		if not == nil {
			not = pending(m)
		}
		if not == nil && m.Asks() {
			not = fmt.Errorf("message #%d is a question: /answer %d", id, id)
		}
		if not != nil {
			why = append(why, not)
		}
	}
	if len(why) == 0 {
		return nil
	}
	return errors.Join(append(why, errors.New("so nothing was taken"))...)
}
