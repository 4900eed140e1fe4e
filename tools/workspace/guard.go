package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"fantail/tools/permit/filenames"
)

// guard says why writing the target asks where writing is free; always: in every
// mode, since agents obey it.
func (tr *Tree) guard(t Target) (why string, always bool) {
	name := t.Abs
	if t.Inside {
		name = t.Rel
	}
	if why := filenames.Obeyed(name); why != "" {
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
	if why := filenames.SelfRun(name); why != "" {
		return why, false
	}
	if fi, err := os.Lstat(t.Abs); err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
		return fmt.Sprintf("a program (mode %04o)", fi.Mode().Perm()), false
	}
	return t.bare(), false
}

// Runs says what that runs by itself stands at a path of a command, or at one that a pattern matches: what tells this
// program to run something, or what the user agreed to have run, or more than can be looked at. "" if nothing does.
func (tr *Tree) Runs(path string) string {
	abs := tr.absolute(path)
	some := []string{abs}
	if strings.ContainsAny(path, "*?[") {
		found, why := matches(abs)
		if why != "" {
			return "what may run by itself (" + path + " " + why + ")"
		}
		some = found
	}
	for _, p := range some {
		real, err := resolve(p)
		if err != nil {
			continue // what can't be looked at can't be changed
		}
		name := real
		if rel, inside := below(tr.Root, real); inside {
			name = rel
		}
		for _, p := range []string{name, name + "/settings.json", name + "/config.toml"} { // it may be their directory
			if why := filenames.Configures(p); why != "" {
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

// obeyed says why agents obey a file though its name does not tell: a link of such
// a name leads to it. Links are looked for in the workspace and in its directories.
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
		why = filenames.Obeyed(name)
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

// bareParts are what a repository's directory holds beside HEAD.
var bareParts = map[string]bool{"config": true, "config.worktree": true, "hooks": true, "objects": true, "refs": true, "info": true, "packed-refs": true, "commondir": true}

// bare says whether the target is a part of what makes a directory a bare
// repository, whose configuration git obeys for whoever enters it. It is none
// without HEAD, which is asked for by its name; here are the parts beside one.
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
