package permit

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var plainName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.+-]*$`)

// covered reports whether rules cover every command of the script; why says
// what they don't.
func (s *script) covered(rules []parsed, dir string, j judge) (used []string, why string) {
	if why := s.unjudged(dir); why != "" {
		return nil, why
	}
	if why := j.gits(s); why != "" {
		return nil, why
	}
	for _, c := range s.cmds {
		c = unwrap(c)
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
		if !found && !harmless(c, dir) {
			return nil, c.words[0].text + " is not covered"
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
	var open []simple
	for _, c := range s.cmds {
		c = unwrap(c)
		if why := s.alone(c); why != "" {
			return "", why
		}
		if why := never(c.words); why != "" {
			return "", why
		}
		if one := (&script{cmds: []simple{c}}); !harmless(c, dir) {
			if _, why := one.covered(rules, dir, j); why != "" {
				open = append(open, c)
			}
		}
	}
	if len(open) == 0 { // all of it is harmless, but something has to be named
		open = s.cmds[:1]
	}
	for _, c := range open {
		q, why := ruleFor(unwrap(c), dir)
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

// ruleFor names the rule for one command: open if the tool's list covers all of
// it, else the exact words.
func ruleFor(c simple, dir string) (r Rule, none string) {
	f, depth := known(c.words)
	star := f.opens && f.uncovered(c.words[depth:], dir) == ""
	if !star {
		depth = len(c.words)
		if why := unrepeatable(c, dir); why != "" {
			return "", why
		}
	}
	words := make([]string, 0, depth)
	for _, w := range c.words[:depth] {
		words = append(words, w.text)
	}
	r, err := ruleText(words, star)
	if err != nil {
		return "", err.Error()
	}
	return r, ""
}

// unrepeatable says why not even a rule of a command's exact words is offered.
func unrepeatable(c simple, dir string) string {
	head := c.words[0].text
	_, listed := tools[head]
	for _, w := range c.words[1:] {
		if w.pattern != "" {
			return w.text + " is a pattern"
		}
		if why := badPath(w, dir, false); why != "" {
			return why
		}
		name, _, _ := strings.Cut(strings.TrimLeft(w.text, "-"), "=")
		switch {
		case !listed && w.text != "." && runs[w.text] != "":
			return head + " may run " + w.text
		case risky[name] && (!listed || len(name) > 1 || strings.Contains("fDiX", name)):
			return head + " " + w.text + " may destroy, run or publish something"
		case strings.Contains(w.text, "@") && strings.Contains(w.text, "/") || strings.Contains(w.text, "::"):
			return head + " " + w.text + " may run code from elsewhere"
		}
	}
	return ""
}

// unjudged says what keeps the script as a whole from being covered.
func (s *script) unjudged(dir string) string {
	if s.why != "" {
		return s.why
	}
	for _, w := range s.reads {
		if why := badPath(w, dir, true); why != "" {
			return why
		}
		if why := SensitiveFile(w.text); why != "" {
			return w.text + " names " + why
		}
	}
	return s.elsewhere()
}

// alone says why the command may not stand in the script as it does: a path
// behind cd is judged as if it were counted from the workspace, and git runs what
// the configuration of the directory it stands in names.
func (s *script) alone(c simple) string {
	switch c.words[0].text {
	case "cd":
		if !named(c) {
			return "cd without a directory leads outside"
		}
	case "git":
		for _, d := range s.cmds {
			if d.words[0].text == "cd" {
				return "git in another directory runs what that directory's configuration names"
			}
		}
	}
	return ""
}

// named reports whether cd goes to a directory it names, neither home nor back.
func named(cd simple) bool {
	w := cd.words
	return len(w) == 2 && w[1].pattern == "" && w[1].text != "" && w[1].text[0] != '-'
}

// unwrap returns what timeout runs, without the options that change nothing.
func unwrap(c simple) simple {
	if w := c.words; len(w) > 2 && w[0].text == "timeout" && w[0].pattern == "" && duration.MatchString(w[1].text) {
		c.words = w[2:]
		return unwrap(c)
	}
	c.words = plainly(c.words)
	return c
}

var duration = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?[smh]?$`)

// filters read their standard input, if this is how many operands they have.
var filters = map[string]int{"head": 0, "tail": 0, "wc": 0, "cat": 0, "sort": 0, "uniq": 0, "nl": 0, "cut": 0, "tr": 2, "grep": 1}

// harmless reports whether a command needs no rule beside others that have one:
// it changes nothing, and reads nothing but its standard input.
func harmless(c simple, dir string) bool {
	head := c.words[0]
	if head.pattern != "" || never(c.words) != "" {
		return false
	}
	switch head.text {
	case "true", "false", ":", "pwd", "echo", "exit":
		return tools[head.text].uncovered(c.words[1:], dir) == ""
	case "cd":
		return named(c) && badPath(c.words[1], dir, false) == ""
	}
	most, ok := filters[head.text]
	if !ok || !c.piped {
		return false
	}
	f := tools[head.text]
	v := f.read(c.words[1:], dir)
	return v.why == "" && len(v.operands) <= most && !v.has(f.deep) && !v.has(f.pattern)
}

// readings are the paths a word may be read as: itself, and what stands in it
// behind an option's letter, a blank or one of =:@,.
func readings(text string) []string {
	out := []string{text}
	add := func(s string) {
		if s != "" {
			out = append(out, s)
		}
	}
	for i := 0; i < len(text); i++ {
		if strings.IndexByte("=:@, \t\n", text[i]) >= 0 {
			add(text[i+1:])
		}
	}
	if len(text) > 2 && text[0] == '-' && text[1] != '-' {
		add(text[2:])
	}
	return out
}

// places are the directories the script's commands may run in, as its cd's lead
// from one another; nil if they are too many.
func (s *script) places() []string {
	from := []string{"."}
	for _, c := range s.cmds {
		c = unwrap(c)
		if c.words[0].text != "cd" || !named(c) {
			continue
		}
		if len(from) > 8 {
			return nil
		}
		for _, d := range slices.Clone(from) {
			from = append(from, path.Join(d, c.words[1].text))
		}
	}
	return from
}

// args are the words that may be paths.
func (s *script) args() []word {
	words := slices.Clone(s.reads)
	for _, c := range s.cmds {
		words = append(words, unwrap(c).words[1:]...)
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
			for _, p := range readings(w.text) {
				if why := Sensitive(path.Join(d, p)); why != "" && !path.IsAbs(p) {
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
			if w.pattern != "" {
				s.trail(w.text, leads(path.Join(d, brackets(w.pattern)), true))
			}
			for _, p := range readings(w.text) {
				if !path.IsAbs(p) {
					p = path.Join(d, p)
				}
				s.trail(w.text, leads(p, false))
			}
		}
	}
}

func (s *script) trail(word, where string) {
	if where != "" {
		s.fault("%s, which %s", word, where)
	}
}

// badPath says why a word can't be an argument: as a path, or behind an option
// or a colon, it would leave the directory or name what is protected.
func badPath(w word, dir string, reads bool) string {
	for _, t := range readings(w.text) {
		if strings.HasPrefix(t, "~") {
			return t + " may be read as a home directory"
		}
		if t == "/dev/null" {
			continue
		}
		parts := strings.Split(t, "/")
		if slices.Contains(parts, "..") {
			return t + " leads outside"
		}
		if strings.HasPrefix(t, "/") {
			rel, err := filepath.Rel(dir, path.Clean(t))
			if dir == "" || err != nil || !filepath.IsLocal(rel) {
				return t + " is outside the workspace"
			}
			t = rel
		}
		if why := Sensitive(t); why != "" {
			return t + " names " + why
		}
		if !reads && slices.ContainsFunc(parts, func(s string) bool { return strings.EqualFold(s, ".git") }) {
			return t + " is inside .git"
		}
	}
	if w.pattern != "" {
		if why := sensitivePattern(w.pattern); why != "" {
			return "it may name " + why
		}
		for _, s := range strings.Split(w.pattern, "/") {
			s = brackets(s)
			if m, err := path.Match(strings.ToLower(s), ".git"); (m || err != nil) && strings.HasPrefix(s, ".") {
				return w.text + " may match .git"
			}
			if m, _ := path.Match(s, ".."); m && strings.HasPrefix(s, ".") {
				return w.text + " may lead outside"
			}
		}
	}
	return ""
}
