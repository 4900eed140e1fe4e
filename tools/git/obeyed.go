package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const (
	maxIncluded = 20  // files of a configuration that include one another
	maxModules  = 200 // directories of submodules and linked work trees below .git
)

// obeyedOf are the entries of a repository's directory that can make git run a program.
var obeyedOf = []string{"hooks", "config", "config.worktree", "commondir", "gitdir", "info/attributes"}

// Obeyed returns the paths through which git can be made to run a program for the work tree at root, including those
// that do not exist yet: the configuration and the hooks of its repository, of its submodules and of its linked work
// trees, the files that the configuration leads to, and the files .git that say where a repository is. outside are the
// directories elsewhere that git writes for root, and home is the user's.
func Obeyed(root string, outside []string, home string) (all []string) {
	dot := filepath.Join(root, ".git")
	if i, err := os.Lstat(dot); err == nil && !i.IsDir() {
		all = append(all, dot)
	}
	dirs := append([]string{dot}, outside...)
	for _, d := range slices.Clone(dirs) {
		dirs = append(dirs, within(d)...)
	}
	if g := RepositoryOf(root); g != "" && !slices.Contains(dirs, g) {
		dirs = append(dirs, g) // only git follows the file .git
	}
	for _, d := range dirs {
		all = append(all, Parts(d)...)
	}
	files := usersConfigs(home)
	for _, d := range dirs {
		files = append(files, filepath.Join(d, "config"), filepath.Join(d, "config.worktree"))
	}
	l := leading{root: root, home: home}
	for _, f := range files {
		l.read(f)
	}
	return append(all, l.all...)
}

// usersConfigs are the files that may hold the user's own configuration.
func usersConfigs(home string) []string {
	files := []string{filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config/git/config")}
	if x := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(x) {
		files = append(files, filepath.Join(x, "git/config"))
	}
	return files
}

// Parts are the paths in a repository's directory that git obeys, whether they exist or not.
func Parts(dir string) (all []string) {
	for _, name := range obeyedOf {
		all = append(all, filepath.Join(dir, name))
	}
	return all
}

// within are the directories of submodules and of linked work trees in a repository's directory.
func within(dir string) (all []string) {
	var look func(d string, depth int)
	look = func(d string, depth int) {
		for _, e := range Entries(d) {
			at := filepath.Join(d, e.Name())
			if !e.IsDir() || len(all) >= maxModules {
				continue
			}
			// A command may remove HEAD, but none of obeyedOf: those alone identify a repository.
			known := func(name string) bool { _, err := os.Lstat(filepath.Join(at, name)); return err == nil }
			if known("HEAD") || slices.ContainsFunc(obeyedOf, known) {
				all = append(all, at)
				look(filepath.Join(at, "modules"), depth)
			} else if depth > 0 {
				look(at, depth-1)
			}
		}
	}
	look(filepath.Join(dir, "modules"), 3) // a submodule's name may have slashes
	look(filepath.Join(dir, "worktrees"), 0)
	return all
}

// Armed returns the paths in the directory of an unknown repository that make git run a program: a configuration that
// names one, and each hook except the samples.
func Armed(dir string) (all []string) {
	for _, name := range []string{"config", "config.worktree"} {
		text, err := readSmall(filepath.Join(dir, name), maxConfig)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var settings []setting
		if err == nil {
			settings, err = parse(text)
		}
		if err != nil || slices.ContainsFunc(settings, func(s setting) bool { return s.runs(false, false) || s.name == "hookspath" }) {
			all = append(all, filepath.Join(dir, name))
		}
	}
	hooks := filepath.Join(dir, "hooks")
	if i, err := os.Lstat(hooks); err == nil && !i.IsDir() {
		return append(all, hooks)
	}
	for _, h := range Entries(hooks) {
		if !strings.HasSuffix(h.Name(), ".sample") {
			all = append(all, filepath.Join(hooks, h.Name()))
		}
	}
	return all
}

// Steps returns the files of rebases in progress whose steps run a program when the user continues the rebase.
func Steps(root string) (all []string) {
	g := RepositoryOf(root)
	if g == "" {
		return nil
	}
	for _, name := range []string{"rebase-merge/git-rebase-todo", "rebase-merge/git-rebase-todo.backup"} {
		text, err := readSmall(filepath.Join(g, name), maxConfig)
		if err != nil {
			continue
		}
		for line := range strings.Lines(text) {
			if word, _, _ := strings.Cut(strings.TrimSpace(line), " "); word == "exec" || word == "x" {
				all = append(all, filepath.Join(g, name))
				break
			}
		}
	}
	return all
}

// Entries lists a directory. It returns nothing for a link or a pipe: it neither follows nor blocks.
func Entries(dir string) []fs.DirEntry {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, _ := f.ReadDir(-1)
	return list
}

// leading collects the files that configurations lead to.
type leading struct {
	root, home string
	files      []string // that were read
	all        []string
}

// read collects from a file, and from those that it includes.
func (l *leading) read(file string) {
	if slices.Contains(l.files, file) || len(l.files) >= maxIncluded+maxModules {
		return
	}
	l.files = append(l.files, file)
	text, err := readSmall(file, maxConfig)
	if err != nil {
		return
	}
	settings, err := parse(text)
	if err != nil {
		return
	}
	for _, s := range settings {
		top, _, _ := strings.Cut(s.section, ".")
		switch {
		case s.name == "path" && (top == "include" || top == "includeif"):
			if p := l.path(filepath.Dir(file), s.value); p != "" {
				l.all = append(l.all, p)
				l.read(p)
			}
		case top == "core" && (s.name == "hookspath" || s.name == "attributesfile") || top == "gpg" && s.name == "allowedsignersfile":
			if p := l.path(l.root, s.value); p != "" {
				l.all = append(l.all, p)
			}
		case s.runs(false, false) || s.name == "pager" || top == "pager":
			l.words(s.value)
		}
	}
}

// path is the path that a setting names, from dir; "" if there is none.
func (l *leading) path(dir, value string) string {
	if rest, ok := strings.CutPrefix(value, "~/"); ok && l.home != "" {
		return filepath.Join(l.home, rest)
	}
	if value == "" || value[0] == '~' || value[0] == '%' {
		return ""
	}
	if filepath.IsAbs(value) {
		return filepath.Clean(value)
	}
	return filepath.Join(dir, value)
}

// words gathers the files of the work tree that a command line names.
func (l *leading) words(value string) {
	for _, w := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" \t\n'\"`;|&()<>=!$,", r) }) {
		p := l.path(l.root, w)
		if i, err := os.Stat(p); p != "" && err == nil && i.Mode().IsRegular() && (p == l.root || strings.HasPrefix(p, l.root+"/")) {
			l.all = append(l.all, p)
		}
	}
}
