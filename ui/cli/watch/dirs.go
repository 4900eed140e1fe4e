package watch

import (
	"errors"
	"time"
)

// Dirs tells of changes in several directories, each of which may come and go.
type Dirs struct {
	d    *dirs
	over chan struct{} // closed when its goroutine has ended; nil: it never began
}

// NewDirs begins to watch the directories that of returns, each with the names in it that count; nil: all count. It is asked
// again after each change.
func NewDirs(of func() map[string][]string) (*Dirs, error) {
	d, err := newDirs(of)
	if err != nil {
		return nil, err
	}
	return &Dirs{d: d}, nil
}

// Serve calls tell after each change, in a goroutine of its own that start begins and Close ends.
func (w *Dirs) Serve(start func(name string, f func()), tell func()) {
	w.over = make(chan struct{})
	start("watch directories", func() {
		defer close(w.over)
		for w.d.changed() {
			time.Sleep(settle) // what comes meanwhile is told again
			tell()
			w.d.look()
		}
	})
}

// Close ends the watch.
func (w *Dirs) Close() error {
	err := w.d.close()
	if w.over != nil {
		<-w.over
	}
	return errors.Join(err, w.d.free())
}
