package files

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"fantail/tools/permission/shell"
)

// guard says why writing the target asks where writing is free. always: it asks in every mode, because agents obey it.
func (tr *Tree) guard(t Target) (why string, always bool) {
	name := t.Abs
	if t.Inside {
		name = t.Rel
	}
	if why := shell.Obeyed(name); why != "" {
		return why, true
	}
	if why := tr.obeyed(t.Abs); why != "" {
		return why, true
	}
	if tr.Guards != nil {
		if why := tr.Guards(t.Abs); why != "" {
			return why, true
		}
	}
	if why := shell.SelfRun(name); why != "" {
		return why, false
	}
	if why := WhyProtected(tr.Root, nil, tr.Home, t.Abs); why != "" {
		return why, false
	}
	if fi, err := os.Lstat(t.Abs); err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
		return fmt.Sprintf("a program (mode %04o)", fi.Mode().Perm()), false
	}
	return t.bare(), false
}

// Runs says why the file at a path of a command, or at one that a pattern matches, runs by itself: it tells this
// program to run something, or the user agreed to have it run, or there are too many files to check. It returns "" if
// none does.
func (tr *Tree) Runs(path string) string {
	by := &process{dir: tr.Root}
	abs := tr.absolute(path)
	if strings.ContainsAny(path, "*?[") {
		abs = by.begin(abs)
	}
	some := []string{abs}
	if strings.ContainsAny(path, "*?[") && !by.has(abs) {
		found, why := matches(abs)
		if why != "" {
			return "what may run by itself (" + path + " " + why + ")"
		}
		some = found
	}
	for _, p := range some {
		real, err := by.resolve(p)
		if err != nil {
			continue // a file that can't be read can't be changed
		}
		name := real
		if rel, inside := below(tr.Root, real); inside {
			name = rel
		}
		for _, p := range []string{name, name + "/settings.json", name + "/config.toml"} { // it may be their directory
			if why := shell.Configures(p); why != "" {
				return why
			}
		}
		if tr.Guards != nil {
			if why := tr.Guards(real); why != "" {
				return why
			}
		}
	}
	return ""
}

// obeyed says why agents obey a file whose own name does not show that: a link with an obeyed name leads to it. It
// looks for links in the workspace and in its directories.
func (tr *Tree) obeyed(abs string) string {
	list, _ := os.ReadDir(tr.Root)
	for _, d := range list {
		if why := tr.obeyedLink(d, "", abs); why != "" {
			return why
		}
		if !d.IsDir() || d.Name() == "node_modules" || d.Name() == ".git" {
			continue
		}
		below, _ := os.ReadDir(filepath.Join(tr.Root, d.Name()))
		for _, b := range below {
			if why := tr.obeyedLink(b, d.Name(), abs); why != "" {
				return why
			}
		}
	}
	return ""
}

func (tr *Tree) obeyedLink(d fs.DirEntry, dir, abs string) string {
	name := filepath.Join(dir, d.Name())
	why := ""
	if d.Type()&fs.ModeSymlink != 0 {
		why = shell.Obeyed(name)
	}
	if why == "" {
		return ""
	}
	to, err := resolve(filepath.Join(tr.Root, name))
	if _, in := below(to, abs); err == nil && in {
		return why
	}
	return ""
}

// bareParts are the names in a repository's directory besides HEAD.
var bareParts = map[string]bool{"config": true, "config.worktree": true, "hooks": true, "objects": true, "refs": true, "info": true, "packed-refs": true, "commondir": true}

// bare says whether the target is a part of a directory that git takes for a bare repository, whose configuration it
// obeys in that directory. Without HEAD it is none; HEAD itself is guarded by its name, and bare checks the parts next
// to one.
func (t Target) bare() string {
	name := filepath.Base(t.Abs)
	for d := filepath.Dir(t.Abs); d != "/"; name, d = filepath.Base(d), filepath.Dir(d) {
		if !bareParts[strings.ToLower(name)] {
			continue
		}
		if fi, err := os.Lstat(filepath.Join(d, "HEAD")); err == nil && !fi.IsDir() {
			return "what git takes for a repository (" + filepath.Base(d) + "/" + name + ")"
		}
	}
	return ""
}
