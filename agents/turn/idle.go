package turn

import (
	"context"
	"errors"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/inbox"
	"fantail/store"
)

// Input is the source of input of an agent that awaits it. It is used only after a turn of the
// agent ended by itself, never after a failure, a stop or a kill.
type Input interface {
	// Next returns true once there is input for another turn of l. It returns false if there is no
	// more, and the agent then ends as done. Its result does not count after the end of ctx.
	Next(ctx context.Context, l *Loop) bool
}

// inMemory is how long the conversation of an idle agent stays in memory.
const inMemory = time.Minute

// idle reports whether the agent is idle until input comes. It is false for an agent that ends with
// its turn.
func (l *Loop) idle() bool {
	return l.fixed.input != nil && (l.Agent.Known().State == event.Idle || l.own.turn == 0 && l.visited())
}

// visited reports whether the human waits for a message in the tab of an idle agent. Meanwhile no
// turn of it begins, and it does not end.
func (l *Loop) visited() bool { return l.Agent.Known().State == event.Waiting }

// idlesAfter reports whether the agent becomes idle after a turn with this outcome, instead of
// ending.
func (l *Loop) idlesAfter(o history.Outcome) bool {
	return l.fixed.input != nil && o == history.Completed && !l.toldToEnd()
}

// toldToEnd reports whether the agent must end after its present turn.
func (l *Loop) toldToEnd() bool {
	w := l.Agent.Known().Await
	return w != nil && w.Ends
}

// nextInput waits for the input of the agent's next turn, and for a slot. It returns false if the
// agent has ended, or the program closes; the next start then finds it idle.
func (l *Loop) nextInput(ctx context.Context) bool {
	ctx, release := l.Agent.Stoppable(ctx)
	defer release()
	l.own.idled = true
	for {
		more := l.fixed.input.Next(ctx, l)
		if more && ctx.Err() == nil && l.Agent.Regain(ctx) == nil {
			return true
		}
		switch {
		case errors.Is(context.Cause(ctx), event.ErrClosing):
			return false
		case ctx.Err() != nil:
			l.Refuse(EndingOf(ctx, ctx.Err(), l.Agent.Kind))
			return false
		case l.endIdle(ctx):
			return false
		}
	}
}

// idleAgain makes an agent idle again whose turn did not begin because its input was taken
// meanwhile.
func (l *Loop) idleAgain() {
	l.Agent.Set(func(i *event.Info) {
		if i.State == event.Running {
			i.State, i.Doing = event.Idle, ""
		}
	})
}

// endIdle ends an idle agent as done, unless something has come for it. The results of its turns
// are deposited already; its task ends without another message.
func (l *Loop) endIdle(ctx context.Context) bool {
	done, why := false, whyDone(l.Agent.Known().Await)
	err := l.Persist(l.o.Fleet.Context(), "record the end of the task", func() error {
		return l.o.DB.Write(context.WithoutCancel(ctx), "end an idle agent", func(tx *store.Tx) error {
			done = false
			waiting, err := tx.WaitingPrompts(l.Agent.ID)
			if err != nil || len(store.Unheld(waiting)) > 0 {
				return err
			}
			if _, err := l.Agent.Book().Batch(tx).Add(0, history.Entry{Kind: history.EntryNotice, Text: why}); err != nil {
				return err
			}
			if err := tx.SetAgentState(l.Agent.ID, string(event.Done), true); err != nil {
				return err
			}
			t, ok, err := tx.Task(l.Agent.Task)
			if err != nil || !ok {
				return errors.Join(err, store.Missing(ok, "task %d", l.Agent.Task))
			}
			if err := l.o.Ends.Conclude(tx, t); err != nil {
				return err
			}
			done = true
			return l.o.Ends.Pass(tx, l.Agent.ID, event.Done)
		})
	})
	if err != nil {
		return true // the next start finds it idle
	}
	if done {
		l.Agent.Set(func(i *event.Info) { i.State, i.Doing, i.Ended = event.Done, "", l.o.Now() })
	}
	return done
}

// whyDone says why an idle agent ends.
func whyDone(w *event.Await) string {
	switch {
	case w == nil || w.Ends:
		return "It ended, as it was told to."
	case w.For > 0:
		return "It ended: nothing came for " + inbox.Age(w.For) + "."
	}
	return "It ended: there was no more input."
}

// idleUntil returns when an agent that is idle now ends, by the wall clock, in milliseconds as in
// its row. It is zero if no time runs: the agent has no limit, or someone is with it. The full time
// runs again afterwards.
func (l *Loop) idleUntil() time.Time {
	w := l.Agent.Known().Await
	switch {
	case l.fixed.input == nil || w == nil || w.For == 0 || w.Attached > 0 || l.o.Fleet.Humans.LooksAt(l.Agent.ID) || l.visited():
		return time.Time{}
	case !w.Until.IsZero():
		return w.Until
	}
	return time.UnixMilli(l.o.Now().Add(w.For).UnixMilli())
}

// countDown starts or stops the countdown of an idle agent, which stops while someone is with it,
// and records that in the agent's row. It returns the end of the countdown; zero: none runs. A
// failed write is shown as trouble only, because it would just give the next host a wrong time.
func (l *Loop) countDown(ctx context.Context) (until time.Time) {
	if until = l.idleUntil(); until.Equal(l.Agent.Known().Await.Until) {
		return until
	}
	err := l.o.DB.Write(context.WithoutCancel(ctx), "keep how long it stays", func(tx *store.Tx) error {
		_, err := tx.SetDeadline(l.Agent.ID, until)
		return err
	})
	if err != nil {
		l.Agent.Trouble(err)
	}
	l.Agent.Await.Stays(until)
	return until
}

// inbound is the default input: what the human tells the agent, and mail that starts a turn. It
// ends when the agent's time is over or the agent is told to end.
type inbound struct{}

func (inbound) Next(ctx context.Context, l *Loop) bool {
	moved, unwatch := l.o.Fleet.Humans.Watch(l.Agent.ID)
	defer unwatch()
	old, over := time.NewTimer(inMemory), time.NewTimer(inMemory)
	defer old.Stop()
	defer over.Stop()
	for ctx.Err() == nil {
		if l.due(ctx) {
			return true
		}
		if l.toldToEnd() && !l.visited() {
			return false
		}
		until := l.countDown(ctx)
		left := until.Sub(l.o.Now())
		if over.Stop(); !until.IsZero() {
			if left <= 0 {
				return false
			}
			over.Reset(left)
		}
		select {
		case <-ctx.Done():
		case <-l.Agent.Pokes:
		case <-moved:
		case <-over.C:
		case <-old.C:
			l.forget()
		}
	}
	return false
}
