package files

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"fantail/tools/permission"
)

// id identifies a file under all its names.
type id struct{ dev, ino uint64 }

// identity returns the file's id.
func identity(fi fs.FileInfo) id {
	if s, ok := fi.Sys().(*syscall.Stat_t); ok {
		return id{uint64(s.Dev), uint64(s.Ino)}
	}
	return id{}
}

// links is how many names a file has.
func links(fi fs.FileInfo) uint64 {
	if s, ok := fi.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 1
}

// forbidden says why the target may never be opened.
func (tr *Tree) forbidden(t Target, k permission.Kind) string {
	for _, p := range tr.private() {
		if _, ok := below(p, t.Abs); ok {
			return t.raw + " is Fantail's own (its database, sockets and configuration are closed to tools)"
		}
	}
	if fi, err := os.Lstat(t.Abs); err == nil && tr.privateIDs()[identity(fi)] {
		return t.raw + " is another name of a file of Fantail's own (its database, sockets and configuration are closed to tools)"
	}
	if k == permission.Write {
		for _, s := range strings.Split(t.Abs, "/") {
			if strings.EqualFold(s, ".git") {
				return t.raw + " is git's own: hooks and configuration run programs, so file tools never write there. Use git through bash"
			}
		}
	}
	return ""
}

// private returns the private paths, resolved, with the files that SQLite puts next to a database.
func (tr *Tree) private() []string {
	var out []string
	for _, p := range tr.Private {
		abs, err := resolve(p)
		if err != nil {
			abs = filepath.Clean(p)
		}
		out = append(out, abs)
		if fi, err := os.Lstat(abs); err == nil && !fi.IsDir() {
			out = append(out, abs+"-wal", abs+"-shm", abs+"-journal")
		}
	}
	return out
}

// privateIDs are the private files and directories by identity: other names of
// them are closed too. Directories are read, files never opened.
func (tr *Tree) privateIDs() map[id]bool {
	out := map[id]bool{}
	own, err := resolve(tr.Outputs)
	if tr.Outputs == "" || err != nil {
		own = ""
	}
	for _, p := range tr.private() {
		identities(p, 3, own, out)
	}
	return out
}

// identities adds p and, to that depth, the files below it. It leaves out the directories that lead to own: they hold
// many files, and are judged by name.
func identities(p string, depth int, own string, out map[id]bool) {
	fi, err := os.Lstat(p)
	if err != nil || len(out) >= maxPrivate {
		return
	}
	out[identity(fi)] = true
	if !fi.IsDir() || depth == 0 {
		return
	}
	names, err := os.ReadDir(p)
	if err != nil {
		return
	}
	for _, n := range names {
		q := filepath.Join(p, n.Name())
		if _, leads := below(q, own); !leads || own == "" {
			identities(q, depth-1, own, out)
		}
	}
}
