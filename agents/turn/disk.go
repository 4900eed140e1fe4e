package turn

import (
	"sync"
	"time"

	"fantail/store"
)

// Disk knows whether the disk still takes what must be recorded. With a human at the screen a failed write is retried
// until it works. Without one, somebody waits for an exit code, so it is given up once patience runs out.
type Disk struct {
	patience time.Duration // 0: forever
	now      func() time.Time
	over     chan struct{} // closed when it is given up

	mu  sync.Mutex
	err error // why it was given up
}

// NewDisk returns a Disk that gives up after patience; 0: never.
func NewDisk(patience time.Duration, now func() time.Time) *Disk {
	return &Disk{patience: patience, now: now, over: make(chan struct{})}
}

// Refused records that a write first tried at began has failed again.
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

// GaveUp returns why it was given up; nil: it was not.
func (d *Disk) GaveUp() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// Over returns a channel that is closed once it is given up.
func (d *Disk) Over() <-chan struct{} { return d.over }
