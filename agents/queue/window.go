package queue

import "time"

// Window is what a run opened: the queue of its owner drains through it, and tasks
// that come while it is open join it.
type Window struct {
	Most  int           // of the owner's tasks at once; 0: no bound of its own
	Limit time.Duration // for tasks without a time-out; 0: none
}

// Open opens the window of an owner, or replaces it.
func (q *Queue) Open(owner int64, w Window) { q.windows[owner] = w }

// Shut closes the window of an owner, if it is open.
func (q *Queue) Shut(owner int64) { delete(q.windows, owner) }

// Window is the window of an owner, and whether it is open.
func (q *Queue) Window(owner int64) (Window, bool) {
	w, open := q.windows[owner]
	return w, open
}

// ShutDrained closes the windows of the owners that have no queued tasks and no work
// that has not ended.
func (q *Queue) ShutDrained(works func(owner int64) bool) {
	for owner := range q.windows {
		if len(q.Of(owner)) == 0 && !works(owner) {
			q.Shut(owner)
		}
	}
}

// Pick marks the first n tasks of an owner that can start (0: all) to start without a
// window, with that limit. One that waits for a task that neither runs nor is picked
// can't.
func (q *Queue) Pick(owner int64, n int, limit time.Duration) {
	picked := 0
	for _, t := range q.Of(owner) {
		if t.Now || t.Held {
			continue
		}
		can := n == 0 || picked < n
		for id := range t.Needs {
			need := q.tasks[id]
			can = can && (n == 0 || need == nil || need.Now)
		}
		if can {
			t.Now, t.Limit = true, limit
			picked++
		}
	}
}
