package fleet

import (
	"context"
	"errors"

	"fantail/agents/event"
)

// stop is one thing of an agent that Stop ends.
type stop struct{ cancel context.CancelCauseFunc }

// Stoppable returns a context that Halt and the fleet's end cancel, and what ends
// the arrangement.
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

// Visit is Stoppable for what others than the loop do in the agent's tab: Close
// waits for it, and refuses it once it has begun.
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

// Hastens says how those who can't wait end the commands of the agent at once: without it
// they are always ended so. It comes before the agent's loop.
func (a *Agent) Hastens(f func()) { a.hasten = f }

// Halt ends everything the agent does now, for the given cause. A sub-agent that
// is killed, or whose time is up, gives its commands two seconds to end; the human
// who stops it by hand, and the program's end, do not.
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

// ending shows that what the agent runs is being ended. The caller holds the mutex.
func (a *Agent) ending() {
	if len(a.calls) > 0 && a.Info.State == event.Running {
		a.Change(func(i *event.Info) { i.Doing = "ending" })
	}
}

// Halted is what stopped the agent for good, nil while nothing has.
func (a *Agent) Halted() error {
	a.fleet.Lock()
	defer a.fleet.Unlock()
	return a.halted
}

// Inherit halts an agent that begins below one that fell with all below it. The caller
// holds the mutex.
func (a *Agent) Inherit(above *Agent) {
	if above != nil && errors.Is(above.halted, ErrFelled) {
		a.halted = above.halted
	}
}

// Stops reports whether Stop would end something of the agent. The caller holds the mutex.
func (a *Agent) Stops() bool { return len(a.stops) > 0 }

// Steerable returns a context for a wait inside a turn, which ends when the
// human bids the agent go on, with ErrSteered as its cause; and what ends the
// arrangement.
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

// WrapUp shows a prompt that bids the agent finish with what it has: it goes on for it,
// whatever it waits for. The caller holds the mutex.
func (a *Agent) WrapUp(q event.Prompt) {
	a.steer, a.wrapping = q.ID, true
	a.Queued(q)
	for s := range a.steered {
		s.cancel(ErrSteered)
	}
}

// AskedToWrapUp reports whether the agent was bidden to finish, and has not yet. The
// caller holds the mutex.
func (a *Agent) AskedToWrapUp() bool { return a.steer != 0 || a.wrapping }

// WrapsUp reports whether the agent was asked to finish in this turn.
func (a *Agent) WrapsUp() bool {
	a.fleet.Lock()
	defer a.fleet.Unlock()
	return a.wrapping && a.steer == 0
}

// Wrapped forgets at a turn's end that it was to be the last.
func (a *Agent) Wrapped() {
	a.fleet.Lock()
	defer a.fleet.Unlock()
	a.wrapping = a.steer != 0
}
