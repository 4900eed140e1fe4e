package permit

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"fantail/tools/permit/bash"
)

// Gate decides. It is safe for concurrent use; mode and rules are shared by all
// agents of a pool.
type Gate struct {
	mu      sync.RWMutex
	mode    Mode
	wall    Wall
	look    func() Wall // finds out the wall; nil: it is known
	rules   []parsed
	limits  Limits         // of files, see limit.go
	offered map[Rule]grant // what a rule that was offered would be given for
	changes *Changes
	ground  func() error // nil: nothing is asked
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

// Configure replaces the rules that outlive a session. A bad one is an error that names it, and
// changes nothing.
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
	for _, p := range g.rules { // those of the session, the workspace and its files stay, and are not said twice
		if !p.lasts && (p.filed != "" || !slices.ContainsFunc(all, func(o parsed) bool { return o.text == p.text })) {
			all = append(all, p)
		}
	}
	g.rules = all
	return nil
}

// Forget takes back what was given for a session: its rules, and what was offered.
func (g *Gate) Forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rules = slices.DeleteFunc(slices.Clone(g.rules), func(p parsed) bool { return !p.durable() })
	clear(g.offered)
}

// Stands has the gate ask before every call, in every mode, while ground returns an error, which
// says why: the ground that the decisions stand on is not the one they were made for. It is asked
// each time, and set before the first call is judged.
func (g *Gate) Stands(ground func() error) { g.ground = ground }

// Mode is the mode that holds now.
func (g *Gate) Mode() Mode {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.mode
}

// SetMode changes the mode; calls that were decided before stay decided. A mode that
// can't hold here is an error, which changes nothing.
func (g *Gate) SetMode(m Mode) error {
	if err := g.Admits(m); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mode = m
	return nil
}

// Admits says why a mode can't hold here; nil if it can.
func (g *Gate) Admits(m Mode) error {
	if m == Auto && g.Wall() == NoWall {
		return errors.New("mode auto lets commands run unasked in a sandbox, and none works here (fantail doctor says why): take ask or accept-edits, with a rule for what need not ask")
	}
	return nil
}

// Seeks says how it is found out which sandbox works, until Boxes says it: who needs to know it looks, and waits.
func (g *Gate) Seeks(look func() Wall) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.look = look
}

// Boxes says which sandbox stands under commands; until then there is none.
func (g *Gate) Boxes(w Wall) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.wall, g.look = w, nil
}

// Wall is what the sandbox under commands is worth. It may have to be found out.
func (g *Gate) Wall() Wall {
	g.mu.RLock()
	wall, look := g.wall, g.look
	g.mu.RUnlock()
	if look != nil {
		return look()
	}
	return wall
}

// Known is Wall as far as it is known now.
func (g *Gate) Known() Wall {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.wall
}

// Changes is where agents' tools note what they write and run.
func (g *Gate) Changes() *Changes { return g.changes }

// Allow adds a rule for this session, given for the content that its command's
// files had when it was offered. A rule that is there already is given anew.
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
	// A reader may hold the old slice: it is never changed in place.
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

// offers remembers what a rule is offered for. Few of them are ever given.
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

// Decide says whether the action may run in the mode and under the rules that hold now. What a file denies is denied
// in every mode, whatever was allowed; what it has asked is asked.
func (g *Gate) Decide(a Action) Verdict { return g.In(g.Mode(), a) }

// In is Decide in another mode than the one that holds.
func (g *Gate) In(mode Mode, a Action) Verdict {
	g.mu.RLock()
	rules, limits := g.rules, g.limits
	g.mu.RUnlock()
	if a.Forbidden != "" {
		return g.decide(a, mode, rules)
	}
	return limits.find(a).over(g.decide(a, mode, rules))
}

// decide is Decide without what files deny and ask.
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
		a.Boxed = g.Wall() != NoWall
	}
	j := judge{changes: g.changes, root: a.Dir, look: a.Files, git: a.Git}
	if a.Strict {
		v := decide(mode.Tightest(), nil, a, j)
		v.Rule = "" // it would not hold the next time
		return v
	}
	v := decide(mode, rules, a, j)
	v.Free = mode == Yolo
	if v.Decision == AskHuman && a.Kind == Command && a.Mode == "" && g.Wall() == Prevents {
		v.Auto = decide(Auto, rules, a, j).Decision == Allow
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
	if mode == Yolo || !a.Boxed { // else its sandbox keeps that as it is
		if why := changes(a); why != "" {
			return Verdict{Decision: AskHuman, Guarded: true, Reason: "may change " + why, Changed: "it may change " + why + ", which is asked about in every mode"}
		}
	}
	if mode == Yolo {
		return Verdict{Decision: Allow, Reason: "yolo mode"}
	}
	command, err := bash.Parse(a.Command)
	if err != nil {
		return Verdict{Decision: Deny, Reason: err.Error()}
	}
	s := &script{Script: command}
	if a.Leads != nil {
		s.follow(a.Leads)
	}
	secret, reads := s.reads(a)
	if reads && secret == "" {
		return Verdict{Decision: Allow, Reason: "only reads in the workspace"}
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
	// A name that would read as more than itself gets no rule.
	if q, err := r.parse(); err != nil || q.any || q.tree {
		return ""
	}
	return r
}
