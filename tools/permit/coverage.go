package permit

import (
	"path"
	"slices"
	"strings"

	"fantail/tools/permit/bash"
	"fantail/tools/permit/filenames"
	"fantail/tools/permit/programs"
)

// script is a command that rules are held against.
type script struct {
	*bash.Script
	stale string // why a rule that was given does not cover it any more
}

// covered reports whether rules cover every command of the script; why says
// what they don't.
func (s *script) covered(rules []parsed, dir string, j judge) (used []string, why string) {
	if why := s.unjudged(dir); why != "" {
		return nil, why
	}
	if why := j.gits(s); why != "" {
		return nil, why
	}
	for _, c := range s.Commands {
		c = programs.Unwrap(c)
		found := false
		for _, r := range rules {
			if r.covers(c, dir) && r.here(c, dir) && s.alone(c) == "" {
				if why := j.stale(r, c); why != "" {
					s.stale = why
					continue
				}
				found = true
				if !slices.Contains(used, string(r.text)) {
					used = append(used, string(r.text))
				}
				break
			}
		}
		if !found && !programs.Harmless(c, dir) {
			return nil, c.Words[0].Text + " is not covered"
		}
	}
	if len(used) == 0 {
		return nil, "no rule speaks of it"
	}
	return used, ""
}

// offer names the rule that would cover the script together with the rules there
// are; none says why there is no such rule.
func (s *script) offer(rules []parsed, dir string, j judge) (r Rule, none string) {
	if why := s.unjudged(dir); why != "" {
		return "", why
	}
	if why := j.gits(s); why != "" {
		return "", why
	}
	var open []bash.Command
	for _, c := range s.Commands {
		c = programs.Unwrap(c)
		if why := s.alone(c); why != "" {
			return "", why
		}
		if why := programs.Never(c.Words); why != "" {
			return "", why
		}
		if one := (&script{Script: &bash.Script{Commands: []bash.Command{c}}}); !programs.Harmless(c, dir) {
			if _, why := one.covered(rules, dir, j); why != "" {
				open = append(open, c)
			}
		}
	}
	if len(open) == 0 { // all of it is harmless, but something has to be named
		open = s.Commands[:1]
	}
	for _, c := range open {
		q, why := ruleFor(programs.Unwrap(c), dir)
		if why == "" {
			q, why = q.at(c, dir)
		}
		if why != "" {
			return "", why
		}
		if r != "" && q != r {
			return "", "it runs several commands"
		}
		r = q
	}
	p, err := r.parse()
	if err != nil {
		return "", err.Error()
	}
	if _, why := s.covered(append(slices.Clip(rules), p), dir, judge{}); why != "" {
		return "", why
	}
	return r, ""
}

// unjudged says what keeps the script as a whole from being covered.
func (s *script) unjudged(dir string) string {
	if s.Why != "" {
		return s.Why
	}
	for _, w := range s.Reads {
		if why := w.BadInput(dir); why != "" {
			return why
		}
		if why := filenames.SensitiveFile(w.Text); why != "" {
			return w.Text + " names " + why
		}
	}
	return s.elsewhere()
}

// alone says why the command may not stand in the script as it does: a path
// behind cd is judged as if it were counted from the workspace, and git runs what
// the configuration of the directory it stands in names.
func (s *script) alone(c bash.Command) string {
	switch c.Words[0].Text {
	case "cd":
		if !c.NamesDir() {
			return "cd without a directory leads outside"
		}
	case "git":
		for _, d := range s.Commands {
			if d.Words[0].Text == "cd" {
				return "git in another directory runs what that directory's configuration names"
			}
		}
	}
	return ""
}

// mostPlaces is in how many directories a script's commands are looked for.
const mostPlaces = 16

// places are the directories the script's commands may run in, as its cd's and pushd's lead
// from one another, each once; nil if they are too many.
func (s *script) places() []string {
	from := []string{"."}
	for _, c := range s.Commands {
		to := leads(programs.Unwrap(c))
		if to == "" {
			continue
		}
		for _, d := range slices.Clone(from) {
			if d = path.Join(d, to); path.IsAbs(to) {
				d = path.Clean(to)
			}
			if !slices.Contains(from, d) {
				from = append(from, d)
			}
		}
		if len(from) > mostPlaces {
			return nil
		}
	}
	return from
}

// leads is the directory that a cd or pushd goes to by its words; "": it is none, or that can't be told.
func leads(c bash.Command) string {
	last := c.Words[len(c.Words)-1]
	if name := c.Words[0].Text; name != "cd" && name != "pushd" || len(c.Words) < 2 || last.Pattern != "" || strings.HasPrefix(last.Text, "-") {
		return ""
	}
	return last.Text
}

// args are the words that may be paths.
func (s *script) args() []bash.Word {
	words := slices.Clone(s.Reads)
	for _, c := range s.Commands {
		words = append(words, programs.Unwrap(c).Words[1:]...)
	}
	return words
}

// elsewhere says which secret a word names that counts from a directory cd leads to.
func (s *script) elsewhere() string {
	from := s.places()
	if from == nil {
		return "it contains many changes of directory"
	}
	for _, d := range from[1:] {
		for _, w := range s.args() {
			for _, p := range w.Readings() {
				if why := filenames.Sensitive(path.Join(d, p)); why != "" && !path.IsAbs(p) {
					return path.Join(d, p) + " names " + why
				}
			}
		}
	}
	return ""
}

// follow finds paths that links lead elsewhere. Behind a cd a path may count from
// either directory.
func (s *script) follow(leads func(path string, pattern bool) string) {
	from := s.places()
	for _, w := range s.args() {
		for _, d := range from {
			if w.Pattern != "" {
				s.trail(w.Text, leads(path.Join(d, filenames.Brackets(w.Pattern)), true))
			}
			for _, p := range w.Readings() {
				if !path.IsAbs(p) {
					p = path.Join(d, p)
				}
				s.trail(w.Text, leads(p, false))
			}
		}
	}
}

func (s *script) trail(word, where string) {
	if where != "" {
		s.Fault("%s, which %s", word, where)
	}
}

// gits says why no rule covers a script in which git would run what the
// repository's configuration names.
func (j judge) gits(s *script) string {
	if j.git == nil {
		return ""
	}
	found, reads := false, true
	for _, c := range s.Commands {
		if c = programs.Unwrap(c); c.Words[0].Text == "git" {
			found, reads = true, reads && programs.OnlyReads(c)
		}
	}
	if !found {
		return ""
	}
	return j.git(reads)
}

// ruleFor names the rule for one command: open if the tool's list covers all of
// it, else the exact words.
func ruleFor(c bash.Command, dir string) (r Rule, none string) {
	depth, star := programs.Covered(c.Words, dir)
	if !star {
		depth = len(c.Words)
		if why := programs.Unrepeatable(c, dir); why != "" {
			return "", why
		}
	}
	words := make([]string, 0, depth)
	for _, w := range c.Words[:depth] {
		words = append(words, w.Text)
	}
	r, err := ruleText(words, star)
	if err != nil {
		return "", err.Error()
	}
	return r, ""
}
