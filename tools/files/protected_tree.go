package files

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"fantail/tools/git"
	"fantail/tools/permission/shell"
)

// passed are directories that are skipped: tools fetched or made the files in them, and no program opens these by
// itself; git's and the like are checked elsewhere.
var passed = []string{".git", ".hg", ".jj", ".sl", ".svn", "node_modules", ".venv", "site-packages", "__pycache__", ".tox", ".mypy_cache", ".pytest_cache", ".gradle", ".terraform"}

// ObeyedTree knows which files are obeyed at any depth of a workspace. It reads all of it once, and then only the
// directories that the kernel reports as changed; without such reports, it reads everything each time. It is safe for
// concurrent use.
type ObeyedTree struct {
	root, home string
	outside    []string

	mu     sync.Mutex
	news   *news           // nil: no reports
	silent bool            // the kernel can't report every change
	names  map[string]bool // paths that are obeyed by their names
	repos  map[string]bool // directories, besides the root, that have a .git, or a HEAD as bare repositories do
	looked int             // entries that were read in total
}

// ObeyedIn is the tree of the workspace at root; outside and home are as of Protected.
func ObeyedIn(root string, outside []string, home string) *ObeyedTree {
	return &ObeyedTree{root: root, outside: outside, home: home}
}

// Look reads the workspace if that has not happened yet, so that the first command does not wait for it.
func (t *ObeyedTree) Look() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refresh()
}

// Before are the paths to remember before a command runs, whether they are there or not.
func (t *ObeyedTree) Before() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refresh()
	all := git.Obeyed(t.root, t.outside, t.home)
	for _, r := range t.known() {
		dot := filepath.Join(r, ".git")
		switch i, err := os.Lstat(dot); {
		case err != nil:
			if git.RepositoryOf(r) == r {
				all = append(all, git.Parts(r)...)
			}
		case i.IsDir():
			all = append(all, git.Parts(dot)...)
		default:
			all = append(all, dot)
			if g := git.RepositoryOf(r); g != "" && strings.HasPrefix(g, t.root+"/") {
				all = append(all, git.Parts(g)...)
			}
		}
	}
	return led(t.root, append(all, t.present()...))
}

// After are the existing paths that are obeyed because of their names or their content, whoever made them.
func (t *ObeyedTree) After() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refresh()
	all := t.present()
	for _, r := range t.known() {
		if g := git.RepositoryOf(r); g != "" && strings.HasPrefix(g, t.root+"/") {
			all = append(all, git.Armed(g)...)
		}
	}
	return all
}

// Harmless reports whether a change of a file makes no program run or obey anything: git records what branches track.
func (t *ObeyedTree) Harmless(path string, was, is []byte) bool {
	return git.OnlyTracks(t.root, path, was, is)
}

// present are the paths that are there and count by themselves.
func (t *ObeyedTree) present() []string {
	all := git.Steps(t.root)
	for p := range t.names {
		all = append(all, p)
	}
	return all
}

// known are the directories of the known repositories.
func (t *ObeyedTree) known() (all []string) {
	for r := range t.repos {
		all = append(all, r)
	}
	slices.Sort(all)
	return all
}

// refresh brings names and repos up to date. The caller holds the mutex.
func (t *ObeyedTree) refresh() {
	if t.news != nil && t.news.take(t) {
		return
	}
	t.names, t.repos = map[string]bool{}, map[string]bool{}
	if t.news = nil; !t.silent {
		t.news = listen() // before the first read: later changes are reported
	}
	t.look("")
}

// look reads a directory of the workspace, and everything below.
func (t *ObeyedTree) look(rel string) {
	if t.news != nil && !t.news.watch(t.root, rel) {
		t.news, t.silent = nil, true
	}
	for _, e := range git.Entries(filepath.Join(t.root, rel)) {
		t.looked++
		t.entry(rel, e.Name(), e.Type())
	}
}

// entry checks an entry of a directory.
func (t *ObeyedTree) entry(rel, name string, kind os.FileMode) {
	at := filepath.Join(rel, name)
	isDir := kind.IsDir()
	switch {
	case shell.ProtectedDir(rel, name) || !isDir && shell.ProtectedFile(rel, name):
		t.names[filepath.Join(t.root, at)] = true
	case strings.EqualFold(name, ".git"):
		if rel != "" {
			t.repos[filepath.Join(t.root, rel)] = true
		}
	case isDir && slices.Contains([]string{".hg", ".jj", ".sl"}, strings.ToLower(name)):
		t.inside(at)
	case isDir && !slices.Contains(passed, name):
		t.look(at)
	case name == "HEAD" && rel != "":
		t.repos[filepath.Join(t.root, rel)] = true
	}
}

// configurations are the files in which version control other than git names the programs that it runs, by their paths
// in its directory.
var configurations = []string{"hgrc", "hgrc-not-shared", "config", "config.toml", "workspace-config.toml", "repo/config.toml"}

// inside adds the configuration files of another version control, whether they exist or not.
func (t *ObeyedTree) inside(rel string) {
	for _, c := range configurations {
		if shell.Protected(filepath.Join(rel, c)) != "" {
			t.names[filepath.Join(t.root, rel, c)] = true
		}
	}
}

// forget removes a path and everything below it from the maps.
func (t *ObeyedTree) forget(rel string) {
	at := filepath.Join(t.root, rel)
	for _, m := range []map[string]bool{t.names, t.repos} {
		for p := range m {
			if p == at || strings.HasPrefix(p, at+"/") {
				delete(m, p)
			}
		}
	}
	if base := filepath.Base(rel); base == ".git" || base == "HEAD" {
		delete(t.repos, filepath.Dir(at))
	}
}
