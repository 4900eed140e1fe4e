package tasks

import "time"

// Window is opened by a run: its owner's queue drains through it, and tasks that come while it is open join it.
type Window struct {
	Most  int           // of the owner's tasks at once; 0: no limit of its own
	Limit time.Duration // for tasks without a time-out; 0: none
}

// Open opens an owner's window, or replaces it.
func (q *Queue) Open(owner int64, w Window) { q.windows[owner] = w }

// Shut closes an owner's window, if it is open.
func (q *Queue) Shut(owner int64) { delete(q.windows, owner) }

// Window returns an owner's window, and whether it is open.
func (q *Queue) Window(owner int64) (Window, bool) {
	w, open := q.windows[owner]
	return w, open
}

// ShutDrained closes the windows of owners that have no queued tasks and no running work.
func (q *Queue) ShutDrained(works func(owner int64) bool) {
	for owner := range q.windows {
		if len(q.Of(owner)) == 0 && !works(owner) {
			q.Shut(owner)
		}
	}
}

// Pick marks the first n tasks of an owner that can start (0: all) to start without a window, with that limit. A task
// can't if it waits for another that is neither running nor picked.
func (q *Queue) Pick(owner int64, n int, limit time.Duration) {
	picked := 0
	for _, t := range q.Of(owner) {
		if t.Now || t.Held != Free {
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
