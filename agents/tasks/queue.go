package tasks

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"
)

// QueuedWork is a task that has not started.
type QueuedWork struct {
	ID, Place int64 // tasks are ordered by Place, then by ID
	Name      string
	Slot      Slot             // the slot of its agent; Owner is the agent whose queue it is in
	Now       bool             // it starts without a window
	Foreign   bool             // it came from outside the program
	Held      Hold             // nothing starts it unless it is Free
	Limit     time.Duration    // of the run that started it; 0: none
	Needs     map[int64]string // the unfinished tasks it waits for -> their names
}

// Hold is why a task does not start before the human lets it.
type Hold int

const (
	Free     Hold = iota
	Outside       // a process outside the program wants it
	Unsealed      // this host did not write it as it is
)

// Waits returns the names of the tasks t waits for, sorted.
func (t *QueuedWork) Waits() []string { return slices.Sorted(maps.Values(t.Needs)) }

// byPlace orders tasks, across owners too: first come, first served, except for tasks that were moved.
func byPlace(a, b *QueuedWork) int {
	return cmp.Or(cmp.Compare(a.Place, b.Place), cmp.Compare(a.ID, b.ID))
}

// Queue is the queued tasks of all owners. Make one with New.
type Queue struct {
	tasks   map[int64]*QueuedWork
	order   []*QueuedWork    // all of them
	names   []string         // their names; nil: to be listed again
	windows map[int64]Window // by owner
	slots   slots            // a task about to start holds its slot under its negative id
}

// NewQueue returns an empty queue of which at most `most` tasks run at once.
func NewQueue(most int) *Queue {
	return &Queue{tasks: map[int64]*QueuedWork{}, windows: map[int64]Window{}, slots: newSlots(most)}
}

// Add queues a task.
func (q *Queue) Add(t *QueuedWork) {
	q.Remove(t.ID)
	at, _ := slices.BinarySearchFunc(q.order, t, byPlace)
	q.order = slices.Insert(q.order, at, t)
	q.tasks[t.ID], q.names = t, nil
}

// Remove removes a task that no longer waits to start.
func (q *Queue) Remove(id int64) {
	t := q.tasks[id]
	if t == nil {
		return
	}
	at, _ := slices.BinarySearchFunc(q.order, t, byPlace)
	q.order = slices.Delete(q.order, at, at+1)
	delete(q.tasks, id)
	q.names = nil
}

// Ended is Remove for a task that has ended: no task waits for it any more.
func (q *Queue) Ended(id int64) {
	q.Remove(id)
	for _, t := range q.order {
		delete(t.Needs, id)
	}
}

// Move gives a task another place, if it is still queued.
func (q *Queue) Move(id, place int64) {
	if t := q.tasks[id]; t != nil {
		q.Remove(id)
		t.Place = place
		q.Add(t)
	}
}

// Arrange gives a queued task the owner and the place of its row. One that is starting keeps its owner, whose slot it
// holds.
func (q *Queue) Arrange(t *QueuedWork, owner, place int64) {
	if !q.Starting(t.ID) {
		t.Slot.Owner = owner
	}
	if t.Place != place {
		q.Move(t.ID, place)
	}
}

// Task returns the queued task with that id; nil: none.
func (q *Queue) Task(id int64) *QueuedWork { return q.tasks[id] }

// Named returns the queued task of that name; nil: none.
func (q *Queue) Named(name string) *QueuedWork {
	for _, t := range q.order {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// All returns the queued tasks in order. None may be added or removed during the iteration.
func (q *Queue) All() iter.Seq[*QueuedWork] { return slices.Values(q.order) }

// Of returns the queued tasks of one owner in order.
func (q *Queue) Of(owner int64) (ts []*QueuedWork) {
	for _, t := range q.order {
		if t.Slot.Owner == owner {
			ts = append(ts, t)
		}
	}
	return ts
}

// Names returns the names of all queued tasks in order. The caller may keep it but must not change it.
func (q *Queue) Names() []string {
	if q.names == nil {
		q.names = make([]string, len(q.order))
		for i, t := range q.order {
			q.names[i] = t.Name
		}
	}
	return q.names
}

// Pass gives all of one owner's tasks to another, and the slots of its running work. Its window closes.
func (q *Queue) Pass(from, to int64) {
	for _, t := range q.order {
		if t.Slot.Owner == from {
			t.Slot.Owner = to
		}
	}
	q.slots.pass(from, to)
	q.Shut(from)
}

// Wanted reports whether a task starts by itself as soon as it can.
func (q *Queue) Wanted(t *QueuedWork) bool {
	_, open := q.windows[t.Slot.Owner]
	return t.Held == Free && (open || t.Now)
}

// WillStart reports whether everything t waits for can end. alive holds the names of the agents that can act; nil:
// every wait ends, but a task that is not wanted does not start.
func (q *Queue) WillStart(t *QueuedWork, alive map[string]bool) bool {
	for id, name := range t.Needs {
		if alive != nil {
			if !alive[name] {
				return false
			}
		} else if need := q.tasks[id]; need != nil && (!q.Wanted(need) || !q.WillStart(need, nil)) {
			return false
		}
	}
	return true
}

// Next returns the first task that is wanted, waits for no other and fits the limits; nil: none. It holds its slot
// from now on, until Begun.
func (q *Queue) Next() *QueuedWork {
	for _, t := range q.order {
		if q.can(t) {
			q.Take(-t.ID, t.Slot)
			return t
		}
	}
	return nil
}

// can reports whether a task may start now.
func (q *Queue) can(t *QueuedWork) bool {
	return q.Wanted(t) && len(t.Needs) == 0 && !q.Starting(t.ID) && q.Full(t.Slot) == ""
}

// Blocked returns what prevents the start of a wanted task that waits for no other, as Full does; "": nothing. It takes the slots of the tasks before it while it looks.
func (q *Queue) Blocked(id int64) string {
	for _, t := range q.order {
		switch {
		case t.ID == id && q.Starting(id):
			return ""
		case t.ID == id:
			return q.Full(t.Slot)
		case q.can(t):
			q.Take(-t.ID, t.Slot)
			defer q.Free(-t.ID)
		}
	}
	return ""
}

// Starting reports whether Next has returned the task and Begun has not been called.
func (q *Queue) Starting(id int64) bool {
	_, is := q.slots.held[-id]
	return is
}

// Begun removes a task that Next returned, and frees its slot, which it returns: the task may have passed to another
// owner meanwhile. The task is nil if it was removed before.
func (q *Queue) Begun(id int64) (*QueuedWork, Slot) {
	t, s := q.tasks[id], q.slots.held[-id]
	q.Remove(id)
	q.Free(-id)
	return t, s
}

// Starts counts an owner's tasks that are starting, or would start if Next were called now. It takes their slots while
// counting, so that each counts against the next.
func (q *Queue) Starts(owner int64) (n int) {
	for _, t := range q.Of(owner) {
		switch {
		case q.Starting(t.ID):
			n++
		case q.can(t):
			q.Take(-t.ID, t.Slot)
			defer q.Free(-t.ID)
			n++
		}
	}
	return n
}
