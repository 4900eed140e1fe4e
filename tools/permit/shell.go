package permit

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

const (
	maxCommand = 32 << 10 // bytes of a command that is still judged
	maxSimple  = 50       // simple commands of a command that is still judged
)

// script is a command taken apart.
type script struct {
	cmds  []simple
	reads []word                   // files that standard input comes from
	why   string                   // what in it can't be judged; "" if nothing
	stale string                   // why a rule that was given does not cover it any more
	at    map[*syntax.CallExpr]int // the index in cmds
}

// simple is one simple command.
type simple struct {
	words []word
	piped bool     // its standard input is another command's output
	dirs  []string // it may run in, see whereabouts
}

// word is one word after quote removal. pattern is "" unless the shell would
// expand it against file names; quoted characters are escaped in it.
type word struct {
	text    string
	pattern string
}

// continued finds the lines that go on behind a backslash where bash and the
// parser read differently: in bash a comment ends with its line, and $, the
// backslash, a new line and (x) are $(x). Behind a blank both read the same.
var continued = regexp.MustCompile(`(^|[^ \t]|#.*)\\\n`)

// analyse parses a command. The error is for the model: the command is too long
// or is not valid bash.
func analyse(command string) (*script, error) {
	switch {
	case strings.TrimSpace(command) == "":
		return nil, fmt.Errorf("the command is empty")
	case len(command) > maxCommand:
		return nil, fmt.Errorf("the command has %d bytes, at most %d are judged: write a script file and run that", len(command), maxCommand)
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return nil, fmt.Errorf("the command can't be parsed as bash: %w", err)
	}
	s := &script{at: map[*syntax.CallExpr]int{}}
	for _, r := range command {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			s.fault("the character %U", r)
			break
		}
	}
	if continued.MatchString(command) {
		s.fault("a line that goes on behind a \\ in the middle of a word or a comment")
	}
	s.list(f.Stmts, false)
	whereabouts{s}.list(f.Stmts, []string{""})
	if len(s.cmds) > maxSimple {
		return nil, fmt.Errorf("the command consists of %d commands, at most %d are judged: write a script file and run that", len(s.cmds), maxSimple)
	}
	if len(s.cmds) == 0 {
		s.fault("no plain command")
	}
	return s, nil
}

// fault records the first thing that can't be judged; the walk goes on, so that
// all commands are counted.
func (s *script) fault(format string, args ...any) {
	if s.why == "" {
		s.why = "it contains " + fmt.Sprintf(format, args...)
	}
}

func (s *script) list(l []*syntax.Stmt, piped bool) {
	for _, st := range l {
		s.stmt(st, piped)
	}
}

// stmt takes a statement apart. What is not named here can't be judged.
func (s *script) stmt(st *syntax.Stmt, piped bool) {
	if st.Background || st.Coprocess || st.Disown {
		s.fault("a background command (&)")
	}
	for _, r := range st.Redirs {
		s.redirect(r)
	}
	switch c := st.Cmd.(type) {
	case *syntax.CallExpr:
		s.call(c, piped || redirected(st))
	case *syntax.BinaryCmd:
		s.stmt(c.X, piped)
		s.stmt(c.Y, piped || c.Op == syntax.Pipe || c.Op == syntax.PipeAll)
	case *syntax.Subshell:
		s.list(c.Stmts, piped)
	case *syntax.Block:
		s.list(c.Stmts, piped)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			s.stmt(c.Stmt, piped)
		}
	case *syntax.IfClause:
		for i := c; i != nil; i = i.Else {
			s.list(i.Cond, piped)
			s.list(i.Then, piped)
		}
	case nil:
		s.fault("a redirection without a command")
	default:
		s.fault("%s", construct(c))
		s.count(c)
	}
}

// count finds the simple commands of a construct that is not judged further.
func (s *script) count(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			s.cmds = append(s.cmds, simple{words: []word{{text: "?"}}})
		}
		return true
	})
}

// construct names a construct for people.
func construct(c syntax.Command) string {
	switch c := c.(type) {
	case *syntax.FuncDecl:
		return "a function definition"
	case *syntax.ForClause, *syntax.WhileClause:
		return "a loop"
	case *syntax.CaseClause:
		return "a case"
	case *syntax.DeclClause:
		return c.Variant.Value
	case *syntax.ArithmCmd, *syntax.LetClause:
		return "arithmetic"
	case *syntax.TestClause:
		return "[[ ]]"
	case *syntax.CoprocClause:
		return "a coprocess"
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", c), "*syntax.")
}

// call takes a simple command apart.
func (s *script) call(c *syntax.CallExpr, piped bool) {
	if len(c.Assigns) > 0 {
		s.fault("an assignment to %s", c.Assigns[0].Name.Value)
		for _, a := range c.Assigns {
			s.count(a)
		}
	}
	if len(c.Args) == 0 {
		return
	}
	cmd := simple{piped: piped}
	for _, w := range c.Args {
		cmd.words = append(cmd.words, s.word(w))
	}
	s.at[c] = len(s.cmds)
	s.cmds = append(s.cmds, cmd)
}

// redirected reports whether standard input comes from a file.
func redirected(st *syntax.Stmt) bool {
	for _, r := range st.Redirs {
		if r.Op == syntax.RdrIn && r.N == nil {
			return true
		}
	}
	return false
}

// redirect allows what writes nothing: to /dev/null, between the standard
// descriptors, and from a file, whose path is judged like an argument.
func (s *script) redirect(r *syntax.Redirect) {
	if r.N != nil && r.N.Value != "0" && r.N.Value != "1" && r.N.Value != "2" {
		s.fault("a redirection of descriptor %s", r.N.Value)
	}
	if r.Word == nil || r.Hdoc != nil {
		s.fault("a here-document")
		if r.Hdoc != nil {
			s.count(r.Hdoc)
		}
		return
	}
	w := s.word(r.Word)
	switch r.Op {
	case syntax.RdrIn:
		s.reads = append(s.reads, w)
		if w.pattern != "" || strings.HasPrefix(w.text, "/dev/") && w.text != "/dev/null" {
			s.fault("a redirection from %s", w.text)
		}
	case syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll, syntax.RdrClob:
		if w.pattern != "" || w.text != "/dev/null" {
			s.fault("a redirection to %s", w.text)
		}
	case syntax.DplOut:
		if w.text != "1" && w.text != "2" {
			s.fault("a redirection to %s", w.text)
		}
	default:
		s.fault("the redirection %s", r.Op)
	}
}

// word removes the quotes of a word; anything the shell would compute is a fault.
func (s *script) word(w *syntax.Word) word {
	var text, pattern strings.Builder
	glob := false
	for i, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if i == 0 && strings.HasPrefix(p.Value, "~") {
				s.fault("~, which the shell expands")
			}
			if literal(p.Value, &text, &pattern) {
				glob = true
			}
		case *syntax.SglQuoted:
			if p.Dollar {
				s.fault("a $'…' string")
			}
			quoted(p.Value, &text, &pattern)
		case *syntax.DblQuoted:
			s.double(p, &text, &pattern)
		default:
			s.fault("%s", expansion(part))
			s.count(part)
		}
	}
	if syntax.SplitBraces(w) {
		s.fault("{…}, which the shell expands")
	}
	out := word{text: text.String()}
	if glob && out.text != "[" { // the command [ is no pattern
		out.pattern = pattern.String()
	}
	return out
}

// double removes double quotes.
func (s *script) double(q *syntax.DblQuoted, text, pattern *strings.Builder) {
	if q.Dollar {
		s.fault("a $\"…\" string")
	}
	for _, part := range q.Parts {
		l, ok := part.(*syntax.Lit)
		if !ok {
			s.fault("%s", expansion(part))
			s.count(part)
			continue
		}
		var b strings.Builder
		for i := 0; i < len(l.Value); i++ {
			if c := l.Value[i]; c == '\\' && i+1 < len(l.Value) && strings.IndexByte("$`\"\\\n", l.Value[i+1]) >= 0 {
				i++
				if l.Value[i] == '\n' {
					continue
				}
			}
			b.WriteByte(l.Value[i])
		}
		quoted(b.String(), text, pattern)
	}
}

// literal removes the backslashes of unquoted text and reports whether it holds
// active pattern characters.
func literal(v string, text, pattern *strings.Builder) (glob bool) {
	for i := 0; i < len(v); i++ {
		c := v[i]
		switch {
		case c == '\\' && i+1 < len(v):
			i++
			if v[i] != '\n' {
				quoted(v[i:i+1], text, pattern)
			}
			continue
		case c == '*' || c == '?' || c == '[':
			glob = true
		}
		text.WriteByte(c)
		pattern.WriteByte(c)
	}
	return glob
}

// quoted adds text whose pattern characters mean themselves.
func quoted(v string, text, pattern *strings.Builder) {
	text.WriteString(v)
	for i := 0; i < len(v); i++ {
		if strings.IndexByte(`*?[]\`, v[i]) >= 0 {
			pattern.WriteByte('\\')
		}
		pattern.WriteByte(v[i])
	}
}

// expansion names an expansion for people.
func expansion(p syntax.WordPart) string {
	switch p := p.(type) {
	case *syntax.ParamExp:
		if p.Param != nil && p.Short {
			return "$" + p.Param.Value
		}
		return "a ${…} expansion"
	case *syntax.CmdSubst:
		return "a command substitution"
	case *syntax.ProcSubst:
		return "a process substitution"
	case *syntax.ArithmExp:
		return "arithmetic"
	case *syntax.ExtGlob:
		return "an extended pattern"
	}
	return "an expansion"
}
