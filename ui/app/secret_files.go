package app

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

	"fantail/tools/permission"
)

const (
	maxSeen  = 100_000     // files and directories that are examined
	maxFound = 2_000       // of those that are found
	batch    = 1_000       // entries of a directory that are read at once
	settles  = time.Second // how long a directory may change without a new time stamp
)

// SecretFinder finds such files below one root. It is safe for concurrent use.
type SecretFinder struct {
	root string
	most int // files and directories that are examined at most
	now  func() time.Time

	mu   sync.Mutex
	last found // its dirs never change once stored
}

// found is the result of a search.
type found struct {
	denied permission.DeniedPatterns
	dirs   map[string]dir
	read   int    // how many of them had to be read
	short  string // why files may be missing; "": none are
}

// dir is what a directory held.
type dir struct {
	is     stamp
	read   time.Time
	count  int      // its entries
	below  []string // the names of its subdirectories that may hold some
	hidden []string // the names of entries to be hidden
}

// stamp identifies the state of a directory: creating, renaming or removing an entry changes it. Its time is set by
// the kernel, not by a program.
type stamp struct {
	dev, ino uint64
	changed  int64 // in nanoseconds; 0: not known
}

func stamped(s *unix.Stat_t) stamp {
	return stamp{uint64(s.Dev), s.Ino, unix.TimespecToNsec(s.Ctim)}
}

// NewSecretFinder returns a finder for the workspace with that root, absolute and without links.
func NewSecretFinder(root string) *SecretFinder {
	return &SecretFinder{root: root, most: maxSeen, now: time.Now}
}

// Lacks says that not all denied files are hidden from commands in a sandbox; "" if they are.
func (f *SecretFinder) Lacks(v permission.DeniedPatterns) string {
	_, short := f.find(v)
	if short == "" {
		return ""
	}
	return "Not all that rules with patterns deny reading is hidden from commands: " + short + ". For the rest only the words of a command count; a rule that names a directory, as Read(./secret/**), always holds"
}

// Find returns the paths of the files to be hidden now.
func (f *SecretFinder) Find(v permission.DeniedPatterns) []string {
	all, _ := f.find(v)
	return all
}

// find returns the paths, and says why some may be missing; "": none are.
func (f *SecretFinder) find(v permission.DeniedPatterns) (all []string, short string) {
	if len(v) == 0 {
		return nil, ""
	}
	f.mu.Lock()
	old := f.last
	f.mu.Unlock()
	l := look{now: f.now, new: found{denied: v, dirs: make(map[string]dir, len(old.dirs))}, most: f.most, left: f.most}
	if reflect.DeepEqual(old.denied, v) {
		l.old = old.dirs
	}
	l.below(f.root)
	f.mu.Lock()
	f.last = l.new
	f.mu.Unlock()
	slices.Sort(l.all)
	return l.all, l.new.short
}

// look is one search.
type look struct {
	now  func() time.Time
	old  map[string]dir
	new  found
	all  []string
	most int // entries that are examined
	left int // of these, those that are left
}

// heaps are directories of files that programs fetch or build. They are searched last: their files are seldom the
// user's own, and they are the largest.
var heaps = map[string]bool{
	"node_modules": true, "bower_components": true, "vendor": true, "site-packages": true, ".venv": true, "venv": true, "target": true,
	"dist": true, "build": true, ".cache": true, ".gradle": true, ".next": true, ".tox": true, "__pycache__": true, "Pods": true,
}

// below searches a directory and those below it, the nearest first.
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
			if len(l.all) == maxFound {
				l.new.short = fmt.Sprintf("rules speak of more than the %d files that are hidden at most", maxFound)
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

// at returns the content of a directory. It returns false if the limit is reached.
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

// fresh reports whether a directory is unchanged.
func (l *look) fresh(path string, d dir) bool {
	s := unix.Stat_t{}
	return unix.Lstat(path, &s) == nil && stamped(&s) == d.is && d.read.Sub(time.Unix(0, d.is.changed)) > settles
}

// list reads a directory. If it holds more entries than the limit, it reads slightly more than the limit.
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

// entry records an entry of a directory.
func (l *look) entry(d *dir, in string, e fs.DirEntry) {
	d.count++
	name := e.Name()
	p := filepath.Join(in, name)
	switch {
	case e.Type()&fs.ModeSymlink != 0: // its file has a name of its own
	case l.new.denied.Hides(p, name):
		d.hidden = append(d.hidden, name)
	case e.IsDir() && name != ".git" && l.new.denied.Below(p):
		d.below = append(d.below, name)
	}
}
