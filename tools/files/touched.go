package files

import (
	"os"
	"path/filepath"

	"fantail/tools/permission/shell"
)

// maxTouched is how many words of a command are looked up as files.
const maxTouched = 200

// Touched returns the paths of the workspace that a command works with, as far as its words tell: its directories, and
// the files and directories that it names. It is only a hint for the agent, so unknown paths are left out.
func Touched(root, command string) (paths []string) {
	s, err := shell.Parse(command)
	if err != nil {
		return nil
	}
	seen, looked := map[string]bool{}, 0
	by := &process{dir: root}
	look := func(dir, word string) {
		path := filepath.Join(root, dir, word)
		if filepath.IsAbs(word) {
			path = filepath.Clean(word)
		}
		if seen[path] || looked >= maxTouched || path == root {
			return
		}
		seen[path] = true
		looked++
		real, err := by.resolve(path)
		if rel, in := below(root, real); err == nil && in && rel != "." {
			if _, err := os.Lstat(real); err == nil {
				paths = append(paths, real)
			}
		}
	}
	for _, c := range s.Commands {
		dir, told := c.Dir(root)
		if !told {
			continue
		}
		look(dir, "")
		for _, w := range c.Words {
			for _, r := range w.Readings() {
				look(dir, r)
			}
		}
	}
	for _, w := range s.Reads {
		look("", w.Text)
	}
	return paths
}
