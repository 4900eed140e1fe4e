package workspace

import (
	"path/filepath"

	shell "fantail/tools/permit/bash"
)

// mostTouched is how many words of a command are looked for among the files.
const mostTouched = 200

// Touched returns what of the workspace a command works with, as far as its words tell: the directories that it goes to, and the
// files and directories that it names. It only says what an agent may want to know, so what can't be told is left away.
func Touched(root, command string) (paths []string) {
	s, err := shell.Parse(command)
	if err != nil {
		return nil
	}
	seen, looked := map[string]bool{}, 0
	look := func(dir, word string) {
		path := filepath.Join(root, dir, word)
		if filepath.IsAbs(word) {
			path = filepath.Clean(word)
		}
		if seen[path] || looked >= mostTouched || path == root {
			return
		}
		seen[path] = true
		looked++
		real, err := filepath.EvalSymlinks(path)
		if rel, out := filepath.Rel(root, real); err == nil && out == nil && filepath.IsLocal(rel) && rel != "." {
			paths = append(paths, real)
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
