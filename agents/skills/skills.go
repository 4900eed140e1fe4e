// Package skills reads skills, commands and agents from files, and fills in the commands written inside them.
package skills

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"fantail/store/config"
	"fantail/tools"
	"fantail/tools/files"
	"fantail/tools/permission"
	"fantail/tools/secret"
)

// Kind is what a file contains.
type Kind string

const (
	Skill   Kind = "skill"
	Command Kind = "command"
	Agent   Kind = "agent"
)

// Item is a skill, a command or an agent. All of it but Path is clean text that a terminal shows as it is.
type Item struct {
	Kind   Kind
	Name   string
	About  string   // what it is for
	Hint   string   // the arguments it takes, for people
	Source string   // the file, as people name it
	Path   string   // the file; "": it is the program's own
	Bytes  int64    // of the file
	Notes  []string // what of it is not used and why, with places
	Out    string   // why it is not used; "": it is
	Slash  string   // NAME of /NAME; "": it can't be typed
	Typed  string   // why it can't be typed though it should be; "": it can, or is not meant to be

	// Of a skill or a command.
	Manual bool     // models do not use it by themselves
	Fork   bool     // an agent of its own carries it out
	Agent  string   // which one; "": an agent like the one that uses it
	Model  string   // of that agent; "": its dispatcher's
	Paths  []string // patterns, from Of, of the files that it is about; nil: any
	Of     string   // the directory that it was found for
	Below  string   // that directory from the root, if it was found only once a tool touched it; "": it was there from the start

	Role *Role // of an agent

	tree  files.Root
	rel   string   // its path in tree
	lines []string // command lines in its text
}

// Options say where a Catalog looks and what it knows.
type Options struct {
	Root    string   // the workspace
	Dir     string   // the directory in it where the human works; "": its root
	Home    string   // the user's home; "": unknown
	Config  string   // the directory of the user's configuration; "": none
	Private []string // paths that no tool may open
	Keys    *secret.Keys

	Words   []string                          // that mean a command of the program's when typed
	Vendors []string                          // names that mean another vendor's agent
	Tools   []string                          // the tools that there are
	Model   func(name string) (string, error) // returns the full name of a model; nil: models are unknown, and any name may be one
}

// Catalog is all skills, commands and agents. It reads files only in Reread and Touch.
type Catalog struct {
	o    Options
	mu   sync.Mutex // one reads
	list atomic.Pointer[List]
	runs atomic.Pointer[Runner]
	gate atomic.Pointer[permission.Gate]
	told atomic.Pointer[told]

	below below
}

// New returns a Catalog of the present files.
func New(o Options) *Catalog {
	s := &Catalog{o: o}
	s.reread()
	return s
}

// List is the items that were found. It never changes.
type List struct {
	Items  []*Item
	Broken []string // files that can't be read, with place and reason

	slash map[string]*Item
	by    map[Kind]map[string]*Item // in use, by name
}

// Reread looks at the directories again.
func (s *Catalog) Reread() {
	s.reread()
	s.moves()
}

func (s *Catalog) reread() {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := finder{o: &s.o, below: s.o.bring(s.touched()), l: &List{slash: map[string]*Item{}, by: map[Kind]map[string]*Item{Skill: {}, Command: {}, Agent: {}}}}
	f.look()
	s.list.Store(f.l)
}

// Now returns the items found last.
func (s *Catalog) Now() *List { return s.list.Load() }

// Find returns the item in use of that name; nil: there is none.
func (l *List) Find(k Kind, name string) *Item { return l.by[k][name] }

// Slash returns what /NAME means; nil: nothing of a file's.
func (l *List) Slash(name string) *Item { return l.slash[name] }

// Typed returns what people can type, by name.
func (l *List) Typed() []*Item {
	var is []*Item
	for _, i := range l.Items {
		if i.Slash != "" {
			is = append(is, i)
		}
	}
	slices.SortFunc(is, func(a, b *Item) int { return cmp.Compare(a.Slash, b.Slash) })
	return is
}

// source is a subdirectory that may hold items, and their kind.
type source struct {
	dir  string
	kind Kind
}

// lower are the sources of any directory; upper those of the directories down to where the human works, whose agents
// are for everyone.
var (
	lower = []source{
		{".agents/skills", Skill},
		{".claude/skills", Skill},
		{".agents/commands", Command},
		{".claude/commands", Command},
		{".opencode/commands", Command},
	}
	upper = []source{
		{".agents/agents", Agent},
		{".claude/agents", Agent},
	}
)

// place returns a source of the directory with that path from the root.
func (o *Options) place(at string, s source) place {
	rel := filepath.Join(at, s.dir)
	return place{tree: files.Root{Dir: o.Root, Bound: true}, rel: rel, show: rel, kind: s.kind, of: filepath.Join(o.Root, at)}
}

// places returns the directories of each kind that are read from the start; the first of them wins.
func (o *Options) places() (ps []place) {
	for _, at := range o.upward() {
		for _, p := range slices.Concat(lower, upper) {
			ps = append(ps, o.place(at, p))
		}
	}
	user := func(base, show string, dirs map[Kind]string) {
		if base == "" {
			return
		}
		for _, k := range []Kind{Skill, Command, Agent} {
			if dirs[k] != "" {
				ps = append(ps, place{tree: files.Root{Dir: base}, rel: dirs[k], show: show + dirs[k], kind: k, of: o.Root})
			}
		}
	}
	user(o.Config, o.shown(o.Config)+"/", map[Kind]string{Skill: "skills", Command: "commands", Agent: "agents"})
	user(o.Home, "~/", map[Kind]string{Skill: ".agents/skills"})
	user(o.Home, "~/", map[Kind]string{Skill: ".claude/skills", Command: ".claude/commands", Agent: ".claude/agents"})
	return ps
}

// upward returns the directories from where the human works up to the workspace's root, relative to that.
func (o *Options) upward() []string {
	rel, err := filepath.Rel(o.Root, cmp.Or(o.Dir, o.Root))
	if err != nil || !filepath.IsLocal(rel) {
		rel = "."
	}
	dirs := []string{}
	for ; rel != "."; rel = filepath.Dir(rel) {
		dirs = append(dirs, rel)
	}
	return append(dirs, ".")
}

// shown returns a path as people write it.
func (o *Options) shown(path string) string {
	if rel, err := filepath.Rel(o.Home, path); o.Home != "" && err == nil && filepath.IsLocal(rel) {
		return "~/" + rel
	}
	return path
}

// Dirs returns the directories in which a change may change what Now returns, sorted. Some may not exist.
func (s *Catalog) Dirs() []string {
	dirs := map[string]bool{}
	s.lower(dirs)
	for _, p := range s.o.places() {
		at := filepath.Join(p.tree.Dir, p.rel)
		dirs[at], dirs[filepath.Dir(at)], dirs[filepath.Dir(filepath.Dir(at))] = true, true, true
	}
	for _, i := range s.Now().Items {
		if i.Path != "" {
			dirs[filepath.Dir(i.Path)] = true
		}
	}
	return slices.Sorted(maps.Keys(dirs))
}

// Matters reports whether a change of a file of that name, in one of those directories, may change what Now returns.
func Matters(name string) bool {
	return strings.HasSuffix(name, ".md") || strings.HasSuffix(name, ".yml") || strings.HasSuffix(name, ".yaml")
}

// Agent returns the agent of that name that a file describes, or another vendor's. s may be nil.
func (s *Catalog) Agent(name string) (tools.Worker, error) {
	if s == nil {
		return tools.Worker{}, nil
	}
	if i := s.Now().Find(Agent, name); i != nil {
		return tools.Worker{File: true, Background: i.Role.Background}, nil
	}
	if slices.Contains(s.o.Vendors, name) {
		return tools.Worker{}, nil
	}
	names, hint := s.names(Agent), ""
	if meant := config.Nearest(name, slices.Concat(names, s.o.Vendors)); meant != "" {
		hint = fmt.Sprintf("did you mean %q? ", meant)
	}
	names = append(names[:min(len(names), maxNamed)], s.o.Vendors...)
	return tools.Worker{}, fmt.Errorf("there is no agent of the name %q; %sthere are %s", tools.Line(name), hint, strings.Join(names, ", "))
}

// Offers reports whether there is a skill that a model may use. s may be nil.
func (s *Catalog) Offers() bool {
	if s == nil {
		return false
	}
	o := s.Offer()
	return o.Skills != "" || len(o.Fitting) > 0
}

var _ tools.Skills = (*Catalog)(nil)

// maxNamed is how many names an error lists at most.
const maxNamed = 20

// names returns the names of the items of a kind that models may use.
func (s *Catalog) names(k Kind) (names []string) {
	for _, i := range s.Now().Items {
		if i.Kind == k && i.Out == "" && !i.Manual && s.Denied(i) == "" {
			names = append(names, i.Name)
		}
	}
	return names
}

// none returns the error of a name that means nothing.
func (s *Catalog) none(k Kind, name string) error {
	names := s.names(k)
	if names == nil {
		return fmt.Errorf("there is no %s %q, and no other", k, tools.Line(name))
	}
	return fmt.Errorf("there is no %s %q; there is %s", k, tools.Line(name), strings.Join(names[:min(len(names), maxNamed)], ", "))
}

// mode returns the permission mode that a file asks for: only one that allows less.
func mode(word string) (m permission.Mode, note string) {
	switch word {
	case "", "default":
		return "", ""
	case "plan", "read-only", "readOnly":
		return permission.Plan, ""
	}
	return "", fmt.Sprintf("permissionMode %s is not used: a file allows nothing; plan is the mode it may ask for", tools.Line(word))
}
