package turn

import (
	"context"
	"fmt"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/mail"
	"fantail/agents/repeats"
	"fantail/agents/roster"
	"fantail/agents/typed"
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
	briefs, err := l.briefed(ctx)
	if err != nil {
		return false, err
	}
	passed := l.o.Hooks.Screen(ctx, l.hooked())
	commands := typed.New(l.o.DB, l.o.Shelf)
	meant, err := commands.Mean(ctx, l.hooked().Info, passed.Has)
	if err != nil {
		return false, err
	}

	var turn int64
	var before, sent int64
	var got mail.Took
	var came mail.Arrivals
	err = l.o.DB.Write(context.WithoutCancel(ctx), "absorb", func(tx *store.Tx) error {
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
		prompts := commands.Texts(tx, meant, passed.Only(store.Unheld(waiting)), l.Poke)
		came, err = l.o.Mail.Arrivals(tx, l.ID, mail.Seam{Typed: len(prompts) > 0, Wake: why.Wake, Ends: l.through})
		if err != nil {
			return err
		}
		if turn == 0 {
			reason, err := l.reason(tx, came, wish)
			if err != nil {
				return err
			}
			if !reason && !l.seating.stir.Load() {
				return l.o.Pickup.Drop(tx, l.Agent, wish)
			}
			if turn, err = l.begin(tx); err != nil {
				return err
			}
		}
		for _, e := range briefs {
			if _, err := b.Add(turn, e); err != nil {
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
	l.seating.stir.Store(false)
	return sent > before, l.readUpTo(ctx, sent)
}

// briefed returns what the agent is told at this seam of instruction files. Engines read their own.
func (l *Loop) briefed(ctx context.Context) ([]history.Entry, error) {
	m, i := l.Present()
	if isEngine(m) {
		return nil, nil
	}
	return l.guide.Due(context.WithoutCancel(ctx), i, l.turn)
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

// begin inserts the row of a new turn. The agent shows as running before its prompts stop showing as queued (the hooks
// run in this order), so nobody sees it idle in between.
func (l *Loop) begin(tx *store.Tx) (int64, error) {
	t := store.Turn{Agent: l.ID, Kind: l.Kind.Nature().Turn, Started: l.began}
	if err := roster.Relate(tx, l.Task, &t); err != nil {
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
