package sqlite

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// maxBatch bounds the transactions of one COMMIT, and so how long the first of
// them waits.
const maxBatch = 128

// writer is the writing connection and the queue for it. It has no goroutine of its own: the caller whose turn it is
// runs the queued jobs in one transaction, also those that queue meanwhile, and commits once. Jobs that queue while
// that COMMIT waits for the disk form the next batch, and the turn goes to the first of them.
type writer struct {
	mu     sync.Mutex
	queue  []*job
	taken  bool          // the turn is taken
	closed bool          // no job is queued any more
	ended  chan struct{} // closed with the last turn after that

	// Owned by the holder of the turn.
	conn  *conn // nil: must be reopened
	gate  gate
	batch []*job // jobs that commit together; the first is the turn holder's
	// on names the write whose function or hooks run now.
	on atomic.Pointer[string]
}

func (w *writer) init() { w.ended = make(chan struct{}) }

// stop lets the queued jobs run. No later job gets a turn.
func (w *writer) stop() {
	w.mu.Lock()
	w.closed = true
	idle := !w.taken
	w.mu.Unlock()
	if !idle {
		<-w.ended
	}
}

// put queues j.
func (w *writer) put(j *job) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return fmt.Errorf("write %s: %w", j.name, ErrClosed)
	}
	w.queue = append(w.queue, j)
	if !w.taken {
		w.next()
	}
	return nil
}

// next gives the turn to the first job in the queue, which stays there until its caller takes it. The caller of next
// holds mu, and the turn is free.
func (w *writer) next() {
	j := w.queue[0]
	w.taken, j.first = true, true
	j.told <- itsTurn
}

// withdraw removes j from the queue and reports whether it had not begun.
func (w *writer) withdraw(j *job) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.queue, j)
	if i < 0 || j.first {
		return false
	}
	w.queue = slices.Delete(w.queue, i, i+1)
	return true
}

// begin takes the next batch off the queue, beginning with the caller's job: all jobs that can share a transaction, or
// one job.
func (w *writer) begin() {
	w.mu.Lock()
	w.take()
	w.mu.Unlock()
	for w.more() {
	}
}

// more adds the next job of the queue to the batch, if they can share a transaction, and reports whether it did.
func (w *writer) more() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 || len(w.batch) == maxBatch || w.batch[0].apart() || w.queue[0].apart() {
		return false
	}
	w.take()
	return true
}

// take moves the first job of the queue to the batch. The caller holds mu.
func (w *writer) take() { w.batch, w.queue = append(w.batch, w.queue[0]), w.queue[1:] }

// setApart makes each job of the batch run alone from now on: the first in this turn, the others after queueing again.
func (w *writer) setApart() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, j := range w.batch {
		j.alone = true
	}
	w.queue = slices.Concat(w.batch[1:], w.queue)
	w.batch = w.batch[:1]
}

// release ends a turn.
func (w *writer) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.batch = nil
	if len(w.queue) > 0 {
		w.next()
		return
	}
	w.taken, w.queue = false, nil
	if w.closed {
		close(w.ended)
	}
}

// serve makes j's caller the writer for one turn.
func (db *DB) serve(j *job) {
	w := &db.writer
	w.begin()
	defer w.release()
	if j.raw != nil {
		j.err = j.raw()
		return
	}
	db.commit()
}
