package permission

import (
	"path"
	"strings"

	"fantail/tools/permission/shell"
)

// lone reports whether the pattern is a single *, which matches any words.
func (g glob) lone() bool { return len(g) == 1 && g[0] == anyRun }

// command parses the pattern of a command.
func (r *ToolRule) command() {
	body, colon := strings.CutSuffix(r.Body, ":*")
	body = strings.TrimSpace(body)
	w, err := shell.Wide(body)
	if err == nil && len(w.Calls) == 1 && len(w.Calls[0].Assigns) == 0 && len(w.Reads)+len(w.Writes) == 0 {
		for i, word := range w.Calls[0].Words {
			if i == 0 {
				word = word.Base()
			}
			r.words = append(r.words, ofWord(word))
		}
	}
	whole := []string{body}
	if n := len(r.words); colon {
		whole = append(whole, body+" *")
		if n > 1 { // npm run test:* also matches npm run test:unit
			whole = append(whole, body+"*")
			r.words[n-1] = append(r.words[n-1], anyRun)
		}
		r.words = append(r.words, glob{anyRun})
	} else if n > 0 {
		if last := r.words[n-1]; last[len(last)-1] == anyRun && !last.lone() {
			r.words = append(r.words, glob{anyRun})
		}
	}
	if short, is := strings.CutSuffix(body, " *"); is {
		whole = append(whole, strings.TrimSpace(short))
	}
	for _, s := range whole {
		r.lines = append(r.lines, wild(s))
		if head, rest, _ := strings.Cut(s, " "); strings.Contains(head, "/") {
			r.lines = append(r.lines, wild(strings.TrimSpace(path.Base(head)+" "+rest)))
		}
	}
}

// Stem returns the rule's command without a wildcard at the end for further words; open reports whether there was one.
func (r *ToolRule) Stem() (body string, open bool) {
	if body, open = strings.CutSuffix(r.Body, ":*"); !open {
		body, open = strings.CutSuffix(body, " *")
	}
	return strings.TrimSpace(body), open
}

// ofWord is the pattern of a word.
func ofWord(w shell.Loose) glob {
	switch {
	case w.Many:
		return glob{anyRun}
	case w.Glob != "":
		return shellGlob(w.Glob)
	}
	return plain(w.Text)
}

// runs reports whether a command line runs a command that matches the rule.
func (r *ToolRule) runs(l *Line) Match {
	for _, g := range r.lines {
		if g.meets(l.raw) {
			return Matches
		}
	}
	if l.broken {
		return MayMatch
	}
	best := NoMatch
	for _, run := range l.runs {
		if best = max(best, min(run.most, r.one(run))); best == Matches {
			break
		}
	}
	return best
}

// one says whether the rule matches one command.
func (r *ToolRule) one(c run) Match {
	best, of := NoMatch, c.patterns()
	for _, g := range r.lines {
		if g.meets(of.text) {
			best = max(best, of.told)
		}
	}
	if best == Matches || len(r.words) == 0 {
		return best
	}
	if first := r.words[0]; !first.lone() && !c.words[0].Many && !first.meets(of.globs[0]) {
		return best // only options may be skipped, and the command begins with none
	}
	best = max(best, from(r.words, c.words, of.globs))
	if best == Matches {
		return best
	}
	return max(best, r.anyOrder(c.words, of.globs))
}

// told says whether a word is fully known.
func told(w shell.Loose) Match {
	if w.Open() {
		return MayMatch
	}
	return Matches
}

// anyOrder matches the rule's options against all words, in any position, and its other words against the rest.
func (r *ToolRule) anyOrder(words []shell.Loose, globs []glob) Match {
	var rest []glob
	best := Matches
	for i, t := range r.words {
		if i == 0 || len(t) < 2 || t[0] != '-' || t.open() {
			rest = append(rest, t)
			continue
		}
		best = min(best, given(string(t), words[1:]))
	}
	if best == NoMatch || len(rest) == len(r.words) {
		return NoMatch
	}
	return min(best, from(rest, words, globs))
}

// given says whether an option is among the words: as it is, with a value, or in a cluster of letters.
func given(option string, words []shell.Loose) Match {
	best, missing := NoMatch, ""
	if option[1] != '-' {
		missing = option[1:]
	}
	for _, w := range words {
		switch t := w.Text; {
		case w.Many || w.Glob != "" && ofWord(w).matches(option):
			best = max(best, MayMatch)
		case t == option || strings.HasPrefix(t, option+"="):
			return Matches
		case strings.HasPrefix(option, "--") && len(t) > 3 && strings.HasPrefix(option, t):
			best = max(best, MayMatch) // many programs accept an abbreviated option
		case missing != "" && len(t) > 1 && t[0] == '-' && t[1] != '-':
			for _, c := range t[1:] {
				missing = strings.ReplaceAll(missing, string(c), "")
			}
			if missing == "" {
				return Matches
			}
		}
	}
	return best
}

// matcher matches the words of a rule against those of a command. It may skip options of the command.
type matcher struct {
	rule   []glob
	words  []shell.Loose
	globs  []glob          // of the words
	valued map[string]bool // options that have a value; nil: they are unknown
}

// maxWords is how many words of a command are matched one by one.
const maxWords = 200

// from says whether the words of a command, with these patterns, match those of a rule.
func from(rule []glob, words []shell.Loose, globs []glob) Match {
	m := matcher{rule, words, globs, valued[words[0].Text]}
	if len(words) > maxWords {
		m.words = append(words[:maxWords-1:maxWords-1], anything)
		m.globs = append(globs[:maxWords-1:maxWords-1], ofWord(anything))
	}
	n, k := len(m.rule), len(m.words)
	// at[i][j], from the end.
	at, cells := make([][]Match, n+1), make([]Match, (n+1)*(k+3))
	for i := range at {
		at[i] = cells[i*(k+3) : (i+1)*(k+3)]
	}
	at[n][k] = Matches
	for i := n; i >= 0; i-- {
		for j := k; j >= 0; j-- {
			at[i][j] = max(at[i][j], m.step(at, i, j, k))
		}
	}
	return at[0][0]
}

func (m matcher) step(at [][]Match, i, j, k int) (best Match) {
	n := len(m.rule)
	if i < n && m.rule[i].lone() {
		best = at[i+1][j]
		if j < k {
			best = max(best, at[i][j+1])
		}
	}
	if j == k {
		return best
	}
	w := m.words[j]
	if w.Many {
		best = max(best, min(MayMatch, at[i][j+1]))
		if i < n {
			best = max(best, min(MayMatch, at[i+1][j]))
		}
		return best
	}
	if i < n && !m.rule[i].lone() {
		if m.rule[i].meets(m.globs[j]) {
			best = max(best, min(told(w), at[i+1][j+1]))
		}
	}
	if j == 0 || len(w.Text) < 2 || w.Text[0] != '-' && w.Text[0] != '+' {
		return best
	}
	value := !strings.Contains(w.Text, "=")
	switch known := m.valued != nil; {
	case known && value && m.valued[w.Text]:
		best = max(best, at[i][j+2])
		if i > 1 { // the sub-command may mean another option by it
			best = max(best, min(MayMatch, at[i][j+1]))
		}
	default:
		best = max(best, at[i][j+1])
		if value && (!known || i > 1 && len(m.valued) > 0) {
			best = max(best, min(MayMatch, at[i][j+2]))
		}
	}
	return best
}
