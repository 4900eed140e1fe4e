// Package veil finds the files of a workspace that commands must not see, as rules with patterns deny reading them.
//
// Does: look for those that are there now, whole directories as one, and at a directory again only if it changed since;
// look last where programs keep what they fetched or built; say when there is more than is looked at.
//
// Does not: know what a rule means, hide a file, follow a link.
//
// Imports: tools/permit.
package veil

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"fantail/tools/permit"
)

const (
	mostSeen  = 100_000     // files and directories that are looked at
	mostFound = 2_000       // of those that are found
	batch     = 1_000       // entries of a directory that are read at once
	settles   = time.Second // what a directory may change within without its clock telling
)

// Finder finds them below one root. It is safe for concurrent use.
type Finder struct {
	root string
	most int // files and directories that are looked at
	now  func() time.Time

	mu   sync.Mutex
	last found // its dirs, once they are here, are never changed
}

// found is what was found.
type found struct {
	veil  permit.Veil
	dirs  map[string]dir
	read  int    // how many of them were read, and not known
	short string // why it may not be all; "": it is
}

// dir is what a directory held.
type dir struct {
	is     stamp
	read   time.Time
	count  int      // its entries
	below  []string // the names of directories that may hold some
	hidden []string // the names of what is to be hidden
}

// stamp is a directory as it is: whatever is made, renamed or removed in it makes it another. Its time is the kernel's,
// which nobody sets.
type stamp struct {
	dev, ino uint64
	changed  int64 // in nanoseconds; 0: not known
}

func stamped(s *unix.Stat_t) stamp {
	return stamp{uint64(s.Dev), s.Ino, unix.TimespecToNsec(s.Ctim)}
}

// New returns a finder for the workspace with that root, absolute and without links.
func New(root string) *Finder { return &Finder{root: root, most: mostSeen, now: time.Now} }

// Lacks says that not all of it is hidden from commands in a sandbox; "" if it is.
func (f *Finder) Lacks(v permit.Veil) string {
	_, short := f.find(v)
	if short == "" {
		return ""
	}
	return "Not all that rules with patterns deny reading is hidden from commands: " + short + ". For the rest only the words of a command count; a rule that names a directory, as Read(./secret/**), always holds"
}

// Find returns the paths of what is to be hidden now.
func (f *Finder) Find(v permit.Veil) []string {
	all, _ := f.find(v)
	return all
}

// find finds them, and says why they may not be all; "": they are.
func (f *Finder) find(v permit.Veil) (all []string, short string) {
	if len(v) == 0 {
		return nil, ""
	}
	f.mu.Lock()
	old := f.last
	f.mu.Unlock()
	l := look{now: f.now, new: found{veil: v, dirs: make(map[string]dir, len(old.dirs))}, most: f.most, left: f.most}
	if reflect.DeepEqual(old.veil, v) {
		l.old = old.dirs
	}
	l.below(f.root)
	f.mu.Lock()
	f.last = l.new
	f.mu.Unlock()
	slices.Sort(l.all)
	return l.all, l.new.short
}

// look is one look at all.
type look struct {
	now  func() time.Time
	old  map[string]dir
	new  found
	all  []string
	most int // entries that are looked at
	left int // of these, those that are left
}

// heaps are directories of what programs fetch or build. They are looked at last: what stands in them is seldom
// the user's own, and they are the largest.
var heaps = map[string]bool{
	"node_modules": true, "bower_components": true, "vendor": true, "site-packages": true, ".venv": true, "venv": true, "target": true,
	"dist": true, "build": true, ".cache": true, ".gradle": true, ".next": true, ".tox": true, "__pycache__": true, "Pods": true,
}

// below looks at a directory and those below it, the nearest first.
func (l *look) below(root string) {
	first, last := []string{root}, []string(nil)
	for len(first) > 0 || len(last) > 0 {
		if len(first) == 0 {
			first, last = last[:1:1], last[1:]
		}
		at := first[0]
		first = first[1:]
		d, ok := l.at(at)
		if !ok {
			return
		}
		for _, name := range d.hidden {
			if len(l.all) == mostFound {
				l.new.short = fmt.Sprintf("rules speak of more than the %d files that are hidden at most", mostFound)
				return
			}
			l.all = append(l.all, filepath.Join(at, name))
		}
		for _, name := range d.below {
			if heaps[name] {
				last = append(last, filepath.Join(at, name))
			} else {
				first = append(first, filepath.Join(at, name))
			}
		}
	}
}

// at is what a directory holds; false: there is more than is looked at.
func (l *look) at(path string) (d dir, ok bool) {
	if d, ok = l.old[path]; ok && !l.fresh(path, d) {
		ok = false
	}
	if !ok {
		l.new.read++
		if d, ok = l.list(path); !ok {
			return dir{}, true // what can't be read here, commands can't read
		}
	}
	if l.left -= d.count; l.left < 0 {
		l.new.short = fmt.Sprintf("the workspace has more than the %d files that are looked at", l.most)
		return dir{}, false
	}
	l.new.dirs[path] = d
	return d, true
}

// fresh reports whether a directory holds what it held.
func (l *look) fresh(path string, d dir) bool {
	s := unix.Stat_t{}
	return unix.Lstat(path, &s) == nil && stamped(&s) == d.is && d.read.Sub(time.Unix(0, d.is.changed)) > settles
}

// list reads a directory. Of one that holds more than may be looked at it reads a little more than that.
func (l *look) list(path string) (d dir, ok bool) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return d, false
	}
	defer f.Close()
	s := unix.Stat_t{}
	if err := unix.Fstat(int(f.Fd()), &s); err != nil {
		return d, false
	}
	d.is, d.read = stamped(&s), l.now()
	for d.count <= l.left {
		some, err := f.ReadDir(batch)
		for _, e := range some {
			l.entry(&d, path, e)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			d.is = stamp{} // it is read again
			break
		}
	}
	return d, true
}

// entry notes what there is to know of what stands in a directory.
func (l *look) entry(d *dir, in string, e fs.DirEntry) {
	d.count++
	name := e.Name()
	p := filepath.Join(in, name)
	switch {
	case e.Type()&fs.ModeSymlink != 0: // its file has a name of its own
	case l.new.veil.Hides(p, name):
		d.hidden = append(d.hidden, name)
	case e.IsDir() && name != ".git" && l.new.veil.Below(p):
		d.below = append(d.below, name)
	}
}
