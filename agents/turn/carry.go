package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"fantail/agents/audit"
	"fantail/agents/ending"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/store"
	"fantail/tools"
)

// carryOut is the life of a sub-agent: one turn, or, if it awaits input, one for whatever comes until it ends.
func (l *Loop) carryOut(ctx context.Context) {
	defer l.hasten()
	if !l.idling.now() { // else it was idle when the last host ended
		l.carry(ctx)
	}
	for l.idling.now() && l.idling.next(ctx) {
		l.carry(ctx)
	}
}

// carry carries out one turn, limited by the task's time-out.
func (l *Loop) carry(ctx context.Context) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	l.Watch(l.timeout, cancel)
	model, now := l.Present()
	configured := model.Provider != nil
	life := l.Work
	if l.command != "" {
		life, configured = l.obey, true
	}
	if !configured {
		l.Refuse(ending.Ending{Outcome: history.OutFailed, Cause: "the model " + now.Model + " is not configured"})
		l.Spent()
		return
	}
	switch err := life(ctx); {
	case err != nil && l.idling.before() && ctx.Err() == nil:
		l.Trouble(err) // it is idle again, and tries once more
		l.pause(ctx)
		l.idling.nothingCame()
	case err != nil:
		l.Refuse(ending.Of(ctx, err, l.Kind))
	case l.idling.before() && l.turn == 0:
		l.idling.nothingCame()
	}
	l.Spent()
}

// Refuse ends a sub-agent or a fork whose turn could not even begin. Like finish, it keeps trying until the program
// closes.
func (l *Loop) Refuse(e ending.Ending) {
	state := l.restState(e.Outcome)
	err := l.Persist(l.o.Fleet.Context(), "record the end of the task", func() error {
		return l.o.DB.Write(context.WithoutCancel(l.o.Fleet.Context()), "refuse a task", func(tx *store.Tx) error {
			b := l.Book().Batch(tx)
			end := &history.End{Outcome: e.Outcome, Error: e.Cause}
			if _, err := b.Add(0, history.Entry{Kind: history.EntryEnded, End: end}); err != nil {
				return err
			}
			if err := tx.SetAgentState(l.ID, string(state), true); err != nil {
				return err
			}
			if err := l.forgetPrompts(tx); err != nil {
				return err
			}
			return l.account(tx, e, state)
		})
	})
	if err != nil {
		return // the next start of the program finds the task running and reports it
	}
	l.Set(func(i *event.Info) {
		i.State, i.Doing, i.Why, i.Outcome, i.Ended, i.Prompts = state, "", e.Cause, e.Outcome, l.o.Now(), nil
	})
}

// obey carries out a plain command: a turn with this single call and no model. The human typed it, so nobody is asked.
// It returns an error if the turn could not begin.
func (l *Loop) obey(ctx context.Context) error {
	ctx, release := l.Stoppable(ctx)
	defer release()
	l.began = l.o.Now()
	if err := l.prepare(); err != nil {
		return err
	}
	l.outfit(l.Env.Now())
	c := history.Call{ID: history.CommandCall, Name: "bash"}
	var err error
	if c.Args, err = json.Marshal(map[string]string{"command": l.command}); err != nil {
		return fmt.Errorf("write down the command: %w", err)
	}
	c.Title = l.tools.Title(c.Name, c.Args)
	l.judge(c, audit.Allowed, "the user typed it")
	defer l.o.Audit.Forget(l.ID, c.ID)
	var turn int64
	err = l.Keep(ctx, "begin a command", func(tx *store.Tx) (err error) {
		b := l.Book().Batch(tx)
		if turn, err = l.begin(tx); err != nil {
			return err
		}
		_, err = b.Add(turn, history.Entry{Kind: history.EntryCall, Call: &c})
		return err
	})
	if err != nil {
		return err
	}
	l.turn = turn
	l.o.Hooks.Begins(ctx, l.hooked())
	l.Set(func(i *event.Info) { i.Doing, i.Call = "tool bash", c.Title })
	began := time.Now()
	r := l.runs(c, func() tools.Result { return l.env.Command(ctx, c.ID, l.command) })
	e := ending.Ending{Outcome: history.Completed}
	switch err := l.result(context.WithoutCancel(ctx), c, began, r); {
	case ctx.Err() != nil:
		e = ending.Of(ctx, ctx.Err(), l.Kind)
	case err != nil:
		e = ending.Of(ctx, err, l.Kind)
	case r.Exit == nil:
		e = ending.Ending{Outcome: history.OutFailed, Cause: r.Text}
	case *r.Exit != 0:
		e = ending.Ending{Outcome: history.OutFailed, Cause: history.Exit(*r.Exit)}
	}
	l.finish(ctx, e)
	return nil
}
