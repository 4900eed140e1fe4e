package skills

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"fantail/tools/files"
)

// maxBelow is how many touched directories are remembered; further ones are ignored.
const maxBelow = 1000

// below are the directories that tools touched, below those where the human works, in the order of the first touch: a
// name found in an earlier one never passes to an item that is found later.
type below struct {
	mu    sync.Mutex
	dirs  []string // from the root
	known map[string]bool
	moved func(dirs []string) // called with the directories in which changes matter; nil: off

	moving sync.Mutex // serialises the calls of moved
}

// Touch finds the items of directories that tools touched: absolute, resolved, and without those whose skills are
// there from the start. It reads each of them the first time. s may be nil.
func (s *Catalog) Touch(dirs []string) {
	if s == nil {
		return
	}
	var fresh []string
	s.below.mu.Lock()
	for _, dir := range dirs {
		rel, err := filepath.Rel(s.o.Root, dir)
		if err != nil || !filepath.IsLocal(rel) || s.below.known[rel] || len(s.below.dirs) >= maxBelow || slices.Contains(s.o.upward(), rel) {
			continue
		}
		if s.below.known == nil {
			s.below.known = map[string]bool{}
		}
		s.below.known[rel], s.below.dirs, fresh = true, append(s.below.dirs, rel), append(fresh, rel)
	}
	s.below.mu.Unlock()
	switch {
	case len(fresh) == 0:
	case len(s.o.bring(fresh)) > 0:
		s.Reread()
	default:
		s.moves()
	}
}

// touched returns the directories that tools touched, in their order.
func (s *Catalog) touched() []string {
	s.below.mu.Lock()
	defer s.below.mu.Unlock()
	return slices.Clone(s.below.dirs)
}

// Moves has hear called, at once and after each change, with the directories in which a change may change what Now
// returns. Some of them may not exist.
func (s *Catalog) Moves(hear func(dirs []string)) {
	s.below.mu.Lock()
	s.below.moved = hear
	s.below.mu.Unlock()
	s.moves()
}

// moves passes the directories in which changes matter to the watcher.
func (s *Catalog) moves() {
	s.below.moving.Lock()
	defer s.below.moving.Unlock()
	s.below.mu.Lock()
	hear := s.below.moved
	s.below.mu.Unlock()
	if hear != nil {
		hear(s.Dirs())
	}
}

// lower adds the directories in which a change may affect the items of touched directories. There may be many, so of
// those that do not exist it adds only the parent in which they would appear.
func (s *Catalog) lower(dirs map[string]bool) {
	is := func(path string) bool {
		i, err := os.Lstat(path)
		return err == nil && i.IsDir()
	}
	for _, at := range s.touched() {
		dir := filepath.Join(s.o.Root, at)
		dirs[dir] = true
		for _, l := range lower {
			in := filepath.Join(dir, l.dir)
			if up := filepath.Dir(in); dirs[up] || is(up) {
				dirs[up] = true
				if is(in) {
					dirs[in] = true
				}
			}
		}
	}
}

// bring returns those of the directories that may have items.
func (o *Options) bring(dirs []string) (some []string) {
	h := files.Root{Dir: o.Root, Bound: true}.Open()
	defer h.Close()
	for _, dir := range dirs {
		h.Near(dir)
		if slices.ContainsFunc(lower, func(l source) bool {
			es, err := h.List(filepath.Join(dir, l.dir), 1)
			return len(es) > 0 || err != nil
		}) {
			some = append(some, dir)
		}
	}
	return some
}

// apart gives an item of a touched directory a unique name: its own, with its directory's name before it if its own is
// taken. It returns why it can't.
func (f *finder) apart(i *Item) (out string) {
	taken := func(name string) string {
		for _, k := range []Kind{Skill, Command} { // people call both in one way
			if t := f.l.by[k][name]; t != nil {
				return t.Source
			}
		}
		return ""
	}
	by := taken(i.Name)
	if by == "" {
		return ""
	}
	long := strings.ReplaceAll(filepath.ToSlash(i.Below), "/", ":") + ":" + i.Name
	for part := range strings.SplitSeq(long, ":") {
		if !nameForm.MatchString(part) || part == ".." {
			return "shadowed by " + by + ": the path of its directory does not do as the beginning of a name"
		}
	}
	if also := taken(long); also != "" {
		return "shadowed by " + also
	}
	if i.Slash == i.Name {
		i.Slash = long
	}
	i.Name = long
	return ""
}
