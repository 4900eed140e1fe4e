package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Limits of one look.
const (
	maxFiles   = 1000     // whose content is kept
	maxContent = 16 << 20 // bytes that are kept, in all
	maxRead    = 1 << 30  // bytes that are read in all; beyond that files are compared by identity, size and times
	maxEntries = 10_000   // below one path; more is an error
	maxDepth   = 64       // of directories below one path; more is an error
)

// coarse is how much later than its time a file may have been changed: file systems' clocks tick slowly.
const coarse = 2 * time.Second

// ChangeKind is the kind of a change.
type ChangeKind string

const (
	Changed  ChangeKind = "changed"  // other bytes or another target of a link; or a file that is no longer readable
	Made     ChangeKind = "made"     // with everything below, if it is a directory
	Removed  ChangeKind = "removed"  // with everything below, if it was a directory
	Replaced ChangeKind = "replaced" // by something of another kind, or by another directory, link, pipe or device
	Mode     ChangeKind = "mode"     // permissions or owner
	Linked   ChangeKind = "linked"   // a file has one more name, by which it may be changed
)

// Change is one difference. Path is a path of the snapshot, one below it, or a directory above it that has been
// replaced.
type Change struct {
	Path string
	What ChangeKind
}

// Snapshot is the state of some paths at one time. It is for one goroutine at a time.
type Snapshot struct {
	paths   []string
	entries map[string]*entry // by path; a missing file has none
	first   time.Time         // the beginning of the first look on which Again built
	read    int               // how many files the look read
}

// TakeSnapshot reads the paths, which are absolute: files, directories with all below, links, or paths that don't
// exist. The error names what could not be read.
func TakeSnapshot(paths []string) (*Snapshot, error) { return take(paths, time.Now()) }

func take(paths []string, first time.Time) (*Snapshot, error) {
	return (&Snapshot{first: first}).Again(paths)
}

// Again takes a snapshot of the paths. It does not reread files that s has read and that have not been touched since
// well before the first snapshot on which s builds: later ones could be changed through mapped memory, without a trace
// in their times.
func (s *Snapshot) Again(paths []string) (*Snapshot, error) {
	n := &Snapshot{first: s.first}
	for _, p := range paths {
		if !filepath.IsAbs(p) || filepath.Clean(p) == "/" {
			return nil, fmt.Errorf("look at %q: give an absolute path of something below the root directory", p)
		}
		n.paths = append(n.paths, filepath.Clean(p))
	}
	slices.Sort(n.paths)
	all := slices.Compact(n.paths)
	n.paths = slices.DeleteFunc(slices.Clone(all), func(p string) bool { // a path below another is covered by that
		return slices.ContainsFunc(all, func(q string) bool { return below(p, q) })
	})
	l := newLook(s, taking)
	if err := l.all(n.paths); err != nil {
		return nil, err
	}
	n.entries, n.read = l.now, l.count
	return n, nil
}

// Expect has s record that no file existed at those of the paths that it did not cover.
func (s *Snapshot) Expect(paths []string) {
	for _, p := range paths {
		p = filepath.Clean(p)
		if s.entries[p] == nil && filepath.IsAbs(p) && !slices.ContainsFunc(s.paths, func(q string) bool { return p == q || below(p, q) }) {
			s.paths = append(s.paths, p)
		}
	}
	slices.Sort(s.paths)
}

// Was returns the content of a file, or nil if there was no file, or its content was not kept.
func (s *Snapshot) Was(path string) []byte {
	if o := s.entries[filepath.Clean(path)]; o != nil {
		return bytes.Clone(o.content)
	}
	return nil
}

// Changes compares s with the files as they are now, and returns the changes sorted by path. Of what was made or
// removed it names only the topmost. It is no change if the same bytes were written again, even in another file of that
// name. The error names what could not be read; the changes cover everything else.
func (s *Snapshot) Changes() ([]Change, error) {
	l := newLook(s, comparing)
	err := l.all(s.paths)
	return s.against(l), err
}

// against compares s with a later look.
func (s *Snapshot) against(l *look) (all []Change) {
	names := slices.Collect(maps.Keys(s.entries))
	for p := range l.now {
		if s.entries[p] == nil {
			names = append(names, p)
		}
	}
	slices.Sort(names)
	whole := maps.Clone(l.failed) // covers everything below: named already, or unreadable
	for _, p := range names {
		if len(whole) > 0 && (l.failed[p] || inOne(p, whole)) {
			continue
		}
		o, n := s.entries[p], l.now[p]
		w := differ(o, n)
		if w == "" {
			continue
		}
		all = append(all, Change{Path: p, What: w})
		whole[p] = o.kind() != n.kind() || o.closed != n.closed
	}
	return all
}

// inOne reports whether p is below a path in whole.
func inOne(p string, whole map[string]bool) bool {
	for d := filepath.Dir(p); d != "/"; d = filepath.Dir(d) {
		if whole[d] {
			return true
		}
	}
	return false
}

// below reports whether p is below tree.
func below(p, tree string) bool {
	return len(p) > len(tree) && strings.HasPrefix(p, tree) && p[len(tree)] == '/'
}

// covers reports whether p is a path of s, or below or above one.
func (s *Snapshot) covers(p string) bool {
	return slices.ContainsFunc(s.paths, func(q string) bool { return p == q || below(p, q) || below(q, p) })
}

var errRaced = errors.New("it changes while it is looked at: end what changes it, and try again")
