package git

import (
	"os"
	"path/filepath"
	"strings"
)

// Outside returns the directories outside of root that git writes for the work tree there: those of a linked work tree
// or a submodule, whose .git is a file that leads to them. They count only if they lead back to root: a command that
// can write that file must not extend what commands may write. All are absolute and hold no link.
func Outside(root string) []string {
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil
	}
	if fi, err := os.Lstat(filepath.Join(root, ".git")); err != nil || !fi.Mode().IsRegular() {
		return nil
	}
	g := RepositoryOf(root)
	if g, err = filepath.EvalSymlinks(g); err != nil || g == "" || g == root || strings.HasPrefix(g, root+"/") {
		return nil
	}
	if common, ok := linked(g, root); ok {
		return []string{common, g}
	}
	if whole(g) && worksFor(g, root) {
		return []string{g}
	}
	return nil
}

// linked returns the repository whose linked work tree at root has the directory g.
func linked(g, root string) (common string, ok bool) {
	back, err := readSmall(filepath.Join(g, "gitdir"), 4096)
	if err != nil || !leads(g, filepath.Dir(strings.TrimSpace(back)), root) {
		return "", false
	}
	to, err := readSmall(filepath.Join(g, "commondir"), 4096)
	common = filepath.Dir(filepath.Dir(g))
	return common, err == nil && leads(g, strings.TrimSpace(to), common) && whole(common)
}

// worksFor reports whether the configuration of g, a submodule's, says that its work tree is root.
func worksFor(g, root string) bool {
	text, err := readSmall(filepath.Join(g, "config"), maxConfig)
	if err != nil {
		return false
	}
	all, err := parse(text)
	tree := ""
	for _, s := range all {
		if s.section == "core" && s.name == "worktree" {
			tree = s.value
		}
	}
	return err == nil && tree != "" && leads(g, tree, root)
}

// leads reports whether a path that counts from dir is that directory.
func leads(dir, path, to string) bool {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	real, err := filepath.EvalSymlinks(path)
	return err == nil && real == to
}

// whole reports whether a directory holds a repository.
func whole(dir string) bool {
	for _, n := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Lstat(filepath.Join(dir, n)); err != nil {
			return false
		}
	}
	return true
}
