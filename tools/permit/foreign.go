package permit

import (
	"errors"
	"strings"
)

// foreign begins the names of tools that other programs serve: mcp__SERVER__TOOL.
const foreign = "mcp__"

// parseForeign reads a rule for such tools: one tool's name, mcp__SERVER or mcp__SERVER__* for all of a program,
// mcp__SERVER__NAME* for those whose names begin so.
func parseForeign(text string) (parsed, error) {
	name, whole := strings.CutSuffix(text, "__*")
	name, part := strings.CutSuffix(name, "*")
	p := parsed{kind: Foreign, where: name, text: Rule(name)}
	if part {
		p.where, p.text = name+"*", Rule(name+"*")
	}
	if !strings.HasPrefix(name, foreign) {
		return p, errors.New("it names no program")
	}
	server, tool, one := strings.Cut(strings.TrimPrefix(name, foreign), "__")
	for _, c := range name {
		if c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return p, errors.New("write it as mcp__SERVER__TOOL, or mcp__SERVER for all tools of that program")
		}
	}
	if server == "" || one && tool == "" || part && (!one || whole) {
		return p, errors.New("it names no program")
	}
	if !one {
		p.tree, p.text = true, Rule(name+"__*")
	}
	return p, nil
}

// lends reports whether a rule for such tools is for that one.
func (p parsed) lends(tool string) bool {
	if begin, part := strings.CutSuffix(p.where, "*"); part {
		return strings.HasPrefix(tool, begin)
	}
	return tool == p.where || p.tree && strings.HasPrefix(tool, p.where+"__")
}

// decideForeign decides whether a tool of another program may be called. In every mode but yolo that asks, unless it only
// reads by the word of a program that is trusted to say so; what such a program says anew of its tool asks in that one too.
func decideForeign(mode Mode, rules []parsed, a Action) Verdict {
	switch {
	case a.Sensitive != "":
		return Verdict{Decision: AskHuman, Reason: "calls a tool of another program, and " + a.Sensitive, Changed: a.Sensitive}
	case mode == Yolo:
		return Verdict{Decision: Allow, Reason: "yolo mode"}
	case a.Reads:
		return Verdict{Decision: Allow, Reason: "only reads, says a program that you trust to say so"}
	}
	for _, r := range rules {
		if r.kind == Foreign && r.lends(a.Tool) {
			return Verdict{Decision: Allow, Reason: "allowed by " + string(r.text)}
		}
	}
	v := Verdict{Decision: AskHuman, Reason: "calls a tool of another program"}
	if p, err := parseForeign(a.Tool); err == nil && !p.tree {
		v.Rule = p.text
	}
	return v
}
