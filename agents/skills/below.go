package skills

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"fantail/tools/tree"
)

// mostBelow is how many directories are kept that tools touched; what others bring nobody finds.
const mostBelow = 1000

// below are the directories of the workspace below those where the human works, in the order in which tools first touched
// them: the name that something has which one of them brings never passes to something that is found later.
type below struct {
	mu    sync.Mutex
	dirs  []string // from the root
	known map[string]bool
	moved func(dirs []string) // hears in which directories changes matter; nil: nobody

	moving sync.Mutex // moved hears of one thing at a time
}

// Touch finds what directories of the workspace bring that tools touched: absolute, resolved, and not those of which the
// skills are there from the start. It reads them, each the first time. s may be nil.
func (s *Shelf) Touch(dirs []string) {
	if s == nil {
		return
	}
	var fresh []string
	s.below.mu.Lock()
	for _, dir := range dirs {
		rel, err := filepath.Rel(s.o.Root, dir)
		if err != nil || !filepath.IsLocal(rel) || s.below.known[rel] || len(s.below.dirs) >= mostBelow || slices.Contains(s.o.upward(), rel) {
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

// touched are the directories that tools touched, in their order.
func (s *Shelf) touched() []string {
	s.below.mu.Lock()
	defer s.below.mu.Unlock()
	return slices.Clone(s.below.dirs)
}

// Moves has hear told, at once and whenever that changes, in which directories a change may change what Now returns. Some
// of them are not there.
func (s *Shelf) Moves(hear func(dirs []string)) {
	s.below.mu.Lock()
	s.below.moved = hear
	s.below.mu.Unlock()
	s.moves()
}

// moves tells who watches in which directories changes matter now.
func (s *Shelf) moves() {
	s.below.moving.Lock()
	defer s.below.moving.Unlock()
	s.below.mu.Lock()
	hear := s.below.moved
	s.below.mu.Unlock()
	if hear != nil {
		hear(s.Dirs())
	}
}

// lower adds the directories in which a change may change what those bring that tools touched. There may be many, so that of
// what is not there nothing is named but where it would come.
func (s *Shelf) lower(dirs map[string]bool) {
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

// bring are those of the directories that may bring something.
func (o *Options) bring(dirs []string) (some []string) {
	h := tree.Tree{Dir: o.Root, Bound: true}.Open()
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

// apart gives something of a directory below a name that nothing else has: its own, with that of the directory before it, if
// the own is taken. It says why it has none.
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
