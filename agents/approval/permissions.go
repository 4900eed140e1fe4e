package approval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"fantail/agents/audit"
	"fantail/agents/tasks"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/permission"
)

// RuleLine is a rule of a file.
type RuleLine struct {
	permission.ToolRule
	List    permission.List
	File    string // as people name it
	From    string // FILE:LINE:COLUMN
	Project bool   // the file is the workspace's: what it allows is only offered
}

// RuleReading is what the files say.
type RuleReading struct {
	Lines   []RuleLine
	Faults  []string // FILE:LINE:COLUMN: a mistake
	Ignored []string // FILE:LINE:COLUMN: a setting that a workspace's file may not have
	Unread  []string // FILE:LINE:COLUMN: unreadable text that may deny or ask, or a hook that may
}

// Blind says in one text why nothing runs unasked; "": everything that may deny or ask can be read.
func (is RuleReading) Blind() string {
	switch n := len(is.Unread); n {
	case 0:
		return ""
	case 1:
		return is.Unread[0]
	default:
		return fmt.Sprintf("%s (and %d more)", is.Unread[0], n-1)
	}
}

// RulesOptions are what Rules needs.
type RulesOptions struct {
	DB    *store.DB
	Gate  *permission.Gate
	Seals *tasks.LastingSeal // of the answers: those without its seal are none
	Audit *audit.Log
	Asks  Asks
	Tools *tools.Set
	Env   tools.Runtime // in which a command is judged that is only tested
	Boxed bool          // commands run in a sandbox, where one works
	Tell  func(ctx context.Context, text string)
}

// Asks gives access to the open questions.
type Asks interface {
	Review(ctx context.Context) error                       // answers those that the rules answer now
	Revoke(ctx context.Context, rule permission.Rule) error // withdraws a rule that a human gave
}

// Rules manages the rules of files, and the answers to those that a workspace offers.
type Rules struct {
	o RulesOptions

	mu      sync.Mutex
	now     RuleReading
	answers answers // nil: not read yet
}

// answers are the answers to allow rules in a workspace's files, by file and text.
type answers map[string]map[string]bool

// setting is the name under which the answers are stored.
const setting = "rules of the workspace's files"

// NewRules returns Rules without any files.
func NewRules(o RulesOptions) *Rules { return &Rules{o: o} }

// BeginRules applies the rules of files to a gate before there are Rules, without the allow rules of a workspace's
// files.
func BeginRules(g *permission.Gate, is RuleReading) {
	(&Rules{o: RulesOptions{Gate: g}, now: is}).apply()
}

// Load applies the rules of files in place of the earlier ones. Of the allow rules of a workspace's files only those
// apply that a human accepted, word for word.
func (r *Rules) Load(ctx context.Context, is RuleReading) error {
	kept := answers{}
	err := r.o.DB.Read(ctx, func(rx *store.Rx) (err error) {
		kept, err = r.recall(&rx.View)
		return err
	})
	r.mu.Lock()
	if err == nil {
		r.answers = kept
	}
	was, blind := r.now.Blind(), is.Blind()
	r.now = is
	r.apply()
	r.mu.Unlock()
	switch {
	case blind == was:
	case blind != "":
		r.o.Tell(ctx, "Everything is asked now, and no mode or rule allows anything: what may deny it can't be read. "+blind+". Repair the file, or move it away.")
	default:
		r.o.Tell(ctx, "The files with permission rules can be read again: modes and rules hold as before.")
	}
	return errors.Join(err, r.o.Asks.Review(ctx))
}

// Blind says why nothing runs unasked now, as [RuleReading.Blind] does.
func (r *Rules) Blind() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now.Blind()
}

// recall returns the answers that this program stored; a row that another program wrote counts as empty.
func (r *Rules) recall(v *store.View) (answers, error) {
	if r.o.Seals.Err() != nil {
		return answers{}, nil
	}
	ok, err := r.o.Seals.Sealed(v, store.Settings, setting)
	if err != nil || !ok {
		return answers{}, err
	}
	return recall(v)
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

// apply passes the rules to the gate. The caller holds the mutex.
func (r *Rules) apply() {
	var limits permission.Limits
	var allowed []permission.Filed
	for _, l := range r.now.Lines {
		if l.List != permission.AllowList {
			limits = append(limits, permission.Limit{ToolRule: l.ToolRule, List: l.List, From: l.From})
			continue
		}
		if l.Project && !r.answers[l.File][l.Text] {
			continue
		}
		rules, _ := permission.Import(l.ToolRule)
		for _, rule := range rules {
			allowed = append(allowed, permission.Filed{Rule: rule, From: l.From})
		}
	}
	r.o.Gate.Unread(r.now.Blind())
	r.o.Gate.Limit(limits)
	r.o.Gate.Admit(allowed)
}

// RuleEntry is one rule, as it is listed.
type RuleEntry struct {
	List  permission.List
	Text  string
	From  string    // where it is written, or how long it lasts
	Note  string    // which part of it is not allowed here, or why it is never used
	Never bool      // it is never used: Note says why
	Here  string    // what an allow rule of a file means here, if that is another text
	Given bool      // a human gave it, and may withdraw it
	Offer int       // its number among the files' allow rules, from 1; 0: it is none of them
	State RuleState // of such a one
}

// RuleState is the answer to an allow rule of a file.
type RuleState string

// The possible answers.
const (
	Open     RuleState = "offered"
	Accepted RuleState = "accepted"
	Refused  RuleState = "refused"
)

// List returns all rules: those that deny, then those that ask, then those that allow. broken are the mistakes in the
// files, ignored their settings without effect.
func (r *Rules) List() (all []RuleEntry, broken, ignored []string) {
	known := r.o.Tools.Names()
	r.mu.Lock()
	now, offers := r.now, r.offers()
	states := make([]RuleState, len(offers))
	for i, l := range offers {
		states[i] = r.state(l)
	}
	r.mu.Unlock()
	over := first{}
	for _, l := range now.Lines {
		if l.List != permission.AllowList {
			e := RuleEntry{List: l.List, Text: l.Text, From: l.From}
			e.never(l.Never(known))
			all, over = append(all, e), append(over, l)
		}
	}
	slices.SortStableFunc(over, func(a, b RuleLine) int { return order(a.List) - order(b.List) })
	slices.SortStableFunc(all, func(a, b RuleEntry) int { return order(a.List) - order(b.List) })
	for i := range all {
		over.hold(&all[i], &over[i].ToolRule)
	}
	for _, h := range r.o.Gate.Allowed() {
		if h.From == "" {
			e := RuleEntry{List: permission.AllowList, Text: string(h.Rule), From: h.Lasts, Given: h.Lasts != permission.ByConfiguration}
			if rule, err := permission.ParseToolRule(e.Text, permission.Places{Root: r.o.Env.Root}); err == nil && !h.Rule.Widens() {
				over.hold(&e, &rule)
			}
			all = append(all, e)
		}
	}
	for i, l := range offers {
		e := RuleEntry{List: permission.AllowList, Text: l.Text, From: l.From}
		e.never(l.Never(known))
		e.here(l)
		over.hold(&e, &l.ToolRule)
		if l.Project {
			e.Offer, e.State = i+1, states[i]
		}
		all = append(all, e)
	}
	return all, slices.Clone(now.Faults), slices.Clone(now.Ignored)
}

func (e *RuleEntry) never(why string) {
	if why != "" {
		e.Note, e.Never = "matches nothing: "+why, true
	}
}

// here sets what a file's allow rule means here.
func (e *RuleEntry) here(l RuleLine) {
	if e.Never {
		return
	}
	rules, lost := permission.Import(l.ToolRule)
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
type first []RuleLine

// hold notes on e which of them overrides its rule.
func (all first) hold(e *RuleEntry, r *permission.ToolRule) {
	if e.Never {
		return
	}
	sample := r.Sample()
	for _, l := range all {
		if order(l.List) >= order(e.List) {
			return
		}
		if l.What == permission.AnyTool && r.What == permission.Path && e.List == permission.AskList {
			continue // it also applies to commands
		}
		if sample.Within(&l.ToolRule) {
			e.Note, e.Never = "never used: "+string(l.List)+" "+l.Text+" ("+l.From+") comes first", true
			return
		}
	}
}

func order(l permission.List) int {
	return slices.Index([]permission.List{permission.DenyList, permission.AskList, permission.AllowList}, l)
}

// offers returns the allow rules, those of the workspace first, which have numbers. The caller holds the mutex.
func (r *Rules) offers() (all []RuleLine) {
	for _, project := range []bool{true, false} {
		for _, l := range r.now.Lines {
			if l.List == permission.AllowList && l.Project == project {
				all = append(all, l)
			}
		}
	}
	return all
}

func (r *Rules) state(l RuleLine) RuleState {
	switch yes, answered := r.answers[l.File][l.Text]; {
	case !answered:
		return Open
	case yes:
		return Accepted
	}
	return Refused
}

// Waiting returns how many allow rules of the workspace's files have no answer yet.
func (r *Rules) Waiting() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.now.Lines {
		if l.List == permission.AllowList && l.Project && r.state(l) == Open {
			n++
		}
	}
	return n
}

// Answer accepts or refuses the file's allow rule of that number, which is text. The answer counts as long as the file
// has exactly that text.
func (r *Rules) Answer(ctx context.Context, number int, text string, to RuleState) (string, error) {
	r.mu.Lock()
	var l RuleLine
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
	rules, lost := permission.Import(l.ToolRule)
	if to == Accepted && len(rules) == 0 {
		return "", fmt.Errorf("%s allows %s", l.Text, lost)
	}
	var kept answers
	err := r.o.DB.Write(ctx, "answer what a file wants allowed", func(tx *store.Tx) error {
		var err error
		if kept, err = r.recall(&tx.View); err != nil {
			return err
		}
		if kept[l.File] == nil {
			kept[l.File] = map[string]bool{}
		}
		kept[l.File][l.Text] = to == Accepted
		if err := r.keep(tx, kept); err != nil {
			return err
		}
		return r.o.Audit.Filed(tx, l.Text, l.From, string(to), audit.Who(ctx))
	})
	if err != nil {
		return "", err
	}
	return l.Text, r.o.Asks.Review(ctx)
}

// keep stores the answers, and applies them after the commit.
func (r *Rules) keep(tx *store.Tx, kept answers) error {
	text, err := json.Marshal(kept)
	if err == nil {
		err = tx.SetSetting(setting, string(text))
	}
	if err == nil {
		err = r.o.Seals.Seal(tx, store.Settings, setting)
	}
	tx.AfterCommit(func() { r.answered(kept) })
	return err
}

// answered applies the answers that were just stored.
func (r *Rules) answered(kept answers) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers = kept
	r.apply()
}

// Revoke withdraws a rule that a human gave, for the session or for good.
func (r *Rules) Revoke(ctx context.Context, rule string) error {
	return r.o.Asks.Revoke(ctx, permission.Rule(rule))
}

// RuleTest is the decision about a command.
type RuleTest struct {
	permission.Verdict
	Mode   permission.Mode // the present one
	Others []string        // the rules that match it
	Modes  []InMode        // the decision in each mode
}

// InMode is the decision in a mode.
type InMode struct {
	permission.Verdict
	Mode permission.Mode
}

// Test returns the decision about a command, or about Tool(path) and Agent(name) as rules spell them, in the present
// mode and in all others, and which rules match.
func (r *Rules) Test(command string) (t RuleTest, err error) {
	act, err := r.tested(command)
	if err != nil {
		return t, err
	}
	act.Boxed = r.o.Boxed // as the commands of agents are
	t.Mode = r.o.Gate.Mode()
	t.Verdict, t.Others = r.o.Gate.Explain(act)
	for _, m := range permission.Modes() {
		t.Modes = append(t.Modes, InMode{r.o.Gate.In(m, act), m})
	}
	return t, nil
}

// tested returns the action of a text that is a command line, or names a tool as rules do.
func (r *Rules) tested(text string) (permission.Action, error) {
	tool, args := "bash", map[string]string{"command": text}
	rule, err := permission.ParseToolRule(text, permission.Places{})
	switch {
	case err != nil:
	case rule.What == permission.CommandRule:
		args["command"], _ = rule.Stem()
	case rule.What == permission.Named && strings.EqualFold(rule.Tool, "skill"):
		tool, args = "skill", map[string]string{"name": rule.Body}
	case rule.What == permission.Named:
		tool, args = "delegate", map[string]string{"agent": rule.Body, "prompt": text}
	case rule.What == permission.Path && rule.Writes():
		env := r.o.Env
		return env.Writing(rule.Body)
	case rule.What == permission.Path && rule.Tool == "Grep":
		tool, args = "grep", map[string]string{"path": rule.Body, "pattern": "x"}
	case rule.What == permission.Path && (rule.Tool == "Glob" || rule.Tool == "LS"):
		tool, args = "list_files", map[string]string{"path": rule.Body}
	case rule.What == permission.Path:
		tool, args = "read_file", map[string]string{"path": rule.Body}
	}
	return r.action(tool, args)
}

// Line returns the decision about a command line that a file wants run.
func (r *Rules) Line(command string) (v permission.Verdict, err error) {
	a, err := r.action("bash", map[string]string{"command": command})
	if err != nil {
		return v, err
	}
	return r.o.Gate.Decide(a), nil
}

// action returns the action of a tool's call if an agent made it.
func (r *Rules) action(tool string, args map[string]string) (permission.Action, error) {
	data, err := json.Marshal(args)
	if err != nil {
		return permission.Action{}, err
	}
	env := r.o.Env
	call, err := r.o.Tools.Parse(&env, "", tool, data)
	if err != nil {
		return permission.Action{}, err
	}
	return call.Action, nil
}
