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
	Note  string // that it matches nothing, or what of it is not allowed here
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
	defer r.mu.Unlock()
	for _, l := range r.now.Lines {
		if l.List != toolrule.Allow {
			all = append(all, Entry{List: l.List, Text: l.Text, From: l.From, Note: never(l.Never(known))})
		}
	}
	slices.SortStableFunc(all, func(a, b Entry) int { return order(a.List) - order(b.List) })
	for _, h := range r.o.Gate.Allowed() {
		if h.From == "" {
			all = append(all, Entry{List: toolrule.Allow, Text: string(h.Rule), From: h.Lasts})
		}
	}
	for i, l := range r.offers() {
		e := Entry{List: toolrule.Allow, Text: l.Text, From: l.From}
		if e.Note = never(l.Never(known)); e.Note == "" {
			rules, lost := permit.Import(l.Rule)
			switch {
			case len(rules) == 0:
				e.Note = "allows " + lost
			case lost != "":
				e.Note = "elsewhere it covers more, and here not: " + lost
			}
		}
		if l.Project {
			e.Offer, e.State = i+1, r.state(l)
		}
		all = append(all, e)
	}
	return all, slices.Clone(r.now.Faults), slices.Clone(r.now.Ignored)
}

func never(why string) string {
	if why == "" {
		return ""
	}
	return "matches nothing: " + why
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

// Test says what would be decided about a command, and which rules speak of it.
func (r *Room) Test(command string) (v permit.Verdict, others []string, err error) {
	a, err := r.action(command)
	if err != nil {
		return v, nil, err
	}
	v, others = r.o.Gate.Explain(a)
	return v, others, nil
}

// Line is what is decided about a command line that a file wants run.
func (r *Room) Line(command string) (v permit.Verdict, err error) {
	a, err := r.action(command)
	if err != nil {
		return v, err
	}
	return r.o.Gate.Decide(a), nil
}

// action is what a command would do if an agent ran it.
func (r *Room) action(command string) (a permit.Action, err error) {
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		return a, err
	}
	env := r.o.Env
	call, err := r.o.Tools.Parse(&env, "", "bash", args)
	if err != nil {
		return a, err
	}
	return call.Action, nil
}
