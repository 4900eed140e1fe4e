//go:build !linux

package watch

import (
	"path/filepath"
	"slices"

	"github.com/fsnotify/fsnotify"
)

// dirs waits for changes in directories.
type dirs struct {
	w     *fsnotify.Watcher
	of    func() map[string][]string
	names map[string][]string
}

func newDirs(of func() map[string][]string) (*dirs, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	d := &dirs{w: w, of: of}
	d.look()
	return d, nil
}

// look watches those of the directories that are there.
func (d *dirs) look() {
	d.names = d.of()
	for dir := range d.names {
		_ = d.w.Add(dir) // it need not be there
	}
}

// changed waits for a change; false: the watch was closed.
func (d *dirs) changed() bool {
	for {
		select {
		case e, ok := <-d.w.Events:
			if !ok {
				return false
			}
			names, watched := d.names[filepath.Dir(e.Name)]
			if watched && (names == nil || slices.Contains(names, filepath.Base(e.Name))) {
				return true
			}
		case _, ok := <-d.w.Errors: // events were lost
			return ok
		}
	}
}

// close ends changed.
func (d *dirs) close() error { return d.w.Close() }

func (d *dirs) free() error { return nil }
