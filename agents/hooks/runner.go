package hooks

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/inbox"
	"fantail/store"
	"fantail/store/config"
	"fantail/tools/permission"
)

// Settings are where hooks come from.
type Settings struct {
	Root  string      // the workspace, absolute and resolved
	Home  string      // the user's; "": there is none
	Trust *TrustStore // the user's agreement to the repository's hooks, which are added to it; nil: they never run
	// Config returns the hooks of the user's configuration, by event, as they are now; nil: it has none.
	Config func() map[string][]config.HookGroup
}

// Options are what hooks need to run, and what they change.
type Options struct {
	Settings
	DB      *store.DB
	Inbox   *inbox.Inbox
	Book    func(agent int64) history.Writer
	Mode    func() permission.Mode
	Ground  ProgramOptions
	Take    func(ctx context.Context, prompt int64) (bool, error) // withdraws a prompt
	Trouble func(error)                                           // reports what could not be recorded
	Shows   func(agent int64, doing, call string)                 // shows what a working agent waits for; nil: it is not shown
	Now     func() time.Time
}

// Runner has the hooks of one workspace. It is safe for concurrent use; nil has none.
type Runner struct {
	o     Options
	files []Source
	begun bool

	mu      sync.Mutex
	stamps  []fs.FileInfo // of the files as they were read
	config  string        // the user's, as they were read
	loaded  Loaded
	read    bool
	last    map[string]Ran    // by the hook
	told    map[string]bool   // lines that the human got already
	turns   map[int64]int64   // by agent: the last turn whose beginning was told
	met     map[int64]bool    // agents whose session has begun
	halts   map[int64]halt    // by agent: turns that must stop
	cleared map[int64]bool    // agents whose next turn begins a new session
	forced  map[int64]forced  // by agent
	after   map[string]string // by agent and call: text for the model once it ran
	passed  map[int64]bool    // prompts that may enter
	ended   []int64           // ended tasks of which hooks must be told
	more    chan struct{}     // holds a token when ended has grown
}

// forced counts how often hooks stopped a turn from ending.
type forced struct {
	turn int64
	n    int
}

// halt says that a turn must stop.
type halt struct {
	turn int64
	why  string
}

// MaxForced is how often hooks may stop one turn from ending.
const MaxForced = 3

// Sources returns the settings files that are read in a workspace, the user's first.
func Sources(s Settings) (all []Source) {
	mine := ""
	if s.Home != "" {
		mine = filepath.Join(s.Home, ".claude", "settings.json")
		all = append(all, Source{Name: "~/.claude/settings.json", Path: mine, Own: true})
	}
	for _, name := range []string{".claude/settings.json", ".claude/settings.local.json", ".fantail/config.toml"} {
		if path := filepath.Join(s.Root, name); path != mine {
			all = append(all, Source{Name: name, Path: path})
		}
	}
	return all
}

// New returns the hooks of a workspace. They do not run before Begin.
func New(s Settings) *Runner {
	r := &Runner{
		o: Options{Settings: s, Now: time.Now}, files: Sources(s), last: map[string]Ran{}, told: map[string]bool{}, turns: map[int64]int64{},
		met: map[int64]bool{}, halts: map[int64]halt{}, cleared: map[int64]bool{}, forced: map[int64]forced{}, after: map[string]string{}, passed: map[int64]bool{}, more: make(chan struct{}, 1),
	}
	s.Trust.Add(TrustSource{
		Kind: HooksKind, Parts: r.parts,
		About: "Hooks run when what they name happens, and get what agents do and say.",
	})
	return r
}

// Begin sets what hooks need to run. Call it before agents start.
func (r *Runner) Begin(o Options) {
	if r == nil {
		return
	}
	o.Settings = r.o.Settings
	r.o, r.begun = o, true
	for _, p := range r.parts() { // the opening of the workspace reports these
		s, _ := r.o.Trust.Look(p)
		r.told["trust "+s.Sum] = true
	}
}

// now returns the current hooks of all sources. It reads them again if a file changed.
func (r *Runner) now() Loaded {
	stamps := make([]fs.FileInfo, len(r.files))
	for n, s := range r.files {
		stamps[n], _ = os.Stat(s.Path)
	}
	var rows map[string][]config.HookGroup
	configured := ""
	if r.o.Config != nil {
		if rows = r.o.Config(); len(rows) > 0 {
			configured = fmt.Sprint(rows)
		}
	}
	r.mu.Lock()
	if r.read && slices.EqualFunc(stamps, r.stamps, same) && configured == r.config {
		defer r.mu.Unlock()
		return r.loaded
	}
	r.mu.Unlock()
	all := Configured(Source{Name: "config.toml", Own: true}, rows)
	for _, s := range r.files {
		l := ReadFile(r.o.Root, s)
		all.Hooks, all.Faults, all.Ignored = append(all.Hooks, l.Hooks...), append(all.Faults, l.Faults...), append(all.Ignored, l.Ignored...)
		all.Off = all.Off || l.Off
	}
	if all.Off {
		all.Hooks = nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stamps, r.config, r.loaded, r.read = stamps, configured, all, true
	return all
}

// same reports whether a file is as it was.
func same(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// parts returns the repository's hooks as parts that the user can trust.
func (r *Runner) parts() []TrustPart { return Parts(r.now().Hooks) }

// Line is a hook as it is listed.
type Line struct {
	Hook
	Standing TrustState // of the repository's
	Last     Ran
}

// List lists all hooks, and the unused parts of their sources.
func (r *Runner) List() (lines []Line, faults, ignored []Fault) {
	if r == nil {
		return nil, nil, nil
	}
	l := r.now()
	stands := map[string]TrustState{}
	for _, p := range Parts(l.Hooks) {
		_, stands[p.Name] = r.o.Trust.Look(p)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range l.Hooks {
		lines = append(lines, Line{Hook: h, Standing: stands[partOf(h)], Last: r.last[h.key()]})
	}
	return lines, l.Faults, l.Ignored
}

// key identifies a hook.
func (h Hook) key() string {
	return h.Source.Name + "\x00" + string(h.Event) + "\x00" + h.Matcher + "\x00" + h.Command
}

// partOf returns the name of the part that a hook belongs to.
func partOf(h Hook) string { return h.Source.Name + " " + string(h.Event) }

// Who is the agent that an event happens to, and its turn.
type Who struct {
	event.Info
	Turn int64
}

// wanted returns the hooks for an event that may run in their present version.
func (r *Runner) wanted(who Who, e Event, names ...string) (run []Hook) {
	stands := map[string]TrustState{}
	l := r.now()
	var parts []TrustPart
	for _, h := range l.Hooks {
		if h.Event != e || !h.matches(names...) {
			continue
		}
		if h.Source.Own {
			run = append(run, h)
			continue
		}
		name := partOf(h)
		if _, looked := stands[name]; !looked {
			if parts == nil {
				parts = Parts(l.Hooks)
			}
			stands[name] = r.stands(who, name, parts)
		}
		if stands[name] == Agreed {
			run = append(run, h)
		} else {
			r.noted(h, Ran{At: r.o.Now(), Exit: -1, Withheld: true})
		}
	}
	return run
}

// stands returns the user's answer to a part as it is on disk now. It tells the human of a part that is new or has
// changed.
func (r *Runner) stands(who Who, name string, parts []TrustPart) TrustState {
	n := slices.IndexFunc(parts, func(p TrustPart) bool { return p.Name == name })
	if n < 0 {
		return NewTrust
	}
	s, is := r.o.Trust.Look(parts[n])
	if is == NewTrust || is == Changed {
		r.tell(who.ID, "trust "+s.Sum, "The hooks "+name+" did not run ("+is.String()+"): /trust shows them and asks.")
	}
	return is
}

// noted records the last run of a hook.
func (r *Runner) noted(h Hook, ran Ran) {
	ran.Out = ""
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.last) > 4*maxHooks {
		clear(r.last)
	}
	r.last[h.key()] = ran
}

// fire runs the hooks for an event, one after another, and returns their answer. facts are the event's own fields.
func (r *Runner) fire(ctx context.Context, who Who, e Event, facts map[string]any, names ...string) (a Answer) {
	for _, h := range r.wanted(who, e, names...) {
		r.ask(ctx, &a, h, who, facts)
		if ctx.Err() != nil {
			return a
		}
	}
	r.heed(who, e, a)
	return a
}

// ask runs one hook for an event, and adds its answer to a.
func (r *Runner) ask(ctx context.Context, a *Answer, h Hook, who Who, facts map[string]any) {
	input, err := json.Marshal(r.input(who, h.Event, facts))
	if err != nil {
		r.tell(who.ID, "json", "What happens can't be told to hooks: "+err.Error())
		return
	}
	if r.o.Shows != nil && h.Event.waits() {
		r.o.Shows(who.ID, "hook "+string(h.Event), h.Command)
	}
	ran := r.run(ctx, h, input)
	r.noted(h, ran)
	if ctx.Err() != nil {
		return
	}
	before := len(a.Tell)
	a.take(h, ran)
	for _, text := range a.Tell[before:] {
		r.tell(who.ID, h.key()+text, text)
	}
}

// heed notes that a turn must stop if an answer says so.
func (r *Runner) heed(who Who, e Event, a Answer) {
	if a.Stop != "" && e.halts() && who.Turn != 0 {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.halts[who.ID] = halt{who.Turn, a.Stop}
	}
}

// input returns a hook's input.
func (r *Runner) input(who Who, e Event, facts map[string]any) map[string]any {
	in := map[string]any{
		"hook_event_name": e, "session_id": strconv.FormatInt(who.ID, 10), "transcript_path": "", "cwd": r.o.Root,
		"agent": who.Name, "agent_kind": who.Kind, "turn": who.Turn,
	}
	if r.o.Mode != nil {
		in["permission_mode"] = map[permission.Mode]string{
			permission.Ask: "default", permission.AcceptEdits: "acceptEdits", permission.Auto: "auto", permission.Plan: "plan", permission.Yolo: "bypassPermissions",
		}[r.o.Mode()]
	}
	for k, v := range facts {
		in[k] = v
	}
	return in
}

// tell shows the human a line in the agent's transcript, each line once.
func (r *Runner) tell(agent int64, once, text string) {
	r.mu.Lock()
	seen := r.told[once]
	if len(r.told) > 1000 {
		clear(r.told)
	}
	r.told[once] = true
	r.mu.Unlock()
	if !seen {
		r.append(context.Background(), agent, 0, history.EntryNotice, text)
	}
}

// append appends an entry to a transcript.
func (r *Runner) append(ctx context.Context, agent, turn int64, kind history.EntryKind, text string) {
	if r.o.DB == nil {
		return
	}
	err := r.o.DB.Write(context.WithoutCancel(ctx), "tell of a hook", func(tx *store.Tx) error {
		_, err := r.o.Book(agent).Batch(tx).Add(turn, history.Entry{Kind: kind, Text: text})
		return err
	})
	if err != nil && r.o.Trouble != nil {
		r.o.Trouble(err)
	}
}
