package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	mostWords  = 1000 // of a command line that are looked at
	mostBeside = 16   // directories that are shown for them
)

// besides are the directories in which the files of a command line lie, in a temporary directory: a command has one of its
// own in that place, and its program would not be there. Of what lies in the temporary directory itself only the file is. All
// are as they are once links are followed.
func besides(words []string) (all []string) {
	top := present(temporary)
	add := func(p string) {
		if within(top, p) && !slices.Contains(top, p) && !slices.Contains(all, p) && len(all) < mostBeside {
			all = append(all, p)
		}
	}
	for _, w := range words[:min(len(words), mostWords)] {
		if _, value, assigned := strings.Cut(w, "="); assigned {
			w = value
		}
		if !filepath.IsAbs(w) {
			continue
		}
		file, err := filepath.EvalSymlinks(w)
		if err != nil {
			continue
		}
		if i, err := os.Stat(file); err != nil || !i.Mode().IsRegular() {
			continue
		}
		named, err := filepath.EvalSymlinks(filepath.Dir(w)) // a link to the file lies there, too
		if err != nil {
			continue
		}
		for _, p := range []string{filepath.Join(named, filepath.Base(w)), file} {
			if dir := filepath.Dir(p); slices.Contains(top, dir) {
				add(p)
			} else {
				add(whole(dir, top))
			}
		}
	}
	return slices.DeleteFunc(all, func(p string) bool {
		return slices.ContainsFunc(all, func(o string) bool { return o != p && in(p, o) })
	})
}

// whole is the directory that has what a program in dir comes with: a package of Node has others beside it, and a program in
// bin its libraries.
func whole(dir string, top []string) string {
	const modules = "/node_modules"
	if n := strings.Index(dir+"/", modules+"/"); n >= 0 {
		return dir[:n+len(modules)]
	}
	if up := filepath.Dir(dir); filepath.Base(dir) == "bin" && !slices.Contains(top, up) {
		return up
	}
	return dir
}
