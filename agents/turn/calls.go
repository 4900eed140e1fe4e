package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"fantail/agents/approval"
	"fantail/agents/audit"
	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/permission"
	"fantail/tools/proc"
)

// parse parses a call, and marks it if the gate must judge it strictly.
func (l *Loop) parse(c history.Call) (*tools.Call, error) {
	call, err := l.fixed.tools.Parse(l.own.env, c.ID, c.Name, c.Args)
	if err == nil {
		call.Action.Strict, call.Action.Mode = l.fixed.strict, l.fixed.mode
		if call.Action.Kind == permission.Note { // a fork may write one without asking
			call.Action.Strict = l.fixed.outside
		}
	}
	return call, err
}

// runCall carries out one call and appends its result. If line is not nil, it starts the call in
// order among calls that run concurrently. An error ends the turn: the turn was stopped, or a write
// failed.
func (l *Loop) runCall(ctx context.Context, c history.Call, line func(start func())) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	call, err := l.parse(c)
	if err != nil {
		return l.Result(ctx, c, time.Now(), tools.Result{Text: err.Error(), Error: true})
	}
	defer l.o.Audit.Forget(l.Agent.ID, c.ID)
	if l.own.last != nil {
		return l.deny(ctx, c, l.own.last.Error())
	}
	if err := l.o.Audit.Admit(ctx, string(l.Agent.Kind)); err != nil {
		return l.deny(ctx, c, err.Error())
	}
	if call.Asks != nil {
		l.audit(c, audit.Allowed, "asks the user")
		return l.askUser(ctx, c, call)
	}
	if why, err := l.repeated(ctx, c); err != nil || why != "" {
		if err == nil {
			l.own.repeats.Refused() // no other call runs beside it
			err = l.deny(ctx, c, why)
		}
		return err
	}
	by := approval.Alone
	if line != nil {
		by = approval.Beside
	}
	if may, err := l.permit(ctx, &c, call, by); err != nil || !may {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	began := time.Now()
	l.Agent.Set(func(i *event.Info) {
		if !l.Agent.Waits() { // while another call waits, the agent shows as waiting
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
	r, err := l.execute(ctx, c, call)
	l.own.guide.Touch(call.Touched)
	if err == nil {
		r, err = l.widen(ctx, c, call, r)
	}
	r = withChange(call, r)
	if err != nil && r.Text != "" { // it ran, but what followed was cut short
		return errors.Join(err, l.Result(ctx, c, began, r))
	}
	if err != nil {
		return err
	}
	r = l.o.Hooks.After(ctx, l.who(), c, r)
	if err := l.Result(ctx, c, began, r); err != nil {
		return err
	}
	return context.Cause(ctx) // nil while the turn goes on
}

// withArgs replaces the arguments of a call and decides about it again.
func (l *Loop) withArgs(ctx context.Context, c *history.Call, call *tools.Call, args json.RawMessage) (permission.Action, permission.Verdict, error) {
	other := *c
	other.Args, other.Title = args, l.fixed.tools.Title(c.Name, args)
	is, err := l.parse(other)
	if err != nil {
		return permission.Action{}, permission.Verdict{}, err
	}
	*c, *call = other, *is
	v, err := l.decide(ctx, c.ID, is.Action)
	return is.Action, v, err
}

// decide returns what the gate and the agents above decide about a call. If a human was asked about
// the call before a restart, they are still asked, whatever the mode.
func (l *Loop) decide(ctx context.Context, call string, act permission.Action) (permission.Verdict, error) {
	v := l.o.Gate.Decide(act)
	if l.o.Asks.Parked(l.Agent.ID, call) {
		v = l.o.Gate.Again(act)
	}
	err := l.o.Asks.Dispatch(ctx, l.Agent.ID, &v)
	return v, err
}

// judge decides about a call, together with the hooks, which may change it.
func (l *Loop) judge(ctx context.Context, said *history.Call, call *tools.Call) (permission.Verdict, error) {
	v, err := l.decide(ctx, said.ID, call.Action)
	if err != nil {
		return v, err
	}
	v = l.o.Hooks.Before(ctx, l.who(), *said, call.Action, v, func(args json.RawMessage) (permission.Action, permission.Verdict, error) {
		return l.withArgs(ctx, said, call, args)
	})
	if ctx.Err() != nil {
		return v, context.Cause(ctx)
	}
	l.audit(*said, audit.Allowed, v.Reason)
	if call.Leave != nil {
		call.Leave.Leave, call.Leave.Free = l.o.Gate.Leave(call.Action), v.Free
	}
	return v, nil
}

// permit reports whether a call may run. The gate decides, or the human if the gate asks. If the call
// may not run, the reason is recorded as its result. A hook may change the call.
func (l *Loop) permit(ctx context.Context, said *history.Call, call *tools.Call, by approval.Company) (bool, error) {
	v, err := l.judge(ctx, said, call)
	if err != nil {
		return false, err
	}
	c := *said
	switch {
	case v.Decision == permission.Allow:
		return true, nil
	case v.Decision == permission.Deny:
		return false, l.deny(ctx, c, v.Reason)
	case !l.Agent.Kind.Nature().Asks:
		return false, l.deny(ctx, c, "it "+v.Reason+", and a "+l.Agent.Kind.Nature().Word+
			" asks nobody. Say in your answer what you could not see.")
	case l.fixed.unattended && v.Asked:
		return false, l.deny(ctx, c, "it "+v.Reason+", and nobody is here to be asked")
	case l.fixed.unattended:
		return false, l.deny(ctx, c, "it "+v.Reason+
			", and nobody is here to be asked; --permission-mode or a rule in the configuration can allow it")
	}
	answer, err := l.askToRun(ctx, said, call, &v, by)
	if err != nil {
		return false, err
	}
	c = *said
	if answer.Choice == permission.No {
		l.audit(c, audit.Refused, approval.Decided(answer))
		return false, l.Result(ctx, c, time.Now(), tools.Result{Text: approval.Refusal(answer.Reason), Error: true})
	}
	if call.Leave != nil && call.Leave.Free {
		call.Leave.Free = l.o.Gate.Decide(call.Action).Free // a mode may have been chosen meanwhile that keeps the sandbox
	}
	decided := approval.Decided(answer)
	if call.Was != "" {
		decided += ", for " + call.Action.Command + " instead of " + call.Was
	}
	l.audit(c, audit.Allowed, decided)
	if v.Vendor != "" {
		err = l.Keep(ctx, "let it hand work to "+v.Vendor, func(tx *store.Tx) error { return l.o.Asks.LetDispatch(tx, l.Agent.ID, v.Vendor) })
	}
	return true, err
}

// showRunning shows the call as running while f runs.
func (l *Loop) showRunning(c history.Call, f func() tools.Result) tools.Result {
	defer l.Agent.Working(c.ID, c.Title)()
	return f()
}

// audit records the decision about a call before the call begins or is refused.
func (l *Loop) audit(c history.Call, decision, by string) {
	l.o.Audit.Judge(l.Agent.ID, c.ID, audit.Judgement{Decision: decision, By: by, Began: l.o.Now()})
}

// recordStart records a command before it runs, so that after a crash its process group and its output can be found.
func (l *Loop) recordStart(ctx context.Context, call, output string, g proc.Group) error {
	return l.Keep(ctx, "record a command", func(tx *store.Tx) error {
		_, err := l.Agent.Book().Batch(tx).Add(l.own.turn, history.Entry{
			Kind: history.EntryStarted, Call: &history.Call{ID: call}, Output: output, PGID: g.PGID, PStart: g.Start,
		})
		return err
	})
}

// makeOutputs creates the directory for tool outputs.
func (l *Loop) makeOutputs() error {
	if err := os.MkdirAll(l.own.env.Outputs, 0o700); err != nil {
		return fmt.Errorf("make the directory for tool outputs: %w", err)
	}
	return nil
}

// setEnvironment sets the environment of the agent's next calls, reduced if the agent is unattended
// or strict. No call may run meanwhile.
func (l *Loop) setEnvironment(from *fleet.Environment) {
	e := l.o.environment(from)
	if l.fixed.unattended || l.fixed.strict {
		e.Vars = proc.Bare(e.Vars)
	}
	l.own.env.Environ, l.own.env.Umask = e.Vars, e.Umask
}
