package turn

import (
	"context"
	"fmt"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/mail"
	"fantail/agents/repeats"
	"fantail/agents/roster"
	"fantail/store"
)

// absorb lets in what is due at this seam, in one transaction: queued prompts and messages become entries, and the
// transcript up to the last of them counts as sent, before any request carries it. Outside a turn it begins one if
// anything came. False means that nothing did.
func (l *Loop) absorb(ctx context.Context) (bool, error) {
	var why mail.Reasons
	if l.turn == 0 {
		l.o.Fleet.Lock()
		why = l.o.Mail.Tray(l.ID).Reasons()
		l.o.Fleet.Unlock()
	}
	wish := why.Wish
	passed := l.o.Hooks.Screen(ctx, l.hooked())

	var turn int64
	var before, sent int64
	var got mail.Took
	var came mail.Arrivals
	err := l.o.DB.Write(context.WithoutCancel(ctx), "absorb", func(tx *store.Tx) error {
		turn, got = l.turn, mail.Took{}
		wish := wish
		b := l.Book().Batch(tx)
		waiting, err := tx.WaitingPrompts(l.ID)
		if err != nil {
			return err
		}
		if before, err = tx.LastSeq(l.ID); err != nil {
			return err
		}
		if wish != nil {
			if got.Err = wish.Refused(tx, l.ID, waiting); got.Err != nil {
				wish = nil
			}
		}
		prompts := passed.Only(unheld(waiting))
		came, err = l.o.Mail.Arrivals(tx, l.ID, mail.Seam{Typed: len(prompts) > 0, Wake: why.Wake, Ends: l.through})
		if err != nil {
			return err
		}
		if turn == 0 {
			reason, err := l.reason(tx, came, wish)
			if err != nil {
				return err
			}
			if !reason {
				return l.o.Pickup.Drop(tx, l.Agent, wish)
			}
			if turn, err = l.begin(tx); err != nil {
				return err
			}
		}
		if wish != nil {
			if got, err = l.o.Pickup.Grant(tx, l.Agent, b, turn, wish); err != nil {
				return err
			}
		}
		if wish == nil || !wish.All {
			if err := l.o.Takes.Due(tx, b, l.ID, turn, &came); err != nil {
				return err
			}
		}
		if err := l.enter(tx, b, turn, prompts); err != nil {
			return err
		}
		if sent, err = tx.LastSeq(l.ID); err != nil {
			return err
		}
		return tx.SetSentUpTo(turn, sent)
	})
	if wish != nil {
		l.o.Mail.Unwish(l.ID, wish)
		if err != nil {
			got.Err = err
		}
		wish.Answer(got)
	}
	if err != nil {
		return false, fmt.Errorf("absorb: %w", err)
	}
	l.o.Mail.Heeded(l.ID, why)
	if l.through = false; came.Pause {
		l.handled = came.Taken
	}
	l.o.Mail.Sorted(l.ID, came)
	if turn == 0 {
		return false, nil
	}
	l.turn = turn
	return sent > before, l.readUpTo(ctx, sent)
}

// reason reports whether anything came that a turn may begin with: a prompt, mail that starts one, or mail that w asks
// for. A fork always has a reason: the message it handles is in its transcript from the start.
func (l *Loop) reason(tx *store.Tx, came mail.Arrivals, w *mail.Wish) (bool, error) {
	if came.Begins() || l.Kind.Handles() {
		return true, nil
	}
	if w == nil {
		return false, nil
	}
	return l.o.Inbox.Any(tx, w.Query(l.ID))
}

// unheld returns the prompts that enter on their own.
func unheld(waiting []store.Prompt) (ps []store.Prompt) {
	for _, q := range waiting {
		if !q.Held {
			ps = append(ps, q)
		}
	}
	return ps
}

// begin inserts the row of a new turn. The agent shows as running before its prompts stop showing as queued (the hooks
// run in this order), so nobody sees it idle in between.
func (l *Loop) begin(tx *store.Tx) (int64, error) {
	t := store.Turn{Agent: l.ID, Kind: l.Kind.Nature().Turn, Started: l.began}
	if err := l.relate(tx, &t); err != nil {
		return 0, err
	}
	id, err := tx.BeginTurn(t)
	if err != nil {
		return 0, err
	}
	l.repeats = repeats.Row{} // what a new turn is for may be the same call again
	tx.AfterCommit(func() {
		l.o.Fleet.Lock()
		defer l.o.Fleet.Unlock()
		l.o.Mail.Tray(l.ID).Unhush()
		l.Begins(id, t.Started)
	})
	return id, tx.SetAgentState(l.ID, string(event.Running), false)
}

// relate sets what a new turn continues: the agent's last turn, unless its conversation was cleared since; else the
// turn it branched off after, or none.
func (l *Loop) relate(tx *store.Tx, t *store.Turn) error {
	last, ok, err := tx.LastTurn(l.ID)
	if err != nil {
		return err
	}
	if l.Task != 0 {
		if t.SpawnedBy, t.Conversation, err = tx.Spawner(l.Task); err != nil {
			return err
		}
	}
	anew, err := history.Cleared(&tx.View, l.ID)
	switch {
	case err != nil || anew:
		return err
	case ok:
		t.Parent, t.Conversation = last.ID, last.Conversation
	default:
		row, _, err := tx.Agent(l.ID)
		if err != nil {
			return err
		}
		t.Parent = row.Branch
	}
	return nil
}

// enter appends queued prompts.
func (l *Loop) enter(tx *store.Tx, b *history.Batch, turn int64, prompts []store.Prompt) error {
	by := ""
	if l.strict && l.Task != 0 {
		t, _, err := tx.Task(l.Task)
		if err != nil {
			return err
		}
		if roster.FromOutside(t.Origin) {
			by = t.Origin
		}
	}
	if len(prompts) > 0 {
		l.repeats = repeats.Row{} // so may what a prompt asks for
	}
	for n, q := range prompts {
		e := history.Entry{Kind: history.EntryPrompt, By: by, Text: q.Text}
		if l.Kind.Handles() || l.Kind.Ends() && (l.turn != 0 || n > 0 || l.idling.before()) { // the first one is its task
			e.By = "user"
		}
		seq, err := b.Add(turn, e)
		if err != nil {
			return err
		}
		if err := tx.EnterPrompt(q.ID, seq); err != nil {
			return err
		}
		tx.AfterCommit(func() {
			l.Env.Entered(q.ID)
			l.Unqueue(q.ID)
		})
	}
	return nil
}
