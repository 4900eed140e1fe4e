package permission

import "slices"

// sample is a word, and a name, that no rule spells out.
const sample = "zz-any-Zz"

// Sample is a set of calls for comparing a rule with others: if a rule matches all of them, it contains this rule, as
// far as can be told.
type Sample struct {
	r     *ToolRule
	calls []ToolCall
}

// Sample makes the calls; a rule with wildcards in the middle of its words has none.
func (r *ToolRule) Sample() Sample {
	s := Sample{r: r}
	switch r.What {
	case CommandRule:
		body, open := r.Stem()
		if wild(body).open() {
			return s
		}
		s.calls = append(s.calls, ToolCall{Tool: "bash", Line: ReadLine(body)})
		if open {
			s.calls = append(s.calls, ToolCall{Tool: "bash", Line: ReadLine(body + " " + sample + " --" + sample)})
		}
	case Path:
		for _, p := range r.Fixed() {
			s.calls = append(s.calls, ToolCall{Paths: []string{p}}, ToolCall{Paths: []string{p + "/" + sample + "/" + sample}})
		}
	}
	return s
}

// Within reports whether another rule matches each call that the sample's rule matches: if it comes first, the sample's
// rule never decides.
func (s Sample) Within(o *ToolRule) bool {
	r := s.r
	switch {
	case o.What == AnyTool:
		return !slices.ContainsFunc(r.tools(), func(t string) bool { return !slices.ContainsFunc(ToolNames(t), o.name.matches) })
	case o.What != r.What, r.What == Path && r.Writes() != o.Writes(), r.What == Path && !r.Writes() && o.Tool != "Read" && o.Tool != r.Tool:
		return false
	case o.What == CommandRule || o.What == Path:
		for _, c := range s.calls {
			if o.What == CommandRule && o.runs(c.Line) != Matches || o.What == Path && !o.At(c.Paths[0]) {
				return false
			}
		}
		return len(s.calls) > 0 || o.Body == r.Body
	}
	return o.Body == r.Body && o.Tool == r.Tool
}

// tools are this program's tools that the rule matches.
func (r *ToolRule) tools() (all []string) {
	for t := range aliases {
		if slices.ContainsFunc(ToolNames(t), r.name.matches) {
			all = append(all, t)
		}
	}
	if len(all) == 0 {
		return []string{r.Tool}
	}
	return all
}
