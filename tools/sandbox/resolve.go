package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxLinks bounds the links on the way to one path.
const maxLinks = 40

// way is where a path leads.
type way struct {
	real  string   // without links; the part that does not exist stays as it was written
	links []string // the places of the links on the way to it, without links themselves
}

// follow finds where an absolute path leads; false: unknown.
func follow(path string) (w way, ok bool) {
	w.real = "/"
	parts := strings.Split(path, "/")
	for len(parts) > 0 {
		name := parts[0]
		parts = parts[1:]
		if name == "" || name == "." {
			continue
		}
		if name == ".." {
			w.real = filepath.Dir(w.real)
			continue
		}
		next := filepath.Join(w.real, name)
		if i, err := os.Lstat(next); err != nil || i.Mode()&os.ModeSymlink == 0 {
			w.real = next
			continue
		}
		to, err := os.Readlink(next)
		if w.links = append(w.links, next); err != nil || len(w.links) > maxLinks {
			return w, false
		}
		if filepath.IsAbs(to) {
			w.real = "/"
		}
		parts = append(strings.Split(to, "/"), parts...)
	}
	return w, filepath.IsAbs(path)
}

// through reports whether a link on the way is in one of the trees: any process that may write there may have made it.
func (w way) through(trees []string) bool {
	return slices.ContainsFunc(w.links, func(l string) bool { return within(trees, l) })
}

// granted are the trees that the paths lead to and that are writable in addition to writable. A path that goes through
// a link which a command may have made leads to none: that command would choose what the next one may write. A path in
// writable needs no grant.
func granted(writable, paths []string) (all []string) {
	ways := make([]way, 0, len(paths))
	for _, p := range paths {
		if w, ok := follow(p); ok && !w.through(writable) && !within(writable, w.real) {
			ways = append(ways, w)
		}
	}
	trees := slices.Clone(writable) // a grant may lead through another one
	for _, w := range ways {
		trees = append(trees, w.real)
	}
	for _, w := range ways {
		if !w.through(trees) && !slices.Contains(all, w.real) {
			all = append(all, w.real)
		}
	}
	return all
}

// shows are the existing targets of the paths, without those that a command may have redirected.
func shows(writable, paths []string) (all []string) {
	for _, p := range paths {
		w, ok := follow(p)
		if _, err := os.Lstat(w.real); ok && err == nil && !w.through(writable) && !slices.Contains(all, w.real) {
			all = append(all, w.real)
		}
	}
	return all
}
