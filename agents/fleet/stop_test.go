package fleet_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"fantail/agents/event"
	"fantail/agents/fleet"
)

// TestHalt: it ends what the agent does now; an agent that ends with its work does nothing more, one that rests
// between turns goes on. Its commands get time only if others end them.
func TestHalt(t *testing.T) {
	for _, c := range []struct {
		kind   event.Kind
		cause  error
		halted error
		doing  string
		hasten int
	}{
		{event.Main, fleet.ErrStopped, nil, "tool bash", 1},
		{event.Main, fleet.ErrKilled, nil, "ending", 0},
		{event.Sub, fleet.ErrStopped, fleet.ErrStopped, "tool bash", 1},
		{event.Sub, fleet.ErrKilled, fleet.ErrKilled, "ending", 0},
		{event.Sub, fleet.ErrFelled, fleet.ErrFelled, "ending", 0},
		{event.Fork, event.ErrClosing, event.ErrClosing, "tool bash", 1},
	} {
		b := newFleet(t, fleet.Options{})
		a := b.open(event.Info{ID: 1, Kind: c.kind, Doing: "tool bash"})
		hastened := 0
		a.Hastens(func() { hastened++ })
		a.Working("c", "make")
		now, release := a.Stoppable(t.Context())
		over, done := a.Stoppable(t.Context())
		done()
		a.Halt(c.cause)
		later, releaseLater := a.Stoppable(t.Context())
		if context.Cause(now) != c.cause || context.Cause(over) != context.Canceled || !errors.Is(context.Cause(later), c.halted) {
			t.Errorf("%s, %v: %v now, %v over, %v later", c.kind, c.cause, context.Cause(now), context.Cause(over), context.Cause(later))
		}
		if a.Halted() != c.halted || a.Known().Doing != c.doing || hastened != c.hasten {
			t.Errorf("%s, %v: halted by %v, %s, hastened %d times", c.kind, c.cause, a.Halted(), a.Known().Doing, hastened)
		}
		release()
		releaseLater()
		b.hold(func() {
			if a.Stops() {
				t.Errorf("%s: there is still something to stop", c.kind)
			}
		})
	}
}

// TestHalt_first: the first cause of a halt stays, unless all below the agent is killed: then an agent that begins
// below it is halted too.
func TestHalt_first(t *testing.T) {
	for _, c := range []struct {
		causes []error
		want   error
		below  error
	}{
		{nil, nil, nil},
		{[]error{fleet.ErrStopped, fleet.ErrKilled}, fleet.ErrStopped, nil},
		{[]error{fleet.ErrKilled, fleet.ErrFelled}, fleet.ErrFelled, fleet.ErrFelled},
		{[]error{fleet.ErrFelled, fleet.ErrKilled}, fleet.ErrFelled, fleet.ErrFelled},
	} {
		b := newFleet(t, fleet.Options{})
		a := b.open(event.Info{ID: 1, Kind: event.Sub})
		for _, cause := range c.causes {
			a.Halt(cause)
		}
		kid := b.open(event.Info{ID: 2, Kind: event.Sub, Parent: 1})
		b.hold(func() {
			kid.Inherit(nil)
			kid.Inherit(a)
		})
		ctx, release := kid.Stoppable(t.Context())
		if a.Halted() != c.want || kid.Halted() != c.below || context.Cause(ctx) != c.below {
			t.Errorf("%v: halted by %v, below it by %v, which ends with %v", c.causes, a.Halted(), kid.Halted(), context.Cause(ctx))
		}
		release()
	}
}

// TestStoppable_end: the end of the fleet ends all of it, and a caller's end its own.
func TestStoppable_end(t *testing.T) {
	b := newFleet(t, fleet.Options{})
	a := b.open(event.Info{ID: 1, Kind: event.Main})
	mine, cancel := context.WithCancel(t.Context())
	own, release := a.Stoppable(mine)
	defer release()
	other, releaseOther := a.Stoppable(t.Context())
	defer releaseOther()
	if cancel(); own.Err() == nil || other.Err() != nil {
		t.Errorf("one caller's end: %v, the other's %v", own.Err(), other.Err())
	}
	if err := b.Close(t.Context(), event.ErrClosing); err != nil {
		t.Error(err)
	}
	<-other.Done() // AfterFunc has a goroutine of its own
	if cause := context.Cause(other); cause != event.ErrClosing {
		t.Errorf("the end of all: %v", cause)
	}
}

// TestWrapUp: a prompt that asks the agent to finish ends its waits, also those that begin before it enters, and the
// turn it enters is the last.
func TestWrapUp(t *testing.T) {
	b := newFleet(t, fleet.Options{})
	a := b.open(event.Info{ID: 1, Kind: event.Sub})
	wait := func() error {
		ctx, release := a.Steerable(t.Context())
		defer release()
		return context.Cause(ctx)
	}
	is := func(what string, asked, wraps bool, ended error) {
		t.Helper()
		var is bool
		b.hold(func() { is = a.AskedToWrapUp() })
		if is != asked || a.WrapsUp() != wraps || wait() != ended {
			t.Errorf("%s: asked %t, wraps up %t, a wait ends with %v", what, is, a.WrapsUp(), wait())
		}
	}
	is("before", false, false, nil)
	ctx, release := a.Steerable(t.Context())
	defer release()
	over, done := a.Steerable(t.Context())
	done()
	b.hold(func() { a.WrapUp(event.Prompt{ID: 7}) })
	if context.Cause(ctx) != fleet.ErrSteered || context.Cause(over) != context.Canceled || len(a.Known().Prompts) != 1 {
		t.Errorf("a wait ends with %v, one that is over with %v; %d prompts", context.Cause(ctx), context.Cause(over), len(a.Known().Prompts))
	}
	is("bidden", true, false, fleet.ErrSteered)
	a.Wrapped()
	is("a turn ended before the prompt entered", true, false, fleet.ErrSteered)
	a.Unqueue(8)
	is("another prompt entered", true, false, fleet.ErrSteered)
	a.Unqueue(7)
	is("it entered", true, true, nil)
	if n := len(a.Known().Prompts); n != 0 {
		t.Errorf("%d prompts are queued", n)
	}
	a.Wrapped()
	is("its turn ended", false, false, nil)
}

// TestWrapUp_ended: an agent that has ended gets no turn.
func TestWrapUp_ended(t *testing.T) {
	b := newFleet(t, fleet.Options{})
	a := b.open(event.Info{ID: 1, Kind: event.Sub})
	b.hold(func() { a.WrapUp(event.Prompt{ID: 7}) })
	a.Set(is(event.Done))
	ctx, release := a.Steerable(t.Context())
	defer release()
	if ctx.Err() != nil {
		t.Errorf("a wait ends with %v", context.Cause(ctx))
	}
}

// TestPrompted: a prompt is found in the tab of the agent the human talks to.
func TestPrompted(t *testing.T) {
	b := newFleet(t, fleet.Options{})
	m, kid := b.open(event.Info{ID: 1, Kind: event.Main}), b.open(event.Info{ID: 2, Kind: event.Sub})
	b.hold(func() {
		m.Queued(event.Prompt{ID: 3})
		kid.Queued(event.Prompt{ID: 4})
	})
	if b.Prompted(3) != m || b.Prompted(4) != nil || b.Prompted(5) != nil {
		t.Errorf("3 is queued for %v, 4 for %v, 5 for %v", b.Prompted(3), b.Prompted(4), b.Prompted(5))
	}
}

// TestQueued_keepsWhatWasRead: the value that a reader got does not change.
func TestQueued_keepsWhatWasRead(t *testing.T) {
	b := newFleet(t, fleet.Options{})
	a := b.open(event.Info{ID: 1, Kind: event.Main})
	queue := func(id int64) { b.hold(func() { a.Queued(event.Prompt{ID: id}) }) }
	queue(1)
	queue(2)
	two := a.Known().Prompts
	a.Unqueue(2)
	one := a.Known().Prompts
	queue(3)
	a.Unqueue(1)
	if len(two) != 2 || two[0].ID != 1 || two[1].ID != 2 || len(one) != 1 || one[0].ID != 1 {
		t.Errorf("what was read became %v and %v", two, one)
	}
}

// TestBegins: a turn that begins shows nothing of the one before.
func TestBegins(t *testing.T) {
	b := newFleet(t, fleet.Options{})
	a := b.open(event.Info{ID: 1, Kind: event.Main, State: event.Idle, Why: "no disk", Outcome: "failed"})
	at := time.Unix(5, 0)
	b.hold(func() { a.Begins(9, at) })
	if i := a.Known(); i.State != event.Running || i.Why != "" || i.Outcome != "" || !i.Started.Equal(at) || a.ShownTurn != 9 {
		t.Errorf("turn %d: %+v", a.ShownTurn, i)
	}
}
