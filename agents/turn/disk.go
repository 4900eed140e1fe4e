package turn

import (
	"sync"
	"time"

	"fantail/store"
)

// Disk is whether what must be recorded can be. With a human at the screen a write
// that fails is tried again until it works; without one somebody waits for an exit
// code, so after patience it is given up.
type Disk struct {
	patience time.Duration // 0: without end
	now      func() time.Time
	over     chan struct{} // closed by giving up

	mu  sync.Mutex
	err error // why it was given up
}

// NewDisk returns one that is waited for so long; 0: without end.
func NewDisk(patience time.Duration, now func() time.Time) *Disk {
	return &Disk{patience: patience, now: now, over: make(chan struct{})}
}

// Refused notes that what was first tried at began failed again.
func (d *Disk) Refused(began time.Time, err error) {
	if d.patience == 0 || d.now().Sub(began) < d.patience && !store.Stopped(err) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err == nil {
		d.err = err
		close(d.over)
	}
}

// GaveUp is why it was given up; nil: it was not.
func (d *Disk) GaveUp() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// Over is closed once it is given up.
func (d *Disk) Over() <-chan struct{} { return d.over }
