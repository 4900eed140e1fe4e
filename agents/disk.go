package agents

import (
	"sync"
	"time"

	"fantail/store"
)

// disk is whether what must be recorded can be. With a human at the screen a write
// that fails is tried again until it works; without one somebody waits for an exit
// code, so after patience the pool gives up.
type disk struct {
	patience time.Duration // 0: without end
	now      func() time.Time
	over     chan struct{} // closed by giving up

	mu  sync.Mutex
	err error // why it was given up
}

func newDisk(patience time.Duration, now func() time.Time) *disk {
	return &disk{patience: patience, now: now, over: make(chan struct{})}
}

// refused notes that what was first tried at began failed again.
func (d *disk) refused(began time.Time, err error) {
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

// gaveUp is why the pool gave up; nil: it has not.
func (d *disk) gaveUp() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// patrolled tells of what a look at the database's files found while nobody wrote;
// nil: it is undone. A database that is not used any more ends a pool whose exit code
// somebody waits for. The store's writer calls it.
func (p *Pool) patrolled(found error) {
	p.hub.Emit(Trouble{Err: found})
	if found != nil {
		p.disk.refused(p.o.Now(), found)
	}
}
