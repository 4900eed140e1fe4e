package tools

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

var errEnough = errors.New("enough")

// entry is what a walk meets.
type entry struct {
	rel  string   // from where the walk began
	show string   // as people read it
	name string   // in dir
	dir  *os.Root // held while the entry is visited
	kind fs.FileMode
}

// walk visits what stands below a directory, by path, without following
// symbolic links. It passes over what git ignores, git's own files, and what is
// closed or sensitive.
type walk struct {
	env    *Env
	from   target
	all    bool // also what git ignores
	closed map[id]bool
	paths  []string // closed paths
	visit  func(entry) error

	known     map[string][]gitignore.Pattern // by directory, with those above it
	secrets   map[id]string                  // files that hold secrets, once one of several names was met
	sensitive int                            // files passed over
	denied    int                            // directories that could not be read
}

// newWalk prepares a walk; it opens nothing.
func (e *Env) newWalk(from target, all bool, visit func(entry) error) *walk {
	return &walk{env: e, from: from, all: all, closed: e.privateIDs(), paths: e.private(), visit: visit}
}

// run walks; it returns nil when visit ended it with errEnough.
func (w *walk) run(ctx context.Context) error {
	if err := w.from.refused(); err != nil {
		return err
	}
	dir, err := w.env.holdDir(w.from.abs, false)
	if err != nil {
		return err
	}
	defer dir.Close()
	ignore, ignored := w.inherited()
	if ignored { // named by the caller: what git ignores there is wanted
		w.all = true
	}
	err = w.step(ctx, dir, "", ignore)
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// base is the directory ignore patterns count from.
func (w *walk) base() string {
	if _, ok := below(w.env.Root, w.from.abs); ok {
		return w.env.Root
	}
	return w.from.abs
}

// inherited reads the patterns of the directories above the walk, and reports
// whether they ignore where it begins.
func (w *walk) inherited() (ps []gitignore.Pattern, ignored bool) {
	base := w.base()
	rel, _ := below(base, w.from.abs)
	if rel == "." {
		rel = ""
	}
	ps = w.patterns(base, nil, ".git/info/exclude")
	var domain []string
	for _, name := range strings.Split(rel, "/") {
		if name == "" {
			continue
		}
		ps = append(ps, w.patterns(filepath.Join(append([]string{base}, domain...)...), domain, ".gitignore")...)
		domain = append(slices.Clip(domain), name)
		if gitignore.NewMatcher(ps).Match(domain, true) {
			return ps, true
		}
	}
	return ps, false
}

// ignored reports whether git ignores a file, named from where patterns count,
// or a directory that holds it.
func (w *walk) ignored(name string) bool {
	parts := strings.Split(path.Clean(name), "/")
	dir := w.base()
	if w.known == nil {
		ps := w.patterns(dir, nil, ".git/info/exclude")
		w.known = map[string][]gitignore.Pattern{dir: append(ps, w.patterns(dir, nil, ".gitignore")...)}
	}
	var ps []gitignore.Pattern
	for i := range parts {
		have, ok := w.known[dir]
		if !ok {
			have = append(slices.Clip(ps), w.patterns(dir, parts[:i], ".gitignore")...)
			w.known[dir] = have
		}
		ps = have
		if gitignore.NewMatcher(ps).Match(parts[:i+1], i < len(parts)-1) {
			return true
		}
		dir = filepath.Join(dir, parts[i])
	}
	return false
}

// patterns reads one ignore file of a directory by its path.
func (w *walk) patterns(dir string, domain []string, file string) []gitignore.Pattern {
	r, err := w.env.holdDir(filepath.Dir(filepath.Join(dir, file)), false)
	if err != nil {
		return nil
	}
	defer r.Close()
	return w.read(r, path.Base(file), domain)
}

// read reads one ignore file of a held directory.
func (w *walk) read(dir *os.Root, name string, domain []string) (ps []gitignore.Pattern) {
	f, _, err := openIn(dir, name, w.closed)
	if err != nil {
		return nil
	}
	defer f.Close()
	s := bufio.NewScanner(io.LimitReader(f, 1<<20))
	for s.Scan() {
		if l := strings.TrimSuffix(s.Text(), "\r"); strings.TrimSpace(l) != "" && !strings.HasPrefix(l, "#") {
			ps = append(ps, gitignore.ParsePattern(l, domain))
		}
	}
	return ps
}

// step visits one directory.
func (w *walk) step(ctx context.Context, dir *os.Root, rel string, ignore []gitignore.Pattern) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d, err := dir.Open(".")
	if err != nil {
		w.denied++
		return nil
	}
	list, err := d.ReadDir(-1)
	d.Close()
	if err != nil {
		w.denied++
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	domain := w.domain(rel)
	if !w.all && slices.ContainsFunc(list, func(d fs.DirEntry) bool { return d.Name() == ".gitignore" }) {
		ignore = append(slices.Clip(ignore), w.read(dir, ".gitignore", domain)...)
	}
	match := gitignore.NewMatcher(ignore)
	for _, d := range list {
		name := d.Name()
		if name == ".git" || !w.all && match.Match(append(slices.Clip(domain), name), d.IsDir()) {
			continue
		}
		en := entry{rel: path.Join(rel, name), name: name, dir: dir, kind: d.Type()}
		en.show = w.shown(en.rel)
		if w.shut(dir, en) {
			continue
		}
		err := w.visit(en)
		if errors.Is(err, fs.SkipDir) {
			continue
		}
		if err != nil {
			return err
		}
		if d.IsDir() {
			sub, err := dir.OpenRoot(name)
			if err != nil {
				w.denied++
				continue
			}
			// A directory that became a link meanwhile leads elsewhere.
			if standsAt(sub, filepath.Join(w.from.abs, en.rel)) == nil {
				err = w.step(ctx, sub, en.rel, ignore)
			}
			sub.Close()
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// domain is a directory of the walk as ignore patterns count it.
func (w *walk) domain(rel string) []string {
	p, _ := below(w.base(), filepath.Join(w.from.abs, rel))
	if p == "." || p == "" {
		return nil
	}
	return strings.Split(p, "/")
}

// shown is a path of the walk as people read it.
func (w *walk) shown(rel string) string {
	if w.from.inside && w.from.rel != "." {
		return path.Join(w.from.rel, rel)
	}
	if w.from.inside {
		return rel
	}
	return path.Join(w.from.abs, rel)
}

// shut reports whether an entry is closed to tools: by its path or its identity.
func (w *walk) shut(dir *os.Root, en entry) bool {
	abs := filepath.Join(w.from.abs, en.rel)
	for _, p := range w.paths {
		if _, ok := below(p, abs); ok {
			return true
		}
	}
	if len(w.closed) == 0 {
		return false
	}
	fi, err := dir.Lstat(en.name)
	return err == nil && w.closed[identity(fi)]
}
