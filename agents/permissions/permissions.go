// Package permissions is the rules under which calls run, from wherever they come: the user's files, the workspace's, and
// what a human answered.
//
// Does: have the rules of files hold ([Room.Load]), offer what a workspace's file wants allowed, keep the answers, list
// all rules with their places, and say which of them decides about a command.
//
// Does not: read files, decide (tools/permit does), ask.
//
// Imports: agents/audit, store, tools, tools/permit, tools/permit/toolrule.
package permissions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"fantail/agents/audit"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/permit"
	"fantail/tools/permit/toolrule"
)

// Line is a rule of a file.
type Line struct {
	toolrule.Rule
	List    toolrule.List
	File    string // as people name it
	From    string // FILE:LINE:COLUMN
	Project bool   // the file is the workspace's: what it allows is only offered
}

// Reading is what the files say.
type Reading struct {
	Lines   []Line
	Faults  []string // FILE:LINE:COLUMN: what is wrong
	Ignored []string // FILE:LINE:COLUMN: what a workspace's file may not say
}

// Options are what a room needs.
type Options struct {
	DB    *store.DB
	Gate  *permit.Gate
	Audit *audit.Log
	Asks  Asks
	Tools *tools.Set
	Env   tools.Env // in which a command is judged that is only tested
	Boxed bool      // commands run in a sandbox, where one works
}

// Asks has the questions that are open.
type Asks interface {
	Review(ctx context.Context) error                   // answers those that the rules answer now
	Revoke(ctx context.Context, rule permit.Rule) error // takes back what a human gave
}

// Room has the rules of files, and what was answered to those that are offered.
type Room struct {
	o Options

	mu      sync.Mutex
	now     Reading
	answers answers // nil: not read yet
}

// answers are what was answered to what a file wants allowed, by file and text.
type answers map[string]map[string]bool

// setting is the name under which the answers are kept.
const setting = "rules of the workspace's files"

// New returns a room in which no file has said anything.
func New(o Options) *Room { return &Room{o: o} }

// Begin has the rules of files hold in a gate before there is a room: nothing of what a workspace's file allows.
func Begin(g *permit.Gate, is Reading) { (&Room{o: Options{Gate: g}, now: is}).apply() }

// Load has the rules of files hold, in the place of those before. Of what a workspace's file allows only those hold that
// a human accepted, word for word.
func (r *Room) Load(ctx context.Context, is Reading) error {
	kept := answers{}
	err := r.o.DB.Read(ctx, func(rx *store.Rx) (err error) {
		kept, err = recall(&rx.View)
		return err
	})
	r.mu.Lock()
	if err == nil {
		r.answers = kept
	}
	r.now = is
	r.apply()
	r.mu.Unlock()
	return errors.Join(err, r.o.Asks.Review(ctx))
}

func recall(v *store.View) (answers, error) {
	text, ok, err := v.Setting(setting)
	kept := answers{}
	if err != nil || !ok {
		return kept, err
	}
	if err := json.Unmarshal([]byte(text), &kept); err != nil {
		return answers{}, fmt.Errorf("recall which rules of the workspace's files were accepted: %w", err)
	}
	return kept, nil
}

// apply tells the gate what holds. The caller has the mutex.
func (r *Room) apply() {
	var limits permit.Limits
	var allowed []permit.Filed
	for _, l := range r.now.Lines {
		if l.List != toolrule.Allow {
			limits = append(limits, permit.Limit{Rule: l.Rule, List: l.List, From: l.From})
			continue
		}
		if l.Project && !r.answers[l.File][l.Text] {
			continue
		}
		rules, _ := permit.Import(l.Rule)
		for _, rule := range rules {
			allowed = append(allowed, permit.Filed{Rule: rule, From: l.From})
		}
	}
	r.o.Gate.Limit(limits)
	r.o.Gate.Admit(allowed)
}

// Entry is one rule, as it is listed.
type Entry struct {
	List  toolrule.List
	Text  string
	From  string // where it stands, or how long it lasts
	Note  string // what of it is not allowed here, or that it is never used
	Never bool   // it is never used: Note says why
	Here  string // what a file's rule that allows means here, if that is another text
	Given bool   // a human gave it, and may take it back
	Offer int    // its number among what files want allowed, from 1; 0: it is none of them
	State State  // of such a one
}

// State is what was answered to what a file wants allowed.
type State string

// What may be answered.
const (
	Open     State = "offered"
	Accepted State = "accepted"
	Refused  State = "refused"
)

// List is all rules: what denies, then what asks, then what allows. broken is what is wrong with the files, ignored what
// of them is not obeyed.
func (r *Room) List() (all []Entry, broken, ignored []string) {
	known := r.o.Tools.Names()
	r.mu.Lock()
	now, offers := r.now, r.offers()
	states := make([]State, len(offers))
	for i, l := range offers {
		states[i] = r.state(l)
	}
	r.mu.Unlock()
	over := first{}
	for _, l := range now.Lines {
		if l.List != toolrule.Allow {
			e := Entry{List: l.List, Text: l.Text, From: l.From}
			e.never(l.Never(known))
			all, over = append(all, e), append(over, l)
		}
	}
	slices.SortStableFunc(over, func(a, b Line) int { return order(a.List) - order(b.List) })
	slices.SortStableFunc(all, func(a, b Entry) int { return order(a.List) - order(b.List) })
	for i := range all {
		over.hold(&all[i], &over[i].Rule)
	}
	for _, h := range r.o.Gate.Allowed() {
		if h.From == "" {
			e := Entry{List: toolrule.Allow, Text: string(h.Rule), From: h.Lasts, Given: h.Lasts != permit.ByConfiguration}
			if rule, err := toolrule.Parse(e.Text, toolrule.Places{Root: r.o.Env.Root}); err == nil && !h.Rule.Widens() {
				over.hold(&e, &rule)
			}
			all = append(all, e)
		}
	}
	for i, l := range offers {
		e := Entry{List: toolrule.Allow, Text: l.Text, From: l.From}
		e.never(l.Never(known))
		e.here(l)
		over.hold(&e, &l.Rule)
		if l.Project {
			e.Offer, e.State = i+1, states[i]
		}
		all = append(all, e)
	}
	return all, slices.Clone(now.Faults), slices.Clone(now.Ignored)
}

func (e *Entry) never(why string) {
	if why != "" {
		e.Note, e.Never = "matches nothing: "+why, true
	}
}

// here says what a file's rule that allows means here.
func (e *Entry) here(l Line) {
	if e.Never {
		return
	}
	rules, lost := permit.Import(l.Rule)
	switch {
	case len(rules) == 0:
		e.Note, e.Never = "allows "+lost, true
	case lost != "":
		e.Note = "elsewhere it covers more, and here not: " + lost
	}
	var texts []string
	for _, rule := range rules {
		texts = append(texts, string(rule))
	}
	if e.Here = strings.Join(texts, ", "); e.Here == e.Text {
		e.Here = ""
	}
}

// first are the rules that come before others: those that deny, then those that ask.
type first []Line

// hold notes which of them leaves nothing to a rule.
func (all first) hold(e *Entry, r *toolrule.Rule) {
	if e.Never {
		return
	}
	sample := r.Sample()
	for _, l := range all {
		if order(l.List) >= order(e.List) {
			return
		}
		if l.What == toolrule.Any && r.What == toolrule.Path && e.List == toolrule.Ask {
			continue // it also speaks of commands
		}
		if sample.Within(&l.Rule) {
			e.Note, e.Never = "never used: "+string(l.List)+" "+l.Text+" ("+l.From+") comes first", true
			return
		}
	}
}

func order(l toolrule.List) int {
	return slices.Index([]toolrule.List{toolrule.Deny, toolrule.Ask, toolrule.Allow}, l)
}

// offers are the lines that allow, those of the workspace first, which have numbers. The caller has the mutex.
func (r *Room) offers() (all []Line) {
	for _, project := range []bool{true, false} {
		for _, l := range r.now.Lines {
			if l.List == toolrule.Allow && l.Project == project {
				all = append(all, l)
			}
		}
	}
	return all
}

func (r *Room) state(l Line) State {
	switch yes, answered := r.answers[l.File][l.Text]; {
	case !answered:
		return Open
	case yes:
		return Accepted
	}
	return Refused
}

// Waiting is how many rules the workspace's files want allowed that nobody answered yet.
func (r *Room) Waiting() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.now.Lines {
		if l.List == toolrule.Allow && l.Project && r.state(l) == Open {
			n++
		}
	}
	return n
}

// Answer accepts or refuses what the file wants allowed under that number, which is text. It holds as long as the file
// says that word for word.
func (r *Room) Answer(ctx context.Context, number int, text string, to State) (string, error) {
	r.mu.Lock()
	var l Line
	if all := r.offers(); number >= 1 && number <= len(all) {
		l = all[number-1]
	}
	r.mu.Unlock()
	switch {
	case l.Text == "" || !l.Project:
		return "", fmt.Errorf("no file of the workspace offers a rule %d; /permissions lists them", number)
	case text != "" && text != l.Text:
		return "", fmt.Errorf("the files changed meanwhile: rule %d is %s now; /permissions lists them", number, l.Text)
	}
	rules, lost := permit.Import(l.Rule)
	if to == Accepted && len(rules) == 0 {
		return "", fmt.Errorf("%s allows %s", l.Text, lost)
	}
	var kept answers
	err := r.o.DB.Write(ctx, "answer what a file wants allowed", func(tx *store.Tx) error {
		var err error
		if kept, err = recall(&tx.View); err != nil {
			return err
		}
		if kept[l.File] == nil {
			kept[l.File] = map[string]bool{}
		}
		kept[l.File][l.Text] = to == Accepted
		text, err := json.Marshal(kept)
		if err != nil {
			return err
		}
		tx.AfterCommit(func() { r.answered(kept) })
		if err := tx.SetSetting(setting, string(text)); err != nil {
			return err
		}
		return r.o.Audit.Filed(tx, l.Text, l.From, string(to), audit.Who(ctx))
	})
	if err != nil {
		return "", err
	}
	return l.Text, r.o.Asks.Review(ctx)
}

// answered has the answers hold that were just kept.
func (r *Room) answered(kept answers) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers = kept
	r.apply()
}

// Revoke takes back a rule that a human gave, for the session or for good.
func (r *Room) Revoke(ctx context.Context, rule string) error {
	return r.o.Asks.Revoke(ctx, permit.Rule(rule))
}

// Test is what would be decided about a command.
type Test struct {
	permit.Verdict
	Mode   permit.Mode // the one that holds
	Others []string    // the rules that speak of it
	Modes  []InMode    // what would be decided in each mode
}

// InMode is what would be decided in a mode.
type InMode struct {
	permit.Verdict
	Mode permit.Mode
}

// Test says what would be decided about a command, or about Tool(path) and Agent(name) as rules spell them, in the mode
// that holds and in all others, and which rules speak of it.
func (r *Room) Test(command string) (t Test, err error) {
	act, err := r.tested(command)
	if err != nil {
		return t, err
	}
	act.Boxed = r.o.Boxed // as the commands of agents are
	t.Mode = r.o.Gate.Mode()
	t.Verdict, t.Others = r.o.Gate.Explain(act)
	for _, m := range permit.Modes() {
		t.Modes = append(t.Modes, InMode{r.o.Gate.In(m, act), m})
	}
	return t, nil
}

// tested is what a text would do that is a command line, or speaks of a tool as rules do.
func (r *Room) tested(text string) (permit.Action, error) {
	tool, args := "bash", map[string]string{"command": text}
	rule, err := toolrule.Parse(text, toolrule.Places{})
	switch {
	case err != nil:
	case rule.What == toolrule.Command:
		args["command"], _ = rule.Stem()
	case rule.What == toolrule.Named && strings.EqualFold(rule.Tool, "skill"):
		tool, args = "skill", map[string]string{"name": rule.Body}
	case rule.What == toolrule.Named:
		tool, args = "delegate", map[string]string{"agent": rule.Body, "prompt": text}
	case rule.What == toolrule.Path && rule.Writes():
		env := r.o.Env
		return env.Writing(rule.Body)
	case rule.What == toolrule.Path && rule.Tool == "Grep":
		tool, args = "grep", map[string]string{"path": rule.Body, "pattern": "x"}
	case rule.What == toolrule.Path && (rule.Tool == "Glob" || rule.Tool == "LS"):
		tool, args = "list_files", map[string]string{"path": rule.Body}
	case rule.What == toolrule.Path:
		tool, args = "read_file", map[string]string{"path": rule.Body}
	}
	return r.action(tool, args)
}

// Line is what is decided about a command line that a file wants run.
func (r *Room) Line(command string) (v permit.Verdict, err error) {
	a, err := r.action("bash", map[string]string{"command": command})
	if err != nil {
		return v, err
	}
	return r.o.Gate.Decide(a), nil
}

// action is what a call of a tool would do if an agent made it.
func (r *Room) action(tool string, args map[string]string) (permit.Action, error) {
	data, err := json.Marshal(args)
	if err != nil {
		return permit.Action{}, err
	}
	env := r.o.Env
	call, err := r.o.Tools.Parse(&env, "", tool, data)
	if err != nil {
		return permit.Action{}, err
	}
	return call.Action, nil
}
