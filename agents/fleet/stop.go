package fleet

import (
	"context"
	"errors"

	"fantail/agents/event"
)

// stop is one thing of an agent that Halt cancels.
type stop struct{ cancel context.CancelCauseFunc }

// Stoppable returns a context that Halt and the end of the fleet cancel, and a function that releases it.
func (a *Agent) Stoppable(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	s := &stop{cancel}
	unhook := context.AfterFunc(a.fleet.ctx, func() { cancel(context.Cause(a.fleet.ctx)) })
	a.fleet.Lock()
	defer a.fleet.Unlock()
	a.stops[s] = true
	if a.halted != nil {
		cancel(a.halted)
	}
	return ctx, func() {
		unhook()
		a.fleet.Lock()
		delete(a.stops, s)
		a.fleet.Unlock()
		cancel(nil)
	}
}

// Visit is Stoppable for what runs in the agent's tab outside of its loop: Close waits for it, and refuses it once the
// fleet is closing.
func (a *Agent) Visit(ctx context.Context) (context.Context, func(), error) {
	f := a.fleet
	f.Lock()
	if f.closing {
		f.Unlock()
		return nil, nil, event.ErrClosing
	}
	f.loops.Add(1)
	f.Unlock()
	ctx, release := a.Stoppable(ctx)
	return ctx, func() {
		release()
		f.loops.Done()
	}, nil
}

// Hastens sets a function that ends the agent's commands at once, for callers that can't wait. Without it they always
// end at once. Call it before the agent's loop starts: no lock guards it.
func (a *Agent) Hastens(f func()) { a.hasten = f }

// Halt ends everything the agent does now, for the given cause. A sub-agent that is killed, or whose time is up, gives
// its commands two seconds to end; one that is stopped by hand, or by the end of the program, does not.
func (a *Agent) Halt(cause error) {
	a.fleet.Lock()
	defer a.fleet.Unlock()
	if a.Kind.Ends() && (a.halted == nil || errors.Is(cause, ErrFelled)) {
		a.halted = cause
	}
	switch {
	case a.hasten == nil:
	case errors.Is(cause, ErrKilled):
		a.ending()
	default:
		a.hasten()
	}
	for s := range a.stops {
		s.cancel(cause)
	}
}

// ending shows that the agent's commands are being ended. The caller holds the fleet's mutex.
func (a *Agent) ending() {
	if len(a.calls) > 0 && a.Info.State == event.Running {
		a.Change(func(i *event.Info) { i.Doing = "ending" })
	}
}

// Halted returns why the agent was stopped for good; nil: it was not.
func (a *Agent) Halted() error {
	a.fleet.Lock()
	defer a.fleet.Unlock()
	return a.halted
}

// Inherit halts an agent that begins below one that was killed with all below it. The caller holds the fleet's mutex.
func (a *Agent) Inherit(above *Agent) {
	if above != nil && errors.Is(above.halted, ErrFelled) {
		a.halted = above.halted
	}
}

// Stops reports whether Halt would end something of the agent. The caller holds the fleet's mutex.
func (a *Agent) Stops() bool { return len(a.stops) > 0 }

// Steerable returns a context for a wait inside a turn, which is cancelled with ErrSteered when the human tells the
// agent to go on, and a function that releases it.
func (a *Agent) Steerable(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	s := &stop{cancel}
	a.fleet.Lock()
	defer a.fleet.Unlock()
	a.steered[s] = true
	if a.steer != 0 {
		cancel(ErrSteered)
	}
	return ctx, func() {
		a.fleet.Lock()
		delete(a.steered, s)
		a.fleet.Unlock()
		cancel(nil)
	}
}

// WrapUp is Steer with a prompt that tells the agent to finish with what it has.
func (a *Agent) WrapUp(q event.Prompt) {
	a.wrap, a.wrapping = q.ID, true
	a.Steer(q)
}

// Steer queues a prompt for an agent in the middle of its work. It interrupts whatever the agent waits for. The caller
// holds the fleet's mutex.
func (a *Agent) Steer(q event.Prompt) {
	a.steer = q.ID
	a.Queued(q)
	for s := range a.steered {
		s.cancel(ErrSteered)
	}
}

// AskedToWrapUp reports whether the agent was told to finish, and has not yet. The caller holds the fleet's mutex.
func (a *Agent) AskedToWrapUp() bool { return a.wrapping }

// WrapsUp reports whether the agent was told to finish in this turn.
func (a *Agent) WrapsUp() bool {
	a.fleet.Lock()
	defer a.fleet.Unlock()
	return a.wrapping && a.wrap == 0
}

// Wrapped clears, at the end of a turn, that it was to be the last.
func (a *Agent) Wrapped() {
	a.fleet.Lock()
	defer a.fleet.Unlock()
	a.wrapping = a.wrap != 0
}
