package agents

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fantail/agents/history"
	"fantail/agents/roster"
	"fantail/inbox"
	"fantail/store"
)

// Remove takes a task out of its queue before it starts; nobody gets a message.
func (p *Pool) Remove(ctx context.Context, name string) error {
	return p.o.DB.Write(ctx, "remove a task", func(tx *store.Tx) error {
		t, err := roster.StillQueued(&tx.View, name)
		if err != nil {
			return err
		}
		_, err = p.ends.Remove(tx, t)
		return err
	})
}

// discard is Remove for the agent in whose queue the task stands. Where somebody
// else asked for the task, a notice tells of it.
func (a *agent) discard(ctx context.Context, name string) error {
	return a.p.o.DB.Write(ctx, "remove a task", func(tx *store.Tx) error {
		t, err := roster.StillQueued(&tx.View, name)
		if err != nil {
			return err
		}
		if t.Queue != a.id {
			return fmt.Errorf("%s stands in another queue than yours", name)
		}
		if _, err = a.p.ends.Remove(tx, t); err != nil {
			return err
		}
		own, err := tx.PushedBy(t.ID, a.id)
		if err != nil || own && t.Origin == roster.OriginAgent {
			return err
		}
		_, err = a.p.inbox.Add(tx, inbox.Message{
			Recipient: a.id, Sender: a.id, Kind: inbox.Notice, Deliver: inbox.Hold, Subject: history.Fit(t.Prompt, history.MostSubject),
			Body: fmt.Sprintf("The agent removed the task %s from its queue before it started. /push pushes it again; its prompt was: %s", name, history.Fit(roster.Typed(t), history.MostSubject)),
		})
		return err
	})
}

// Move puts a queued task at a position of its queue, from 1 on, and returns
// where it stands now.
func (p *Pool) Move(ctx context.Context, name string, to int) (at int, err error) {
	err = p.o.DB.Write(ctx, "move a task", func(tx *store.Tx) error {
		t, err := roster.StillQueued(&tx.View, name)
		if err != nil {
			return err
		}
		ts, err := tx.Tasks(t.Queue)
		if err != nil {
			return err
		}
		var order, places []int64
		for _, q := range ts {
			if q.State == roster.TaskQueued {
				places = append(places, q.Place)
				if q.ID != t.ID {
					order = append(order, q.ID)
				}
			}
		}
		at = min(max(to, 1), len(places))
		order = append(order[:at-1], append([]int64{t.ID}, order[at-1:]...)...)
		for i, id := range order {
			if _, err := tx.PlaceTask(id, places[i]); err != nil {
				return err
			}
		}
		tx.AfterCommit(func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			for i, id := range order {
				p.queue.Move(id, places[i])
			}
			p.told()
		})
		return nil
	})
	return at, err
}

// Typed returns the prompt of a queued task as it is typed.
func (p *Pool) Typed(ctx context.Context, name string) (text string, err error) {
	err = p.o.DB.Read(ctx, func(rx *store.Rx) error {
		t, err := roster.StillQueued(&rx.View, name)
		text = roster.Typed(t)
		return err
	})
	return text, err
}

// Edit changes the prompt of a task that has not started.
func (p *Pool) Edit(ctx context.Context, name, text string) error {
	if text = strings.TrimSpace(text); text == "" {
		return errors.New("a task needs a prompt")
	}
	return p.o.DB.Write(ctx, "edit a task", func(tx *store.Tx) error {
		t, err := roster.StillQueued(&tx.View, name)
		if err != nil {
			return err
		}
		command, is := strings.CutPrefix(text, "!")
		switch {
		case is != (t.Kind == roster.KindCommand):
			return fmt.Errorf("%s can't change between a prompt and a !command; /queue rm %s and push it anew", name, name)
		case is && strings.TrimSpace(command) == "":
			return errors.New("a task needs a command")
		case is:
			text = strings.TrimSpace(command)
		}
		_, err = tx.EditTask(t.ID, text)
		return err
	})
}
