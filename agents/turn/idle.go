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

// Input is where an agent that awaits input gets it from. It is asked where a turn of the agent has ended by itself, and
// nowhere else: never after a failure, a stop or a kill.
type Input interface {
	// Next returns true once there is something for another turn of l. False: there is no more, and the agent ends as
	// done. What it returns after the end of ctx does not count.
	Next(ctx context.Context, l *Loop) bool
}

// inMemory is how long the conversation of an idle agent stays in memory.
const inMemory = time.Minute

// idle reports whether the agent is idle until input comes. It is false of an agent that ends with its turn.
func (l *Loop) idle() bool {
	return l.fixed.input != nil && (l.Agent.Known().State == event.Idle || l.own.turn == 0 && l.visited())
}

// visited reports whether the human waits for a message in the tab of an idle agent: no turn of it begins meanwhile, and
// it does not end.
func (l *Loop) visited() bool { return l.Agent.Known().State == event.Waiting }

// idlesAfter reports whether the agent is idle after a turn that ended so, instead of ending.
func (l *Loop) idlesAfter(o history.Outcome) bool {
	return l.fixed.input != nil && o == history.Completed && !l.toldToEnd()
}

// toldToEnd reports whether the agent is to end after its present turn.
func (l *Loop) toldToEnd() bool {
	w := l.Agent.Known().Await
	return w != nil && w.Ends
}

// nextInput waits for the input of the agent's next turn, and for a slot to carry it out. False: the agent has ended, or the
// program closes, whose next start finds it idle.
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

// idleAgain has an agent whose turn did not begin be idle again: what it was to begin with is gone, as somebody took it.
func (l *Loop) idleAgain() {
	l.Agent.Set(func(i *event.Info) {
		if i.State == event.Running {
			i.State, i.Doing = event.Idle, ""
		}
	})
}

// endIdle ends an idle agent as done, unless something has come for it. The results of its turns are deposited; its
// task ends without another.
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

// whyDone tells why an idle agent that awaits that ends.
func whyDone(w *event.Await) string {
	switch {
	case w == nil || w.Ends:
		return "It ended, as it was told to."
	case w.For > 0:
		return "It ended: nothing came for " + inbox.Age(w.For) + "."
	}
	return "It ended: there was no more input."
}

// idleUntil returns when the time of an agent that is idle now is over, by the clock on the wall, to the millisecond as rows
// keep it. Zero: its time does not run, as it has no end or somebody is with it, and is whole again afterwards.
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

// countDown has the time of an idle agent run, or not while somebody is with it, and keeps that in its row. It returns
// when the time is over; zero: it does not run. A row that can't be written is shown as trouble: the next host would
// only be wrong about the time.
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

// inbound is the input of all agents that await it: what the human tells them, and mail that starts a turn. It ends
// with the agent's time, and when it is told to end.
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
