package agents

import (
	"context"
	"fmt"

	"fantail/agents/history"
	"fantail/agents/mail"
	"fantail/agents/roster"
	"fantail/store"
)

// absorb lets in what is due at this seam, in one transaction: queued prompts
// and messages become entries, and what the coming request carries is
// committed. Outside a turn it begins one, if anything came: false means that
// nothing did.
func (a *agent) absorb(ctx context.Context) (bool, error) {
	var why mail.Reasons
	if a.turn == 0 {
		a.p.mu.Lock()
		why = a.p.Room.Tray(a.id).Reasons()
		a.p.mu.Unlock()
	}
	wish := why.Wish

	var turn int64
	var sent int64
	var got mail.Took
	var came mail.Arrivals
	err := a.p.o.DB.Write(context.WithoutCancel(ctx), "absorb", func(tx *store.Tx) error {
		turn, got = a.turn, mail.Took{}
		wish := wish
		b := a.book().Batch(tx, false)
		waiting, err := tx.WaitingPrompts(a.id)
		if err != nil {
			return err
		}
		if wish != nil {
			if got.Err = wish.Refused(tx, a.id, waiting); got.Err != nil {
				wish = nil
			}
		}
		prompts := unheld(waiting)
		if came, err = a.p.Room.Arrivals(tx, a.id, mail.Seam{Typed: len(prompts) > 0, Wake: why.Wake, Ends: a.through}); err != nil {
			return err
		}
		if turn == 0 {
			reason, err := a.reason(tx, came, wish)
			if err != nil {
				return err
			}
			if turn, err = a.begin(tx, reason); err != nil {
				return err
			}
			if turn == 0 {
				return a.drop(tx, wish)
			}
		}
		if wish != nil {
			if got, err = a.grant(tx, b, turn, wish); err != nil {
				return err
			}
		}
		if wish == nil || !wish.All {
			if err := a.p.takes.Due(tx, b, a.id, turn, &came); err != nil {
				return err
			}
		}
		if err := a.enter(tx, b, turn, prompts); err != nil {
			return err
		}
		if sent, err = tx.LastSeq(a.id); err != nil {
			return err
		}
		return tx.SetSentUpTo(turn, sent)
	})
	if wish != nil {
		a.p.Room.Unwish(a.id, wish)
		if err != nil {
			got.Err = err
		}
		wish.Answer(got)
	}
	if err != nil {
		return false, fmt.Errorf("absorb: %w", err)
	}
	a.p.Room.Heeded(a.id, why)
	if a.through = false; came.Pause {
		a.handled = came.Taken
	}
	a.p.Room.Sorted(a.id, came)
	if turn == 0 {
		return false, nil
	}
	a.turn = turn
	return true, a.readUpTo(ctx, sent)
}

// reason reports whether anything came that a turn may begin with: a prompt, mail
// that starts one, or mail that w wishes. What a fork handles stands in its
// transcript already.
func (a *agent) reason(tx *store.Tx, came mail.Arrivals, w *mail.Wish) (bool, error) {
	if came.Begins() || a.kind.Nature().Handles {
		return true, nil
	}
	if w == nil {
		return false, nil
	}
	return a.p.inbox.Any(tx, w.Query(a.id))
}

// unheld are the prompts that enter by themselves.
func unheld(waiting []store.Prompt) (ps []store.Prompt) {
	for _, q := range waiting {
		if !q.Held {
			ps = append(ps, q)
		}
	}
	return ps
}

// begin makes the row of a new turn if there is a reason for one. The agent
// stands as running before its prompts stop showing as queued, so that nobody
// sees it idle in between.
func (a *agent) begin(tx *store.Tx, reason bool) (int64, error) {
	if !reason {
		return 0, nil
	}
	t := store.Turn{Agent: a.id, Kind: a.kind.Nature().Turn, Started: a.began}
	if err := a.relate(tx, &t); err != nil {
		return 0, err
	}
	id, err := tx.BeginTurn(t)
	if err != nil {
		return 0, err
	}
	tx.AfterCommit(func() {
		a.p.mu.Lock()
		defer a.p.mu.Unlock()
		a.shownTurn = id
		a.p.Room.Tray(a.id).Unhush()
		a.change(func(i *Info) {
			i.State, i.Doing, i.Why, i.Started, i.Outcome = Running, "starting", "", t.Started, ""
		})
	})
	return id, tx.SetAgentState(a.id, string(Running), false)
}

// relate says what a new turn goes on from: the agent's last one, unless its
// conversation began anew since; else the turn it branched off behind, or none.
func (a *agent) relate(tx *store.Tx, t *store.Turn) error {
	last, ok, err := tx.LastTurn(a.id)
	if err != nil {
		return err
	}
	if a.task != 0 {
		if t.SpawnedBy, t.Conversation, err = tx.Spawner(a.task); err != nil {
			return err
		}
	}
	anew, err := history.Cleared(&tx.View, a.id)
	switch {
	case err != nil || anew:
		return err
	case ok:
		t.Parent, t.Conversation = last.ID, last.Conversation
	default:
		row, _, err := tx.Agent(a.id)
		if err != nil {
			return err
		}
		t.Parent = row.Branch
	}
	return nil
}

// enter appends queued prompts.
func (a *agent) enter(tx *store.Tx, b *Batch, turn int64, prompts []store.Prompt) error {
	by := ""
	if a.strict && a.task != 0 {
		t, _, err := tx.Task(a.task)
		if err != nil {
			return err
		}
		if roster.FromOutside(t.Origin) {
			by = t.Origin
		}
	}
	for n, q := range prompts {
		e := Entry{Kind: EntryPrompt, By: by, Text: q.Text}
		if of := a.kind.Nature(); of.Handles || of.Tasked && (a.turn != 0 || n > 0) { // the first is its task
			e.By = "user"
		}
		seq, err := b.Add(turn, e)
		if err != nil {
			return err
		}
		if err := tx.EnterPrompt(q.ID, seq); err != nil {
			return err
		}
		tx.AfterCommit(func() { a.dropPrompt(q.ID) })
	}
	return nil
}

// dropPrompt removes a prompt from what is shown as queued.
func (a *agent) dropPrompt(id int64) {
	a.set(func(i *Info) {
		if id == a.steer {
			a.steer = 0
		}
		var rest []Prompt
		for _, q := range i.Prompts {
			if q.ID != id {
				rest = append(rest, q)
			}
		}
		i.Prompts = rest
	})
}

// readUpTo reads the entries up to sent into the history that requests are
// made of. What a human's take appended later waits for the next request.
func (a *agent) readUpTo(ctx context.Context, sent int64) error {
	if sent <= a.read {
		return nil
	}
	var rows []store.Entry
	first := a.read == 0
	err := a.p.o.DB.Read(context.WithoutCancel(ctx), func(rx *store.Rx) error {
		var err error
		if first {
			if a.read, err = history.SentFrom(rx, a.id); err != nil {
				return err
			}
		}
		rows, err = rx.EntriesAfter(a.id, a.read, 0)
		return err
	})
	if err != nil {
		return fmt.Errorf("read the transcript: %w", err)
	}
	for _, e := range history.DecodeAll(rows) {
		if e.Seq > sent {
			break
		}
		a.read = e.Seq
		if e.Kind == EntryCall && e.Call != nil {
			a.ids[e.Call.ID] = true
		}
		a.history = e.Extend(a.history)
		if first && (e.Kind == EntryEnded || e.Kind == EntrySummary) {
			a.counted = e.Seq // by what the turn's row says
		}
	}
	return nil
}
