package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"fantail/tools/permit"
)

// Stamps says how the files of the workspace are that are wanted, by their paths
// from there. Nothing is opened. What git and package managers keep is left out,
// but for git's hooks.
func (tr *Tree) Stamps(wanted func(rel string) bool) map[string]permit.Stamp {
	out := map[string]permit.Stamp{}
	left := maxNames
	tr.stampDir(tr.Root, "", &left, wanted, out)
	return out
}

func (tr *Tree) stampDir(dir, rel string, left *int, wanted func(string) bool, out map[string]permit.Stamp) {
	list, _ := os.ReadDir(dir)
	for _, d := range list {
		if *left--; *left < 0 {
			return
		}
		p, r := filepath.Join(dir, d.Name()), filepath.Join(rel, d.Name())
		switch {
		case d.IsDir():
			switch d.Name() {
			case ".git": // of all git keeps only its hooks are run
				tr.stampDir(filepath.Join(p, "hooks"), filepath.Join(r, "hooks"), left, wanted, out)
			case "node_modules":
			default:
				tr.stampDir(p, r, left, wanted, out)
			}
		case wanted(r):
			if s, ok := stamp(p, d); ok {
				out[r] = s
			}
		}
	}
}

// stamp says how a file is. A link is as new as the newer of itself and what it leads to.
func stamp(p string, d fs.DirEntry) (permit.Stamp, bool) {
	fi, err := d.Info()
	if err != nil {
		return permit.Stamp{}, false
	}
	sys, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return permit.Stamp{}, false
	}
	i := identity(fi)
	s := permit.Stamp{Dev: i.dev, Ino: i.ino, Size: fi.Size(), Changed: changedAt(sys)}
	if fi.Mode()&fs.ModeSymlink == 0 {
		return s, true
	}
	to, err := os.Stat(p)
	if err != nil {
		return s, true
	}
	if sys, ok := to.Sys().(*syscall.Stat_t); ok && changedAt(sys).After(s.Changed) {
		s.Changed = changedAt(sys)
	}
	i = identity(to)
	s.Dev, s.Ino, s.Size = i.dev, i.ino, to.Size()
	return s, true
}
