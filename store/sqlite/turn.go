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

// writer is the writing connection and the line of those that want it. It has no
// goroutine of its own: whoever's turn it is runs what has queued in one
// transaction, also what queues meanwhile, and commits once. The line that forms
// while that COMMIT waits for the disk is for the next batch, and the turn goes to
// the first of it.
type writer struct {
	mu     sync.Mutex
	queue  []*job
	taken  bool          // it is somebody's turn
	closed bool          // nothing is queued any more
	ended  chan struct{} // closed with the last turn after that

	rounds rounds

	// Owned by whoever's turn it is.
	conn  *conn // nil: to be opened anew
	gate  gate
	batch []*job // what commits together; the first is that of whoever's turn it is
	// on names the write whose function or hooks run now.
	on atomic.Pointer[string]
}

func (w *writer) init() { w.ended = make(chan struct{}) }

// stop lets what is queued run. Nobody has a turn after that.
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

// next gives the turn to the first in the line, who stays there until they take it. The caller holds mu, and nobody has
// the turn.
func (w *writer) next() {
	j := w.queue[0]
	w.taken, j.first = true, true
	j.told <- itsTurn
}

// withdraw takes j back and reports whether nobody had begun with it.
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

// begin takes the next batch off the line, of which its caller is the first: what can be one transaction, or one job.
func (w *writer) begin() {
	w.mu.Lock()
	w.take()
	w.mu.Unlock()
	for w.more() {
	}
}

// more takes the next off the line that can be in one transaction with the batch, as one of it, and reports whether there was one.
func (w *writer) more() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 || len(w.batch) == maxBatch || w.batch[0].apart() || w.queue[0].apart() {
		return false
	}
	w.take()
	return true
}

// take takes the first off the line. The caller holds mu.
func (w *writer) take() { w.batch, w.queue = append(w.batch, w.queue[0]), w.queue[1:] }

// setApart has each of the batch be tried alone from now on: its first in this turn, the others are in the line again.
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

// serve has j's caller be the writer for one turn.
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
