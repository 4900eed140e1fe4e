package permission

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"fantail/tools/permission/shell"
)

// Rule allows actions. Its text form is shown, stored and parsed: `bash(go test *)` (parsed argv, word by word; `*` at
// the end means any further words), `write(PATH)`, `write(DIR/**)` or `write(*)` (the workspace), `read(…)` likewise,
// `mcp__SERVER__TOOL`, `mcp__SERVER__GET*` or `mcp__SERVER__*` for tools of another program, and `sandbox(network)` or
// `sandbox(write PATH)` for additions to the sandbox of every command. A relative PATH is relative to the workspace. No
// rule for a tool covers a sensitive path.
type Rule string

// parsed is a parsed rule.
type parsed struct {
	lasts bool   // it is the configuration's, and outlives a session
	kept  bool   // it is the workspace's, and outlives a session
	filed string // the place of a rule of a file, which outlives a session; "": none
	text  Rule
	kind  Kind
	words []string // of a command
	star  bool     // any further words
	dir   string   // where the command runs, from the workspace; "" there
	given grant
	where string // of read and write
	any   bool   // the whole workspace
	tree  bool   // everything below where
}

// Readable returns an error that names the rule if it can't be parsed.
func (r Rule) Readable() error {
	_, err := r.parse()
	return err
}

// parse reads a rule; its text is the form that is shown. The error names the rule and how to write it.
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
	s, err := shell.Parse(body)
	if err != nil {
		return nil, false, err
	}
	if s.Why != "" {
		return nil, false, fmt.Errorf("a rule is one plain command: %s", s.Why)
	}
	if len(s.Outs) > 0 {
		return nil, false, errors.New("a rule is one plain command, without redirections: a redirection is a write, and write(PATH) speaks of that")
	}
	if s.Beside || len(s.Commands) > 0 && (s.Commands[0].Sets || len(s.Commands[0].Given) > 0) {
		return nil, false, errors.New("a rule is one plain command, without assignments, here-documents and background commands (&): it covers the command with them where they are harmless")
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
	c.Words = shell.Trim(c.Words)
	for _, w := range c.Words {
		if w.Pattern != "" {
			return nil, false, fmt.Errorf("%s: only a * at the end stands for more; quote it if it is meant literally", w.Text)
		}
	}
	if why := shell.Never(c.Words); why != "" {
		return nil, false, fmt.Errorf("%s", why)
	}
	if star {
		err = shell.Openable(c.Words)
	}
	return shell.Texts(c.Words), star, err
}

// ruleText is the shown form of a command's rule.
func ruleText(words []string, star bool) (Rule, error) {
	s, err := shell.Quote(words)
	if err != nil {
		return "", err
	}
	if star {
		s += " *"
	}
	return Rule("bash(" + s + ")"), nil
}

// covers reports whether the rule covers this command. A human has read the words of the rule before its *; the words
// that * matches are checked against the tool's list, together with those before.
func (r parsed) covers(c shell.Command, dir string) bool {
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
		return !slices.ContainsFunc(r.words[1:], func(w string) bool { return shell.Sensitive(w) != "" })
	}
	if r.dir == "" { // a rule for a directory does not cover its parents
		c = c.Climbed(dir)
	}
	depth, ok := shell.Covered(c.Words, dir)
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
