package agents

import (
	"context"
	"fmt"
	"sync"
	"time"

	"fantail/store"
	"fantail/tools"
	"fantail/tools/permit"
)

// runCalls runs the calls of one reply. Neighbours that only read, or only
// delegate, and need no question run side by side; all others run one after
// another. Each result is an entry of its own, appended when that call ends.
func (a *agent) runCalls(ctx context.Context, calls []Call) error {
	if err := a.prepare(); err != nil {
		return err
	}
	for len(calls) > 0 {
		n := a.beside(calls)
		if n < 2 {
			if err := a.runCall(ctx, calls[0], nil); err != nil {
				return err
			}
			calls = calls[1:]
			continue
		}
		a.set(func(i *Info) { i.State, i.Doing = Running, fmt.Sprintf("%d tools", n) })
		// They start in the order of the reply, so that tasks get their numbers in it: each call waits
		// for its own start until the channel of the one before it is closed, and closes its own then.
		// What they do after they started has no order.
		errs := make([]error, n)
		var all sync.WaitGroup
		before := make(chan struct{})
		close(before)
		for i, c := range calls[:n] {
			all.Add(1)
			mine, turn := make(chan struct{}), before
			before = mine
			a.p.o.Go("tool "+c.Name, func() {
				defer all.Done()
				var once sync.Once
				line := func(start func()) {
					once.Do(func() {
						<-turn
						start()
						close(mine)
					})
				}
				errs[i] = a.runCall(ctx, c, line)
				line(func() {}) // a call that came to nothing holds up nobody
			})
		}
		all.Wait()
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
		calls = calls[n:]
	}
	return nil
}

// beside is how many of the first calls may run side by side.
func (a *agent) beside(calls []Call) int {
	word := ""
	for n, c := range calls {
		call, err := a.parse(c)
		if n == 0 && err == nil {
			word = call.Beside
		}
		if err != nil || word == "" || call.Beside != word || a.p.o.Gate.Decide(call.Action).Decision != permit.Allow {
			return n
		}
	}
	return len(calls)
}

// parse reads a call, and says whether the gate is to judge it strictly.
func (a *agent) parse(c Call) (*tools.Call, error) {
	call, err := a.tools.Parse(a.env, c.ID, c.Name, c.Args)
	if err == nil {
		call.Action.Strict = a.strict
		if call.Action.Kind == permit.Note { // a fork may write one by itself
			call.Action.Strict = a.outside
		}
	}
	return call, err
}

// runCall carries out one call and appends its result; line starts it after its
// neighbours before it; nil: it runs alone. Its error ends the turn: the turn was stopped, or the
// database refused.
func (a *agent) runCall(ctx context.Context, c Call, line func(start func())) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	began := time.Now()
	call, err := a.parse(c)
	if err != nil {
		return a.result(ctx, c, began, tools.Result{Text: err.Error(), Error: true})
	}
	if call.Asks != nil {
		return a.asksUser(ctx, c, call)
	}
	switch v := a.p.o.Gate.Decide(call.Action); v.Decision {
	case permit.Deny:
		return a.result(ctx, c, began, tools.Result{Text: "Refused: " + v.Reason, Error: true})
	case permit.AskHuman:
		if !a.kind.Nature().Asks {
			return a.result(ctx, c, began, tools.Result{Error: true, Text: "Refused: it " + v.Reason + ", and a fork asks nobody. Say in your answer what you could not see."})
		}
		if !a.p.o.Attended {
			return a.result(ctx, c, began, tools.Result{Error: true, Text: "Refused: it " + v.Reason +
				", and nobody is here to be asked; --permission-mode or a rule in the configuration can allow it"})
		}
		answer, err := a.allowed(ctx, c, call.Action, v, line != nil)
		if err != nil {
			return err
		}
		began = time.Now() // how long the human thought is not the call's time
		if answer.Choice == permit.No {
			return a.result(ctx, c, began, tools.Result{Text: refusal(answer.Reason), Error: true})
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	began = time.Now()
	a.set(func(i *Info) {
		if len(a.away) == 0 { // else a neighbour waits
			i.State, i.Doing, i.Call = Running, "tool "+c.Name, c.Title
		}
	})
	switch {
	case call.Start == nil:
	case line == nil:
		call.Start(ctx)
	default:
		line(func() { call.Start(ctx) })
	}
	r := a.runs(c, func() tools.Result { return call.Run(ctx) })
	if err := a.result(ctx, c, began, r); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// runs notes for as long as f lasts that the call runs.
func (a *agent) runs(c Call, f func() tools.Result) tools.Result {
	a.p.mu.Lock()
	a.calls = append(a.calls, Working{c.ID, c.Title, a.p.o.Now()})
	a.p.mu.Unlock()
	defer func() {
		a.p.mu.Lock()
		defer a.p.mu.Unlock()
		for i, r := range a.calls {
			if r.Call == c.ID {
				a.calls = append(a.calls[:i:i], a.calls[i+1:]...)
				return
			}
		}
	}()
	return f()
}

func refusal(reason string) string {
	if reason == "" {
		return "The user said no. Don't try it another way; ask what to do instead."
	}
	return "The user said no: " + reason
}

// result appends a call's result, unless the take of mail did.
func (a *agent) result(ctx context.Context, c Call, began time.Time, r tools.Result) error {
	if r.Entry != 0 {
		return nil
	}
	return a.keep(ctx, "record the result of "+c.Name, func(tx *store.Tx) error {
		_, err := a.book().Batch(tx, false).Add(a.turn, Entry{Kind: EntryResult, Result: &Result{
			ID: c.ID, Name: c.Name, Text: r.Text, Error: r.Error, Diff: r.Diff, File: r.File, Exit: r.Exit,
			Millis: time.Since(began).Milliseconds(),
		}})
		return err
	})
}
