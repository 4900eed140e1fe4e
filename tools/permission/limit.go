package permission

import (
	"slices"
)

// Limit is a deny or ask rule of a file.
type Limit struct {
	ToolRule
	List List   // deny or ask
	From string // FILE:LINE:COLUMN
}

// String names the rule and its place.
func (l Limit) String() string { return l.Text + " (" + l.From + ")" }

// Limits are the deny and ask rules of files. They apply whatever a mode or another rule allows.
type Limits []Limit

// found is the strictest rule that matches a call.
type found struct {
	list  List // "": none
	by    Limit
	maybe bool // unknown before the call runs
}

// find returns the strictest rule that matches the action: deny takes precedence over ask. A rule that may match asks.
func (ls Limits) find(a Action) (f found) {
	if len(ls) == 0 || a.Kind == Widen || a.Kind == Tamper { // a rerun was judged when it ran first
		return f
	}
	c := a.call()
	for _, l := range ls {
		m := l.Match(c)
		switch {
		case m == NoMatch:
		case m == Matches && l.List == DenyList:
			return found{DenyList, l, false}
		case f.list == "" || f.maybe && m == Matches:
			f = found{AskList, l, m == MayMatch}
		}
	}
	return f
}

// call is the action as the rules of files see it.
func (a Action) call() ToolCall {
	c := ToolCall{Tool: a.Tool, Server: a.Server, Calls: a.Calls, Paths: a.Paths, About: a.About}
	if a.Kind == Command {
		c.Line = ReadLine(a.Command)
		if c.Tool == "" {
			c.Tool = "bash"
		}
	}
	return c
}

// reason says why a call is denied or asked.
func (f found) reason() string {
	if f.maybe {
		return "may be what the rule " + f.by.String() + " speaks of, which can't be told before it runs"
	}
	if f.list == DenyList {
		return "The rule " + f.by.String() + " denies this. Don't try it another way; only the user can change the rule"
	}
	return "is what the rule " + f.by.String() + " has asked each time"
}

// over is the verdict under the rule: none makes it looser.
func (f found) over(v Verdict) Verdict {
	switch {
	case f.list == "" || v.Decision == Deny:
		return v
	case f.list == DenyList:
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
	// No rule of the session can answer a question that a file demands each time.
	return Verdict{Decision: AskHuman, Reason: reason, Secret: v.Secret, Changed: changed, Asked: true, Free: v.Free, Vendor: v.Vendor}
}

// blind is the verdict while a file that may deny the call can't be read: it is asked, whatever modes and rules allow.
func blind(unread string, v Verdict) Verdict {
	if v.Decision == Deny {
		return v
	}
	why := "what may deny it can't be read: " + unread + ". Everything is asked, and no mode or rule allows anything, until that file is repaired"
	reason := "may be denied: " + why
	if v.Decision == AskHuman {
		reason = v.Reason + "; " + why
	}
	return Verdict{Decision: AskHuman, Reason: reason, Secret: v.Secret, Changed: why, Asked: true}
}

// Unread reports a file that may deny calls and can't be read: until it can be, everything is asked. "": all can be
// read.
func (g *Gate) Unread(what string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.unread = what
}

// Limit replaces the deny and ask rules of files.
func (g *Gate) Limit(ls Limits) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.limits = slices.Clone(ls)
	g.limited++
}

// Limited identifies the rules of the last Limit.
func (g *Gate) Limited() int {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.limited
}

// Denies returns the rule of a file, with its place, that denies each call of a tool about an agent in a file, or a
// skill. "": none does.
func (g *Gate) Denies(tool, about string) string {
	g.mu.RLock()
	limits := g.limits
	g.mu.RUnlock()
	if f := limits.find(Action{Tool: tool, About: about}); f.list == DenyList {
		return f.by.String()
	}
	return ""
}

// Barred says why searches skip a path, absolute and without links: a rule of a file denies or asks about reading it.
// "" if none does.
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

// Hidden are the paths to hide from commands in a sandbox: those that a rule denies reading as a whole.
func (g *Gate) Hidden() (all []string) {
	g.mu.RLock()
	limits := g.limits
	g.mu.RUnlock()
	for _, l := range limits {
		if l.List == DenyList {
			all = append(all, l.Hides()...)
		}
	}
	return all
}

// DeniedPatterns are the rules that deny reading by a pattern: the files that match are only known after a search.
type DeniedPatterns []ToolRule

// DeniedPatterns returns the current ones.
func (g *Gate) DeniedPatterns() (all DeniedPatterns) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	for _, l := range g.limits {
		if l.List == DenyList && l.Wild() {
			all = append(all, l.ToolRule)
		}
	}
	return all
}

// Hides reports whether one of them matches a path of that name, but no directory above it; Below reports whether one
// may match a file below it.
func (v DeniedPatterns) Hides(path, name string) bool {
	return slices.ContainsFunc(v, func(r ToolRule) bool { return r.Ends(name) && r.At(path) })
}

func (v DeniedPatterns) Below(dir string) bool {
	return slices.ContainsFunc(v, func(r ToolRule) bool { return r.Below(dir) })
}

// Limits are the deny and ask rules of files.
func (g *Gate) Limits() Limits {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return slices.Clone(g.limits)
}
