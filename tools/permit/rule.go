package permit

import (
	"fmt"
	"path/filepath"
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
	where string   // of read and write
	any   bool     // the whole workspace
	tree  bool     // all below where
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
	head, body, ok := strings.Cut(s, "(")
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
		p := parsed{kind: Command, words: words, star: star}
		if p.text, err = ruleText(words, star); err != nil {
			return fail("%w", err)
		}
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
	for _, w := range c.words {
		if w.pattern != "" {
			return nil, false, fmt.Errorf("%s: only a * at the end stands for more; quote it if it is meant literally", w.text)
		}
		words = append(words, w.text)
	}
	if why := never(c.words); why != "" {
		return nil, false, fmt.Errorf("%s", why)
	}
	return words, star, nil
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

// match reports whether the rule speaks of this command, and by how many words.
func (r parsed) match(c simple) (int, bool) {
	if r.kind != Command || len(c.words) < len(r.words) || !r.star && len(c.words) != len(r.words) {
		return 0, false
	}
	for i, w := range r.words {
		if c.words[i].pattern != "" || c.words[i].text != w {
			return 0, false
		}
	}
	return len(r.words), true
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
