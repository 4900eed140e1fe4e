// Package bash reads a command as bash does.
//
// Does: take a command apart into simple commands and their words, find the directories each may run in, and say what
// in it can't be judged; list the paths that a word may be read as; quote words.
//
// Does not: run anything, look at files, or know what a program does with its words.
//
// Imports: tools/permit/filenames.
package bash

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

// Script is a command taken apart.
type Script struct {
	Commands []Command
	Reads    []Word                   // files that standard input comes from
	Why      string                   // what in it can't be judged; "" if nothing
	Said     []string                 // every word that stands anywhere in it, as far as it is literal
	Writes   []string                 // of those, the files that output goes into
	at       map[*syntax.CallExpr]int // the index in Commands
}

// Command is one simple command.
type Command struct {
	Words []Word
	Piped bool     // its standard input is another command's output
	dirs  []string // it may run in, see whereabouts
}

// Word is one word after quote removal. Pattern is "" unless the shell would
// expand it against file names; quoted characters are escaped in it.
type Word struct {
	Text    string
	Pattern string
}

// continued finds the lines that go on behind a backslash where bash and the
// parser read differently: in bash a comment ends with its line, and $, the
// backslash, a new line and (x) are $(x). Behind a blank both read the same.
var continued = regexp.MustCompile(`(^|[^ \t]|#.*)\\\n`)

// Parse takes a command apart. The error is for the model: the command is too long
// or is not valid bash.
func Parse(command string) (*Script, error) {
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
	s := &Script{at: map[*syntax.CallExpr]int{}}
	for _, r := range command {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			s.Fault("the character %U", r)
			break
		}
	}
	if continued.MatchString(command) {
		s.Fault("a line that goes on behind a \\ in the middle of a word or a comment")
	}
	s.said(f) // before braces are taken apart
	s.list(f.Stmts, false)
	whereabouts{s}.list(f.Stmts, []string{""})
	if len(s.Commands) > maxSimple {
		return nil, fmt.Errorf("the command consists of %d commands, at most %d are judged: write a script file and run that", len(s.Commands), maxSimple)
	}
	if len(s.Commands) == 0 {
		s.Fault("no plain command")
	}
	return s, nil
}

// said collects the words, also those of what is not judged further.
func (s *Script) said(f *syntax.File) {
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Word:
			var text, pattern strings.Builder
			plain(n.Parts, &text, &pattern)
			s.Said = append(s.Said, text.String())
		case *syntax.Redirect:
			switch n.Op {
			case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
				var text, pattern strings.Builder
				plain(n.Word.Parts, &text, &pattern)
				s.Writes = append(s.Writes, text.String())
			}
		case *syntax.ExtGlob:
			s.Said = append(s.Said, n.Pattern.Value)
		}
		return true
	})
}

// plain removes the quotes of a word's literal parts.
func plain(parts []syntax.WordPart, text, pattern *strings.Builder) {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			literal(p.Value, text, pattern)
		case *syntax.SglQuoted:
			quoted(p.Value, text, pattern)
		case *syntax.DblQuoted:
			plain(p.Parts, text, pattern)
		}
	}
}

// Fault records the first thing that can't be judged; the walk goes on, so that
// all commands are counted.
func (s *Script) Fault(format string, args ...any) {
	if s.Why == "" {
		s.Why = "it contains " + fmt.Sprintf(format, args...)
	}
}

func (s *Script) list(l []*syntax.Stmt, piped bool) {
	for _, st := range l {
		s.stmt(st, piped)
	}
}

// stmt takes a statement apart. What is not named here can't be judged.
func (s *Script) stmt(st *syntax.Stmt, piped bool) {
	if st.Background || st.Coprocess || st.Disown {
		s.Fault("a background command (&)")
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
		s.Fault("a redirection without a command")
	default:
		s.Fault("%s", construct(c))
		s.count(c)
	}
}

// count finds the simple commands of a construct that is not judged further.
func (s *Script) count(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			s.Commands = append(s.Commands, Command{Words: []Word{{Text: "?"}}})
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
func (s *Script) call(c *syntax.CallExpr, piped bool) {
	if len(c.Assigns) > 0 {
		s.Fault("an assignment to %s", c.Assigns[0].Name.Value)
		for _, a := range c.Assigns {
			s.count(a)
		}
	}
	if len(c.Args) == 0 {
		return
	}
	cmd := Command{Piped: piped}
	for _, w := range c.Args {
		cmd.Words = append(cmd.Words, s.word(w))
	}
	s.at[c] = len(s.Commands)
	s.Commands = append(s.Commands, cmd)
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
func (s *Script) redirect(r *syntax.Redirect) {
	if r.N != nil && r.N.Value != "0" && r.N.Value != "1" && r.N.Value != "2" {
		s.Fault("a redirection of descriptor %s", r.N.Value)
	}
	if r.Word == nil || r.Hdoc != nil {
		s.Fault("a here-document")
		if r.Hdoc != nil {
			s.count(r.Hdoc)
		}
		return
	}
	w := s.word(r.Word)
	switch r.Op {
	case syntax.RdrIn:
		s.Reads = append(s.Reads, w)
		if w.Pattern != "" || strings.HasPrefix(w.Text, "/dev/") && w.Text != "/dev/null" {
			s.Fault("a redirection from %s", w.Text)
		}
	case syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll, syntax.RdrClob:
		if w.Pattern != "" || w.Text != "/dev/null" {
			s.Fault("a redirection to %s", w.Text)
		}
	case syntax.DplOut:
		if w.Text != "1" && w.Text != "2" {
			s.Fault("a redirection to %s", w.Text)
		}
	default:
		s.Fault("the redirection %s", r.Op)
	}
}

// word removes the quotes of a word; anything the shell would compute is a fault.
func (s *Script) word(w *syntax.Word) Word {
	var text, pattern strings.Builder
	glob := false
	for i, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if i == 0 && strings.HasPrefix(p.Value, "~") {
				s.Fault("~, which the shell expands")
			}
			if literal(p.Value, &text, &pattern) {
				glob = true
			}
		case *syntax.SglQuoted:
			if p.Dollar {
				s.Fault("a $'…' string")
			}
			quoted(p.Value, &text, &pattern)
		case *syntax.DblQuoted:
			s.double(p, &text, &pattern)
		default:
			s.Fault("%s", expansion(part))
			s.count(part)
		}
	}
	if syntax.SplitBraces(w) {
		s.Fault("{…}, which the shell expands")
	}
	out := Word{Text: text.String()}
	if glob && out.Text != "[" { // the command [ is no pattern
		out.Pattern = pattern.String()
	}
	return out
}

// double removes double quotes.
func (s *Script) double(q *syntax.DblQuoted, text, pattern *strings.Builder) {
	if q.Dollar {
		s.Fault("a $\"…\" string")
	}
	for _, part := range q.Parts {
		l, ok := part.(*syntax.Lit)
		if !ok {
			s.Fault("%s", expansion(part))
			s.count(part)
			continue
		}
		quoted(unquoteDouble(l.Value), text, pattern)
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
