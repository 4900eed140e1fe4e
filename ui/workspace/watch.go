package workspace

import (
	"errors"
	"path/filepath"
	"time"
)

// settle is how long after its beginning a change of a file is reported: an editor writes in several steps.
const settle = 100 * time.Millisecond

// Watch reports changes in a directory that may come and go below a parent.
type Watch struct {
	w    *watch
	over chan struct{} // closed when its goroutine has ended; nil: it never began
}

// NewWatch begins to watch the directory dir, which may be missing, in root, which exists.
func NewWatch(root, dir string) (*Watch, error) {
	w, err := newWatch(root, filepath.Join(root, dir))
	if err != nil {
		return nil, err
	}
	return &Watch{w: w}, nil
}

// Serve calls tell after each change, in a goroutine that start starts and Close ends.
func (w *Watch) Serve(start func(name string, f func()), tell func()) {
	w.over = make(chan struct{})
	start("watch", func() {
		defer close(w.over)
		for w.w.changed() {
			time.Sleep(settle) // changes meanwhile are reported again
			tell()
		}
	})
}

// Close ends the watch.
func (w *Watch) Close() error {
	err := w.w.close()
	if w.over != nil {
		<-w.over
	}
	return errors.Join(err, w.w.free())
}
