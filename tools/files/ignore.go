package files

import (
	"bufio"
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// Base is the directory that ignore patterns count from.
func (w *Walk) Base() string {
	if _, ok := below(w.tree.Root, w.from.Abs); ok {
		return w.tree.Root
	}
	return w.from.Abs
}

// domain is a directory of the walk as ignore patterns count it.
func (w *Walk) domain(rel string) []string {
	p, _ := below(w.Base(), filepath.Join(w.from.Abs, rel))
	if p == "." || p == "" {
		return nil
	}
	return strings.Split(p, "/")
}

// inherited reads the patterns of the directories above the walk, and reports
// whether they ignore where it begins.
func (w *Walk) inherited() (ps []gitignore.Pattern, ignored bool) {
	base := w.Base()
	rel, _ := below(base, w.from.Abs)
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

// ignored reports whether git ignores a file, named relative to the patterns' directory, or a directory above it.
func (w *Walk) ignored(name string) bool {
	parts := strings.Split(path.Clean(name), "/")
	dir := w.Base()
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
func (w *Walk) patterns(dir string, domain []string, file string) []gitignore.Pattern {
	r, err := w.tree.holdDir(filepath.Dir(filepath.Join(dir, file)), false)
	if err != nil {
		return nil
	}
	defer r.Close()
	return w.read(r, path.Base(file), domain)
}

// read reads one ignore file of an open directory.
func (w *Walk) read(dir *os.Root, name string, domain []string) (ps []gitignore.Pattern) {
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

// PlainIgnores reports whether another program may make this walk: whether the ignore files that it would read are
// plain files or missing. It would open anything: a pipe would block it for ever, and a link to /dev/zero would use up
// the memory.
func (w *Walk) PlainIgnores(ctx context.Context) (bool, error) {
	dir, err := w.tree.holdDir(w.from.Abs, false)
	if err != nil {
		return false, err
	}
	dir.Close()
	ignore, ignored := w.inherited()
	w.All = w.All || ignored
	return w.All || w.plainAbove() && w.plainBelow(ctx, w.from.Abs, ignore), nil
}

// plainAbove is PlainIgnores for the directories above the walk.
func (w *Walk) plainAbove() bool {
	for dir := w.from.Abs; ; dir = filepath.Dir(dir) {
		for _, name := range []string{".gitignore", ".git/info/exclude"} {
			if fi, err := os.Lstat(filepath.Join(dir, name)); err == nil && !fi.Mode().IsRegular() {
				return false
			}
		}
		if dir == "/" {
			return true
		}
	}
}

// plainBelow is PlainIgnores for the directories of the walk that git does not ignore.
func (w *Walk) plainBelow(ctx context.Context, dir string, ignore []gitignore.Pattern) bool {
	list, err := os.ReadDir(dir)
	if err != nil || ctx.Err() != nil { // the program can't read it either, or is not going to run
		return true
	}
	rel, _ := below(w.from.Abs, dir)
	domain := w.domain(rel)
	if i := slices.IndexFunc(list, func(d fs.DirEntry) bool { return d.Name() == ".gitignore" }); i >= 0 {
		if !list[i].Type().IsRegular() {
			return false
		}
		ignore = append(slices.Clip(ignore), w.patterns(dir, domain, ".gitignore")...)
	}
	match := gitignore.NewMatcher(ignore)
	for _, d := range list {
		if !d.IsDir() || d.Name() == ".git" || match.Match(append(slices.Clip(domain), d.Name()), true) {
			continue
		}
		if !w.plainBelow(ctx, filepath.Join(dir, d.Name()), ignore) {
			return false
		}
	}
	return true
}
