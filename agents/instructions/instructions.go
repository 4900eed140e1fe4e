// Package instructions reads AGENTS.md and similar files, and decides which of them are in force.
package instructions

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"fantail/tools"
)

const (
	most       = 64 << 10 // bytes that are read of a file
	depth      = 5        // of imports in imported files
	maxRules   = 1000     // files in a directory of rules
	maxEntries = 2000     // files and directories of any kind there
	maxFiles   = 200      // of one place, without rules
	maxNotes   = 200
)

// Place is where to look for instructions. All paths are absolute and resolved.
type Place struct {
	Root    string   // the workspace
	Dir     string   // in Root; where its agents work
	Home    string   // the user's; "": there is none
	Config  string   // the user's configuration directory; "": there is none
	Allowed []string // files outside of Root that its files may import
}

// Kind says where a file comes from.
type Kind string

const (
	User    Kind = "user"       // the user's, for all workspaces
	Project Kind = "repository" // in the workspace
)

// File is a file that tells agents how to work.
type File struct {
	Path  string // absolute and resolved
	Name  string // from the root or ~, one line
	Kind  Kind
	Rule  bool
	By    string // the name of the file that imports it; "": none does
	Text  string
	Hash  string   // of its text
	Dir   string   // by which it was found; "": it is no directory's
	Paths []string // patterns, from Dir: it applies to files that match one; nil: to all
}

// Set is the instructions of a place.
type Set struct {
	Files []File // in force from the start, outermost first
	Rules []File // in force once a tool touches a file they apply to
	Notes []Note
	Dirs  []string // in which a change may change the set
}

// Why is the reason why something of a file is not used.
type Why string

const (
	Cut      Why = "cut"
	Refused  Why = "refused"
	Broken   Why = "broken"
	Shadowed Why = "shadowed"
	Outside  Why = "outside" // until the user allows it
	Foreign  Why = "foreign" // another tool's
)

// Note says which part of a file is not used.
type Note struct {
	Name         string
	Line, Column int // from 1; 0: it is about the whole file
	Why          Why
	Text         string
	Path         string // that would have to be allowed
}

func (n Note) String() string {
	if n.Line == 0 {
		return n.Name + ": " + n.Text
	}
	return fmt.Sprintf("%s:%d:%d: %s", n.Name, n.Line, n.Column, n.Text)
}

// Faults returns the notes that ask the user to repair or decide something.
func (s *Set) Faults() []Note {
	return slices.DeleteFunc(slices.Clone(s.Notes), func(n Note) bool { return n.Why == Shadowed || n.Why == Foreign })
}

// Speaks reports whether a rule applies to the file of that path.
func (f File) Speaks(path string) bool {
	rel, err := filepath.Rel(f.Dir, path)
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	rel = filepath.ToSlash(rel)
	return slices.ContainsFunc(f.Paths, func(p string) bool { return matches(p, rel) })
}

// Pattern returns a path pattern in the form of [File.Paths]; ok is false if it is invalid.
func Pattern(word string) (glob string, ok bool) {
	glob = strings.TrimPrefix(strings.TrimPrefix(word, "./"), "/")
	if strings.HasSuffix(glob, "/") {
		glob += "**"
	}
	return glob, glob != "" && doublestar.ValidatePattern(glob) && strings.Count(glob, "{") <= 8 && len(glob) <= 500
}

// Own returns a File with a line of the program's own about a file, for agents that work on files that match the
// patterns.
func Own(path, name, dir, text string, patterns []string) File {
	return File{Path: path, Name: name, Kind: Project, Rule: true, Text: text, Hash: hash(text), Dir: dir, Paths: patterns}
}

// matches reports whether a pattern matches a path, or a directory above it.
func matches(pattern, rel string) bool {
	if doublestar.MatchUnvalidated(pattern, rel) {
		return true
	}
	return !strings.HasSuffix(pattern, "*") && doublestar.MatchUnvalidated(pattern+"/**", rel)
}

// Read reads the instructions in force at a place from the start, and its rules.
func Read(p Place) *Set {
	r := begin(p)
	defer r.end()
	r.user()
	for _, dir := range p.Chain(p.Dir) {
		r.directory(dir)
	}
	r.foreign()
	return r.set
}

// ReadDir reads the instructions of one directory of the workspace.
func ReadDir(p Place, dir string) *Set {
	r := begin(p)
	defer r.end()
	r.directory(dir)
	return r.set
}

// Chain returns the directories from the root down to dir; only the root, if dir is not below it.
func (p Place) Chain(dir string) []string {
	rel, err := filepath.Rel(p.Root, dir)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return []string{p.Root}
	}
	chain, at := []string{p.Root}, p.Root
	for part := range strings.SplitSeq(rel, string(filepath.Separator)) {
		at = filepath.Join(at, part)
		chain = append(chain, at)
	}
	return chain
}

// strange are directories that hold other people's files: instructions below them are ignored.
var strange = map[string]bool{"node_modules": true, ".git": true, ".venv": true, "site-packages": true}

// Nested returns the directories between the one where agents work and the file or directory of that path, outermost
// first, whose files enter once a tool touches them.
func (p Place) Nested(path string) []string {
	rel, err := filepath.Rel(p.Root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return nil
	}
	from, chain := p.Chain(p.Dir), p.Chain(path)
	n := slices.IndexFunc(chain, func(dir string) bool { return strange[filepath.Base(dir)] && dir != p.Root })
	if n >= 0 {
		chain = chain[:n]
	}
	return slices.DeleteFunc(chain, func(dir string) bool { return slices.Contains(from, dir) })
}

// Name returns a path for people and models: from the root or from the user's home.
func (p Place) Name(path string) string {
	if rel, err := filepath.Rel(p.Root, path); err == nil && filepath.IsLocal(rel) {
		return tools.Line(filepath.ToSlash(rel))
	}
	if rel, err := filepath.Rel(p.Home, path); p.Home != "" && err == nil && filepath.IsLocal(rel) {
		return tools.Line("~/" + filepath.ToSlash(rel))
	}
	return tools.Line(path)
}

// Within reports whether a path is in the workspace.
func (p Place) Within(path string) bool {
	rel, err := filepath.Rel(p.Root, path)
	return err == nil && filepath.IsLocal(rel)
}
