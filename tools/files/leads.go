package files

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fantail/tools/permission"
)

// Leads says where links lead a path of a command, if the target is closed, secret or outside though the name is not.
func (tr *Tree) Leads(p string) string {
	p = tr.absolute(p)
	by := &process{dir: tr.Root}
	real, err := by.resolve(p)
	if err != nil { // a file that can't be read can't be opened
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
	t, err := tr.target(p, permission.Read, by)
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

const (
	maxMatches = 2000   // matches of a command's pattern that are followed
	maxListed  = 20_000 // names that are compared with one
)

// LeadsAny is Leads for the files that a pattern matches.
func (tr *Tree) LeadsAny(pattern string) string {
	names, why := matches(tr.absolute(pattern))
	if why != "" {
		return why
	}
	for _, n := range names {
		if where := tr.Leads(n); where != "" {
			return "matches " + filepath.Base(n) + ", which " + where
		}
	}
	return ""
}

// matches returns the files that an absolute pattern matches; why says that they are too many. It is [filepath.Glob]
// with a limit on the entries that it lists.
func matches(pattern string) (all []string, why string) {
	const tooMany = "matches too many files to look at"
	all = []string{"/"}
	listed := 0
	for part := range strings.SplitSeq(strings.Trim(filepath.Clean(pattern), "/"), "/") {
		var next []string
		for _, dir := range all {
			if !strings.ContainsAny(part, `*?[\`) {
				next = append(next, filepath.Join(dir, part))
				continue
			}
			list, _ := os.ReadDir(dir) // an unreadable directory matches nothing
			if listed += len(list); listed > maxListed {
				return nil, tooMany
			}
			for _, e := range list {
				if is, _ := filepath.Match(part, e.Name()); is {
					next = append(next, filepath.Join(dir, e.Name()))
				}
			}
			if len(next) > maxMatches {
				return nil, tooMany
			}
		}
		all = next
	}
	return slices.DeleteFunc(all, func(p string) bool {
		_, err := os.Lstat(p)
		return err != nil
	}), ""
}

// absolute is a path that may count from the workspace.
func (tr *Tree) absolute(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(tr.Root, p)
}
