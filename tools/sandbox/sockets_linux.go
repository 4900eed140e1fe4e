package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// listening are the sockets in the file system that a process listens at. The kernel knows the name that each was
// given, relative to the directory of its maker, but not the names it got later.
func listening() (all []string) {
	text, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		return nil
	}
	looked := map[string]bool{}
	beside := func(name string) { // a socket is usually renamed or linked in the directory of its first name
		dir := filepath.Dir(name)
		if looked[dir] {
			return
		}
		looked[dir] = true
		list, _ := os.ReadDir(dir)
		for _, e := range list {
			if e.Type()&os.ModeSocket != 0 {
				all = append(all, filepath.Join(dir, e.Name()))
			}
		}
	}
	var dirs []string
	for line := range strings.Lines(string(text)) {
		name := strings.TrimSuffix(line, "\n")
		for range 7 { // the fields before the name, which may have spaces
			_, name, _ = strings.Cut(strings.TrimLeft(name, " "), " ")
		}
		switch {
		case name == "" || name[0] == '@' || name == "Path":
		case !filepath.IsAbs(name):
			if dirs == nil {
				dirs = places()
			}
			for _, d := range dirs {
				if at := filepath.Join(d, name); isSocket(at) {
					all = append(all, at)
				}
			}
		case in(name, running):
		default:
			if info, err := os.Lstat(name); err == nil && links(info) == 1 {
				all = append(all, name)
			} else {
				beside(name)
			}
		}
	}
	return all
}

func isSocket(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&os.ModeSocket != 0
}

// places are the directories that processes are in.
func places() (all []string) {
	list, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, l := range list {
		if d, err := os.Readlink(l); err == nil && !slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	return all
}

// links is how many names a file has.
func links(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}
