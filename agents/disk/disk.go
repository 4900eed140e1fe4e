// Package disk knows whether the disk still takes what must be recorded.
//
// Does: hear of writes that failed, have them tried again, and tell those who wait for an exit code once that has gone on
// for too long.
//
// Does not: write.
//
// Imports: store.
package disk

import (
	"sync"
	"time"

	"fantail/store"
)

// State is that of the disk. A failed write is retried until it works. Where somebody waits for an exit code, they
// watch, and are told once patience has run out.
type State struct {
	patience time.Duration
	now      func() time.Time

	mu       sync.Mutex
	stopped  error // why nothing can be written any more; nil: it can
	watching map[chan error]bool
}

// New returns the state of a disk whose watchers have that much patience.
func New(patience time.Duration, now func() time.Time) *State {
	return &State{patience: patience, now: now, watching: map[chan error]bool{}}
}

// Refused records that a write first tried at began has failed again.
func (d *State) Refused(began time.Time, err error) {
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
func (d *State) Watch() (gaveUp <-chan error, leave func()) {
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
