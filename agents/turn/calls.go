package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"fantail/agents/abreast"
	"fantail/agents/audit"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/questions"
	"fantail/agents/seat"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/permit"
	"fantail/tools/proc"
)

// runCalls runs the calls of one reply. Neighbours that only read, or only delegate, and need no question run
// concurrently; all others run one after another. Each result is an entry of its own, appended when its call ends.
func (w *workbench) runCalls(ctx context.Context, calls []history.Call) error {
	if err := w.prepare(); err != nil {
		return err
	}
	w.outfit(w.Env.Now())
	w.env.Box = nil
	if w.o.boxed() {
		w.env.Box = w.box
	}
	calls, err := w.admitted(ctx, calls)
	if err != nil {
		return err
	}
	w.repeats.Count(calls)
	for len(calls) > 0 {
		n := w.beside(calls)
		if n < 2 {
			if err := w.runCall(ctx, calls[0], nil); err != nil {
				return err
			}
			calls = calls[1:]
			continue
		}
		w.Set(func(i *event.Info) { i.State, i.Doing = event.Running, fmt.Sprintf("%d tools", n) })
		// They start in the order of the reply, because tasks get their numbers as they start.
		side := calls[:n]
		err := abreast.Run(n, func(i int, f func()) { w.o.Go("tool "+side[i].Name, f) }, func(i int, line func(start func())) error {
			return w.runCall(ctx, side[i], line)
		})
		if err != nil {
			return err
		}
		calls = calls[n:]
	}
	return nil
}

// beside returns how many of the first calls may run concurrently.
func (w *workbench) beside(calls []history.Call) int {
	word := ""
	for n, c := range calls {
		call, err := w.parse(c)
		if n == 0 && err == nil {
			word = call.Beside
		}
		if err != nil || w.repeats.Asks(c.ID) || word == "" || call.Beside != word || w.o.Gate.Decide(call.Action).Decision != permit.Allow {
			return n
		}
	}
	return len(calls)
}

// parse parses a call, and marks it if the gate is to judge it strictly.
func (w *workbench) parse(c history.Call) (*tools.Call, error) {
	call, err := w.tools.Parse(w.env, c.ID, c.Name, c.Args)
	if err == nil {
		call.Action.Strict, call.Action.Mode = w.strict, w.mode
		if call.Action.Kind == permit.Note { // a fork may write one without asking
			call.Action.Strict = w.outside
		}
	}
	return call, err
}

// runCall carries out one call and appends its result. line, if not nil, starts it in its place among calls that run
// concurrently. An error ends the turn: the turn was stopped, or the database refused.
func (w *workbench) runCall(ctx context.Context, c history.Call, line func(start func())) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	call, err := w.parse(c)
	if err != nil {
		return w.result(ctx, c, time.Now(), tools.Result{Text: err.Error(), Error: true})
	}
	defer w.o.Audit.Forget(w.ID, c.ID)
	if w.last != nil {
		return w.denied(ctx, c, w.last.Error())
	}
	if err := w.o.Audit.Admit(ctx, string(w.Kind)); err != nil {
		return w.denied(ctx, c, err.Error())
	}
	if call.Asks != nil {
		w.judge(c, audit.Allowed, "asks the user")
		return w.asksUser(ctx, c, call)
	}
	if why, err := w.repeated(ctx, c); err != nil || why != "" {
		if err == nil {
			w.repeats.Refused() // no other call runs beside it
			err = w.denied(ctx, c, why)
		}
		return err
	}
	by := questions.Alone
	if line != nil {
		by = questions.Beside
	}
	if may, err := w.may(ctx, &c, call, by); err != nil || !may {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	began := time.Now()
	w.Set(func(i *event.Info) {
		if !w.Waits() { // if one does, the agent shows as waiting
			i.State, i.Doing, i.Call = event.Running, "tool "+c.Name, c.Title
		}
	})
	switch {
	case call.Start == nil:
	case line == nil:
		call.Start(ctx)
	default:
		line(func() { call.Start(ctx) })
	}
	r, err := w.carries(ctx, c, call)
	w.guide.Touch(call.Touched)
	if err == nil {
		r, err = w.widened(ctx, c, call, r)
	}
	if err != nil && r.Text != "" { // it ran, and what followed was cut short
		return errors.Join(err, w.result(ctx, c, began, r))
	}
	if err != nil {
		return err
	}
	r = w.o.Hooks.After(ctx, w.hooked(), c, r)
	if err := w.result(ctx, c, began, r); err != nil {
		return err
	}
	return context.Cause(ctx) // nil while it goes on
}

// again takes in other arguments of a call, and judges it.
func (w *workbench) again(ctx context.Context, c *history.Call, call *tools.Call, args json.RawMessage) (permit.Action, permit.Verdict, error) {
	other := *c
	other.Args, other.Title = args, w.tools.Title(c.Name, args)
	is, err := w.parse(other)
	if err != nil {
		return permit.Action{}, permit.Verdict{}, err
	}
	*c, *call = other, *is
	v, err := w.decides(ctx, is.Action)
	return is.Action, v, err
}

// decides is what the gate and those above the agent decide about a call.
func (w *workbench) decides(ctx context.Context, act permit.Action) (permit.Verdict, error) {
	v := w.o.Gate.Decide(act)
	err := seat.Dispatch(ctx, w.o.DB, w.ID, &v)
	return v, err
}

// may reports whether a call may run, as the gate decides or the human it has asked. If not, why is its result already.
// A hook may change what the call is.
func (w *workbench) may(ctx context.Context, said *history.Call, call *tools.Call, by questions.Company) (bool, error) {
	v, err := w.decides(ctx, call.Action)
	if err != nil {
		return false, err
	}
	v = w.o.Hooks.Before(ctx, w.hooked(), *said, call.Action, v, func(args json.RawMessage) (permit.Action, permit.Verdict, error) {
		return w.again(ctx, said, call, args)
	})
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	c := *said
	w.judge(c, audit.Allowed, v.Reason)
	if call.Leave != nil {
		call.Leave.Leave, call.Leave.Free = w.o.Gate.Leave(call.Action), v.Free
	}
	switch {
	case v.Decision == permit.Allow:
		return true, nil
	case v.Decision == permit.Deny:
		return false, w.denied(ctx, c, v.Reason)
	case !w.Kind.Nature().Asks:
		return false, w.denied(ctx, c, "it "+v.Reason+", and a "+w.Kind.Nature().Word+
			" asks nobody. Say in your answer what you could not see.")
	case w.unattended:
		return false, w.denied(ctx, c, "it "+v.Reason+
			", and nobody is here to be asked; --permission-mode or a rule in the configuration can allow it")
	}
	answer, err := w.allowed(ctx, c, call.Action, v, by)
	if err != nil {
		return false, err
	}
	if answer.Choice == permit.No {
		w.judge(c, audit.Refused, questions.Decided(answer))
		return false, w.result(ctx, c, time.Now(), tools.Result{Text: questions.Refusal(answer.Reason), Error: true})
	}
	w.judge(c, audit.Allowed, questions.Decided(answer))
	if v.Vendor != "" {
		err = w.Keep(ctx, "let it hand work to "+v.Vendor, func(tx *store.Tx) error { return store.LetDispatch(tx, w.ID, v.Vendor) })
	}
	return true, err
}

// runs shows the call as running while f runs.
func (w *workbench) runs(c history.Call, f func() tools.Result) tools.Result {
	defer w.Working(c.ID, c.Title)()
	return f()
}

// judge notes what decided about a call that is about to begin, or not to.
func (w *workbench) judge(c history.Call, decision, by string) {
	w.o.Audit.Judge(w.ID, c.ID, audit.Judgement{Decision: decision, By: by, Began: w.o.Now()})
}

// started records a command before it runs, so that after a crash its process group and its output can be found.
func (w *workbench) started(ctx context.Context, call, output string, g proc.Group) error {
	return w.Keep(ctx, "record a command", func(tx *store.Tx) error {
		_, err := w.Book().Batch(tx).Add(w.turn, history.Entry{
			Kind: history.EntryStarted, Call: &history.Call{ID: call}, Output: output, PGID: g.PGID, PStart: g.Start,
		})
		return err
	})
}

// prepare creates the directory for tool outputs.
func (w *workbench) prepare() error {
	if err := os.MkdirAll(w.env.Outputs, 0o700); err != nil {
		return fmt.Errorf("make the directory for tool outputs: %w", err)
	}
	return nil
}
