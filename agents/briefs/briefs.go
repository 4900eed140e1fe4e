// Package briefs is what agents are told of the files in which people say how to work.
//
// Does: hold the part of system prompts that carries these files, which stays as it was when the program started, so that
// what a model has read stays cached; say what an agent is told later, once: files that changed since, and those of
// directories and rules that its tools touch; keep which files outside of the workspace its files may import; tell what
// is in force.
//
// Does not: append to a transcript, watch directories, know a tool.
//
// Imports: agents/event, agents/history, agents/instructions, store, tools/ownfile.
package briefs

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
	"fantail/agents/instructions"
	"fantail/store"
)

// most is how many bytes of instructions an agent is told, however large its model's window is.
const most = 128 << 10

// kept is the file in the workspace's data directory that lists what its files may import.
const kept = "imports"

// Room knows what agents are told. It is safe for concurrent use. The nil room knows nothing.
type Room struct {
	data string // the workspace's data directory; "": nothing is kept
	base *instructions.Set

	changing sync.Mutex // one reads the files anew at a time

	mu     sync.Mutex
	place  instructions.Place
	now    *instructions.Set            // as the files are
	nested map[string]*instructions.Set // what directories bring that a tool touched, by their path
	texts  map[int]string               // of system prompts, by how many bytes they may have
	moved  func(dirs []string)          // hears in which directories changes matter; nil: nobody

	moving sync.Mutex // moved hears of one thing at a time

	also also // nil: there are none
}

// New reads the files of a place. What was allowed there before is in the data directory.
func New(p instructions.Place, data string) *Room {
	p.Allowed = append(slices.Clip(p.Allowed), Allowed(data)...)
	set := instructions.Read(p)
	return &Room{place: p, data: data, base: set, now: set, nested: map[string]*instructions.Set{}, texts: map[int]string{}}
}

// room returns how many bytes of instructions fit a model's window; 0 tokens: it is unknown.
func room(window int) int { return min(most, history.BytesOf(history.TakeRoom(window))) }

// follows reports whether an agent is told at all: what an observer does its schedule says.
func follows(i event.Info) bool { return !i.Kind.Observes() }

// System returns what the system prompt of an agent carries: all files that are in force from the start.
func (r *Room) System(i event.Info) string {
	if r == nil || !follows(i) {
		return ""
	}
	most := room(i.Window)
	r.mu.Lock()
	defer r.mu.Unlock()
	text, ok := r.texts[most]
	if !ok {
		fit, _ := instructions.Fit(r.base.Files, most)
		text = instructions.Render(fit)
		r.texts[most] = text
	}
	return text
}

// Matters reports whether a change of a file of that name may change what is in force.
func (r *Room) Matters(name string) bool {
	return strings.EqualFold(filepath.Ext(name), ".md") ||
		slices.ContainsFunc(r.Now().Files, func(f instructions.File) bool { return filepath.Base(f.Path) == name })
}

// Start returns the name of the first file of the workspace in force, else of the user's, and how many more there are;
// "": there is none.
func (r *Room) Start() (first string, more int) {
	files := r.Now().Files
	for _, f := range files {
		if first == "" || f.Kind == instructions.Project {
			first = f.Name
		}
		if f.Kind == instructions.Project {
			break
		}
	}
	return first, max(0, len(files)-1)
}

// Now returns what the workspace brings at present.
func (r *Room) Now() *instructions.Set {
	if r == nil {
		return &instructions.Set{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

// Moves has hear told, at once and later, in which directories changes matter.
func (r *Room) Moves(hear func(dirs []string)) {
	r.mu.Lock()
	r.moved = hear
	r.mu.Unlock()
	r.moves()
}

// moves tells who watches in which directories changes matter now.
func (r *Room) moves() {
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

// Reread reads the files anew: something in their directories changed.
func (r *Room) Reread() {
	r.changing.Lock()
	defer r.changing.Unlock()
	r.reread()
}

// reread is Reread for one that changes nothing beside others.
func (r *Room) reread() {
	r.mu.Lock()
	p, touched := r.place, make([]string, 0, len(r.nested))
	for dir := range r.nested {
		touched = append(touched, dir)
	}
	r.mu.Unlock()
	now, nested := instructions.Read(p), map[string]*instructions.Set{}
	for _, dir := range touched {
		nested[dir] = instructions.ReadDir(p, dir)
	}
	r.mu.Lock()
	r.now = now
	for dir, s := range nested {
		r.nested[dir] = s
	}
	r.mu.Unlock()
	r.moves()
}

// mostDirs is how many directories are kept that tools touched; of others nobody hears when they change.
const mostDirs = 1000

// directory returns what a directory of the workspace brings that is not in force from the start.
func (r *Room) directory(dir string) *instructions.Set {
	r.mu.Lock()
	s, p := r.nested[dir], r.place
	r.mu.Unlock()
	if s != nil {
		return s
	}
	s = instructions.ReadDir(p, dir)
	r.mu.Lock()
	known, full := r.nested[dir], len(r.nested) >= mostDirs
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

// told returns by path what an agent knows: what its system prompt carries and what it was told since.
func (r *Room) told(had []history.Brief) map[string]history.Brief {
	known := map[string]history.Brief{}
	for _, f := range r.base.Files {
		known[f.Path] = brief(f, "")
	}
	for _, b := range had {
		known[b.Path] = b
	}
	return known
}

func brief(f instructions.File, why string) history.Brief {
	return history.Brief{Path: f.Path, Name: f.Name, Dir: f.Dir, Hash: f.Hash, Bytes: len(f.Text), Why: why}
}

// Why a file is told.
const (
	isNew     = "new"
	isChanged = "changed"
	isTouched = "touched"
	isGone    = "gone"
)

// Begin returns the entry that tells an agent at the beginning of a turn what changed since it was told; ok is false if
// nothing did.
func (r *Room) Begin(ctx context.Context, db *store.DB, i event.Info) (e history.Entry, ok bool, err error) {
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
		if b.Why == isGone || slices.ContainsFunc(now.Files, func(f instructions.File) bool { return f.Path == path }) {
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

// find returns a file that an agent was told of when a tool touched it, as it is now.
func (r *Room) find(now *instructions.Set, more []instructions.File, b history.Brief) (instructions.File, bool) {
	from := [][]instructions.File{now.Rules, more}
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
	return instructions.File{}, false
}

// also are rules that stand in no file of instructions, as they are now, for an agent whose tools touched those directories.
// It is called outside of locks.
type also func(i event.Info, dirs []string) []instructions.File

// Adds has agents told of such rules. It is called before any is told.
func (r *Room) Adds(also also) {
	if r != nil {
		r.also = also
	}
}

// more are these rules for an agent.
func (r *Room) more(i event.Info, dirs []string) []instructions.File {
	if r.also == nil {
		return nil
	}
	return r.also(i, dirs)
}

// lower are the directories of what an agent was told that lie below the one where agents work.
func (r *Room) lower(had []history.Brief) (dirs []string) {
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

// Touched returns the entry that tells an agent what is in force where its tools were, if it was not told before.
// The paths are absolute and resolved, of files or directories.
func (r *Room) Touched(ctx context.Context, db *store.DB, i event.Info, paths []string) (e history.Entry, ok bool, err error) {
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

// speaking returns the files that speak of what tools touched, and are not in force from the start.
func (r *Room) speaking(i event.Info, paths []string) []instructions.File {
	r.mu.Lock()
	p, rules := r.place, slices.Clone(r.now.Rules)
	r.mu.Unlock()
	var files []instructions.File
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

// left is how many bytes an agent may still be told.
func (r *Room) left(i event.Info, had []history.Brief) int {
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

// telling collects what an entry tells.
type telling struct {
	known map[string]history.Brief
	files []instructions.File
	why   []string
	gone  []history.Brief
}

func (t *telling) add(f instructions.File, why string) {
	for _, g := range t.files {
		if g.Path == f.Path {
			return
		}
	}
	t.files, t.why = append(t.files, f), append(t.why, why)
}

// entry returns what is told, in at most that many bytes; ok is false if that is nothing.
func (t *telling) entry(room int) (e history.Entry, ok bool) {
	if len(t.files)+len(t.gone) == 0 {
		return e, false
	}
	e.Kind = history.EntryBriefed
	fit, notes := instructions.Fit(t.files, room)
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
		says = append(says, "Your user's words come before them, and they allow nothing that needs consent.\n\n"+instructions.Render(fit))
	}
	e.Text = strings.Join(says, " ")
	return e, true
}

// keptIn is the file that lists what may be imported.
func keptIn(data string) string { return filepath.Join(data, kept) }
