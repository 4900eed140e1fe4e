package files

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"

	"fantail/tools/permission/shell"
)

// Entry is an entry of a walk.
type Entry struct {
	Rel   string   // from where the walk began
	Shown string   // as people and models read it
	Name  string   // in Dir
	Dir   *os.Root // open while the entry is visited
	Kind  fs.FileMode
}

// Walk visits the files below a directory, in the order of their paths, without following symbolic links. It skips
// files that git ignores, git's own files, and files that are closed to tools.
type Walk struct {
	All bool // also ignored files; set it before the walk

	Denied    int // directories that could not be read
	Sensitive int // files that were skipped because they hold secrets
	Barred    int // files and directories that were skipped because of a rule

	tree   *Tree
	from   Target
	closed map[id]bool
	paths  []string // closed paths
	visit  func(Entry) error

	known   map[string][]gitignore.Pattern // by directory, including those above it
	secrets map[id]string                  // files that hold secrets; made when a file with several names is met
}

// Walk prepares a walk; it opens nothing.
func (tr *Tree) Walk(from Target) *Walk {
	return &Walk{tree: tr, from: from, closed: tr.privateIDs(), paths: tr.private()}
}

// Run walks. Visit returns [fs.SkipDir] to skip the files below a directory, and [fs.SkipAll] to end the walk without
// an error.
func (w *Walk) Run(ctx context.Context, visit func(Entry) error) error {
	if err := w.from.Refused(); err != nil {
		return err
	}
	dir, err := w.tree.holdDir(w.from.Abs, false)
	if err != nil {
		return err
	}
	defer dir.Close()
	ignore, ignored := w.inherited()
	if ignored { // the caller named an ignored directory, and wants its files
		w.All = true
	}
	w.visit = visit
	err = w.step(ctx, dir, "", ignore)
	if errors.Is(err, fs.SkipAll) {
		return nil
	}
	return err
}

// step visits one directory.
func (w *Walk) step(ctx context.Context, dir *os.Root, rel string, ignore []gitignore.Pattern) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d, err := dir.Open(".")
	if err != nil {
		w.Denied++
		return nil
	}
	list, err := d.ReadDir(-1)
	d.Close()
	if err != nil {
		w.Denied++
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	domain := w.domain(rel)
	if !w.All && slices.ContainsFunc(list, func(d fs.DirEntry) bool { return d.Name() == ".gitignore" }) {
		ignore = append(slices.Clip(ignore), w.read(dir, ".gitignore", domain)...)
	}
	match := gitignore.NewMatcher(ignore)
	for _, d := range list {
		name := d.Name()
		if name == ".git" || !w.All && match.Match(append(slices.Clip(domain), name), d.IsDir()) {
			continue
		}
		en := Entry{Rel: path.Join(rel, name), Name: name, Dir: dir, Kind: d.Type()}
		en.Shown = w.shown(en.Rel)
		if w.shut(dir, en) {
			continue
		}
		err := w.visit(en)
		if errors.Is(err, fs.SkipDir) {
			continue
		}
		if err != nil {
			return err
		}
		if d.IsDir() {
			sub, err := dir.OpenRoot(name)
			if err != nil {
				w.Denied++
				continue
			}
			// A directory that became a link meanwhile would lead elsewhere.
			if standsAt(sub, filepath.Join(w.from.Abs, en.Rel)) == nil {
				err = w.step(ctx, sub, en.Rel, ignore)
			}
			sub.Close()
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// shown is a path of the walk in the form for people.
func (w *Walk) shown(rel string) string {
	if w.from.Inside && w.from.Rel != "." {
		return path.Join(w.from.Rel, rel)
	}
	if w.from.Inside {
		return rel
	}
	return path.Join(w.from.Abs, rel)
}

// barred reports whether a rule forbids reading a path, and counts it. If the human allowed the directory that the walk
// starts from, no path below is barred.
func (w *Walk) barred(abs string) bool {
	if w.tree.Barred == nil || w.tree.Barred(abs) == "" || w.tree.Barred(w.from.Abs) != "" {
		return false
	}
	w.Barred++
	return true
}

// shut reports whether an entry is closed to tools: by its path or its identity.
func (w *Walk) shut(dir *os.Root, en Entry) bool {
	abs := filepath.Join(w.from.Abs, en.Rel)
	for _, p := range w.paths {
		if _, ok := below(p, abs); ok {
			return true
		}
	}
	if w.barred(abs) {
		return true
	}
	if len(w.closed) == 0 {
		return false
	}
	fi, err := dir.Lstat(en.Name)
	return err == nil && w.closed[identity(fi)]
}

// secret reports whether the content of an entry, open as f, must be skipped, and counts it. If the human allowed the
// sensitive directory that the walk starts from, no entry is skipped.
func (w *Walk) secret(en Entry, fi fs.FileInfo, f *os.File) bool {
	if w.from.Sensitive != "" {
		return false
	}
	abs := filepath.Join(w.from.Abs, en.Rel)
	switch {
	case shell.SensitiveFile(en.Shown) != "":
	case w.otherName(fi):
	case holdsSecrets(f, abs) != "":
	default:
		return false
	}
	w.Sensitive++
	return true
}

// otherName reports whether a file is another name of one that is secret.
func (w *Walk) otherName(fi fs.FileInfo) bool {
	if links(fi) < 2 {
		return false
	}
	if w.secrets == nil {
		w.secrets = w.tree.secrets()
	}
	_, ok := w.secrets[identity(fi)]
	return ok
}

// Open opens a regular file of the walk; ok is false for one that can't be read, no longer exists, or is skipped for
// its secrets.
func (w *Walk) Open(en Entry) (f *os.File, ok bool) {
	f, fi, err := openIn(en.Dir, en.Name, w.closed)
	if err != nil {
		return nil, false
	}
	if w.secret(en, fi, f) {
		f.Close()
		return nil, false
	}
	return f, true
}
