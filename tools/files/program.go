package files

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Helpers for another program that walks in place of this one, and the checks of each file that it names.

// Program returns the absolute path of a program of that name in one of the directories of a PATH, which only its owner
// could have put there; "" if there is none. One inside the workspace does not count.
func (tr *Tree) Program(name, dirs string) string {
	for _, d := range filepath.SplitList(dirs) {
		if !filepath.IsAbs(d) {
			continue
		}
		p, err := resolve(filepath.Join(d, name))
		if err != nil {
			continue
		}
		fi, err := os.Lstat(p)
		if err != nil || !fi.Mode().IsRegular() || fi.Mode()&0o111 == 0 || fi.Mode()&0o002 != 0 {
			continue
		}
		if _, ok := below(tr.Root, p); !ok {
			return p
		}
	}
	return ""
}

// Stray says that the program which a shell in the workspace finds by that name is in the workspace, or in a place
// where anyone may have put it; "" if it is not, or if there is none.
func (tr *Tree) Stray(name, dirs string) string {
	for _, d := range filepath.SplitList(dirs) {
		p, err := resolve(filepath.Join(tr.absolute(d), name))
		if err != nil {
			continue
		}
		fi, err := os.Lstat(p)
		if err != nil || !fi.Mode().IsRegular() || fi.Mode()&0o111 == 0 {
			continue
		}
		if _, in := below(tr.Root, p); in || fi.Mode()&0o002 != 0 {
			return p + " is found as " + name
		}
		return ""
	}
	return ""
}

// Start is where the walk begins, counted from Base.
func (w *Walk) Start() string {
	rel, _ := below(w.Base(), w.from.Abs)
	return rel
}

// Rel turns a path that a program in Base names into one counted from where the walk
// begins; ok is false if it is not below that.
func (w *Walk) Rel(name string) (rel string, ok bool) {
	return below(w.from.Abs, filepath.Join(w.Base(), name))
}

// Shown returns a path that a program in Base names, in the form for people and models.
func (w *Walk) Shown(name string) string {
	rel, _ := w.Rel(name)
	return w.shown(rel)
}

// OpenNamed opens a file that a program in Base names; ok is false for a file that the walk would not have visited or
// opened.
func (w *Walk) OpenNamed(name string) (f *os.File, ok bool) {
	rel, ok := w.Rel(name)
	if !ok {
		return nil, false
	}
	abs := filepath.Join(w.Base(), name)
	fi, ok := isRegular(abs)
	if !ok || w.closed[identity(fi)] || w.barred(abs) {
		return nil, false
	}
	for _, p := range w.paths {
		if _, in := below(p, abs); in {
			return nil, false
		}
	}
	// ripgrep before version 14 forgets patterns of the directories above where it begins.
	if !w.All && w.ignored(name) {
		return nil, false
	}
	dir, err := w.tree.holdDir(filepath.Dir(abs), false)
	if err != nil {
		return nil, false
	}
	defer dir.Close()
	return w.Open(Entry{Rel: rel, Shown: w.shown(rel), Name: filepath.Base(abs), Dir: dir})
}

// isRegular reports whether a path without links holds a regular file.
func isRegular(p string) (fs.FileInfo, bool) {
	fi, err := os.Lstat(p)
	if err != nil || !fi.Mode().IsRegular() {
		return nil, false
	}
	at, err := filepath.EvalSymlinks(p)
	return fi, err == nil && at == p
}
