package fleet_test

import (
	"testing"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/tasks"
	"fantail/store"
)

// TestEnvironment_isKeptForWhatWaitsOnly: the environment of a task or a prompt is forgotten together with it.
func TestEnvironment_isKeptForWhatWaitsOnly(t *testing.T) {
	b := newFleet(t, fleet.Options{})
	a := b.open(event.Info{ID: 1, Kind: event.Main})
	here := &fleet.Environment{Vars: []string{"X=here"}}
	ctx := fleet.Within(t.Context(), here)
	begin := func(id int64) *fleet.Environment {
		var from *fleet.Environment
		if q := b.Line.Next(); q == nil || q.ID != id {
			t.Fatalf("%+v starts, want %d", q, id)
		}
		b.hold(func() { _, _, from = b.Line.Leaves(id) })
		return from
	}
	for id, leaves := range []func(id int64){
		func(id int64) {
			if begin(id) != here {
				t.Error("a task begins elsewhere than where it was asked for")
			}
		},
		b.Line.Ended,
		func(int64) { b.hold(func() { b.Line.Requeue(store.QueueChanges{Whole: true}, nil) }) },
		func(id int64) { // it ends while it starts
			q := b.Line.Next()
			b.Line.Ended(id)
			b.hold(func() {
				if _, _, from := b.Line.Leaves(q.ID); from != here {
					t.Error("a task that starts forgot where it was asked for")
				}
			})
		},
	} {
		id := int64(id + 1)
		b.Line.Queued(ctx, started(id, 1))
		if n, _ := fleet.Remembered(b.Fleet, a); n != 1 {
			t.Errorf("task %d: %d environments are kept", id, n)
		}
		if leaves(id); t.Failed() {
			return
		}
		if n, _ := fleet.Remembered(b.Fleet, a); n != 0 {
			t.Errorf("task %d is gone: %d environments are kept", id, n)
		}
	}

	for id, leaves := range []func(id int64){a.Unqueue, func(id int64) { a.Env.Entered(id); a.Unqueue(id) }} {
		id := int64(id + 1)
		b.hold(func() { a.Queued(event.Prompt{ID: id}); a.Env.Typed(id, here) })
		if _, n := fleet.Remembered(b.Fleet, a); n != 1 {
			t.Errorf("prompt %d: %d environments are kept", id, n)
		}
		leaves(id)
		if _, n := fleet.Remembered(b.Fleet, a); n != 0 || (a.Env.Now() == here) != (id == 2) {
			t.Errorf("prompt %d is gone: %d environments are kept, the agent's is %v", id, n, a.Env.Now())
		}
	}

	// A task that was not queued from a screen gets its dispatcher's environment.
	b.Line.Queued(t.Context(), started(7, 1))
	if begin(7) != here {
		t.Error("a task of an agent's runs elsewhere than the agent")
	}
	w := queued(8, 1, tasks.OriginCLI)
	w.Now = true
	b.hold(func() { b.Line.Requeue(store.QueueChanges{}, []tasks.QueuedTask{w}) })
	if n, _ := fleet.Remembered(b.Fleet, a); n != 0 {
		t.Error("a task from outside runs where the agent does")
	}
}
