// Package queue knows which tasks wait to start, and which of them may.
//
// Does: keep queued tasks in order, with what each waits for; keep the windows that runs opened and the slots of what
// is running; say which task starts next, and what keeps one from starting.
//
// Does not: start anything, know an agent or a database, lock: the owner of a Queue does.
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
	ID, Place int64 // tasks are ordered by Place, then by ID
	Name      string
	Slot      Slot             // what its agent will hold; Owner is the agent whose queue it is in
	Now       bool             // it starts without a window
	Foreign   bool             // it came from outside the program
	Held      Hold             // nothing starts it unless it is Free
	Limit     time.Duration    // of the run that started it; 0: none
	Needs     map[int64]string // the unfinished tasks it waits for -> their names
}

// Hold is why nothing starts a task before the human lets it in.
type Hold int

const (
	Free     Hold = iota
	Outside       // somebody outside the program wants it
	Unsealed      // this host did not write it as it is
)

// Waits returns the names of the tasks t waits for, sorted.
func (t *Task) Waits() []string { return slices.Sorted(maps.Values(t.Needs)) }

// byPlace orders tasks, across owners too: first come, first served, except for what was moved.
func byPlace(a, b *Task) int {
	return cmp.Or(cmp.Compare(a.Place, b.Place), cmp.Compare(a.ID, b.ID))
}

// Queue is the queued tasks of all owners. Make one with New.
type Queue struct {
	tasks   map[int64]*Task
	order   []*Task          // all of them
	names   []string         // their names; nil: to be listed again
	windows map[int64]Window // by owner
	slots   slots            // a task about to start holds its slot under its negative id
}

// New returns an empty queue of which at most `most` tasks run at once.
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

// Ended is Remove for a task that has ended: nothing waits for it any more.
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

// Task returns the queued task with that id; nil: none.
func (q *Queue) Task(id int64) *Task { return q.tasks[id] }

// Named returns the queued task of that name; nil: none.
func (q *Queue) Named(name string) *Task {
	for _, t := range q.order {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// All returns the queued tasks in order. None may be added or removed during the iteration.
func (q *Queue) All() iter.Seq[*Task] { return slices.Values(q.order) }

// Of returns the queued tasks of one owner in order.
func (q *Queue) Of(owner int64) (ts []*Task) {
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

// Pass gives everything of one owner's to another: tasks, and the slots of what is running. The window closes.
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
	return t.Held == Free && (open || t.Now)
}

// WillStart reports whether everything t waits for can end. alive holds the names of those that can act; nil: a task
// only stays if nobody starts it.
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

// Next returns the first task that is wanted, waits for no other and has room; nil: none. It holds its slot from now
// on, until Begun.
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

// Starting reports whether Next has returned the task and Begun has not been called.
func (q *Queue) Starting(id int64) bool {
	_, is := q.slots.held[-id]
	return is
}

// Begun removes a task that Next returned, and frees its slot, which it returns: the task may have passed to another
// owner meanwhile. The task is nil if it was removed before.
func (q *Queue) Begun(id int64) (*Task, Slot) {
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
