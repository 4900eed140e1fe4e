package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"

	"fantail/agents/history"
	"fantail/agents/waits"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
)

// carryOut is the life of a sub-agent: one turn, bounded by its time-out.
func (a *agent) carryOut(ctx context.Context) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer a.hasten()
	a.p.mu.Lock()
	a.watch(a.timeout, func(cause error) {
		a.ends()
		cancel(cause)
	})
	name, configured := a.info.Model, a.model.Provider != nil
	a.p.mu.Unlock()
	life := a.work
	if a.command != "" {
		life, configured = a.obey, true
	}
	if !configured {
		a.refuse(ending{OutFailed, "the model " + name + " is not configured"})
	} else if err := life(ctx); err != nil {
		a.refuse(a.endingOf(ctx, err))
	}
	a.spent()
}

// await keeps a sub-agent whose own dispatched work still runs from finishing:
// it waits, without a request and without a slot, and goes on when they report.
func (a *agent) await(ctx context.Context) error {
	if a.kind.HasPrompt() || a.wrapsUp() || len(a.owed()) == 0 {
		return nil
	}
	waiting, release := a.steerable(ctx)
	defer release()
	w := a.p.waits.Begin(&waits.Wait{Agent: a.id, Children: true})
	regain := a.aside("waiting for " + strings.Join(a.owed(), ", "))
	err := w.Until(waiting, func() (bool, error) {
		reported, err := a.reported(ctx)
		return reported || len(a.owed()) == 0, err
	})
	w.End()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil, errors.Is(err, ErrNothing), errors.Is(err, errSteered): // that prompt enters at this seam
		return regain(ctx)
	}
	return fmt.Errorf("look for reports: %w", err)
}

// reported reports whether a message waits that enters at the agent's next seam.
func (a *agent) reported(ctx context.Context) (bool, error) {
	if !a.hasMail() {
		return false, nil
	}
	ms, err := a.p.inbox.List(ctx, inbox.Query{Recipient: a.id, Deliver: []inbox.Deliver{inbox.Next, inbox.Wake}, Limit: 1})
	return len(ms) > 0, err
}

// owed names the work the agent dispatched that still runs or is about to start.
func (a *agent) owed() []string {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	var names []string
	for _, b := range a.p.workOf(a.id) {
		names = append(names, b.info.Name)
	}
	for _, q := range a.p.queue.Of(a.id) {
		if a.p.queue.Wanted(q) {
			names = append(names, q.Name)
		}
	}
	sort.Strings(names)
	return names
}

// spent lets go what an agent held whose life is over.
func (a *agent) spent() {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	a.clock.stop()
	a.clock = nil
	a.p.letGo(a)
	a.p.told()
}

// refuse ends a sub-agent or a fork whose turn could not even begin. Like finish it does
// not give up before the program closes.
func (a *agent) refuse(e ending) {
	state := a.restState(e.outcome)
	err := a.persist(a.p.ctx, "record the end of the task", anyError, func() error {
		return a.p.o.DB.Write(context.WithoutCancel(a.p.ctx), "refuse a task", func(tx *store.Tx) error {
			b := a.book().Batch(tx, false)
			if _, err := b.Add(0, Entry{Kind: EntryEnded, End: &End{Outcome: e.outcome, Error: e.cause}}); err != nil {
				return err
			}
			if err := tx.SetAgentState(a.id, string(state), true); err != nil {
				return err
			}
			if err := a.forgetPrompts(tx); err != nil {
				return err
			}
			return a.account(tx, e)
		})
	})
	if err != nil {
		return // the next start finds the task running and reports it
	}
	a.set(func(i *Info) {
		i.State, i.Doing, i.Why, i.Outcome, i.Ended, i.Prompts = state, "", e.cause, e.outcome, a.p.o.Now(), nil
	})
}

// obey carries out a plain command: a turn with the one call of it and no model.
// It is the human's own, so nobody is asked. It returns an error if the turn
// could not begin.
func (a *agent) obey(ctx context.Context) error {
	ctx, release := a.stoppable(ctx)
	defer release()
	a.began = a.p.o.Now()
	if err := a.prepare(); err != nil {
		return err
	}
	c := Call{ID: history.CommandCall, Name: "bash"}
	var err error
	if c.Args, err = json.Marshal(map[string]string{"command": a.command}); err != nil {
		return fmt.Errorf("write down the command: %w", err)
	}
	c.Title = a.p.o.Tools.Title(c.Name, c.Args)
	var turn int64
	err = a.keep(ctx, "begin a command", func(tx *store.Tx) (err error) {
		b := a.book().Batch(tx, false)
		if turn, err = a.begin(tx, true); err != nil {
			return err
		}
		_, err = b.Add(turn, Entry{Kind: EntryCall, Call: &c})
		return err
	})
	if err != nil {
		return err
	}
	a.turn = turn
	a.set(func(i *Info) { i.Doing, i.Call = "tool bash", c.Title })
	began := time.Now()
	r := a.runs(c, func() tools.Result { return a.env.Command(ctx, c.ID, a.command) })
	e := ending{outcome: Completed}
	switch err := a.result(context.WithoutCancel(ctx), c, began, r); {
	case ctx.Err() != nil:
		e = a.endingOf(ctx, ctx.Err())
	case err != nil:
		e = a.endingOf(ctx, err)
	case r.Exit == nil:
		e = ending{OutFailed, r.Text}
	case *r.Exit != 0:
		e = ending{OutFailed, history.Exit(*r.Exit)}
	}
	a.finish(ctx, e)
	return nil
}
