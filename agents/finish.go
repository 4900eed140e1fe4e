package agents

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"fantail/agents/history"
	"fantail/inbox"
	"fantail/store"
)

// finish ends the turn in one transaction, unless something became due
// meanwhile: then it returns false and the turn goes on. A result is deposited
// in the same transaction. A transaction that fails is tried again until it
// succeeds or the program closes: a task never ends without its message.
func (a *agent) finish(ctx context.Context, e ending) bool {
	done := false
	err := a.persist(a.p.ctx, "record the end of the turn", anyError, func() (err error) {
		done, err = a.tryFinish(context.WithoutCancel(ctx), e)
		return err
	})
	return done || err != nil // the program closes, and the next start finds the turn
}

// persist calls f until it works: errors that again says may pass show as the
// agent's trouble and are tried again, with growing pauses, until ctx ends. It
// returns the last error.
func (a *agent) persist(ctx context.Context, what string, again func(error) bool, f func() error) error {
	began := a.p.o.Now()
	for wait := time.Second; ; wait = min(2*wait, 30*time.Second) {
		err := f()
		if err == nil {
			return nil
		}
		err = fmt.Errorf("%s: %w", what, err)
		if !again(err) {
			return err
		}
		a.trouble(fmt.Errorf("trying again: %w", err))
		a.p.disk.refused(began, err)
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return err
		}
	}
}

func anyError(error) bool { return true }

// passes reports whether err undid a write for a reason that can pass by itself,
// so that the same write may be tried again.
func passes(err error) bool {
	return errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrBusy) || errors.Is(err, store.ErrChanged) && !store.Stopped(err)
}

// keep writes what must not be lost: a disk that is full is waited for, until ctx
// ends.
func (a *agent) keep(ctx context.Context, what string, f func(tx *store.Tx) error) error {
	tries := 0
	return a.persist(ctx, what, passes, func() error {
		tries++
		err := a.p.o.DB.Write(context.WithoutCancel(ctx), what, f)
		if err == nil && tries > 1 {
			a.set(func(i *Info) { i.Why = "" })
		}
		return err
	})
}

func (a *agent) tryFinish(ctx context.Context, e ending) (bool, error) {
	done, gist := false, ""
	state := a.restState(e.outcome)
	err := a.p.o.DB.Write(ctx, "finish", func(tx *store.Tx) error {
		done = false
		if last, ok, err := tx.LastTurn(a.id); err != nil {
			return err
		} else if ok && last.ID == a.turn && last.Outcome != "" {
			done = true // a commit that seemed to fail took effect
			return nil
		}
		if e.outcome == Completed {
			if due, err := a.dueNow(tx); due || err != nil {
				return err
			}
		}
		b := a.book().Batch(tx, false)
		if err := b.Salvage(a.turn); err != nil { // of a reply that could not be recorded
			return err
		}
		if len(a.handled) > 0 && e.outcome == Completed {
			if _, err := b.Add(a.turn, Entry{Kind: EntryNotice, Text: handled(a.handled)}); err != nil {
				return err
			}
		}
		if _, err := b.Add(a.turn, Entry{Kind: EntryEnded, End: &End{
			Outcome: e.outcome, Error: e.cause, Millis: a.p.o.Now().Sub(a.began).Milliseconds(), Steps: a.steps, Tokens: a.tokens,
		}}); err != nil {
			return err
		}
		if err := tx.EndTurn(a.turn, string(e.outcome), e.cause); err != nil {
			return err
		}
		if err := a.p.Asks.Settle(tx, a.id, "the turn ended"); err != nil {
			return err
		}
		if err := tx.SetAgentState(a.id, string(state), state.Terminal()); err != nil {
			return err
		}
		if state.Terminal() {
			if err := a.forgetPrompts(tx); err != nil {
				return err
			}
		}
		if err := a.account(tx, e); err != nil {
			return err
		}
		if state == Done {
			text, err := a.said(tx)
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
	a.turn = 0
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	a.shownTurn = 0
	a.p.Rests(a.id)
	a.change(func(i *Info) {
		i.State, i.Doing, i.Why, i.Outcome, i.Retry = state, "", e.cause, e.outcome, nil
		if state.Terminal() {
			i.Ended, i.Prompts, i.Gist, a.steer = a.p.o.Now(), nil, gist, 0
		}
	})
	return true, nil
}

// handled tells the human what was done while they paused.
func handled(ms []inbox.Message) string {
	if len(ms) == 1 {
		return fmt.Sprintf("Handled message from %s while you were thinking", inbox.Label(ms[0].From))
	}
	return fmt.Sprintf("Handled %d messages while you were idle", len(ms))
}

// restState is where an agent stands after a turn: those with a prompt box rest,
// the others are through.
func (a *agent) restState(o Outcome) State {
	if a.kind.HasPrompt() {
		return Idle
	}
	switch o {
	case Completed:
		return Done
	case OutKilled, Interrupted:
		return Killed
	case OutCrashed:
		return Crashed
	}
	return Failed
}

// dueNow reports whether something waits that this turn should still absorb.
func (a *agent) dueNow(tx *store.Tx) (bool, error) {
	waiting, err := tx.WaitingPrompts(a.id)
	if err != nil {
		return false, err
	}
	if len(unheld(waiting)) > 0 {
		return true, nil
	}
	if a.kind.HasPrompt() {
		return false, nil
	}
	a.through = true
	return a.p.Room.GoesOn(tx, a.id)
}

// account tells whom it concerns what became of an agent's work, in the transaction
// that ends it.
func (a *agent) account(tx *store.Tx, e ending) error {
	switch {
	case a.task != 0:
		return a.report(tx, e)
	case a.kind.Nature().Handles:
		return a.p.forks.conclude(tx, a, e)
	}
	return nil
}

// report deposits what became of a sub-agent's task with whoever dispatched it,
// and marks the task finished, in the transaction that ends the turn.
func (a *agent) report(tx *store.Tx, e ending) error {
	t, ok, err := tx.Task(a.task)
	if err != nil || !ok {
		return errors.Join(err, store.Missing(ok, "task %d", a.task))
	}
	text, err := a.said(tx)
	if err != nil {
		return err
	}
	if a.command != "" { // the message's error says how it ended
		text = strings.TrimPrefix(text, e.cause+", ")
	}
	ended, err := a.p.ends.Finish(tx, t, a.id, e.outcome, e.cause, text)
	if err != nil || !ended {
		return err
	}
	if errors.Is(a.haltedBy(), errFelled) {
		if err := a.p.ends.Drop(tx, a.id); err != nil {
			return err
		}
	}
	return a.p.ends.Pass(tx, a.id, a.restState(e.outcome))
}

// haltedBy is what stopped the agent for good, nil while nothing has.
func (a *agent) haltedBy() error {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	return a.halted
}

// said is the agent's final text: what it wrote in the last reply of its turn that
// said anything.
func (a *agent) said(tx *store.Tx) (string, error) {
	rows, err := tx.TurnEntries(a.turn)
	if err != nil {
		return "", err
	}
	return history.Said(history.DecodeAll(rows)), nil
}
