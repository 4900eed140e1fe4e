package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"fantail/agents/audit"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/store"
	"fantail/tools"
)

// carryOut runs a sub-agent: one turn, or, if it awaits input, one for each input until it ends.
func (l *Loop) carryOut(ctx context.Context) {
	defer l.fixed.hasten()
	if !l.idle() { // else it was idle when the last host ended
		l.carry(ctx)
	}
	for l.idle() && l.nextInput(ctx) {
		l.carry(ctx)
	}
}

// carry carries out one turn, limited by the task's time-out.
func (l *Loop) carry(ctx context.Context) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	l.Agent.Watch(l.fixed.timeout, cancel)
	model, now := l.Agent.Present()
	configured := model.Provider != nil
	life := l.Work
	if l.fixed.command != "" {
		life, configured = l.carryOutCommand, true
	}
	if !configured {
		l.Refuse(Ending{Outcome: history.OutFailed, Cause: "the model " + now.Model + " is not configured"})
		l.Agent.Spent()
		return
	}
	switch err := life(ctx); {
	case err != nil && l.own.idled && ctx.Err() == nil:
		l.Agent.Trouble(err) // it is idle again, and retries
		l.pause(ctx)
		l.idleAgain()
	case err != nil:
		l.Refuse(EndingOf(ctx, err, l.Agent.Kind))
	case l.own.idled && l.own.turn == 0:
		l.idleAgain()
	}
	l.Agent.Spent()
}

// Refuse ends a sub-agent or a fork whose turn could not begin. Like finish, it retries until the
// program closes.
func (l *Loop) Refuse(e Ending) {
	state := l.restState(e.Outcome)
	err := l.Persist(l.o.Fleet.Context(), "record the end of the task", func() error {
		return l.o.DB.Write(context.WithoutCancel(l.o.Fleet.Context()), "refuse a task", func(tx *store.Tx) error {
			b := l.Agent.Book().Batch(tx)
			end := &history.End{Outcome: e.Outcome, Error: e.Cause}
			if _, err := b.Add(0, history.Entry{Kind: history.EntryEnded, End: end}); err != nil {
				return err
			}
			if err := tx.SetAgentState(l.Agent.ID, string(state), true); err != nil {
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
	l.Agent.Set(func(i *event.Info) {
		i.State, i.Doing, i.Why, i.Outcome, i.Ended, i.Prompts = state, "", e.Cause, e.Outcome, l.o.Now(), nil
	})
}

// unheld is the result of a command that must run in a sandbox if none works.
const unheld = "it did not run: a scheduled command runs in the sandbox of agents' commands, and none works here (/sandbox says why). " +
	"/schedule sandbox=off WHEN !COMMAND, typed on a screen, schedules one that runs as you"

// runCommand runs the agent's plain command: as the user, or in the sandbox of agents' commands.
func (l *Loop) runCommand(ctx context.Context, c history.Call) tools.Result {
	if l.fixed.sandbox == "" {
		return l.showRunning(c, func() tools.Result { return l.own.env.Command(ctx, c.ID, l.fixed.command, nil) })
	}
	if !l.o.boxed() {
		return tools.Result{Text: unheld, Error: true}
	}
	l.own.env.Box = l.makeBox
	call, err := l.parse(c)
	if err != nil {
		return tools.Result{Text: err.Error(), Error: true}
	}
	call.Leave.Leave = l.o.Gate.Leave(call.Action)
	call.Run = func(ctx context.Context) tools.Result {
		return l.own.env.Command(ctx, c.ID, l.fixed.command, call.Leave)
	}
	r, err := l.execute(ctx, c, call)
	if err != nil && ctx.Err() == nil {
		return tools.Result{Text: err.Error(), Error: true}
	}
	return r
}

// carryOutCommand carries out a plain command: a turn with this single call and no model. It asks
// no question, because the human typed the command. It returns an error if the turn could not
// begin.
func (l *Loop) carryOutCommand(ctx context.Context) error {
	ctx, release := l.Agent.Stoppable(ctx)
	defer release()
	l.own.began = l.o.Now()
	if err := l.makeOutputs(); err != nil {
		return err
	}
	l.setEnvironment(l.Agent.Env.Now())
	c := history.Call{ID: history.CommandCall, Name: "bash"}
	var err error
	if c.Args, err = json.Marshal(map[string]string{"command": l.fixed.command}); err != nil {
		return fmt.Errorf("write down the command: %w", err)
	}
	c.Title = l.fixed.tools.Title(c.Name, c.Args)
	l.audit(c, audit.Allowed, "the user typed it")
	defer l.o.Audit.Forget(l.Agent.ID, c.ID)
	var turn int64
	err = l.Keep(ctx, "begin a command", func(tx *store.Tx) (err error) {
		b := l.Agent.Book().Batch(tx)
		if turn, err = l.begin(tx); err != nil {
			return err
		}
		_, err = b.Add(turn, history.Entry{Kind: history.EntryCall, Call: &c})
		return err
	})
	if err != nil {
		return err
	}
	l.own.turn = turn
	l.o.Hooks.Begins(ctx, l.who())
	l.Agent.Set(func(i *event.Info) { i.Doing, i.Call = "tool bash", c.Title })
	began := time.Now()
	r := l.runCommand(ctx, c)
	e := Ending{Outcome: history.Completed}
	switch err := l.Result(context.WithoutCancel(ctx), c, began, r); {
	case ctx.Err() != nil:
		e = EndingOf(ctx, ctx.Err(), l.Agent.Kind)
	case err != nil:
		e = EndingOf(ctx, err, l.Agent.Kind)
	case r.Exit == nil:
		e = Ending{Outcome: history.OutFailed, Cause: r.Text}
	case *r.Exit != 0:
		e = Ending{Outcome: history.OutFailed, Cause: history.Exit(*r.Exit)}
	}
	l.finish(ctx, e)
	return nil
}
