package permission

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// foreign begins the names of tools that other programs serve: mcp__SERVER__TOOL.
const foreign = "mcp__"

// parseForeign reads a rule for such tools: one tool's name, mcp__SERVER or mcp__SERVER__* for all tools of a program,
// mcp__SERVER__NAME* for those whose names begin with NAME.
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
	if strings.ContainsFunc(name, func(c rune) bool {
		return strings.ContainsRune("*(),", c) || unicode.IsControl(c) || c == utf8.RuneError
	}) {
		return p, errors.New("write it as mcp__SERVER__TOOL, or mcp__SERVER for all tools of that program, by the names that /mcp tools shows")
	}
	if server == "" || one && tool == "" || part && (!one || whole) {
		return p, errors.New("it names no program")
	}
	if !one {
		p.tree, p.text = true, Rule(name+"__*")
	}
	return p, nil
}

// lends reports whether such a rule is for the tool that an action calls: by the name that the model sees, or by the
// names of the server and its tool, if these are unambiguous.
func (p parsed) lends(a Action) bool {
	names := []string{a.Tool}
	if a.Server != "" && !strings.Contains(a.Server, "__") && !strings.HasSuffix(a.Server, "_") {
		names = append(names, foreign+a.Server+"__"+a.Calls)
	}
	begin, part := strings.CutSuffix(p.where, "*")
	return slices.ContainsFunc(names, func(name string) bool {
		return name == p.where || part && strings.HasPrefix(name, begin) || p.tree && strings.HasPrefix(name, p.where+"__")
	})
}

// Spellings are the ways in which people write the name of the tool that the action calls, besides Tool.
func (a Action) Spellings() []string { return ToolSpellings(a.Server, a.Calls) }

// decideForeign decides whether a tool of another program may be called. In every mode but yolo it asks, unless the
// tool only reads, according to a program that the user trusts to say so. If such a program changed its description of
// the tool, it asks in yolo too.
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
		if r.kind == Foreign && r.lends(a) {
			return Verdict{Decision: Allow, Reason: "allowed by " + string(r.text)}
		}
	}
	v := Verdict{Decision: AskHuman, Reason: "calls a tool of another program"}
	if p, err := parseForeign(a.Tool); err == nil && !p.tree {
		v.Rule = p.text
	}
	return v
}
