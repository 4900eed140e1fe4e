package turn

import (
	"context"
	"errors"
	"strings"
	"time"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/mail"
	"fantail/agents/recovery"
	"fantail/agents/tasks"
	"fantail/store"
)

// finish ends the turn in one transaction, which also deposits its result: a task never ends
// without its message. If something became due meanwhile, finish returns false and the turn goes
// on. It retries a failed transaction until it succeeds or the program closes.
func (l *Loop) finish(ctx context.Context, e Ending) bool {
	if l.fixed.guard != nil && e.Outcome == history.Completed {
		if over := l.fixed.guard.Over(); over != "" {
			e = Ending{Outcome: history.OutFailed, Cause: over}
		}
	}
	done := false
	err := l.Persist(l.o.Fleet.Context(), "record the end of the turn", func() (err error) {
		done, err = l.tryFinish(context.WithoutCancel(ctx), e)
		return err
	})
	if done {
		_ = l.o.Audit.Settle(context.WithoutCancel(ctx), string(l.Agent.Kind)) // an error is shown to the human
	}
	return done || err != nil // on an error the program is closing, and its next start finds the turn
}

func (l *Loop) tryFinish(ctx context.Context, e Ending) (bool, error) {
	done, gist := false, ""
	f := finishing{l: l, e: e, state: l.restState(e.Outcome)}
	if f.state == event.Idle {
		f.until = l.idleUntil()
	}
	err := l.o.DB.Write(ctx, "finish", func(tx *store.Tx) error {
		done = false
		if last, ok, err := tx.LastTurn(l.Agent.ID); err != nil {
			return err
		} else if ok && last.ID == l.own.turn && last.Outcome != "" {
			done = true // an earlier try reported an error, but its commit took effect
			return nil
		}
		if e.Outcome == history.Completed {
			if due, err := l.dueNow(tx); due || err != nil {
				return err
			}
		}
		if err := f.record(tx); err != nil {
			return err
		}
		if err := f.settle(tx); err != nil {
			return err
		}
		if f.state == event.Done || l.fixed.input != nil {
			text, err := l.Said(tx)
			if err != nil {
				return err
			}
			gist = history.GistOf(text)
		}
		done = true
		return nil
	})
	if err != nil || !done {
		return false, err
	}
	l.own.turn = 0
	l.trim()
	if f.state.Terminal() {
		l.forget()
	}
	l.o.Fleet.Lock()
	defer l.o.Fleet.Unlock()
	l.Agent.ShownTurn = 0
	l.o.Mail.Rests(l.Agent.ID)
	l.Agent.Change(func(i *event.Info) {
		i.State, i.Doing, i.Why, i.Outcome, i.Retry = f.state, "", e.Cause, e.Outcome, nil
		if f.state.Terminal() {
			i.Ended, i.Prompts, i.Gist = l.o.Now(), nil, gist
		}
		if i.Await != nil {
			i.Await, i.Gist = i.Await.With(func(a *event.Await) { a.Until = f.until }), gist
		}
	})
	return true, nil
}

// finishing is a turn that ends, in the transaction that records it.
type finishing struct {
	l     *Loop
	e     Ending
	state event.State // of the agent afterwards
	until time.Time   // when the then idle agent ends; zero: never
}

// record appends the end of the turn to the transcript, after the parts of a reply that could not
// be recorded.
func (f finishing) record(tx *store.Tx) error {
	l := f.l
	b := l.Agent.Book().Batch(tx)
	if err := b.Salvage(l.own.turn); err != nil {
		return err
	}
	if len(l.own.handled) > 0 && f.e.Outcome == history.Completed {
		if _, err := b.Add(l.own.turn, history.Entry{Kind: history.EntryNotice, Text: mail.Handled(l.own.handled)}); err != nil {
			return err
		}
	}
	_, err := b.Add(l.own.turn, history.Entry{Kind: history.EntryEnded, End: &history.End{
		Outcome: f.e.Outcome, Error: f.e.Cause,
		Millis: l.o.Now().Sub(l.own.began).Milliseconds(), Steps: l.own.steps, Tokens: l.own.tokens, Cost: l.own.cost,
	}})
	return err
}

// settle updates the rows at the end of the turn: the turn, its questions, the agent, what waits
// for it, and who is told.
func (f finishing) settle(tx *store.Tx) error {
	l := f.l
	if err := tx.EndTurn(l.own.turn, string(f.e.Outcome), f.e.Cause); err != nil {
		return err
	}
	if err := l.o.Asks.Settle(tx, l.Agent.ID, "the turn ended"); err != nil {
		return err
	}
	if err := tx.SetAgentState(l.Agent.ID, string(f.state), f.state.Terminal()); err != nil {
		return err
	}
	if f.state.Terminal() {
		if err := l.forgetPrompts(tx); err != nil {
			return err
		}
	}
	if !f.until.IsZero() {
		if _, err := tx.SetDeadline(l.Agent.ID, f.until); err != nil {
			return err
		}
	}
	return l.account(tx, f.e, f.state)
}

// restState returns an agent's state after a turn: idle if it has a prompt box or awaits input, else a terminal one.
func (l *Loop) restState(o history.Outcome) event.State {
	if l.Agent.Kind.HasPrompt() || l.idlesAfter(o) {
		return event.Idle
	}
	switch o {
	case history.Completed:
		return event.Done
	case history.OutKilled, history.Interrupted:
		return event.Killed
	case history.OutCrashed:
		return event.Crashed
	}
	return event.Failed
}

// dueNow reports whether anything is due that this turn must still absorb.
func (l *Loop) dueNow(tx *store.Tx) (bool, error) {
	waiting, err := tx.WaitingPrompts(l.Agent.ID)
	if err != nil {
		return false, err
	}
	if len(store.Unheld(waiting)) > 0 {
		return true, nil
	}
	if l.Agent.Kind.HasPrompt() {
		return false, nil
	}
	l.own.through = true
	return l.o.Mail.GoesOn(tx, l.Agent.ID)
}

// account reports the outcome of an agent's work, in the transaction that ends it.
func (l *Loop) account(tx *store.Tx, e Ending, state event.State) error {
	switch {
	case l.fixed.life != nil:
		return l.fixed.life.Conclude(tx, l, e, state)
	case l.Agent.Kind.Tasked():
		return l.report(tx, e, state)
	}
	return nil
}

// report deposits the outcome of a sub-agent's turn with the agent that dispatched it. It marks the
// task finished unless the agent awaits input. Both happen in the transaction that ends the turn.
func (l *Loop) report(tx *store.Tx, e Ending, state event.State) error {
	t, ok, err := tx.Task(l.Agent.Task)
	if err != nil || !ok {
		return errors.Join(err, store.Missing(ok, "task %d", l.Agent.Task))
	}
	text, err := l.Said(tx)
	if err != nil {
		return err
	}
	if l.fixed.command != "" { // the message's error says how it ended
		text = strings.TrimPrefix(text, e.Cause+", ")
	}
	if l.own.last != nil && e.Outcome == history.Completed {
		text += l.own.last.Note()
	}
	end := tasks.End{Agent: l.Agent.ID, Turn: l.own.turn, Outcome: e.Outcome, Cause: e.Cause, Text: text}
	if state == event.Idle {
		return l.o.Ends.Report(tx, t, end)
	}
	ended, err := l.o.Ends.Finish(tx, t, end)
	if err != nil || !ended {
		return err
	}
	if errors.Is(l.Agent.Halted(), fleet.ErrFelled) {
		if err := l.o.Ends.Drop(tx, l.Agent.ID); err != nil {
			return err
		}
	}
	return l.o.Ends.Pass(tx, l.Agent.ID, state)
}

// Said returns the agent's final text: that of the turn's last reply that had any.
func (l *Loop) Said(tx *store.Tx) (string, error) {
	rows, err := tx.TurnEntries(l.own.turn)
	if err != nil {
		return "", err
	}
	return history.Said(history.DecodeAll(rows)), nil
}

// forgetPrompts removes the prompts that have not entered when the agent ends, and keeps their
// texts in the transcript: if the agent is reopened later, it has a new task.
func (l *Loop) forgetPrompts(tx *store.Tx) error {
	told, err := tx.WaitingPrompts(l.Agent.ID)
	if err != nil {
		return err
	}
	if l.own.turn == 0 && !l.own.idled && len(told) > 0 { // the first prompt is a task that was never begun
		if _, err := tx.RemovePrompt(told[0].ID); err != nil {
			return err
		}
		told = told[1:]
	}
	row, _, err := tx.Agent(l.Agent.ID)
	if err != nil {
		return err
	}
	return recovery.Unread(tx, l.Agent.Book().Batch(tx), row.Name, told)
}
