package permit

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fantail/tools/permit/bash"
	"fantail/tools/permit/programs"
)

// grant is what a rule was given for: when, and how the files it is bound to were then.
type grant struct {
	since time.Time
	files map[string]Stamp // nil: nobody looked
}

// judge is what a command's rules are held against.
type judge struct {
	changes *Changes
	root    string
	look    func(wanted func(rel string) bool) map[string]Stamp // nil: nobody looks
	git     func(reads bool) string                             // nil: nobody looks
}

// given is what a rule that is offered for the command would be given for.
func (j judge) given(r Rule, command string) grant {
	g := grant{since: time.Now()}
	p, err := r.parse()
	s, err2 := bash.Parse(command)
	if err != nil || err2 != nil || j.look == nil {
		return g
	}
	for _, c := range s.Commands {
		c = programs.Unwrap(c)
		if len(p.words) == 0 || c.Words[0].Text != p.words[0] {
			continue
		}
		if wanted := p.boundTo(c); wanted != nil {
			g.files = j.look(wanted)
		}
	}
	return g
}

// boundTo says which files of the workspace a rule for the command is bound to; nil if to
// none. One with a * speaks of no files that are named.
func (r parsed) boundTo(c bash.Command) func(rel string) bool {
	if r.star {
		return programs.CarriesOut(c)
	}
	return programs.BoundTo(c, r.dir)
}

// stale says why the rule does not cover the command any more: an agent changed
// since the grant what it runs. "" if none did.
func (j judge) stale(r parsed, c bash.Command) string {
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
		// Without it something else of that name may be found instead.
		if _, there := now[p]; !there && lead[strings.ToLower(path.Base(p))] && wanted(p) {
			return p + " is gone since you allowed this"
		}
	}
	return ""
}

const changed = " was changed by an agent since you allowed this"

// lead are files that stand in front of others of another name.
var lead = map[string]bool{"gnumakefile": true, "makefile": true, "justfile": true, ".justfile": true, "taskfile.yml": true, "rakefile": true, "pytest.ini": true, "pyproject.toml": true, "conftest.py": true, "build.gradle": true}

// byAgent reports whether a file is another than at the grant through an agent's
// doing: it changed while a command ran, or came to its place with an older one.
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
