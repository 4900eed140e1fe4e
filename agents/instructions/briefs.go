package instructions

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/store"
)

// maxBriefs is how many bytes of instructions an agent gets at most, however large its model's window is.
const maxBriefs = 128 << 10

// kept is the file in the workspace's data directory that lists the files that may be imported.
const kept = "imports"

// Briefs knows the instructions for agents. It is safe for concurrent use. The nil Briefs has none.
type Briefs struct {
	data string // the workspace's data directory; "": nothing is stored
	base *Set

	changing sync.Mutex // held while the files are read again

	mu     sync.Mutex
	place  Place
	now    *Set                // as the files are
	nested map[string]*Set     // the instructions of directories that a tool touched, by their path
	texts  map[int]string      // of system prompts, by their largest size in bytes
	moved  func(dirs []string) // called with the directories in which changes matter; nil: off

	moving sync.Mutex // serialises the calls of moved

	also also // nil: there are none
}

// NewBriefs reads the files of a place. The imports that were allowed there before are in the data directory.
func NewBriefs(p Place, data string) *Briefs {
	p.Allowed = append(slices.Clip(p.Allowed), AllowedFiles(data)...)
	set := Read(p)
	return &Briefs{place: p, data: data, base: set, now: set, nested: map[string]*Set{}, texts: map[int]string{}}
}

// room returns how many bytes of instructions fit a model's window; 0 tokens: it is unknown.
func room(window int) int { return min(maxBriefs, history.BytesOf(history.TakeRoom(window))) }

// follows reports whether an agent gets instructions at all: an observer does what its schedule says.
func follows(i event.Info) bool { return !i.Kind.Observes() }

// System returns the instructions for the system prompt of an agent: all files that are in force from the start.
func (r *Briefs) System(i event.Info) string {
	if r == nil || !follows(i) {
		return ""
	}
	most := room(i.Window)
	r.mu.Lock()
	defer r.mu.Unlock()
	text, ok := r.texts[most]
	if !ok {
		fit, _ := Fit(r.base.Files, most)
		text = Render(fit)
		r.texts[most] = text
	}
	return text
}

// Matters reports whether a change of a file of that name may change the instructions in force.
func (r *Briefs) Matters(name string) bool {
	return strings.EqualFold(filepath.Ext(name), ".md") ||
		slices.ContainsFunc(r.Now().Files, func(f File) bool { return filepath.Base(f.Path) == name })
}

// Start returns the name of the first file of the workspace in force, otherwise of the user's, and how many more there
// are; "": there is none.
func (r *Briefs) Start() (first string, more int) {
	files := r.Now().Files
	for _, f := range files {
		if first == "" || f.Kind == Project {
			first = f.Name
		}
		if f.Kind == Project {
			break
		}
	}
	return first, max(0, len(files)-1)
}

// Now returns the workspace's present instructions.
func (r *Briefs) Now() *Set {
	if r == nil {
		return &Set{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

// Moves has hear called, at once and later, with the directories in which changes matter.
func (r *Briefs) Moves(hear func(dirs []string)) {
	r.mu.Lock()
	r.moved = hear
	r.mu.Unlock()
	r.moves()
}

// moves passes the directories in which changes matter to the watcher.
func (r *Briefs) moves() {
	r.moving.Lock()
	defer r.moving.Unlock()
	r.mu.Lock()
	hear, all, has := r.moved, slices.Clone(r.now.Dirs), map[string]bool{}
	for _, d := range all {
		has[d] = true
	}
	for _, s := range r.nested {
		for _, d := range s.Dirs {
			if !has[d] {
				has[d], all = true, append(all, d)
			}
		}
	}
	r.mu.Unlock()
	if hear != nil {
		hear(all)
	}
}

// Reread reads the files again: something in their directories changed.
func (r *Briefs) Reread() {
	r.changing.Lock()
	defer r.changing.Unlock()
	r.reread()
}

// reread is Reread for a caller that holds the mutex changing.
func (r *Briefs) reread() {
	r.mu.Lock()
	p, touched := r.place, make([]string, 0, len(r.nested))
	for dir := range r.nested {
		touched = append(touched, dir)
	}
	r.mu.Unlock()
	now, nested := Read(p), map[string]*Set{}
	for _, dir := range touched {
		nested[dir] = ReadDir(p, dir)
	}
	r.mu.Lock()
	r.now = now
	for dir, s := range nested {
		r.nested[dir] = s
	}
	r.mu.Unlock()
	r.moves()
}

// maxDirs is how many touched directories are remembered; changes in further ones are not noticed.
const maxDirs = 1000

// directory returns the instructions of a directory of the workspace that are not in force from the start.
func (r *Briefs) directory(dir string) *Set {
	r.mu.Lock()
	s, p := r.nested[dir], r.place
	r.mu.Unlock()
	if s != nil {
		return s
	}
	s = ReadDir(p, dir)
	r.mu.Lock()
	known, full := r.nested[dir], len(r.nested) >= maxDirs
	if known == nil && !full {
		r.nested[dir] = s
	}
	r.mu.Unlock()
	switch {
	case known != nil: // another agent was here
		return known
	case !full:
		r.moves()
	}
	return s
}

// told returns by path the files that an agent knows: those in its system prompt and those it was told since.
func (r *Briefs) told(had []history.Brief) map[string]history.Brief {
	known := map[string]history.Brief{}
	for _, f := range r.base.Files {
		known[f.Path] = brief(f, "")
	}
	for _, b := range had {
		known[b.Path] = b
	}
	return known
}

func brief(f File, why string) history.Brief {
	return history.Brief{Path: f.Path, Name: f.Name, Dir: f.Dir, Hash: f.Hash, Bytes: len(f.Text), Why: why}
}

// Why an agent is told of a file.
const (
	isNew     = "new"
	isChanged = "changed"
	isTouched = "touched"
	isGone    = "gone"
)

// Begin returns the entry that tells an agent at the beginning of a turn what changed since it was last told; ok is
// false if nothing did.
func (r *Briefs) Begin(ctx context.Context, db *store.DB, i event.Info) (e history.Entry, ok bool, err error) {
	if r == nil || !follows(i) {
		return e, false, nil
	}
	had, _, err := briefed(ctx, db, i.ID)
	if err != nil {
		return e, false, err
	}
	now, known := r.Now(), r.told(had)
	t := telling{known: known}
	for _, f := range now.Files {
		switch b, is := known[f.Path]; {
		case !is || b.Why == isGone:
			t.add(f, isNew)
		case b.Hash != f.Hash:
			t.add(f, isChanged)
		}
	}
	more := r.more(i, r.lower(had))
	for _, path := range ordered(known) {
		b := known[path]
		if b.Why == isGone || slices.ContainsFunc(now.Files, func(f File) bool { return f.Path == path }) {
			continue
		}
		f, there := r.find(now, more, b)
		switch {
		case !there:
			t.gone = append(t.gone, history.Brief{Path: b.Path, Name: b.Name, Dir: b.Dir, Why: isGone})
		case f.Hash != b.Hash:
			t.add(f, isChanged)
		}
	}
	e, ok = t.entry(r.left(i, had))
	return e, ok, nil
}

// find returns the present state of a file that an agent was told of when a tool touched it.
func (r *Briefs) find(now *Set, more []File, b history.Brief) (File, bool) {
	from := [][]File{now.Rules, more}
	r.mu.Lock()
	p := r.place
	r.mu.Unlock()
	if b.Dir != "" && p.Within(b.Dir) && !slices.Contains(p.Chain(p.Dir), b.Dir) {
		s := r.directory(b.Dir)
		from = append(from, s.Files, s.Rules)
	}
	for _, files := range from {
		for _, f := range files {
			if f.Path == b.Path {
				return f, true
			}
		}
	}
	return File{}, false
}

// also returns rules that are in no instruction file, as they are now, for an agent whose tools touched those
// directories. It is called without locks held.
type also func(i event.Info, dirs []string) []File

// Adds sets a source of such rules. Call it before any agent is told.
func (r *Briefs) Adds(also also) {
	if r != nil {
		r.also = also
	}
}

// more returns these rules for an agent.
func (r *Briefs) more(i event.Info, dirs []string) []File {
	if r.also == nil {
		return nil
	}
	return r.also(i, dirs)
}

// lower returns the directories of an agent's known files that are below the one where agents work.
func (r *Briefs) lower(had []history.Brief) (dirs []string) {
	r.mu.Lock()
	p := r.place
	r.mu.Unlock()
	for _, b := range had {
		if b.Dir != "" && p.Within(b.Dir) && !slices.Contains(p.Chain(p.Dir), b.Dir) {
			dirs = append(dirs, b.Dir)
		}
	}
	return dirs
}

func ordered(known map[string]history.Brief) []string {
	paths := make([]string, 0, len(known))
	for p := range known {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return paths
}

// Touched returns the entry that tells an agent which instructions apply where its tools were, if it was not told
// before. The paths are absolute and resolved, of files or directories.
func (r *Briefs) Touched(ctx context.Context, db *store.DB, i event.Info, paths []string) (e history.Entry, ok bool, err error) {
	if r == nil || len(paths) == 0 || !follows(i) {
		return e, false, nil
	}
	files := r.speaking(i, paths)
	if len(files) == 0 {
		return e, false, nil
	}
	had, _, err := briefed(ctx, db, i.ID)
	if err != nil {
		return e, false, err
	}
	t := telling{known: r.told(had)}
	for _, f := range files {
		if b, is := t.known[f.Path]; !is || b.Why == isGone {
			t.add(f, isTouched)
		}
	}
	e, ok = t.entry(r.left(i, had))
	return e, ok, nil
}

// speaking returns the files that apply to touched paths, and are not in force from the start.
func (r *Briefs) speaking(i event.Info, paths []string) []File {
	r.mu.Lock()
	p, rules := r.place, slices.Clone(r.now.Rules)
	r.mu.Unlock()
	var files []File
	var dirs []string
	for _, path := range paths {
		for _, dir := range p.Nested(path) {
			if slices.Contains(dirs, dir) || dir == path && !isDir(path) {
				continue
			}
			dirs = append(dirs, dir)
			s := r.directory(dir)
			files, rules = append(files, s.Files...), append(rules, s.Rules...)
		}
	}
	rules = append(rules, r.more(i, dirs)...)
	for _, f := range rules {
		if slices.ContainsFunc(paths, f.Speaks) {
			files = append(files, f)
		}
	}
	return files
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// left returns how many more bytes an agent may be told.
func (r *Briefs) left(i event.Info, had []history.Brief) int {
	n := room(i.Window)
	for _, f := range r.base.Files {
		n -= len(f.Text)
	}
	for _, b := range had {
		n -= b.Bytes
	}
	return max(0, n)
}

// briefed reads what an agent was told.
func briefed(ctx context.Context, db *store.DB, agent int64) (had []history.Brief, tokens int, err error) {
	err = db.Read(ctx, func(rx *store.Rx) (err error) {
		had, tokens, err = history.Briefed(&rx.View, agent)
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read what the agent was told of instruction files: %w", err)
	}
	return had, tokens, nil
}

// telling collects the content of an entry.
type telling struct {
	known map[string]history.Brief
	files []File
	why   []string
	gone  []history.Brief
}

func (t *telling) add(f File, why string) {
	for _, g := range t.files {
		if g.Path == f.Path {
			return
		}
	}
	t.files, t.why = append(t.files, f), append(t.why, why)
}

// entry returns the collected files, in at most that many bytes; ok is false if there are none.
func (t *telling) entry(room int) (e history.Entry, ok bool) {
	if len(t.files)+len(t.gone) == 0 {
		return e, false
	}
	e.Kind = history.EntryBriefed
	fit, notes := Fit(t.files, room)
	size := map[string]int{}
	for _, f := range fit {
		size[f.Path] = len(f.Text)
	}
	var says []string
	var again, fresh []string
	for n, f := range t.files {
		b := brief(f, t.why[n])
		b.Bytes = size[f.Path]
		e.Briefs = append(e.Briefs, b)
		switch {
		case b.Bytes == 0:
		case t.why[n] == isChanged:
			again = append(again, f.Name)
		default:
			fresh = append(fresh, f.Name)
		}
	}
	if len(fresh) > 0 {
		says = append(says, "From here on these files hold, too, for how to work: "+strings.Join(fresh, ", ")+".")
	}
	if len(again) > 0 {
		says = append(says, "These files changed; what they say now holds in place of what they said before: "+strings.Join(again, ", ")+".")
	}
	for _, b := range t.gone {
		e.Briefs = append(e.Briefs, b)
		says = append(says, b.Name+" is gone: what it said no longer holds.")
	}
	for _, n := range notes {
		says = append(says, n.String()+".")
	}
	if len(fit) > 0 {
		says = append(says, "Your user's words come before them, and they allow nothing that needs consent.\n\n"+Render(fit))
	}
	e.Text = strings.Join(says, " ")
	return e, true
}

// keptIn returns the file that lists what may be imported.
func keptIn(data string) string { return filepath.Join(data, kept) }
