package turn

import (
	"sync"
	"time"

	"fantail/store"
)

// Disk tracks whether the disk accepts writes. Failed writes are retried until they succeed. A
// caller that waits for an exit code watches the Disk and is told once patience has run out.
type Disk struct {
	patience time.Duration
	now      func() time.Time

	mu       sync.Mutex
	stopped  error // why nothing can be written any more; nil: it can
	watching map[chan error]bool
}

// NewDisk returns a Disk whose watchers are told after patience.
func NewDisk(patience time.Duration, now func() time.Time) *Disk {
	return &Disk{patience: patience, now: now, watching: map[chan error]bool{}}
}

// Refused records that a write first tried at began has failed again.
func (d *Disk) Refused(began time.Time, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case store.Stopped(err):
		d.stopped = err
	case d.now().Sub(began) < d.patience:
		return
	}
	for w := range d.watching {
		give(w, err)
	}
}

// Watch returns a channel that receives the reason once the disk has refused writes for too long,
// and a function that ends the watch.
func (d *Disk) Watch() (gaveUp <-chan error, leave func()) {
	w := make(chan error, 1)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.watching[w] = true
	if d.stopped != nil {
		give(w, d.stopped)
	}
	return w, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.watching, w)
	}
}

// give sends err unless the channel holds an earlier reason.
func give(w chan<- error, err error) {
	select {
	case w <- err:
	default:
	}
}
