package permission

import (
	"path"
	"slices"
	"strings"

	"fantail/tools/permission/shell"
)

// script is a command to match rules against.
type script struct {
	*shell.Script
	stale string // why a rule for it was given and no longer covers it
	lacks string // why a rule for its program does not cover it
}

// covered reports whether rules cover every command of the script; if not, why says what they don't cover.
func (s *script) covered(rules []parsed, dir string, j judge) (used []string, why string) {
	if why := s.unjudged(dir); why != "" {
		return nil, why
	}
	if why := j.gits(s); why != "" {
		return nil, why
	}
	for _, c := range s.Commands {
		c = shell.Unwrap(c)
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
		if !found && !shell.Harmless(c.Climbed(dir), dir) {
			s.lacks = s.short(rules, c, dir)
			return nil, c.Words[0].Text + " is not covered"
		}
	}
	if len(used) == 0 {
		return nil, "no rule speaks of it"
	}
	return used, ""
}

// short says why the rules for a command's program do not cover it; "": there is none.
func (s *script) short(rules []parsed, c shell.Command, dir string) string {
	for _, r := range rules {
		if r.kind != Command || len(r.words) == 0 || r.words[0] != c.Words[0].Text {
			continue
		}
		why := s.alone(c)
		switch {
		case why != "":
		case r.covers(c, dir) && !r.here(c, dir):
			why = "it holds in another directory"
		case r.covers(c, dir):
			return "" // stale has the reason
		case len(r.words) > 1 && (len(c.Words) < 2 || r.words[1] != c.Words[1].Text):
			continue // it is for another subcommand
		default:
			why = shell.Uncovered(c.Climbed(dir).Words, dir)
		}
		if why != "" {
			return "the rule " + string(r.text) + " does not cover it: " + why
		}
	}
	return ""
}

// offer returns the rule that would cover the script together with the existing rules; none says why there is no such
// rule.
func (s *script) offer(rules []parsed, dir string, j judge) (r Rule, none string) {
	if why := s.unjudged(dir); why != "" {
		return "", why
	}
	if why := j.gits(s); why != "" {
		return "", why
	}
	var open []shell.Command
	for _, c := range s.Commands {
		c = shell.Unwrap(c)
		if why := s.alone(c); why != "" {
			return "", why
		}
		if why := shell.Never(c.Words); why != "" {
			return "", why
		}
		if one := (&script{Script: &shell.Script{Commands: []shell.Command{c}}}); !shell.Harmless(c.Climbed(dir), dir) {
			if _, why := one.covered(rules, dir, j); why != "" {
				open = append(open, c)
			}
		}
	}
	if len(open) == 0 { // everything is harmless, but an offer needs a command
		open = s.Commands[:1]
	}
	for _, c := range open {
		q, why := ruleFor(shell.Unwrap(c), dir)
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

// outputs judges the script's redirections as tools that write files are judged: the script is not covered if such a
// write would not be allowed.
func (s *script) outputs(mode Mode, rules []parsed, a Action) {
	for _, out := range s.Outs {
		why := "no rule for a command speaks of that"
		if from := s.places(); len(from) != 1 {
			why = "that is not judged behind cd"
		} else if a.Writing != nil {
			w, err := a.Writing(out)
			v := decideWrite(mode, rules, w)
			switch {
			case err != nil:
				why = err.Error()
			case w.Forbidden != "":
				why = w.Forbidden
			case v.Decision == Allow:
				continue
			default:
				why = "it " + v.Reason + ", which is asked"
			}
		}
		s.Fault("a redirection to %s: %s", out, why)
	}
}

// unjudged says why the script as a whole can't be covered, or "".
func (s *script) unjudged(dir string) string {
	if s.Why != "" {
		return s.Why
	}
	for _, w := range s.Reads {
		if why := w.BadInput(dir); why != "" {
			return why
		}
		if why := shell.SensitiveFile(w.Text); why != "" {
			return w.Text + " names " + why
		}
	}
	return s.elsewhere()
}

// alone says why the command may not be in the script in this form, or "": a path after cd is judged relative to the
// workspace, and git runs programs that the configuration of its directory names.
func (s *script) alone(c shell.Command) string {
	if len(c.Given) > 0 && !shell.TakesText(c) {
		return "it gives " + c.Words[0].Text + " a text as input, which it may obey"
	}
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

// maxPlaces is in how many directories a script's commands are tracked.
const maxPlaces = 16

// places are the directories that the script's commands may run in, following its cd's and pushd's, each once; nil if
// they are too many.
func (s *script) places() []string {
	from := []string{"."}
	for _, c := range s.Commands {
		to := leads(shell.Unwrap(c))
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
		if len(from) > maxPlaces {
			return nil
		}
	}
	return from
}

// leads is the directory of a cd or pushd; "": the command is neither, or the directory is unknown.
func leads(c shell.Command) string {
	last := c.Words[len(c.Words)-1]
	if name := c.Words[0].Text; name != "cd" && name != "pushd" || len(c.Words) < 2 || last.Pattern != "" || strings.HasPrefix(last.Text, "-") {
		return ""
	}
	return last.Text
}

// args are the words that may be paths.
func (s *script) args() []shell.Word {
	words := slices.Clone(s.Reads)
	for _, c := range s.Commands {
		words = append(words, shell.Unwrap(c).Words[1:]...)
	}
	return words
}

// elsewhere says which secret a word names relative to a directory of a cd.
func (s *script) elsewhere() string {
	from := s.places()
	if from == nil {
		return "it contains many changes of directory"
	}
	for _, d := range from[1:] {
		for _, w := range s.args() {
			for _, p := range w.Readings() {
				if why := shell.Sensitive(path.Join(d, p)); why != "" && !path.IsAbs(p) {
					return path.Join(d, p) + " names " + why
				}
			}
		}
	}
	return ""
}

// follow finds paths that lead elsewhere through links. After a cd a path may be relative to either directory.
func (s *script) follow(root string, leads func(path string, pattern bool) string) {
	from := s.places()
	up := s.climbs(root, leads)
	for _, w := range s.args() {
		if up[w.Text] {
			continue
		}
		for _, d := range from {
			if w.Pattern != "" {
				s.trail(w.Text, leads(path.Join(d, shell.Brackets(w.Pattern)), true))
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

// climbs follows the words that begin with .. as the kernel does, each from the directory that its command runs in. It
// returns those that stay inside; they are relative to that directory only.
func (s *script) climbs(root string, leads func(path string, pattern bool) string) map[string]bool {
	up := map[string]bool{}
	for _, c := range s.Commands {
		c = shell.Unwrap(c)
		dir, _ := c.Dir(root)
		for i, w := range c.Climbed(root).Words {
			if was := c.Words[i].Text; was != w.Text {
				up[was] = true
				s.trail(was, leads(root+"/"+dir+"/"+was, false))
			}
		}
	}
	return up
}

func (s *script) trail(word, where string) {
	if where != "" {
		s.Fault("%s, which %s", word, where)
	}
}

// gits says why no rule covers a script in which git would run programs that the repository's configuration names, or
// "".
func (j judge) gits(s *script) string {
	if j.git == nil {
		return ""
	}
	found, reads := false, true
	for _, c := range s.Commands {
		if c = shell.Unwrap(c); c.Words[0].Text == "git" {
			found, reads = true, reads && shell.OnlyReads(c)
		}
	}
	if !found {
		return ""
	}
	return j.git(reads)
}

// ruleFor returns the rule for one command: an open one if the tool's list covers the whole command, else its exact
// words.
func ruleFor(c shell.Command, dir string) (r Rule, none string) {
	depth, star := shell.Covered(c.Words, dir)
	if !star {
		depth = len(c.Words)
		if why := shell.Unrepeatable(c, dir); why != "" {
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
