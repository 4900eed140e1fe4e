//go:build !linux

package workspace

import (
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/fsnotify/fsnotify"
)

// several waits for changes in directories.
type several struct {
	w       *fsnotify.Watcher
	root    string
	matters func(name string) bool
	fresh   atomic.Bool // a directory is newly watched; changes in it before that must be reported
}

func newSeveral(root string, matters func(name string) bool) (*several, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	if err := w.Add(root); err != nil {
		_ = w.Close()
		return nil, err
	}
	return &several{w: w, root: root, matters: matters}, nil
}

// set watches those directories, and no others except root.
func (s *several) set(dirs []string) {
	for _, dir := range s.watching() {
		if !slices.Contains(dirs, dir) {
			_ = s.w.Remove(dir)
		}
	}
	had := s.watching()
	for _, dir := range dirs {
		if s.w.Add(dir) == nil && !slices.Contains(had, dir) && dir != s.root {
			s.fresh.Store(true)
		}
	}
}

// changed waits for a change; false: the watch was closed.
func (s *several) changed() bool {
	if s.fresh.Swap(false) {
		return true
	}
	for {
		select {
		case e, ok := <-s.w.Events:
			if !ok {
				return false
			}
			if name := filepath.Base(e.Name); s.matters(name) || filepath.Ext(name) == "" { // perhaps a directory
				return true
			}
		case _, ok := <-s.w.Errors: // events were lost
			return ok
		}
	}
}

// watching returns the watched directories except root, in order.
func (s *several) watching() []string {
	dirs := slices.DeleteFunc(s.w.WatchList(), func(dir string) bool { return dir == s.root })
	slices.Sort(dirs)
	return dirs
}

// close ends changed.
func (s *several) close() error { return s.w.Close() }

func (s *several) free() error { return nil }
