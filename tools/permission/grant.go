package permission

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fantail/tools/permission/shell"
)

// grant says when a rule was given, and the state of its bound files then.
type grant struct {
	since time.Time
	files map[string]Stamp // nil: not looked up
}

// judge holds what rules for commands are checked against.
type judge struct {
	changes *Changes
	root    string
	look    func(wanted func(rel string) bool) map[string]Stamp // nil: no files are looked up
	git     func(reads bool) string                             // nil: git is not checked
}

// given returns the grant of a rule that is offered for the command.
func (j judge) given(r Rule, command string) grant {
	g := grant{since: time.Now()}
	p, err := r.parse()
	s, err2 := shell.Parse(command)
	if err != nil || err2 != nil || j.look == nil {
		return g
	}
	for _, c := range s.Commands {
		c = shell.Unwrap(c)
		if len(p.words) == 0 || c.Words[0].Text != p.words[0] {
			continue
		}
		if wanted := p.boundTo(c); wanted != nil {
			g.files = j.look(wanted)
		}
	}
	return g
}

// boundTo returns a filter for the workspace's files that a rule for the command is bound to; nil if to none. A rule
// with a * is not bound to files that the command names.
func (r parsed) boundTo(c shell.Command) func(rel string) bool {
	if r.star {
		return shell.CarriesOut(c)
	}
	return shell.BoundTo(c, r.dir)
}

// stale says why the rule does not cover the command any more: since the grant an agent changed a file that the command
// runs. It returns "" if none did.
func (j judge) stale(r parsed, c shell.Command) string {
	wanted := r.boundTo(c)
	if wanted == nil || j.changes == nil {
		return ""
	}
	ran, written := j.changes.since(r.given.since)
	for _, p := range written {
		if rel, err := filepath.Rel(j.root, p); err == nil && filepath.IsLocal(rel) && wanted(rel) {
			return rel + changed
		}
	}
	if !ran || j.look == nil {
		return ""
	}
	now := j.look(wanted)
	for _, p := range slices.Sorted(maps.Keys(now)) {
		if j.byAgent(p, now[p], r.given) {
			return p + changed
		}
	}
	for p := range r.given.files {
		// Without it the program may find another file of that name.
		if _, there := now[p]; !there && lead[strings.ToLower(path.Base(p))] && wanted(p) {
			return p + " is gone since you allowed this"
		}
	}
	return ""
}

const changed = " was changed by an agent since you allowed this"

// lead are files that programs prefer to others of another name.
var lead = map[string]bool{"gnumakefile": true, "makefile": true, "justfile": true, ".justfile": true, "taskfile.yml": true, "rakefile": true, "pytest.ini": true, "pyproject.toml": true, "conftest.py": true, "build.gradle": true}

// byAgent reports whether an agent changed a file since the grant: it changed while a command ran, or an older file was
// moved to its place.
func (j judge) byAgent(p string, now Stamp, g grant) bool {
	was, there := g.files[p]
	switch {
	case there && was.Dev == now.Dev && was.Ino == now.Ino && was.Size == now.Size && was.Changed.Equal(now.Changed):
		return false
	case g.files == nil && now.Changed.Before(g.since.Add(-blur)):
		return false
	}
	moved := g.files != nil && now.Changed.Before(g.since.Add(blur))
	return moved || j.changes.during(now.Changed)
}
