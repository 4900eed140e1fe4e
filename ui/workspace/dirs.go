package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// Dirs reports changes of some files in a changing set of directories.
type Dirs struct {
	w    *several
	over chan struct{} // closed when its goroutine has ended; nil: it never began
}

// NewDirs begins to watch the directory root, which exists. matters reports by a file's name whether its changes are
// reported; directories that come or go always are.
func NewDirs(root string, matters func(name string) bool) (*Dirs, error) {
	w, err := newSeveral(root, matters)
	if err != nil {
		return nil, err
	}
	return &Dirs{w: w}, nil
}

// Set sets the directories that are watched besides root. For a missing one it watches the nearest existing parent.
func (d *Dirs) Set(dirs []string) {
	there := make([]string, len(dirs))
	for i, dir := range dirs {
		there[i] = nearest(dir)
	}
	d.w.set(there)
}

// nearest returns dir, or its nearest existing parent.
func nearest(dir string) string {
	for up := filepath.Dir(dir); up != dir; dir, up = up, filepath.Dir(up) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			break
		}
	}
	return dir
}

// Serve calls tell after each change, in a goroutine that start starts and Close ends.
func (d *Dirs) Serve(start func(name string, f func()), tell func()) {
	d.over = make(chan struct{})
	start("watch directories", func() {
		defer close(d.over)
		for d.w.changed() {
			time.Sleep(settle) // changes meanwhile are reported again
			tell()
		}
	})
}

// Close ends the watch.
func (d *Dirs) Close() error {
	err := d.w.close()
	if d.over != nil {
		<-d.over
	}
	return errors.Join(err, d.w.free())
}
