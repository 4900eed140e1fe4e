package instructions

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fantail/tools/files"
)

var errNothing = errors.New("no instruction files are read here")

// AllowedFiles returns which files outside of the workspace with that data directory its files may import.
func AllowedFiles(data string) []string {
	if data == "" {
		return nil
	}
	f, err := os.Open(keptIn(data))
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if err != nil {
		return nil
	}
	var paths []string
	for line := range strings.Lines(string(text)) {
		if p := strings.TrimSuffix(line, "\n"); filepath.IsAbs(p) {
			paths = append(paths, p)
		}
	}
	return paths
}

func (r *Briefs) name(path string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.place.Name(path)
}

// notes returns the notes on all files that were read.
func (r *Briefs) notes() []Note {
	r.mu.Lock()
	defer r.mu.Unlock()
	notes := slices.Clone(r.now.Notes)
	dirs := make([]string, 0, len(r.nested))
	for dir := range r.nested {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	for _, dir := range dirs {
		notes = append(notes, r.nested[dir].Notes...)
	}
	return notes
}

// Allow lets the workspace's files import a file outside of it from now on. Only what one of them imports can be
// allowed, by its name or its path.
func (r *Briefs) Allow(name string) (string, error) {
	if r == nil {
		return "", errNothing
	}
	r.changing.Lock()
	defer r.changing.Unlock()
	for _, n := range r.notes() {
		if n.Why != Outside || name != n.Path && name != r.name(n.Path) {
			continue
		}
		r.mu.Lock()
		all := append(slices.Clone(r.place.Allowed), n.Path)
		r.mu.Unlock()
		return r.name(n.Path), r.allow(all)
	}
	return "", fmt.Errorf("no file of the workspace imports %s from outside; /memory files lists what waits to be allowed", name)
}

// Forbid withdraws the permission for a file.
func (r *Briefs) Forbid(name string) (string, error) {
	if r == nil {
		return "", errNothing
	}
	r.changing.Lock()
	defer r.changing.Unlock()
	r.mu.Lock()
	all := slices.Clone(r.place.Allowed)
	r.mu.Unlock()
	for n, path := range all {
		if name == path || name == r.name(path) {
			return r.name(path), r.allow(slices.Delete(all, n, n+1))
		}
	}
	return "", fmt.Errorf("%s is not allowed; /memory files lists what is", name)
}

// allow stores which files may be imported, and reads the instructions again.
func (r *Briefs) allow(paths []string) error {
	if r.data == "" {
		return errors.New("nothing can be kept here")
	}
	for _, p := range paths {
		if strings.ContainsRune(p, '\n') {
			return errors.New("a path with a line break can't be allowed")
		}
	}
	file, text := keptIn(r.data), strings.Join(append(paths, ""), "\n")
	if err := files.WriteOwn(file, []byte(text), 0o600); err != nil {
		return fmt.Errorf("keep what may be imported: %w", err)
	}
	r.mu.Lock()
	r.place.Allowed = paths
	r.mu.Unlock()
	r.reread()
	return nil
}
