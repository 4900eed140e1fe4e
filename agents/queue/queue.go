// Package queue is which tasks wait to start, and which of them may.
//
// Does: keep queued tasks in their order with what each waits for; keep the windows
// that run opened and the slots of what runs; say which task starts next, and what
// keeps one from starting.
//
// Does not: start anything, know an agent or a database, lock: whoever owns a Queue
// does that.
//
// Imports: nothing of ours.
package queue

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"
)

// Task is a task that has not started.
type Task struct {
	ID, Place int64 // Place orders tasks, then ID does
	Name      string
	Slot      Slot             // what its agent will hold; the owner is whose queue it stands in
	Now       bool             // it starts without a window
	Held      bool             // from outside, and nobody has let it in: nothing starts it
	Limit     time.Duration    // of the run that started it; 0: none
	Needs     map[int64]string // the unfinished tasks it waits for -> their names
}

// Waits are the names of what t waits for, sorted.
func (t *Task) Waits() []string { return slices.Sorted(maps.Values(t.Needs)) }

// byPlace orders tasks, those of different owners too: first come, first served, but
// for what was moved.
func byPlace(a, b *Task) int {
	return cmp.Or(cmp.Compare(a.Place, b.Place), cmp.Compare(a.ID, b.ID))
}

// Queue is the queued tasks of all owners. Its zero value is of no use.
type Queue struct {
	tasks   map[int64]*Task
	order   []*Task          // all of them
	names   []string         // theirs; nil: to be listed anew
	windows map[int64]Window // by owner
	slots   slots            // a task about to start holds its own under its negative id
}

// New returns an empty queue of which at most so many run at once.
func New(most int) *Queue {
	return &Queue{tasks: map[int64]*Task{}, windows: map[int64]Window{}, slots: newSlots(most)}
}

// Add queues a task.
func (q *Queue) Add(t *Task) {
	q.Remove(t.ID)
	at, _ := slices.BinarySearchFunc(q.order, t, byPlace)
	q.order = slices.Insert(q.order, at, t)
	q.tasks[t.ID], q.names = t, nil
}

// Remove forgets a task that no longer waits to start.
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

// Ended is Remove of a task that has ended: those that waited for it do no longer.
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

// Task is the queued task with that id, nil if there is none.
func (q *Queue) Task(id int64) *Task { return q.tasks[id] }

// Named is the queued task of that name, nil if there is none.
func (q *Queue) Named(name string) *Task {
	for _, t := range q.order {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// All are the queued tasks in their order. While they are gone through none may be
// added or removed.
func (q *Queue) All() iter.Seq[*Task] { return slices.Values(q.order) }

// Of lists the queued tasks of one owner in their order.
func (q *Queue) Of(owner int64) (ts []*Task) {
	for _, t := range q.order {
		if t.Slot.Owner == owner {
			ts = append(ts, t)
		}
	}
	return ts
}

// Names lists the names of all queued tasks in their order. The caller may keep it,
// and must not change it.
func (q *Queue) Names() []string {
	if q.names == nil {
		q.names = make([]string, len(q.order))
		for i, t := range q.order {
			q.names[i] = t.Name
		}
	}
	return q.names
}

// Pass gives all that is one owner's to another: tasks, and the slots of what runs.
// The window closes.
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
func (q *Queue) Wanted(t *Task) bool {
	_, open := q.windows[t.Slot.Owner]
	return !t.Held && (open || t.Now)
}

// WillStart reports whether all that t waits for can end. alive names who can act;
// nil: only a task that nobody starts keeps another from ending.
func (q *Queue) WillStart(t *Task, alive map[string]bool) bool {
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

// Next is the next task that may start: the first of those that are wanted, wait for
// no other and have room; nil: none. It holds its slot from now on, until Begun.
func (q *Queue) Next() *Task {
	for _, t := range q.order {
		if q.can(t) {
			q.Take(-t.ID, t.Slot)
			return t
		}
	}
	return nil
}

// can reports whether a task may start now.
func (q *Queue) can(t *Task) bool {
	return q.Wanted(t) && len(t.Needs) == 0 && !q.Starting(t.ID) && q.Full(t.Slot) == ""
}

// Starting reports whether Next has returned the task and Begun was not called yet.
func (q *Queue) Starting(id int64) bool {
	_, is := q.slots.held[-id]
	return is
}

// Begun forgets a task that Next returned, and frees the slot, which it returns: the
// task may have passed to another owner meanwhile. It is nil if it was removed before.
func (q *Queue) Begun(id int64) (*Task, Slot) {
	t, s := q.tasks[id], q.slots.held[-id]
	q.Remove(id)
	q.Free(-id)
	return t, s
}

// Starts counts the tasks of an owner that Next returned or returns as things stand.
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
