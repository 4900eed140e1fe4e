package sqlite

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// maxBatch bounds the transactions of one COMMIT, and so how long the first of
// them waits.
const maxBatch = 128

// writer is the writing connection and the line of those that want it. It has no
// goroutine of its own: whoever's turn it is runs what has queued in one
// transaction and commits once. The line that forms while one COMMIT waits for
// the disk is the next batch, and the turn goes to the first of it.
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
	crowd bool // the last batch was of several
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
	j.turn <- struct{}{}
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

// take takes the next batch off the line, of which its caller is the first: what can be one transaction, or one job.
func (w *writer) take() []*job {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := slices.IndexFunc(w.queue[:min(len(w.queue), maxBatch)], func(j *job) bool { return j.raw != nil || j.alone })
	if n < 0 {
		n = min(len(w.queue), maxBatch)
	}
	n = max(n, 1)
	w.crowd = n > 1
	batch := w.queue[:n:n]
	w.queue = w.queue[n:]
	return batch
}

// release ends the turn of a batch. Those of the others in it that have no answer are the first in the line again.
func (w *writer) release(batch []*job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	left := slices.DeleteFunc(batch[1:], func(j *job) bool {
		select {
		case <-j.done:
			return true
		default:
			return false
		}
	})
	w.queue = append(left, w.queue...)
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
	if w.crowd {
		runtime.Gosched() // those of the last batch may be about to queue again
	}
	batch := w.take()
	defer w.release(batch)
	if j.raw != nil {
		j.err = j.raw()
		return
	}
	db.commit(batch)
}
