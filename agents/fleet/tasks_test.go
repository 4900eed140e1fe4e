package fleet_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/tasks"
	"fantail/store"
	"fantail/tools"
)

// queued returns a task in that owner's queue that waits for others.
func queued(id, owner int64, origin string, needs ...tasks.Task) tasks.QueuedTask {
	return tasks.QueuedTask{Task: tasks.Task{ID: id, Place: id, Name: fmt.Sprintf("t%d", id), Queue: owner, Origin: origin, State: tasks.TaskQueued}, Needs: needs}
}

// started is one that starts without a window.
func started(id, owner int64, needs ...tasks.Task) tasks.QueuedTask {
	w := queued(id, owner, tasks.OriginHuman, needs...)
	w.Now = true
	return w
}

// next returns the names of the tasks that start, in order.
func (b *bare) next() (names []string) {
	for q := b.Line.Next(); q != nil; q = b.Line.Next() {
		names = append(names, q.Name)
		b.hold(func() {
			_, s := b.Queue.Begun(q.ID)
			b.Queue.Take(q.ID, s)
		})
	}
	return names
}

// TestLine_starts: a task holds the slot of its model's vendor, waits for tasks that have not ended, and one from
// outside waits for the human.
func TestLine_starts(t *testing.T) {
	b := newFleet(t, fleet.Options{})
	of := func(w tasks.QueuedTask, model string) tasks.QueuedTask { w.Task.Model = model; return w }
	ended := queued(1, 1, "").Task
	ended.State = tasks.TaskFinished
	for _, w := range []tasks.QueuedTask{
		of(started(2, 1), "one/x"), of(started(3, 1), "one/y"), of(started(4, 1), "nonsense"),
		started(5, 1, ended), started(6, 1, ended, queued(2, 1, "").Task), queued(7, 1, tasks.OriginHuman),
		{Task: tasks.Task{ID: 8, Place: 8, Name: "t8", Origin: tasks.OriginMCP}, Now: true},
	} {
		b.Line.Queued(t.Context(), w)
	}
	if got := b.next(); !slices.Equal(got, []string{"t2", "t4", "t5"}) {
		t.Errorf("%v start", got)
	}
	b.Line.Ended(2)
	b.hold(func() { b.Queue.Free(2) })
	if got := b.next(); !slices.Equal(got, []string{"t3", "t6"}) {
		t.Errorf("once t2 has ended %v start", got)
	}
}

// TestLine_run: a run opens a window that tasks join while it drains, or starts some tasks.
func TestLine_run(t *testing.T) {
	three := []tasks.QueuedTask{queued(1, 1, tasks.OriginHuman), queued(2, 1, tasks.OriginHuman), queued(3, 1, tasks.OriginHuman)}
	for _, c := range []struct {
		what  string
		tasks []tasks.QueuedTask
		start tools.Start
		want  fleet.Begun
		begin []string
	}{
		{"nothing", nil, tools.Start{Count: 2}, fleet.Begun{Window: 2, Running: 1}, nil},
		{"all", three, tools.Start{}, fleet.Begun{Running: 4}, []string{"t1", "t2", "t3"}},
		{"a window for one more", three, tools.Start{Count: 2}, fleet.Begun{Window: 2, Running: 2, Queued: 2}, []string{"t1"}},
		{"two once", three, tools.Start{Count: 2, Once: true}, fleet.Begun{Running: 3, Queued: 1}, []string{"t1", "t2"}},
	} {
		b := newFleet(t, fleet.Options{})
		b.open(event.Info{ID: 1, Kind: event.Main})
		b.open(event.Info{ID: 2, Kind: event.Sub, Parent: 1})
		for _, w := range c.tasks {
			b.Line.Queued(t.Context(), w)
		}
		var got fleet.Begun
		var err error
		b.hold(func() { got, err = b.Line.Run(1, c.start) })
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.what, got, err, c.want)
		}
		if begin := b.next(); !slices.Equal(begin, c.begin) {
			t.Errorf("%s: %v start, want %v", c.what, begin, c.begin)
		}
	}
}

// TestLine_window: a task joins a window while its work goes on, and not one that is drained; a negative number opens
// none.
func TestLine_window(t *testing.T) {
	b := newFleet(t, fleet.Options{})
	b.open(event.Info{ID: 1, Kind: event.Main})
	run := func(s tools.Start) (err error) {
		b.hold(func() { _, err = b.Line.Run(1, s) })
		return err
	}
	b.Line.Queued(t.Context(), queued(1, 1, tasks.OriginHuman))
	if b.Line.Joins(1) {
		t.Error("t1 starts without a run")
	}
	if err := run(tools.Start{Count: -1}); err == nil || b.Line.Joins(1) {
		t.Errorf("run -1: %v", err)
	}
	if err := run(tools.Start{Timeout: time.Minute}); err != nil || !b.Line.Joins(1) {
		t.Errorf("run: %v", err)
	}
	begins := b.Line.Next()
	kid := b.open(event.Info{ID: 2, Kind: event.Sub, Parent: 1})
	b.hold(func() { b.Queue.Begun(begins.ID) })
	b.Line.Queued(t.Context(), queued(2, 1, tasks.OriginHuman))
	if !b.Line.Joins(2) || !b.Line.Joins(1) {
		t.Error("the window closed while its task runs")
	}
	b.next()
	if err := run(tools.Start{Once: true, Count: 1}); err != nil {
		t.Error(err)
	}
	if b.Line.Queued(t.Context(), queued(4, 1, tasks.OriginHuman)); b.Line.Joins(4) {
		t.Error("a run that starts some leaves the window open")
	}
	b.Line.Ended(4)
	if err := run(tools.Start{}); err != nil {
		t.Error(err)
	}
	kid.Set(is(event.Done))
	b.Line.Queued(t.Context(), queued(3, 1, tasks.OriginHuman))
	if b.Line.Joins(3) {
		t.Error("t3 joins a window that is drained")
	}
}

// TestLine_passed: an heir gets the queue and the agents below the ended one; the window closes.
func TestLine_passed(t *testing.T) {
	b := newFleet(t, fleet.Options{})
	b.open(event.Info{ID: 1, Kind: event.Main})
	boss := b.open(event.Info{ID: 2, Kind: event.Sub, Parent: 1})
	kid := b.open(event.Info{ID: 3, Kind: event.Sub, Parent: 2})
	b.Line.Queued(t.Context(), started(4, 2))
	b.Line.Queued(t.Context(), queued(5, 2, tasks.OriginHuman))
	b.hold(func() { b.Queue.Open(2, tasks.Window{}) })
	if got := boss.Owed(); !slices.Equal(got, []string{"a3", "t4", "t5"}) {
		t.Errorf("boss awaits %v", got)
	}
	boss.Set(is(event.Done))
	b.Line.Passed(2, 1)
	if kid.Known().Parent != 1 || boss.Known().Parent != 1 {
		t.Errorf("kid is below %d, boss below %d", kid.Known().Parent, boss.Known().Parent)
	}
	if got := b.Main().Owed(); !slices.Equal(got, []string{"a3", "t4"}) || len(boss.Owed()) != 0 {
		t.Errorf("main awaits %v, boss %v", got, boss.Owed())
	}
}

// TestLine_requeue: the database is right, except for a task whose agent is just being made.
func TestLine_requeue(t *testing.T) {
	b := newFleet(t, fleet.Options{})
	for id := range int64(3) {
		b.Line.Queued(t.Context(), started(id+1, 1))
	}
	if q := b.Line.Next(); q == nil || q.ID != 1 {
		t.Fatalf("%v starts", q)
	}
	whole := store.QueueChanges{Whole: true, Tasks: []store.QueuePlace{{Task: 3, Queued: true, Queue: 1, Place: 3}, {Task: 4, Queued: true, Queue: 1, Place: 4}}}
	if got := b.Line.Known(whole); len(got) != 1 || !got[3] {
		t.Errorf("in memory: %v", got)
	}
	b.hold(func() { b.Line.Requeue(whole, []tasks.QueuedTask{queued(3, 1, ""), queued(4, 1, "")}) })
	for name, want := range map[string]int64{"t1": 1, "t2": 0, "t3": 3, "t4": 4} {
		if id, _ := b.Line.Waiting(name); id != want {
			t.Errorf("%s is the task %d", name, id)
		}
	}
	if _, starts := b.Line.Waiting("t3"); !starts {
		t.Error("t3, which was there, was queued anew")
	}
	b.hold(func() {
		b.Line.Requeue(store.QueueChanges{Tasks: []store.QueuePlace{
			{Task: 1, Queued: true, Queue: 7, Place: 9}, {Task: 3, Queued: true, Queue: 7, Place: 5}, {Task: 5},
		}}, nil)
	})
	if names := b.Queue.Names(); !slices.Equal(names, []string{"t4", "t3", "t1"}) {
		t.Errorf("the queue is %v", names)
	}
	if starting, moved := b.Queue.Task(1).Slot.Owner, b.Queue.Task(3).Slot.Owner; starting != 1 || moved != 7 {
		t.Errorf("t1, which is starting, is in the queue of %d, and t3 in that of %d", starting, moved)
	}
	b.hold(func() { b.Line.Requeue(store.QueueChanges{Tasks: []store.QueuePlace{{Task: 1}, {Task: 4}}}, nil) })
	if names := b.Queue.Names(); !slices.Equal(names, []string{"t3", "t1"}) {
		t.Errorf("the queue is %v", names)
	}
}

// TestLine_known: the answers of Line.
func TestLine_known(t *testing.T) {
	b := newFleet(t, fleet.Options{})
	m := b.open(event.Info{ID: 1, Kind: event.Main, Model: "v/x"})
	m.Begins(7, time.Time{})
	kid := b.open(event.Info{ID: 2, Kind: event.Sub, Parent: 1, Task: 5})
	b.open(event.Info{ID: 3, Kind: event.Fork, Parent: 1})
	if model, turn, live, err := b.Line.Owner(1); model != "v/x" || turn != 7 || live != 1 || err != nil {
		t.Errorf("%s, turn %d, %d live, %v", model, turn, live, err)
	}
	if _, _, _, err := b.Line.Owner(9); !errors.Is(err, tasks.ErrNoAgent) {
		t.Errorf("nobody's queue: %v", err)
	}
	b.Line.Queued(t.Context(), queued(6, 1, ""))
	b.Line.Queued(t.Context(), queued(7, 1, ""))
	if !b.Line.Unended(5) || !b.Line.Unended(6) || b.Line.Unended(4) {
		t.Error("a task that runs or is queued has not ended, and no other")
	}
	if kid.Set(is(event.Done)); b.Line.Unended(5) {
		t.Error("a task has not ended whose agent has")
	}
	b.Line.Moved([]int64{7, 6}, []int64{6, 7})
	if s := b.screen().reads(); !slices.Equal(s.tally.Names, []string{"t7", "t6"}) || s.tally.Queued != 2 {
		t.Errorf("after the move: %v", s.tally.Names)
	}
}
