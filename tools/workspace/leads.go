package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fantail/tools/permit"
)

// Leads says where links lead a path of a command, if that is closed, secret or
// outside though its name is not.
func (tr *Tree) Leads(p string) string {
	p = tr.absolute(p)
	real, err := resolve(p)
	if err != nil { // what can't be looked at can't be opened
		return ""
	}
	if real == filepath.Clean(p) {
		if fi, err := os.Lstat(real); err != nil || !fi.Mode().IsRegular() {
			return ""
		} else if why := tr.holds(Target{Abs: real}); why != "" {
			return "holds " + why
		} else if links(fi) < 2 {
			return ""
		}
	}
	t, err := tr.Target(p, permit.Read)
	switch {
	case err != nil:
		return ""
	case t.forbidden != "" || t.Sensitive != "":
		return "leads to " + t.Abs + ": " + t.forbidden + t.Sensitive
	case !t.Inside:
		return "leads out of the workspace, to " + t.Abs
	case real != filepath.Clean(p) && slices.Contains(strings.Split(real, "/"), ".git"):
		return "leads into .git"
	}
	return ""
}

// maxMatches bounds how many files a pattern of a command is followed to.
const maxMatches = 2000

// LeadsAny is Leads for a pattern: it says so of a file that the pattern matches.
func (tr *Tree) LeadsAny(pattern string) string {
	p := tr.absolute(pattern)
	wild := 0
	for _, s := range strings.Split(p, "/") {
		if strings.ContainsAny(s, "*?[") {
			wild++
		}
	}
	if wild > 2 {
		return "is too wide a pattern to follow"
	}
	names, _ := filepath.Glob(p)
	if len(names) > maxMatches {
		return "matches too many files to follow"
	}
	for _, n := range names {
		if where := tr.Leads(n); where != "" {
			return "matches " + filepath.Base(n) + ", which " + where
		}
	}
	return ""
}

// absolute is a path that may count from the workspace.
func (tr *Tree) absolute(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(tr.Root, p)
}
