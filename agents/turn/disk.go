package turn

import (
	"sync"
	"time"

	"fantail/store"
)

// Disk knows whether the disk takes writes. A failed write is retried until it works. Where somebody waits for an exit code, they
// watch, and are told once patience has run out.
type Disk struct {
	patience time.Duration
	now      func() time.Time

	mu       sync.Mutex
	stopped  error // why nothing can be written any more; nil: it can
	watching map[chan error]bool
}

// NewDisk returns the state of a disk whose watchers have that much patience.
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

// Watch returns a channel that gets the reason once the disk has refused writes for too long, and what ends the watch.
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

// give leaves the first reason there.
func give(w chan<- error, err error) {
	select {
	case w <- err:
	default:
	}
}
