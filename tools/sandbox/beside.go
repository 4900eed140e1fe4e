package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	maxWords  = 1000 // words of a command line that are checked
	maxBeside = 16   // directories that are shown for them
)

// besides are the directories of the files that a command line names in the temporary directory. A command gets a
// temporary directory of its own, in which its program would be missing. For a file directly in the temporary
// directory, it is only that file. Links are followed, except in trees which commands write. environ has the PATH on
// which a script's interpreter is looked for.
func besides(theirs, words, environ []string) (all []string) {
	top := present(temporary)
	add := func(p string) {
		if within(top, p) && !slices.Contains(top, p) && !slices.Contains(all, p) && len(all) < maxBeside {
			all = append(all, p)
		}
	}
	words = slices.Clone(words[:min(len(words), maxWords)])
	for n := 0; n < len(words); n++ { // a script's interpreter is added to words
		w := words[n]
		if _, value, assigned := strings.Cut(w, "="); assigned {
			w = value
		}
		if !filepath.IsAbs(w) {
			continue
		}
		if is, ok := follow(w); !ok || is.through(theirs) {
			continue
		}
		file, err := filepath.EvalSymlinks(w)
		if err != nil {
			continue
		}
		if i, err := os.Stat(file); err != nil || !i.Mode().IsRegular() {
			continue
		}
		if by := interpreter(file, environ); by != "" && !slices.Contains(words, by) {
			words = append(words, by)
		}
		named, err := filepath.EvalSymlinks(filepath.Dir(w)) // also the directory of a link to the file
		if err != nil {
			continue
		}
		for _, p := range []string{filepath.Join(named, filepath.Base(w)), file} {
			if dir := filepath.Dir(p); slices.Contains(top, dir) {
				add(p)
			} else {
				for _, w := range whole(dir, top) {
					add(w)
				}
			}
		}
	}
	return slices.DeleteFunc(all, func(p string) bool {
		return slices.ContainsFunc(all, func(o string) bool { return o != p && in(p, o) })
	})
}

// whole are the directories that hold what a program in dir needs: a Node package needs the packages beside and above
// it, and a program in bin its libraries.
func whole(dir string, top []string) (all []string) {
	const modules = "/node_modules"
	if n := strings.Index(dir+"/", modules+"/"); n >= 0 {
		return []string{dir[:n+len(modules)]}
	}
	all = []string{dir}
	if up := filepath.Dir(dir); filepath.Base(dir) == "bin" && !slices.Contains(top, up) {
		all = []string{up}
	}
	there := func(path string) bool {
		_, err := os.Lstat(path)
		return err == nil
	}
	packed := false
	for at := dir; within(top, at) && !slices.Contains(top, at); at = filepath.Dir(at) {
		if !packed && there(filepath.Join(at, "package.json")) {
			packed, all = true, append(all, at)
		}
		if m := at + modules; there(m) {
			all = append(all, m)
		}
	}
	return all
}

// interpreter is the program that a script runs in, as its first line names it; "": the file is no script, or that is not
// found.
func interpreter(file string, environ []string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	line := make([]byte, 256)
	n, _ := f.Read(line)
	first, _, _ := strings.Cut(string(line[:n]), "\n")
	named, is := strings.CutPrefix(first, "#!")
	words := strings.Fields(named)
	if !is || len(words) == 0 {
		return ""
	}
	if filepath.Base(words[0]) != "env" {
		return words[0]
	}
	words = slices.DeleteFunc(words[1:], func(w string) bool { return strings.HasPrefix(w, "-") || strings.Contains(w, "=") })
	if len(words) == 0 || strings.Contains(words[0], "/") {
		return strings.Join(words[:min(1, len(words))], "")
	}
	for _, e := range environ {
		path, is := strings.CutPrefix(e, "PATH=")
		for _, dir := range filepath.SplitList(path) {
			at := filepath.Join(dir, words[0])
			if i, err := os.Stat(at); is && err == nil && i.Mode().IsRegular() && i.Mode()&0o111 != 0 {
				return at
			}
		}
	}
	return ""
}
