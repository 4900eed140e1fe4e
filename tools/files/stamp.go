package files

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"fantail/tools/permission"
)

// Stamps returns the state of the wanted files of the workspace, by their paths from there. It opens no file. It leaves
// out the files of git and package managers, except git's hooks.
func (tr *Tree) Stamps(wanted func(rel string) bool) map[string]permission.Stamp {
	out := map[string]permission.Stamp{}
	left := maxNames
	tr.stampDir(tr.Root, "", &left, wanted, out)
	return out
}

func (tr *Tree) stampDir(dir, rel string, left *int, wanted func(string) bool, out map[string]permission.Stamp) {
	list, _ := os.ReadDir(dir)
	for _, d := range list {
		if *left--; *left < 0 {
			return
		}
		p, r := filepath.Join(dir, d.Name()), filepath.Join(rel, d.Name())
		switch {
		case d.IsDir():
			switch d.Name() {
			case ".git": // of git's files only the hooks are run
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

// stamp returns the state of a file. A link is as new as the newer of itself and its target.
func stamp(p string, d fs.DirEntry) (permission.Stamp, bool) {
	fi, err := d.Info()
	if err != nil {
		return permission.Stamp{}, false
	}
	sys, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return permission.Stamp{}, false
	}
	i := identity(fi)
	s := permission.Stamp{Dev: i.dev, Ino: i.ino, Size: fi.Size(), Changed: changedAt(sys)}
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
