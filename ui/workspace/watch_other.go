//go:build !linux

package workspace

import (
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// watch waits for changes in a directory that may come and go below a parent.
type watch struct {
	w   *fsnotify.Watcher
	dir string
}

func newWatch(root, dir string) (*watch, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	if err := w.Add(root); err != nil {
		_ = w.Close()
		return nil, err
	}
	_ = w.Add(dir) // it need not be there
	return &watch{w, dir}, nil
}

// changed waits for a change; false: the watch was closed.
func (w *watch) changed() bool {
	for {
		select {
		case e, ok := <-w.w.Events:
			switch {
			case !ok:
				return false
			case e.Name == w.dir:
				_ = w.w.Add(w.dir)
				return true
			case filepath.Dir(e.Name) == w.dir:
				return true
			}
		case _, ok := <-w.w.Errors: // events were lost
			return ok
		}
	}
}

// close ends changed.
func (w *watch) close() error { return w.w.Close() }

func (w *watch) free() error { return nil }
