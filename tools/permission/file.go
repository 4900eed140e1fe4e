package permission

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fantail/tools/permission/shell"
)

// Filed is a rule from a file, and its place there.
type Filed struct {
	Rule Rule
	From string // FILE:LINE:COLUMN
}

// Admit replaces the rules of files. They are rules from [Import]; an unreadable one is left out.
func (g *Gate) Admit(all []Filed) {
	var rules []parsed
	for _, f := range all {
		p, err := f.Rule.parse()
		if err != nil || slices.ContainsFunc(rules, func(o parsed) bool { return o.text == p.text }) {
			continue
		}
		p.filed, p.given.since = f.From, time.Now()
		rules = append(rules, p)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var own []parsed // rules that a human gave stay, and come first
	for _, p := range g.rules {
		if p.filed == "" {
			own = append(own, p)
		} else if i := slices.IndexFunc(rules, func(o parsed) bool { return o.text == p.text }); i >= 0 {
			rules[i].given = p.given // it has applied since then
		}
	}
	g.rules = append(own, rules...)
}

// ByConfiguration is how long a rule of the configuration lasts.
const ByConfiguration = "by the configuration"

// Held is a rule that allows something now.
type Held struct {
	Rule  Rule
	Lasts string // "in this session", "in this project", ByConfiguration; "": see From
	From  string // the file that it is in; "": none
}

// Allowed are all rules that allow something now.
func (g *Gate) Allowed() (all []Held) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	for _, p := range g.rules {
		h := Held{Rule: p.text, From: p.filed}
		switch {
		case p.lasts:
			h.Lasts = ByConfiguration
		case p.kept:
			h.Lasts = "in this project"
		case p.filed == "":
			h.Lasts = "in this session"
		}
		all = append(all, h)
	}
	return all
}

// durable reports whether the rule outlives a session.
func (r parsed) durable() bool { return r.lasts || r.kept || r.filed != "" }

// Import reads a rule of a file that allows, with the meaning that rules have here. lost says which part of its meaning
// in other programs is not allowed here; "" if none. If Import returns no rules, the rule allows nothing.
func Import(r ToolRule) (rules []Rule, lost string) {
	if own := Rule(r.Text); !strings.HasPrefix(r.Text, "Bash") {
		if p, err := own.parse(); err == nil {
			return []Rule{p.text}, ""
		}
	}
	switch {
	case r.Tool == "Bash":
		return importCommand(r)
	case r.Tool == "Read" || r.Tool == "Glob" || r.Tool == "Grep" || r.Tool == "LS":
		if r.What == AnyTool {
			return []Rule{"read(*)"}, "reading outside the workspace: that asks"
		}
		return importPath("read", r)
	case r.Tool == "Edit" || r.Tool == "Write" || r.Tool == "MultiEdit" || r.Tool == "NotebookEdit":
		if r.What == AnyTool {
			return []Rule{"write(*)"}, "writing outside the workspace, and what runs by itself or agents obey: that asks"
		}
		return importPath("write", r)
	}
	return nil, "nothing of it: " + r.Tool + " needs no rule here, or there is no such tool"
}

func importPath(kind string, r ToolRule) ([]Rule, string) {
	for _, p := range r.Fixed() {
		if strings.HasSuffix(r.Body, "/**") {
			p += "/**"
		}
		if q, err := Rule(kind + "(" + p + ")").parse(); err == nil {
			return []Rule{q.text}, ""
		}
	}
	return nil, "nothing of it: a rule that allows names a path, DIR/** or *, no other pattern"
}

// importCommand reads a rule for commands. A wildcard in it covers only words on this program's list.
func importCommand(r ToolRule) (rules []Rule, lost string) {
	if r.What == AnyTool {
		for _, name := range shell.Open() {
			rules = append(rules, Rule("bash("+name+" *)"))
		}
		return rules, "every command but those whose words are all on a list of what is harmless"
	}
	body, open := r.Stem()
	if strings.Contains(body, "*") {
		return nil, "nothing of it: only a * at the end stands for more"
	}
	exact, err := Rule("bash(" + body + ")").parse()
	if !open {
		if err != nil {
			return nil, "nothing of it: " + why(err)
		}
		return []Rule{exact.text}, ""
	}
	wide, err := Rule("bash(" + body + " *)").parse()
	if err == nil {
		return []Rule{wide.text}, "words that are not on the list of what is harmless for " + body
	}
	for _, name := range shell.Open() { // git *: only the subcommands on the list
		if strings.HasPrefix(name, body+" ") {
			rules = append(rules, Rule("bash("+name+" *)"))
		}
	}
	if exact.text != "" && len(rules) == 0 {
		rules = append(rules, exact.text)
	}
	if len(rules) == 0 {
		return nil, "nothing of it: " + why(err)
	}
	if len(rules) == 1 {
		return rules, fmt.Sprintf("%s with further words: %s", body, why(err))
	}
	return rules, "what of " + body + " is on no list of what is harmless"
}

// why is an error without the rule that it names first.
func why(err error) string {
	text := err.Error()
	if strings.HasPrefix(text, "parse rule ") {
		if _, after, is := strings.Cut(text, "\": "); is {
			return after
		}
	}
	return text
}

// Explain returns the decision on an action, and the other rules that match it.
func (g *Gate) Explain(a Action) (v Verdict, others []string) {
	v = g.Decide(a)
	g.mu.RLock()
	limits, rules := g.limits, g.rules
	g.mu.RUnlock()
	c := a.call()
	for _, l := range limits {
		switch l.Match(c) {
		case Matches:
			others = append(others, string(l.List)+" "+l.String()+" speaks of it")
		case MayMatch:
			others = append(others, string(l.List)+" "+l.String()+" may speak of it: that can't be told before it runs")
		}
	}
	if s, err := shell.Parse(a.Command); err == nil && a.Kind == Command {
		for _, p := range rules {
			for _, cmd := range s.Commands {
				if cmd = shell.Unwrap(cmd); p.covers(cmd, a.Dir) && p.here(cmd, a.Dir) {
					others = append(others, "allow "+string(p.text)+p.stands()+" covers "+cmd.Words[0].Text)
					break
				}
			}
		}
	}
	return v, others
}

func (r parsed) stands() string {
	if r.filed == "" {
		return ""
	}
	return " (" + r.filed + ")"
}
