package toolrule

import "slices"

// sample is a word, and a name, that no rule speaks of by its letters.
const sample = "zz-any-Zz"

// Sample is calls by which a rule is held against others: of each two rules that speak of all of them the one is within
// the other, as far as can be told.
type Sample struct {
	r     *Rule
	calls []Call
}

// Sample makes them; a rule whose words have patterns in their middle has none.
func (r *Rule) Sample() Sample {
	s := Sample{r: r}
	switch r.What {
	case Command:
		body, open := r.Stem()
		if wild(body).open() {
			return s
		}
		s.calls = append(s.calls, Call{Tool: "bash", Line: Read(body)})
		if open {
			s.calls = append(s.calls, Call{Tool: "bash", Line: Read(body + " " + sample + " --" + sample)})
		}
	case Path:
		for _, p := range r.Fixed() {
			s.calls = append(s.calls, Call{Paths: []string{p}}, Call{Paths: []string{p + "/" + sample + "/" + sample}})
		}
	}
	return s
}

// Within reports whether another rule speaks of each call that the sample's rule speaks of: wherever that one comes first,
// the sample's never decides anything.
func (s Sample) Within(o *Rule) bool {
	r := s.r
	switch {
	case o.What == Any:
		return !slices.ContainsFunc(r.tools(), func(t string) bool { return !slices.ContainsFunc(Names(t), o.name.matches) })
	case o.What != r.What, r.What == Path && r.Writes() != o.Writes(), r.What == Path && !r.Writes() && o.Tool != "Read" && o.Tool != r.Tool:
		return false
	case o.What == Command || o.What == Path:
		for _, c := range s.calls {
			if o.What == Command && o.runs(c.Line) != Yes || o.What == Path && !o.At(c.Paths[0]) {
				return false
			}
		}
		return len(s.calls) > 0 || o.Body == r.Body
	}
	return o.Body == r.Body && o.Tool == r.Tool
}

// tools are this program's tools of which the rule speaks.
func (r *Rule) tools() (all []string) {
	for t := range aliases {
		if slices.ContainsFunc(Names(t), r.name.matches) {
			all = append(all, t)
		}
	}
	if len(all) == 0 {
		return []string{r.Tool}
	}
	return all
}
