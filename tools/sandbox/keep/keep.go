// Package keep remembers files, finds what became of them, and makes them as they were.
//
// Does: look at paths that somebody else may change, with all that lies below ([Take], [State.Again]); say what differs
// later ([State.Changes]); make it as it was, and move aside what was made ([State.PutBack]). What it looks at may be
// changed while it looks: it follows no symbolic link, waits for no pipe, and reads no more than its bounds.
//
// Does not: know which paths matter, or decide anything; look behind symbolic links (who cares for what is there gives
// its resolved path, too); see extended attributes.
//
// Imports: nothing of ours.
package keep

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

// The bounds of one look.
const (
	maxFiles   = 1000     // whose content is kept
	maxContent = 16 << 20 // bytes that are kept, in all
	maxRead    = 1 << 30  // bytes that are read, in all; beyond them files are known by identity, size and times
	maxEntries = 10_000   // below one path; more is an error
	maxDepth   = 64       // of directories below one path; more is an error
)

// coarse is how much later than it says a file may have been changed: clocks of file systems tick slowly.
const coarse = 2 * time.Second

// What is the kind of a change.
type What string

const (
	Changed  What = "changed"  // other bytes or another target of a link; or what was readable is not any more
	Made     What = "made"     // with all below, if it is a directory
	Removed  What = "removed"  // with all below, if it was a directory
	Replaced What = "replaced" // by something of another kind, or by another directory, link, pipe or device
	Mode     What = "mode"     // permissions or owner
)

// Change is one difference. Path is a path that was asked for, one below, or a directory above that led there and that
// something else has taken the place of.
type Change struct {
	Path string
	What What
}

// State is what a look at some paths saw. It is for one goroutine at a time.
type State struct {
	paths   []string
	entries map[string]*entry // by path; what is not there has none
	first   time.Time         // when the first look of them all began, on which Again built
	read    int               // how many files the look read
}

// Take looks at the paths: files, directories with all below, links, or what is not there. They are absolute. An error
// names what could not be looked at.
func Take(paths []string) (*State, error) { return take(paths, time.Now()) }

func take(paths []string, first time.Time) (*State, error) {
	return (&State{first: first}).Again(paths)
}

// Again looks at the paths as Take does. It does not read files again that s has read, and that nobody has touched
// since well before the first look on which s builds: later ones could be changed through memory that is mapped to
// them, without a trace in their times.
func (s *State) Again(paths []string) (*State, error) {
	n := &State{first: s.first}
	for _, p := range paths {
		if !filepath.IsAbs(p) || filepath.Clean(p) == "/" {
			return nil, fmt.Errorf("look at %q: give an absolute path of something below the root directory", p)
		}
		n.paths = append(n.paths, filepath.Clean(p))
	}
	slices.Sort(n.paths)
	all := slices.Compact(n.paths)
	n.paths = slices.DeleteFunc(slices.Clone(all), func(p string) bool { // what lies below another is looked at with that
		return slices.ContainsFunc(all, func(q string) bool { return below(p, q) })
	})
	l := newLook(s, taking)
	if err := l.all(n.paths); err != nil {
		return nil, err
	}
	n.entries, n.read = l.now, l.count
	return n, nil
}

// Was is the content the file had; nil if it was none, or its content was not kept.
func (s *State) Was(path string) []byte {
	if o := s.entries[filepath.Clean(path)]; o != nil {
		return bytes.Clone(o.content)
	}
	return nil
}

// Changes compares with what is there now, sorted by path. Of what was made or removed only the topmost is named. Bytes
// that were written again are no change, even in another file of that name. An error names what could not be looked at;
// the changes are those of all else.
func (s *State) Changes() ([]Change, error) {
	l := newLook(s, comparing)
	err := l.all(s.paths)
	return s.against(l), err
}

// against compares with what another look saw.
func (s *State) against(l *look) (all []Change) {
	names := slices.Collect(maps.Keys(s.entries))
	for p := range l.now {
		if s.entries[p] == nil {
			names = append(names, p)
		}
	}
	slices.Sort(names)
	whole := maps.Clone(l.failed) // what is named with all below, or nobody knows
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

// inOne reports whether p lies below one of those that are set.
func inOne(p string, whole map[string]bool) bool {
	for d := filepath.Dir(p); d != "/"; d = filepath.Dir(d) {
		if whole[d] {
			return true
		}
	}
	return false
}

// below reports whether p lies below tree.
func below(p, tree string) bool {
	return len(p) > len(tree) && strings.HasPrefix(p, tree) && p[len(tree)] == '/'
}

// covers reports whether s speaks of p.
func (s *State) covers(p string) bool {
	return slices.ContainsFunc(s.paths, func(q string) bool { return p == q || below(p, q) || below(q, p) })
}

var errRaced = errors.New("it changes while it is looked at: end what changes it, and try again")
