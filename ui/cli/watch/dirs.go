package watch

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// Dirs tells of changes of some files in directories, of which there may be others at any time.
type Dirs struct {
	w    *several
	over chan struct{} // closed when its goroutine has ended; nil: it never began
}

// NewDirs begins to watch the directory root, which is there. matters says of the name of a file whether its changes are
// told; directories that come or go always are.
func NewDirs(root string, matters func(name string) bool) (*Dirs, error) {
	w, err := newSeveral(root, matters)
	if err != nil {
		return nil, err
	}
	return &Dirs{w: w}, nil
}

// Set says which directories are watched beside root. In place of one that is missing the nearest above it is.
func (d *Dirs) Set(dirs []string) {
	there := make([]string, len(dirs))
	for i, dir := range dirs {
		there[i] = nearest(dir)
	}
	d.w.set(there)
}

// nearest is dir, or what is there of the way to it.
func nearest(dir string) string {
	for up := filepath.Dir(dir); up != dir; dir, up = up, filepath.Dir(up) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			break
		}
	}
	return dir
}

// Serve calls tell after each change, in a goroutine of its own that start begins and Close ends.
func (d *Dirs) Serve(start func(name string, f func()), tell func()) {
	d.over = make(chan struct{})
	start("watch directories", func() {
		defer close(d.over)
		for d.w.changed() {
			time.Sleep(settle) // what comes meanwhile is told again
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
