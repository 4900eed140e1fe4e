package turn

import (
	"context"
	"fmt"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/mail"
	"fantail/agents/tasks"
	"fantail/store"
)

// absorb takes in everything due at this seam, in one transaction: queued prompts and messages
// become entries, and the transcript up to the last of them counts as sent before any request
// carries it. Outside a turn it begins one if anything came. It returns false if nothing did.
func (l *Loop) absorb(ctx context.Context) (bool, error) {
	var why mail.Reasons
	if l.own.turn == 0 {
		l.o.Fleet.Lock()
		why = l.o.Mail.Tray(l.Agent.ID).Reasons()
		l.o.Fleet.Unlock()
	}
	wish := why.Wish
	briefs, err := l.briefed(ctx)
	if err != nil {
		return false, err
	}
	passed := l.o.Hooks.Screen(ctx, l.who())
	commands := NewTypedPrompts(l.o.DB, l.o.Skills)
	meant, err := commands.Mean(ctx, l.who().Info, passed.Has)
	if err != nil {
		return false, err
	}

	var turn int64
	var before, sent int64
	var got mail.Took
	var came mail.Arrivals
	err = l.o.DB.Write(context.WithoutCancel(ctx), "absorb", func(tx *store.Tx) error {
		turn, got = l.own.turn, mail.Took{}
		wish := wish
		b := l.Agent.Book().Batch(tx)
		waiting, err := tx.WaitingPrompts(l.Agent.ID)
		if err != nil {
			return err
		}
		if before, err = tx.LastSeq(l.Agent.ID); err != nil {
			return err
		}
		if wish != nil {
			if got.Err = wish.Refused(tx, l.Agent.ID, waiting); got.Err != nil {
				wish = nil
			}
		}
		prompts := commands.Texts(tx, meant, passed.Only(store.Unheld(waiting)), l.Agent.Poke)
		came, err = l.o.Mail.Arrivals(tx, l.Agent.ID, mail.Seam{Typed: len(prompts) > 0, Wake: why.Wake, Ends: l.own.through})
		if err != nil {
			return err
		}
		if turn == 0 {
			reason, err := l.reason(tx, came, wish)
			if err != nil {
				return err
			}
			if !reason && !l.shared.stirred.Load() {
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
			if err := l.o.Takes.Due(tx, b, l.Agent.ID, turn, &came); err != nil {
				return err
			}
		}
		if err := l.enter(tx, b, turn, prompts); err != nil {
			return err
		}
		if sent, err = tx.LastSeq(l.Agent.ID); err != nil {
			return err
		}
		return tx.SetSentUpTo(turn, sent)
	})
	if wish != nil {
		l.o.Mail.Unwish(l.Agent.ID, wish)
		if err != nil {
			got.Err = err
		}
		wish.Answer(got)
	}
	if err != nil {
		return false, fmt.Errorf("absorb: %w", err)
	}
	l.o.Mail.Heeded(l.Agent.ID, why)
	if l.own.through = false; came.Pause {
		l.own.handled = came.Taken
	}
	l.o.Mail.Sorted(l.Agent.ID, came)
	if turn == 0 {
		return false, nil
	}
	l.own.turn = turn
	l.shared.stirred.Store(false)
	return sent > before, l.readUpTo(ctx, sent)
}

// briefed returns the notes about instruction files that are due at this seam. Engines read the
// files themselves.
func (l *Loop) briefed(ctx context.Context) ([]history.Entry, error) {
	m, i := l.Agent.Present()
	if isEngine(m) {
		return nil, nil
	}
	return l.own.guide.Due(context.WithoutCancel(ctx), i, l.own.turn)
}

// reason reports whether anything came that a turn may begin with: a prompt, mail that starts one,
// or mail that w asks for. A fork always has a reason: the message it handles is in its transcript
// from the start.
func (l *Loop) reason(tx *store.Tx, came mail.Arrivals, w *mail.TurnRequest) (bool, error) {
	if came.Begins() || l.Agent.Kind.Handles() {
		return true, nil
	}
	if w == nil {
		return false, nil
	}
	return l.o.Inbox.Any(tx, w.Query(l.Agent.ID))
}

// begin inserts the row of a new turn. The agent shows as running before its prompts stop showing
// as queued (the hooks run in this order), so that it never shows as idle in between.
func (l *Loop) begin(tx *store.Tx) (int64, error) {
	t := store.Turn{Agent: l.Agent.ID, Kind: l.Agent.Kind.Nature().Turn, Started: l.own.began}
	if err := tasks.Relate(tx, l.Agent.Task, &t); err != nil {
		return 0, err
	}
	id, err := tx.BeginTurn(t)
	if err != nil {
		return 0, err
	}
	l.own.repeats = repeats{} // a new turn may begin with the same call again
	tx.AfterCommit(func() {
		l.o.Fleet.Lock()
		defer l.o.Fleet.Unlock()
		l.o.Mail.Tray(l.Agent.ID).Unhush()
		l.Agent.Begins(id, t.Started)
	})
	return id, tx.SetAgentState(l.Agent.ID, string(event.Running), false)
}

// enter appends queued prompts.
func (l *Loop) enter(tx *store.Tx, b *history.Batch, turn int64, prompts []store.Prompt) error {
	by := ""
	if l.fixed.strict && l.Agent.Task != 0 {
		t, _, err := tx.Task(l.Agent.Task)
		if err != nil {
			return err
		}
		if tasks.FromOutside(t.Origin) {
			by = t.Origin
		}
	}
	if len(prompts) > 0 {
		l.own.repeats = repeats{} // a prompt may ask for the same call again
	}
	for n, q := range prompts {
		e := history.Entry{Kind: history.EntryPrompt, By: by, Text: q.Text}
		if l.Agent.Kind.Handles() || l.Agent.Kind.Ends() && (l.own.turn != 0 || n > 0 || l.own.idled) { // the first prompt is its task
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
			l.Agent.Env.Entered(q.ID)
			l.Agent.Unqueue(q.ID)
		})
	}
	return nil
}
