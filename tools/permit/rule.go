package permit

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"fantail/tools/permit/bash"
	"fantail/tools/permit/filenames"
	"fantail/tools/permit/programs"
)

// Rule allows actions. Its text form is shown, stored and parsed:
// `bash(go test *)` (parsed argv, word by word; `*` at the end means any further
// words), `write(PATH)`, `write(DIR/**)` or `write(*)` (the workspace),
// `read(…)` likewise, `mcp__SERVER__TOOL`, `mcp__SERVER__GET*` or `mcp__SERVER__*` for tools of another program, and `sandbox(network)` or `sandbox(write PATH)` for what is
// added to the sandbox of every command. A relative PATH counts from the workspace.
// No rule for a tool reaches a sensitive path.
type Rule string

// parsed is a rule taken apart.
type parsed struct {
	lasts bool   // it is the configuration's, and outlives a session
	kept  bool   // it is the workspace's, and outlives a session
	filed string // the place of a file that it stands in, and outlives a session; "": none
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

// parse reads a rule; its text is the form in which it is shown. The error names the rule and what to write instead.
func (r Rule) parse() (parsed, error) {
	s := strings.TrimSpace(string(r))
	fail := func(format string, args ...any) (parsed, error) {
		return parsed{}, fmt.Errorf("parse rule %q: "+format, append([]any{s}, args...)...)
	}
	if strings.HasPrefix(s, foreign) {
		p, err := parseForeign(s)
		if err != nil {
			return fail("%w", err)
		}
		return p, nil
	}
	text, dir, bad := cutDir(s)
	if bad != "" {
		return fail("%s", bad)
	}
	head, body, ok := strings.Cut(text, "(")
	if !ok || !strings.HasSuffix(body, ")") {
		return fail("write it as bash(go test *), write(PATH), write(*), read(PATH) or sandbox(network)")
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
	if head == widening {
		p, err := parseLeave(body)
		if err != nil {
			return fail("%w", err)
		}
		return p, nil
	}
	return fail("%q is neither bash, read, write nor %s", head, widening)
}

// ruleWords parses the words of a command's rule.
func ruleWords(body string) (words []string, star bool, err error) {
	s, err := bash.Parse(body)
	if err != nil {
		return nil, false, err
	}
	if s.Why != "" {
		return nil, false, fmt.Errorf("a rule is one plain command: %s", s.Why)
	}
	if len(s.Commands) != 1 {
		return nil, false, fmt.Errorf("a rule is one command, this is %d", len(s.Commands))
	}
	c := s.Commands[0]
	if n := len(c.Words); c.Words[n-1].Pattern == "*" {
		c.Words, star = c.Words[:n-1], true
	}
	if len(c.Words) == 0 {
		return nil, false, fmt.Errorf("it names no command; for everything there is the mode yolo")
	}
	c.Words = programs.Trim(c.Words)
	for _, w := range c.Words {
		if w.Pattern != "" {
			return nil, false, fmt.Errorf("%s: only a * at the end stands for more; quote it if it is meant literally", w.Text)
		}
	}
	if why := programs.Never(c.Words); why != "" {
		return nil, false, fmt.Errorf("%s", why)
	}
	if star {
		err = programs.Openable(c.Words)
	}
	return bash.Texts(c.Words), star, err
}

// ruleText is the shown form of a command's rule.
func ruleText(words []string, star bool) (Rule, error) {
	s, err := bash.Quote(words)
	if err != nil {
		return "", err
	}
	if star {
		s += " *"
	}
	return Rule("bash(" + s + ")"), nil
}

// covers reports whether the rule covers this command. What stands in a rule
// without a * was read by a human, whole; what a * stands for is held against the
// tool's list, together with the words before it.
func (r parsed) covers(c bash.Command, dir string) bool {
	n := len(r.words)
	if r.kind != Command || len(c.Words) < n || !r.star && len(c.Words) != n {
		return false
	}
	for i, w := range r.words {
		if c.Words[i].Pattern != "" || c.Words[i].Text != w {
			return false
		}
	}
	if !r.star {
		return !slices.ContainsFunc(r.words[1:], func(w string) bool { return filenames.Sensitive(w) != "" })
	}
	depth, ok := programs.Covered(c.Words, dir)
	return ok && depth <= n
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
