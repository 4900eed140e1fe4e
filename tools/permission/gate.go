package permission

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"fantail/tools/permission/shell"
)

// Gate decides. It is safe for concurrent use; mode and rules are shared by all
// agents of a pool.
type Gate struct {
	mu      sync.RWMutex
	mode    Mode // the mode in force
	coming  Mode // a looser mode that was chosen and is not in force yet; "": none
	chosen  int  // how often a mode was chosen
	sandbox Sandbox
	look    func() Sandbox // finds out which sandbox works; nil: wall is known
	rules   []parsed
	limits  Limits         // of files, see limit.go
	limited int            // how often they were set
	unread  string         // a file that may deny calls and can't be read; "": all can be
	offered map[Rule]grant // the grant that each offered rule would get
	changes *Changes
	ground  func() error // checks the workspace; nil: no check
}

// NewGate returns a gate. Bad rules are an error that names the rule.
func NewGate(mode Mode, rules []Rule) (*Gate, error) {
	if _, err := ParseMode(string(mode)); err != nil {
		return nil, err
	}
	g := &Gate{mode: mode, offered: map[Rule]grant{}, changes: newChanges()}
	if err := g.Configure(rules); err != nil {
		return nil, err
	}
	return g, nil
}

// Configure replaces the rules that outlive a session. A bad one is an error that names it, and then nothing changes.
func (g *Gate) Configure(rules []Rule) error {
	var all []parsed
	for _, r := range rules {
		p, err := r.parse()
		if err != nil {
			return err
		}
		p.lasts, p.given.since = true, time.Now()
		if !slices.ContainsFunc(all, func(o parsed) bool { return o.text == p.text }) {
			all = append(all, p)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range g.rules { // keep the rules of the session, the workspace and its files, without duplicates
		if !p.lasts && (p.filed != "" || !slices.ContainsFunc(all, func(o parsed) bool { return o.text == p.text })) {
			all = append(all, p)
		}
	}
	g.rules = all
	return nil
}

// Forget removes the session's rules and offers.
func (g *Gate) Forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rules = slices.DeleteFunc(slices.Clone(g.rules), func(p parsed) bool { return !p.durable() })
	clear(g.offered)
}

// Stands sets a check of the workspace. While ground returns an error the gate asks before every call, in every mode,
// with the error as the reason: the decisions were made for another workspace. The gate calls ground for each decision.
// Stands must be called before the first one.
func (g *Gate) Stands(ground func() error) { g.ground = ground }

// Mode is the mode in force.
func (g *Gate) Mode() Mode {
	holds, _ := g.Modes()
	return holds
}

// Modes returns the mode in force, and the looser one that was chosen and is not in force yet; "": none.
func (g *Gate) Modes() (holds, coming Mode) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.mode, g.coming
}

// SetMode changes the mode at once; calls that were decided before stay decided. It returns an error, and changes
// nothing, if the mode is not possible here.
func (g *Gate) SetMode(m Mode) error {
	if err := g.Admits(m); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.chosen++
	g.mode, g.coming = m, ""
	return nil
}

// Step is SetMode for a mode that a key may only pass through: the tighter of it and the current mode applies at once.
// If the new mode is looser, settle makes it apply, unless another mode was chosen meanwhile, and reports whether it
// does.
func (g *Gate) Step(m Mode) (settle func() bool, err error) {
	if err := g.Admits(m); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.chosen++
	if g.mode, g.coming = g.mode.Tighter(m), ""; g.mode == m {
		return nil, nil
	}
	g.coming = m
	at := g.chosen
	return func() bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.chosen != at {
			return false
		}
		g.mode, g.coming = m, ""
		return true
	}, nil
}

// Admits says why a mode is not possible here; nil if it is.
func (g *Gate) Admits(m Mode) error {
	if m == Auto && g.Wall() == NoSandbox {
		return errors.New("mode auto lets commands run unasked in a sandbox, and none works here (fantail doctor says why): take ask or accept-edits, with a rule for what need not ask")
	}
	return nil
}

// Seeks sets the function that finds out which sandbox works, until Boxes reports the result: a caller that needs it
// calls look, and waits.
func (g *Gate) Seeks(look func() Sandbox) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.look = look
}

// Boxes says which sandbox commands run in; until then there is none.
func (g *Gate) Boxes(w Sandbox) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sandbox, g.look = w, nil
}

// Wall says what the sandbox for commands is worth. It may have to find out first.
func (g *Gate) Wall() Sandbox {
	g.mu.RLock()
	sandbox, look := g.sandbox, g.look
	g.mu.RUnlock()
	if look != nil {
		return look()
	}
	return sandbox
}

// Known is Wall without finding out.
func (g *Gate) Known() Sandbox {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.sandbox
}

// Changes is where agents' tools record what they write and run.
func (g *Gate) Changes() *Changes { return g.changes }

// Allow adds a rule for this session, with the state that its command's files had when it was offered. An existing rule
// is given again.
func (g *Gate) Allow(r Rule) error {
	p, err := r.parse()
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var seen bool
	if p.given, seen = g.offered[p.text]; !seen {
		p.given.since = time.Now()
	}
	delete(g.offered, p.text)
	// A reader may use the old slice: it is never changed in place.
	rules := slices.DeleteFunc(slices.Clone(g.rules), func(old parsed) bool {
		if old.text != p.text || old.filed != "" {
			return false
		}
		p.lasts, p.kept = old.lasts, old.kept
		return true
	})
	g.rules = append(rules, p)
	return nil
}

// offers remembers an offered rule with its grant. Few offers are ever accepted.
func (g *Gate) offers(r Rule, given grant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.offered) >= maxOffered {
		clear(g.offered)
	}
	g.offered[r] = given
}

// maxOffered bounds how many offers are remembered.
const maxOffered = 64

// Decide says whether the action may run in the current mode and under the current rules. A deny rule of a file denies
// it in every mode, whatever else allows it; an ask rule has it asked.
func (g *Gate) Decide(a Action) Verdict { return g.In(g.Mode(), a) }

// Again is Decide for a call whose question is open: a new rule may answer it, a change of the mode does not.
func (g *Gate) Again(a Action) Verdict {
	v := g.In(Ask, a)
	if v.Decision == Allow && g.Decide(a).Decision != Allow {
		v.Decision = AskHuman
	}
	return v
}

// In is Decide in the given mode.
func (g *Gate) In(mode Mode, a Action) Verdict {
	g.mu.RLock()
	rules, limits, unread := g.rules, g.limits, g.unread
	g.mu.RUnlock()
	if a.Forbidden != "" {
		return g.decide(a, mode, rules)
	}
	if unread == "" || a.Kind == Internal && a.About == "" {
		return limits.find(a).over(g.decide(a, mode, rules))
	}
	if a.Mode != "" {
		a.Mode = a.Mode.Tightest()
	}
	return blind(unread, limits.find(a).over(g.decide(a, mode.Tightest(), nil)))
}

// decide is Decide without the deny and ask rules of files.
func (g *Gate) decide(a Action, mode Mode, rules []parsed) Verdict {
	if a.Mode != "" {
		mode = a.Mode
		rules = slices.DeleteFunc(slices.Clone(rules), func(p parsed) bool { return !p.durable() })
	}
	if g.ground != nil && a.Kind != Internal && a.Forbidden == "" {
		if err := g.ground(); err != nil {
			return Verdict{Decision: AskHuman, Reason: "would run where " + err.Error(), Free: mode == Yolo && !a.Strict}
		}
	}
	if a.Boxed && a.Kind == Command {
		a.Boxed = g.Wall() != NoSandbox
	}
	if secrets := a.Secrets; secrets != nil && a.Boxed {
		a.Secrets = func(path string, how Reach) string {
			how.Boxed = mode != Yolo // which is outside
			return secrets(path, how)
		}
	}
	j := judge{changes: g.changes, root: a.Dir, look: a.Files, git: a.Git}
	if a.Strict {
		v := decide(mode.Tightest(), nil, a, j)
		v.Rule = "" // it would not apply the next time
		return v
	}
	v := decide(mode, rules, a, j)
	v.Free = mode == Yolo
	if v.Decision == AskHuman && a.Kind == Command && a.Mode == "" && g.Wall() == Prevents {
		v.Auto = decide(Auto, rules, a, j).Decision == Allow
	}
	if v.Decision == AskHuman && a.Kind == Write && a.Mode == "" {
		v.Edits = decide(AcceptEdits, rules, a, j).Decision == Allow
	}
	if v.Rule != "" && a.Kind == Command {
		g.offers(v.Rule, j.given(v.Rule, a.Command))
	}
	return v
}

func decide(mode Mode, rules []parsed, a Action, j judge) Verdict {
	switch {
	case a.Forbidden != "":
		return Verdict{Decision: Deny, Reason: a.Forbidden}
	case a.Kind == Internal:
		return Verdict{Decision: Allow, Reason: "stays inside the program"}
	case mode == Plan && a.Kind != Read && a.Kind != Tamper && !a.Reads && (a.Kind != Command || !onlyReads(a)):
		return Verdict{Decision: Deny, Reason: "plan mode is on: only reading is allowed. Describe what you would do; the user leaves plan mode to let you do it"}
	}
	switch a.Kind {
	case Read:
		return decideRead(mode, rules, a)
	case Write:
		return decideWrite(mode, rules, a)
	case Command:
		return decideCommand(mode, rules, a, j)
	case Widen:
		return decideWiden(mode, rules, a)
	case Foreign:
		return decideForeign(mode, rules, a)
	case Tamper:
		return Verdict{Decision: AskHuman, Reason: "changed what programs of yours run or obey by themselves"}
	case Abroad:
		if mode == Yolo {
			return Verdict{Decision: Allow, Reason: "yolo mode"}
		}
		return Verdict{
			Decision: AskHuman, Vendor: a.Vendor, Reason: "hands work to " + a.Vendor + ", another vendor's agent",
			Changed: a.Vendor + " is another vendor's agent: no rule and no mode of this program judges its tools; yes holds for all that this agent hands to it",
		}
	case Note:
		if !a.Strict {
			return Verdict{Decision: Allow, Reason: "stays inside the program"}
		}
		return Verdict{Decision: AskHuman, Reason: "writes a memory document, which all agents read"}
	}
	return Verdict{Decision: AskHuman, Reason: "is of an unknown kind"}
}

func decideRead(mode Mode, rules []parsed, a Action) Verdict {
	switch {
	case a.Sensitive != "":
		return Verdict{Decision: AskHuman, Reason: "reads " + a.Sensitive}
	case !a.Outside:
		return Verdict{Decision: Allow, Reason: "reads in the workspace"}
	case mode == Yolo:
		return Verdict{Decision: Allow, Reason: "yolo mode"}
	}
	if r, ok := pathRule(rules, Read, a); ok {
		return Verdict{Decision: Allow, Reason: "allowed by " + r}
	}
	return Verdict{Decision: AskHuman, Reason: "reads outside the workspace", Rule: offerPath(Read, a)}
}

func decideWrite(mode Mode, rules []parsed, a Action) Verdict {
	switch {
	case a.Sensitive != "" && (mode != Yolo || a.Outside || a.Guarded):
		return Verdict{Decision: AskHuman, Reason: "writes " + a.Sensitive}
	case mode == Yolo:
		return Verdict{Decision: Allow, Reason: "yolo mode"}
	case (mode == AcceptEdits || mode == Auto) && !a.Outside:
		return Verdict{Decision: Allow, Reason: "writes in the workspace, in " + string(mode) + " mode"}
	}
	if r, ok := pathRule(rules, Write, a); ok {
		return Verdict{Decision: Allow, Reason: "allowed by " + r}
	}
	reason := "writes in the workspace"
	if a.Outside {
		reason = "writes outside the workspace"
	}
	return Verdict{Decision: AskHuman, Reason: reason, Rule: offerPath(Write, a)}
}

// onlyReads reports whether a command only reads in the workspace, and no secret.
func onlyReads(a Action) bool {
	v := decideCommand(Ask, nil, a, judge{})
	return v.Decision == Allow
}

func decideCommand(mode Mode, rules []parsed, a Action, j judge) Verdict {
	if mode == Yolo || !a.Boxed { // else its sandbox protects the file
		if why := changes(a); why != "" {
			return Verdict{Decision: AskHuman, Guarded: true, Reason: "may change " + why, Changed: "it may change " + why + ", which is asked about in every mode"}
		}
	}
	if mode == Yolo {
		return Verdict{Decision: Allow, Reason: "yolo mode"}
	}
	command, err := shell.Parse(a.Command)
	if err != nil {
		return Verdict{Decision: Deny, Reason: err.Error()}
	}
	s := &script{Script: command}
	if a.Leads != nil {
		s.follow(a.Dir, a.Leads)
	}
	s.outputs(mode, rules, a)
	secret, reads := s.reads(a)
	if reads && secret == "" {
		reason := "only reads in the workspace"
		if len(s.Outs) > 0 {
			reason += ", and writes " + strings.Join(s.Outs, ", ") + ", which may be written"
		}
		return Verdict{Decision: Allow, Reason: reason}
	}
	used, why := s.covered(rules, a.Dir, j)
	if why == "" {
		return Verdict{Decision: Allow, Reason: "allowed by " + strings.Join(used, ", ")}
	}
	if secret == "" {
		secret = s.names(a)
	}
	if secret == "" && mode == Auto && a.Boxed {
		return Verdict{Decision: Allow, Reason: "runs in the sandbox, in auto mode"}
	}
	rule, none := s.offer(rules, a.Dir, j)
	reason := "runs a command"
	if secret != "" {
		reason += " that may read " + secret
	}
	if s.stale != "" {
		reason += "; " + s.stale
	}
	if s.lacks != "" {
		reason += "; " + s.lacks
	}
	if none != "" {
		reason += "; no rule can cover it: " + none
	}
	return Verdict{Decision: AskHuman, Reason: reason, Rule: rule, Secret: secret, Changed: s.stale}
}

// pathRule returns the rule that covers all paths of a.
func pathRule(rules []parsed, k Kind, a Action) (string, bool) {
	if len(a.Paths) == 0 {
		return "", false
	}
	for _, r := range rules {
		if r.kind != k {
			continue
		}
		all := true
		for _, p := range a.Paths {
			all = all && r.path(p, a)
		}
		if all {
			return string(r.text), true
		}
	}
	return "", false
}

// offerPath returns the rule for the action's only path.
func offerPath(k Kind, a Action) Rule {
	if len(a.Paths) != 1 {
		return ""
	}
	p := a.Paths[0]
	if a.Dir != "" && !a.Outside {
		if rel, err := filepath.Rel(a.Dir, p); err == nil && filepath.IsLocal(rel) {
			p = rel
		}
	}
	r := Rule(string(k) + "(" + p + ")")
	// A name that would parse as a pattern gets no rule.
	if q, err := r.parse(); err != nil || q.any || q.tree {
		return ""
	}
	return r
}
