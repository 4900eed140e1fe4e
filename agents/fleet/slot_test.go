package fleet_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"fantail/agents/event"
	"fantail/agents/fleet"
)

// TestRegain_order: slots go back in the order they were asked for, and before a queued task gets one; an agent that
// waits for a busy vendor does not delay the others.
func TestRegain_order(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newFleet(t, fleet.Options{Cap: 2})
		b.open(event.Info{ID: 1, Kind: event.Sub, Model: "one/x"}) // it holds the vendor's only slot
		runs := b.open(event.Info{ID: 2, Kind: event.Sub})
		var got []int64
		for _, i := range []event.Info{{ID: 5, Model: "one/y"}, {ID: 4}, {ID: 3}, {ID: 6}} {
			i.Kind, i.State = event.Sub, event.Waiting
			a := b.open(i)
			go func() {
				if err := a.Regain(t.Context()); err != nil || a.Known().State != event.Running {
					t.Errorf("agent %d regains %v and is %s", a.ID, err, a.Known().State)
				}
				got = append(got, a.ID)
			}()
			synctest.Wait()
		}
		b.Line.Queued(t.Context(), started(9, 0))
		for _, c := range []struct {
			what string
			do   func()
			want []int64
		}{
			{"the cap is reached", func() {}, nil},
			{"one ends", func() { runs.Set(is(event.Done)) }, []int64{4}},
			{"the vendor is free again", func() { b.hold(func() { b.Of(1).Change(is(event.Done)) }) }, []int64{4, 5}},
			{"one waits", func() { b.hold(func() { b.Of(4).Change(is(event.Waiting)) }); b.Of(4).Aside("waiting") }, []int64{4, 5, 3}},
			{"one asks", func() { b.Of(5).Asking(&event.Question{}) }, []int64{4, 5, 3, 6}},
		} {
			c.do()
			synctest.Wait()
			if !slices.Equal(got, c.want) {
				t.Fatalf("%s: %v have a slot, want %v", c.what, got, c.want)
			}
			if begins := b.Line.Next(); begins != nil {
				t.Fatalf("%s: %s begins before those that regain", c.what, begins.Name)
			}
		}
		b.Of(6).Spent()
		if begins := b.next(); !slices.Equal(begins, []string{"t9"}) {
			t.Errorf("when nobody regains %v begin", begins)
		}
	})
}

// TestRegain_begins: agents that begin concurrently get slots in the order they lined up in, whichever asks first; one
// that ends before it asks does not delay the others.
func TestRegain_begins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newFleet(t, fleet.Options{Cap: 1})
		runs := b.open(event.Info{ID: 1, Kind: event.Sub})
		for _, id := range []int64{2, 3, 4} {
			a := b.open(event.Info{ID: id, Kind: event.Fork, State: event.Queued})
			b.hold(func() { fleet.LineUp(a) })
		}
		var got []int64
		for _, id := range []int64{4, 3} {
			go func() {
				if err := b.Of(id).Regain(t.Context()); err != nil {
					t.Error(err)
				}
				got = append(got, id)
			}()
			synctest.Wait()
		}
		b.Of(2).Spent()
		for range 2 {
			runs.Set(is(event.Done))
			synctest.Wait()
			if len(got) == 1 {
				runs = b.Of(got[0])
			}
		}
		if !slices.Equal(got, []int64{3, 4}) {
			t.Errorf("they begin as %v", got)
		}
	})
}

// TestRegain_twoCalls: a call that gives up leaves the slot to another one of its agent.
func TestRegain_twoCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newFleet(t, fleet.Options{Cap: 1})
		runs := b.open(event.Info{ID: 1, Kind: event.Sub})
		a := b.open(event.Info{ID: 2, Kind: event.Sub, State: event.Waiting})
		ctx, cancel := context.WithCancel(t.Context())
		stays, gives := make(chan error, 1), make(chan error, 1)
		go func() { stays <- a.Regain(t.Context()) }()
		synctest.Wait()
		go func() { gives <- a.Regain(ctx) }()
		synctest.Wait()
		cancel()
		if err := <-gives; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		runs.Set(is(event.Done))
		synctest.Wait()
		select {
		case err := <-stays:
			if err != nil {
				t.Error(err)
			}
		default:
			t.Error("the other one waits in vain")
		}
	})
}

// TestRegain_cancelled: a call that gives up gets no slot later.
func TestRegain_cancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newFleet(t, fleet.Options{Cap: 1})
		runs := b.open(event.Info{ID: 1, Kind: event.Sub})
		a := b.open(event.Info{ID: 2, Kind: event.Sub, State: event.Waiting})
		ctx, cancel := context.WithCancelCause(t.Context())
		got := make(chan error, 1)
		go func() { got <- a.Regain(ctx) }()
		synctest.Wait()
		cancel(fleet.ErrStopped)
		if err := <-got; !errors.Is(err, fleet.ErrStopped) || a.Known().State != event.Waiting {
			t.Errorf("it ends with %v and is %s", err, a.Known().State)
		}
		runs.Set(is(event.Done))
		if n := b.running(); n != 0 {
			t.Errorf("%d slots are held by nobody who runs", n)
		}
	})
}

// TestRegain_ofATurnThatEnded: the agent shows as it did then, and takes no slot.
func TestRegain_ofATurnThatEnded(t *testing.T) {
	for _, kind := range []event.Kind{event.Main, event.Sub} {
		b := newFleet(t, fleet.Options{Cap: 2})
		a := b.open(event.Info{ID: 1, Kind: kind, State: event.Idle})
		ctx, cancel := context.WithCancelCause(t.Context())
		over := errors.New("over")
		cancel(over)
		for range 20 { // where a slot is free, too, it is one of two that come at once
			if err := a.Regain(ctx); err != over || a.Known().State != event.Idle || b.running() != 0 {
				t.Fatalf("%s: %v, it is %s, and %d slots are held", kind, err, a.Known().State, b.running())
			}
		}
	}
}

// TestAside: an agent whose calls wait concurrently shows what for, holds no slot, and takes one back when the last of
// them goes on. An agent that rests between turns needs none.
func TestAside(t *testing.T) {
	b := newFleet(t, fleet.Options{Cap: 1})
	a := b.open(event.Info{ID: 1, Kind: event.Sub})
	shows := func(what string, s event.State, why string, slots int, waits bool) {
		t.Helper()
		i := a.Known()
		var is bool
		b.hold(func() { is = a.Waits() })
		if i.State != s || i.Why != why || b.running() != slots || is != waits {
			t.Errorf("%s: %s %q, %d slots, waits %t", what, i.State, i.Why, b.running(), is)
		}
	}
	first := a.Aside("waiting for kea")
	shows("one call", event.Waiting, "waiting for kea", 0, true)
	second := a.Aside("waiting for any message")
	third := a.Aside("waiting for kea")
	shows("three calls", event.Waiting, "waiting for kea, any message, kea", 0, true)
	for _, c := range []struct {
		what string
		back func(context.Context) error
		why  string
	}{{"the first goes on", first, "waiting for any message, kea"}, {"the third does", third, "waiting for any message"}} {
		if err := c.back(t.Context()); err != nil {
			t.Error(err)
		}
		shows(c.what, event.Waiting, c.why, 0, true)
	}
	if err := second(t.Context()); err != nil {
		t.Error(err)
	}
	shows("none is", event.Running, "", 1, false)

	m := b.open(event.Info{ID: 2, Kind: event.Main})
	back := m.Aside("waiting for a1")
	if err := back(t.Context()); err != nil || m.Known().State != event.Running || b.running() != 1 {
		t.Errorf("main goes on with %v, %s; %d slots", err, m.Known().State, b.running())
	}
}

// TestAsking: an agent that asks holds no slot and is counted; once answered it waits for one, and if it is never
// answered its state stays.
func TestAsking(t *testing.T) {
	b := newFleet(t, fleet.Options{})
	s := b.screen()
	for _, c := range []struct {
		answer *event.Answer
		want   event.State
	}{{&event.Answer{}, event.Waiting}, {nil, event.Asking}} {
		a := b.open(event.Info{ID: 1, Kind: event.Sub})
		q := &event.Question{}
		a.Asking(q)
		if i := a.Known(); i.State != event.Asking || i.Question != q || b.running() != 0 || s.reads().tally.Asking != 1 {
			t.Errorf("it asks: %s, %d slots, %d ask", i.State, b.running(), s.tally.Asking)
		}
		a.Heard(c.answer)
		if i := a.Known(); i.State != c.want || i.Question != nil || s.reads().tally.Asking != 0 {
			t.Errorf("answer %v: %s, %v, %d ask", c.answer, i.State, i.Question, s.tally.Asking)
		}
	}
}
