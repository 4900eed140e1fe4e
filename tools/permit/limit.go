package permit

import (
	"slices"

	"fantail/tools/permit/toolrule"
)

// Limit is a rule of a file that denies calls, or has them asked.
type Limit struct {
	toolrule.Rule
	List toolrule.List // deny or ask
	From string        // FILE:LINE:COLUMN
}

// String names the rule and where it stands.
func (l Limit) String() string { return l.Text + " (" + l.From + ")" }

// Limits are what files deny, and have asked, whatever a mode or another rule allows.
type Limits []Limit

// found is the strictest rule that speaks of a call.
type found struct {
	list  toolrule.List // "": none
	by    Limit
	maybe bool // it can't be told before the call runs
}

// Find returns the strictest of the rules that speak of the action: one that denies wins over one that asks. One of
// which that can't be told asks.
func (ls Limits) find(a Action) (f found) {
	if len(ls) == 0 || a.Kind == Widen || a.Kind == Tamper { // what is run once more was judged when it ran first
		return f
	}
	c := a.call()
	for _, l := range ls {
		m := l.Match(c)
		switch {
		case m == toolrule.No:
		case m == toolrule.Yes && l.List == toolrule.Deny:
			return found{toolrule.Deny, l, false}
		case f.list == "" || f.maybe && m == toolrule.Yes:
			f = found{toolrule.Ask, l, m == toolrule.Maybe}
		}
	}
	return f
}

// call is the action as the rules of files see it.
func (a Action) call() toolrule.Call {
	c := toolrule.Call{Tool: a.Tool, Paths: a.Paths, About: a.About}
	if a.Kind == Command {
		c.Line = toolrule.Read(a.Command)
		if c.Tool == "" {
			c.Tool = "bash"
		}
	}
	return c
}

// Reason is why a call is denied or asked.
func (f found) reason() string {
	if f.maybe {
		return "may be what the rule " + f.by.String() + " speaks of, which can't be told before it runs"
	}
	if f.list == toolrule.Deny {
		return "The rule " + f.by.String() + " denies this. Don't try it another way; only the user can change the rule"
	}
	return "is what the rule " + f.by.String() + " has asked each time"
}

// over is the verdict under the rule: none makes it looser.
func (f found) over(v Verdict) Verdict {
	switch {
	case f.list == "" || v.Decision == Deny:
		return v
	case f.list == toolrule.Deny:
		return Verdict{Decision: Deny, Reason: f.reason()}
	}
	reason := f.reason()
	if v.Decision == AskHuman {
		reason = v.Reason + "; it " + reason
	}
	changed := "the rule " + f.by.String() + " asks"
	if f.maybe {
		changed = f.reason()
	}
	// No rule of the session can answer what a file has asked each time.
	return Verdict{Decision: AskHuman, Reason: reason, Secret: v.Secret, Changed: changed, Asked: true, Free: v.Free, Vendor: v.Vendor}
}

// Limit has these rules hold from now on, in the place of those before.
func (g *Gate) Limit(ls Limits) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.limits = slices.Clone(ls)
	g.limited++
}

// Limited tells the rules that Limit was given from those that it was given before.
func (g *Gate) Limited() int {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.limited
}

// Denies is the rule of a file, with its place, that denies each call of a tool about that: an agent in a file, or a skill.
// "": none does.
func (g *Gate) Denies(tool, about string) string {
	g.mu.RLock()
	limits := g.limits
	g.mu.RUnlock()
	if f := limits.find(Action{Tool: tool, About: about}); f.list == toolrule.Deny {
		return f.by.String()
	}
	return ""
}

// Barred says of a path, absolute and without links, why searches pass over it: a rule of a file has reading it denied or
// asked. "" if none has.
func (g *Gate) Barred(path string) string {
	g.mu.RLock()
	limits := g.limits
	g.mu.RUnlock()
	for _, l := range limits {
		if l.Bars(path) {
			return "what the rule " + l.String() + " keeps from being read"
		}
	}
	return ""
}

// Hidden are the paths that commands must not see in their sandbox: those of which a rule denies reading, whole.
func (g *Gate) Hidden() (all []string) {
	g.mu.RLock()
	limits := g.limits
	g.mu.RUnlock()
	for _, l := range limits {
		if l.List == toolrule.Deny {
			all = append(all, l.Hides()...)
		}
	}
	return all
}

// Veil is the rules that deny reading by a pattern: which files they speak of is only known once somebody looks.
type Veil []toolrule.Rule

// Veil are those that hold now.
func (g *Gate) Veil() (all Veil) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	for _, l := range g.limits {
		if l.List == toolrule.Deny && l.Wild() {
			all = append(all, l.Rule)
		}
	}
	return all
}

// Hides reports whether one of them speaks of a path that has that name, but of no directory that holds it; Below whether
// one may speak of something below it.
func (v Veil) Hides(path, name string) bool {
	return slices.ContainsFunc(v, func(r toolrule.Rule) bool { return r.Ends(name) && r.At(path) })
}

func (v Veil) Below(dir string) bool {
	return slices.ContainsFunc(v, func(r toolrule.Rule) bool { return r.Below(dir) })
}

// Limits are the rules of files that deny and ask.
func (g *Gate) Limits() Limits {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return slices.Clone(g.limits)
}
