package permit

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Rule allows actions. Its text form is shown, stored and parsed:
// `bash(go test *)` (parsed argv, word by word; `*` at the end means any further
// words), `write(PATH)`, `write(DIR/**)` or `write(*)` (the workspace), and
// `read(…)` likewise. A relative PATH counts from the workspace. No rule reaches
// a sensitive path.
type Rule string

// parsed is a rule taken apart.
type parsed struct {
	text  Rule
	kind  Kind
	words []string // of a command
	star  bool     // any further words
	dir   string   // where the command runs, from the workspace; "" there
	given grant
	where string // of read and write
	any   bool   // the whole workspace
	tree  bool   // all below where
}

// ParseRule checks a rule from a configuration and returns it in its shown
// form. The error names the rule and what to write instead.
func ParseRule(s string) (Rule, error) {
	p, err := Rule(s).parse()
	return p.text, err
}

func (r Rule) parse() (parsed, error) {
	s := strings.TrimSpace(string(r))
	fail := func(format string, args ...any) (parsed, error) {
		return parsed{}, fmt.Errorf("parse rule %q: "+format, append([]any{s}, args...)...)
	}
	text, dir, bad := cutDir(s)
	if bad != "" {
		return fail("%s", bad)
	}
	head, body, ok := strings.Cut(text, "(")
	if !ok || !strings.HasSuffix(body, ")") {
		return fail("write it as bash(go test *), write(PATH), write(*) or read(PATH)")
	}
	body = strings.TrimSuffix(body, ")")
	if strings.ContainsAny(body, "\n\r\x00") {
		return fail("it must be one line")
	}
	switch head {
	case "bash":
		words, star, err := ruleWords(body)
		if err != nil {
			return fail("%w", err)
		}
		p := parsed{kind: Command, words: words, star: star, dir: dir}
		if p.text, err = ruleText(words, star); err != nil {
			return fail("%w", err)
		}
		p.text = p.text.in(dir)
		return p, nil
	case "read", "write":
		p := parsed{kind: Kind(head), where: body}
		switch {
		case body == "":
			return fail("it names no path")
		case body == "*" || body == "**":
			p.any, p.where = true, "*"
		case strings.HasSuffix(body, "/**"):
			p.tree, p.where = true, strings.TrimSuffix(body, "/**")
			if p.where == "" {
				p.where = "/"
			}
		case strings.ContainsAny(filepath.Base(body), "*?["):
			return fail("patterns are not understood; write a path, DIR/** or *")
		}
		if strings.HasPrefix(body, "~") {
			return fail("~ is not expanded; write the whole path")
		}
		p.text = Rule(head + "(" + body + ")")
		return p, nil
	}
	return fail("%q is neither bash, read nor write", head)
}

// ruleWords parses the words of a command's rule.
func ruleWords(body string) (words []string, star bool, err error) {
	s, err := analyse(body)
	if err != nil {
		return nil, false, err
	}
	if s.why != "" {
		return nil, false, fmt.Errorf("a rule is one plain command: %s", s.why)
	}
	if len(s.cmds) != 1 {
		return nil, false, fmt.Errorf("a rule is one command, this is %d", len(s.cmds))
	}
	c := s.cmds[0]
	if n := len(c.words); c.words[n-1].pattern == "*" {
		c.words, star = c.words[:n-1], true
	}
	if len(c.words) == 0 {
		return nil, false, fmt.Errorf("it names no command; for everything there is the mode yolo")
	}
	c.words = plainly(c.words)
	for _, w := range c.words {
		if w.pattern != "" {
			return nil, false, fmt.Errorf("%s: only a * at the end stands for more; quote it if it is meant literally", w.text)
		}
	}
	if why := never(c.words); why != "" {
		return nil, false, fmt.Errorf("%s", why)
	}
	if star {
		err = openable(c.words)
	}
	return texts(c.words), star, err
}

// openable says why no * may follow these words.
func openable(words []word) error {
	f, depth := known(words)
	name := strings.Join(texts(words), " ")
	switch {
	case f.opens:
		if why := f.read(words[depth:], "").why; why != "" {
			return fmt.Errorf("%s; with it write the whole command, without the *", why)
		}
		return nil
	case len(f.subs) > 0 && depth == len(words):
		return fmt.Errorf("%s does a different thing by the word that follows: name it too, as in bash(%s %s *)", name, name, f.example())
	}
	return fmt.Errorf("no list says which options of %s are harmless, so that a * would cover what nobody read: write the whole command, without the *", name)
}

func texts(words []word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.text
	}
	return out
}

// ruleText is the shown form of a command's rule.
func ruleText(words []string, star bool) (Rule, error) {
	q := make([]string, 0, len(words)+1)
	for _, w := range words {
		s, err := syntax.Quote(w, syntax.LangBash)
		if err != nil {
			return "", fmt.Errorf("quote %q: %w", w, err)
		}
		q = append(q, s)
	}
	if star {
		q = append(q, "*")
	}
	return Rule("bash(" + strings.Join(q, " ") + ")"), nil
}

// covers reports whether the rule covers this command. What stands in a rule
// without a * was read by a human, whole; what a * stands for is held against the
// tool's list, together with the words before it.
func (r parsed) covers(c simple, dir string) bool {
	n := len(r.words)
	if r.kind != Command || len(c.words) < n || !r.star && len(c.words) != n {
		return false
	}
	for i, w := range r.words {
		if c.words[i].pattern != "" || c.words[i].text != w {
			return false
		}
	}
	if !r.star {
		return !slices.ContainsFunc(r.words[1:], func(w string) bool { return Sensitive(w) != "" })
	}
	f, depth := known(c.words)
	return f.opens && depth <= n && f.uncovered(c.words[depth:], dir) == ""
}

// path reports whether the rule reaches the path p of action a.
func (r parsed) path(p string, a Action) bool {
	if r.any {
		return !a.Outside
	}
	where := r.where
	if !filepath.IsAbs(where) {
		if a.Dir == "" {
			return false
		}
		where = filepath.Join(a.Dir, where)
	}
	where = filepath.Clean(where)
	if p == where {
		return true
	}
	return r.tree && strings.HasPrefix(p, strings.TrimSuffix(where, "/")+"/")
}
