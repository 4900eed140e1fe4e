package tasks_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"fantail/agents/tasks"
)

// one makes a queued task of main (1) or of another owner.
func one(id, owner int64, needs ...int64) *tasks.QueuedWork {
	t := &tasks.QueuedWork{ID: id, Place: id, Name: fmt.Sprintf("t%d", id), Slot: tasks.Slot{Owner: owner}, Needs: map[int64]string{}}
	for _, n := range needs {
		t.Needs[n] = fmt.Sprintf("t%d", n)
	}
	return t
}

func of(cap int, ts ...*tasks.QueuedWork) *tasks.Queue {
	q := tasks.NewQueue(cap)
	for _, t := range ts {
		q.Add(t)
	}
	return q
}

// next returns the ids of the tasks that start, in order.
func next(q *tasks.Queue) (ids []int64) {
	for t := q.Next(); t != nil; t = q.Next() {
		ids = append(ids, t.ID)
		_, s := q.Begun(t.ID)
		q.Take(t.ID, s)
	}
	return ids
}

func TestNext(t *testing.T) {
	moved := of(8, one(1, 1), one(2, 1), one(3, 1))
	moved.Move(3, 0)
	held := one(2, 1)
	held.Held = tasks.Outside
	now := one(2, 1)
	now.Now = true
	busy := one(2, 1)
	busy.Slot = tasks.Slot{Owner: 1, Vendor: "v", AtOnce: 1}
	for _, c := range []struct {
		what string
		q    *tasks.Queue
		open map[int64]tasks.Window
		want []int64
	}{
		{"no window", of(8, one(1, 1)), nil, nil},
		{"as many as the cap allows", of(2, one(1, 1), one(2, 1), one(3, 1)), map[int64]tasks.Window{1: {}}, []int64{1, 2}},
		{"as many as the window allows", of(8, one(1, 1), one(2, 1), one(3, 1)), map[int64]tasks.Window{1: {Most: 2}}, []int64{1, 2}},
		{"a full window keeps nobody else back", of(8, one(1, 1), one(2, 1), one(3, 2)), map[int64]tasks.Window{1: {Most: 1}, 2: {}}, []int64{1, 3}},
		{"a window of another", of(8, one(1, 1), one(2, 2)), map[int64]tasks.Window{2: {}}, []int64{2}},
		{"what waits for another", of(8, one(1, 1), one(2, 1, 1), one(3, 1)), map[int64]tasks.Window{1: {}}, []int64{1, 3}},
		{"what was moved", moved, map[int64]tasks.Window{1: {}}, []int64{3, 1, 2}},
		{"from outside", of(8, one(1, 1), held), map[int64]tasks.Window{1: {}}, []int64{1}},
		{"without a window", of(8, one(1, 1), now), nil, []int64{2}},
		{"its vendor is busy", of(8, busy, func() *tasks.QueuedWork { b := *busy; b.ID, b.Place = 3, 3; return &b }(), one(4, 1)), map[int64]tasks.Window{1: {}}, []int64{2, 4}},
	} {
		for owner, w := range c.open {
			c.q.Open(owner, w)
		}
		if got := next(c.q); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v start, want %v", c.what, got, c.want)
		}
	}
}

func TestFull(t *testing.T) {
	q := of(3)
	q.Open(1, tasks.Window{Most: 1})
	s := tasks.Slot{Owner: 1, Vendor: "v", AtOnce: 2}
	for i, want := range []string{"", "window", "window"} {
		if got := q.Full(s); got != want {
			t.Errorf("with %d: full is %q, want %q", i, got, want)
		}
		q.Take(int64(i+1), s)
	}
	q.Shut(1)
	if got := q.Full(s); got != "cap" {
		t.Errorf("without the window: %q", got)
	}
	if q.Free(1); q.Full(s) != "v" || q.Running() != 2 {
		t.Errorf("with %d: full is %q", q.Running(), q.Full(s))
	}
	if got := q.Full(tasks.Slot{Owner: 1}); got != "" {
		t.Errorf("of another vendor: %q", got)
	}
	q.Take(2, tasks.Slot{Vendor: "w", AtOnce: 1}) // instead of the one it had
	if v, w := q.Full(s), q.Full(tasks.Slot{Vendor: "w", AtOnce: 1}); v != "" || w != "w" || q.Running() != 2 {
		t.Errorf("one changed its vendor: full are %q and %q, %d run", v, w, q.Running())
	}
}

// TestPick: it picks the first tasks that can start, and none that waits for a task that is not picked.
func TestPick(t *testing.T) {
	limit := time.Minute
	for _, c := range []struct {
		n    int
		want []int64
	}{{1, []int64{1}}, {2, []int64{1, 3}}, {3, []int64{1, 3, 4}}, {0, []int64{1, 2, 3, 4}}} {
		q := of(8, one(1, 1), one(2, 1, 5), one(3, 1), one(4, 1, 3), one(5, 2))
		q.Pick(1, c.n, limit)
		var got []int64
		for _, x := range q.Of(1) {
			if x.Now && x.Limit == limit {
				got = append(got, x.ID)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("pick %d: %v, want %v", c.n, got, c.want)
		}
	}
}

// TestStarts: tasks that are about to start are counted, and counting changes nothing.
func TestStarts(t *testing.T) {
	q := of(3, one(1, 1), one(2, 1), one(3, 1), one(4, 1))
	q.Open(1, tasks.Window{})
	for range 2 {
		if n := q.Starts(1); n != 3 || q.Running() != 0 {
			t.Errorf("%d start, %d run", n, q.Running())
		}
	}
	q.Next()
	if q.Starts(1) != 3 || q.Running() != 1 || !q.Starting(1) {
		t.Errorf("with one that is starting: %d start, %d run", q.Starts(1), q.Running())
	}
	if x := q.Next(); x == nil || x.ID != 2 {
		t.Errorf("behind one that is starting comes %v", x)
	}
}

func TestPass(t *testing.T) {
	q := of(8, one(1, 2), one(2, 1))
	q.Open(2, tasks.Window{Most: 1})
	first := q.Next()
	q.Add(one(3, 2))
	q.Pass(2, 1)
	if _, open := q.Window(2); open {
		t.Error("the window of who is gone is open")
	}
	if q.Open(1, tasks.Window{Most: 1}); q.Full(tasks.Slot{Owner: 1}) != "window" {
		t.Error("what runs is not the heir's")
	}
	_, s := q.Begun(first.ID)
	if s.Owner != 1 || len(q.Of(2)) != 0 || len(q.Of(1)) != 2 {
		t.Errorf("the slot is %d's; of 2: %d, of 1: %d", s.Owner, len(q.Of(2)), len(q.Of(1)))
	}
}

func TestWillStart(t *testing.T) {
	q := of(8, one(1, 1), one(2, 2, 1), one(3, 2, 2, 7))
	q.Open(2, tasks.Window{})
	if q.WillStart(q.Task(3), nil) {
		t.Error("it starts though one behind what it waits for never does")
	}
	q.Task(1).Now = true
	if !q.WillStart(q.Task(3), nil) {
		t.Error("it does not start though all before it end")
	}
	if q.WillStart(q.Task(3), map[string]bool{"t2": true}) || !q.WillStart(q.Task(3), map[string]bool{"t2": true, "t7": true}) {
		t.Error("who can act decides")
	}
}

func TestShutDrained(t *testing.T) {
	q := of(8, one(1, 1))
	for owner := range int64(4) {
		q.Open(owner, tasks.Window{})
	}
	q.ShutDrained(func(owner int64) bool { return owner == 2 })
	for owner, want := range []bool{false, true, true, false} {
		if _, open := q.Window(int64(owner)); open != want {
			t.Errorf("the window of %d: open is %v", owner, open)
		}
	}
}

// BenchmarkDrain is the cost of starting a task while that many wait and then run.
func BenchmarkDrain(b *testing.B) {
	for _, n := range []int64{10, 1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			q := tasks.NewQueue(int(n))
			q.Open(1, tasks.Window{})
			for id := range n {
				q.Add(one(id+1, 1))
			}
			last := n
			for b.Loop() {
				x := q.Next()
				_, s := q.Begun(x.ID)
				q.Take(x.ID, s)
				q.Free(x.ID)
				last++
				q.Add(one(last, 1))
			}
		})
	}
}

// TestAnyOrder: in any order of events no limit is exceeded, the first task that may start does, none that may start
// is delayed, and all start in the end.
func TestAnyOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		most := rapid.IntRange(1, 4).Draw(rt, "cap")
		q := tasks.NewQueue(most)
		vendors := map[string]int{"": 0, "free": 0, "narrow": 1, "wide": 2}
		runs := map[int64]tasks.Slot{}
		windows := map[int64]int{}
		last := int64(0)
		bounds := func() {
			by, served := map[int64]int{}, map[string]int{}
			for _, s := range runs {
				by[s.Owner]++
				served[s.Vendor]++
			}
			if len(runs) > most || q.Running() != len(runs) {
				rt.Fatalf("%d run (%d known), the cap is %d", len(runs), q.Running(), most)
			}
			for v, n := range served {
				if vendors[v] > 0 && n > vendors[v] {
					rt.Fatalf("%q serves %d, its bound is %d", v, n, vendors[v])
				}
			}
		}
		start := func() bool {
			var may []int64 // in order
			for x := range q.All() {
				_, open := windows[x.Slot.Owner]
				if (open || x.Now) && x.Held == tasks.Free && len(x.Needs) == 0 && q.Full(x.Slot) == "" {
					may = append(may, x.ID)
				}
			}
			x := q.Next()
			if x == nil && len(may) == 0 {
				return false
			}
			if x == nil || len(may) == 0 || x.ID != may[0] {
				rt.Fatalf("%v starts, of those that may: %v", x, may)
			}
			if n := windows[x.Slot.Owner]; n > 0 {
				of := 0
				for _, s := range runs {
					if s.Owner == x.Slot.Owner {
						of++
					}
				}
				if of >= n {
					rt.Fatalf("task %d starts in a full window", x.ID)
				}
			}
			got, s := q.Begun(x.ID)
			if got != x || q.Task(x.ID) != nil {
				rt.Fatalf("task %d began as %v", x.ID, got)
			}
			q.Take(x.ID, s)
			runs[x.ID] = s
			bounds()
			return true
		}
		end := func(id int64) {
			q.Free(id)
			q.Ended(id)
			delete(runs, id)
		}
		owner := rapid.Int64Range(1, 3)
		some := func(ids []int64) int64 { return rapid.SampledFrom(ids).Draw(rt, "which") }
		running := func() (ids []int64) {
			for id := range runs {
				ids = append(ids, id)
			}
			slices.Sort(ids)
			return ids
		}
		queued := func() (ids []int64) {
			for x := range q.All() {
				ids = append(ids, x.ID)
			}
			slices.Sort(ids)
			return ids
		}
		rt.Repeat(map[string]func(*rapid.T){
			"add": func(rt *rapid.T) {
				last++
				x := one(last, owner.Draw(rt, "owner"))
				x.Slot.Vendor = rapid.SampledFrom([]string{"", "free", "narrow", "wide"}).Draw(rt, "vendor")
				x.Slot.AtOnce = vendors[x.Slot.Vendor]
				x.Now = rapid.Bool().Draw(rt, "now")
				if !x.Now && rapid.IntRange(0, 3).Draw(rt, "held") == 0 {
					x.Held = rapid.SampledFrom([]tasks.Hold{tasks.Outside, tasks.Unsealed}).Draw(rt, "why")
				}
				for _, id := range append(queued(), running()...) {
					if rapid.IntRange(0, 3).Draw(rt, "needs") == 0 {
						x.Needs[id] = fmt.Sprintf("t%d", id)
					}
				}
				q.Add(x)
			},
			"open": func(rt *rapid.T) {
				o, n := owner.Draw(rt, "owner"), rapid.IntRange(0, 2).Draw(rt, "most")
				q.Open(o, tasks.Window{Most: n})
				windows[o] = n
			},
			"shut": func(rt *rapid.T) {
				o := owner.Draw(rt, "owner")
				q.Shut(o)
				delete(windows, o)
			},
			"start": func(*rapid.T) { start() },
			"end": func(*rapid.T) {
				if ids := running(); len(ids) > 0 {
					end(some(ids))
				}
			},
			"remove": func(*rapid.T) {
				if ids := queued(); len(ids) > 0 {
					q.Ended(some(ids))
				}
			},
			"move": func(rt *rapid.T) {
				if ids := queued(); len(ids) > 0 {
					q.Move(some(ids), rapid.Int64Range(0, last).Draw(rt, "place"))
				}
			},
			"pass": func(rt *rapid.T) {
				from, to := owner.Draw(rt, "from"), owner.Draw(rt, "to")
				if from == to {
					return
				}
				q.Pass(from, to)
				delete(windows, from)
				for id, s := range runs {
					if s.Owner == from {
						s.Owner = to
						runs[id] = s
					}
				}
			},
			"": func(*rapid.T) {
				var names []string
				for o := int64(1); o <= 3; o++ {
					ts := q.Of(o)
					if !slices.IsSortedFunc(ts, func(a, b *tasks.QueuedWork) int { return int(a.Place - b.Place) }) {
						rt.Fatalf("the queue of %d is out of order", o)
					}
					for _, x := range ts {
						names = append(names, x.Name)
					}
				}
				all := slices.Clone(q.Names())
				slices.Sort(all)
				slices.Sort(names)
				if !slices.Equal(all, names) {
					rt.Fatalf("names: %v, of the owners: %v", all, names)
				}
			},
		})
		for o := int64(1); o <= 3; o++ {
			q.Open(o, tasks.Window{})
			windows[o] = 0
			for _, x := range q.Of(o) {
				x.Held = tasks.Free
			}
		}
		for len(runs) > 0 || len(queued()) > 0 {
			if !start() {
				ids := running()
				if len(ids) == 0 {
					rt.Fatalf("nothing runs, and %v are kept back", queued())
				}
				end(ids[0])
			}
		}
	})
}
