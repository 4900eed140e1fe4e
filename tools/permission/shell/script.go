package shell

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

// Script is a parsed command.
type Script struct {
	Commands []Command
	Reads    []Word   // files of standard input
	Why      string   // why it can't be judged; "" if it can
	Said     []string // the literal text of every word in it
	Writes   []string // the words in Said that are files of output
	Beside   bool     // a part runs in the background
	Outs     []string // paths of output, as the shell reads them
	src      string
	docs     int                      // here-documents
	at       map[*syntax.CallExpr]int // the index in Commands
}

// Command is one simple command.
type Command struct {
	Words []Word
	Piped bool     // its standard input is another command's output
	Given []string // its standard input: here-documents and here-strings
	Sets  bool     // it has assignments to variables
	dirs  []string // it may run in, see whereabouts
}

// Word is one word after quote removal. Pattern is "" unless the shell would expand it against file names; quoted
// characters are escaped in it.
type Word struct {
	Text    string
	Pattern string
}

// continued finds lines that go on after a backslash where bash and the parser differ: in bash a comment ends with its
// line, and $, the backslash, a new line and (x) are $(x). After a blank both read the same.
var continued = regexp.MustCompile(`(^|[^ \t]|#.*)\\\n`)

// Parse parses a command. The error is for the model: the command is too long or is not valid bash.
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
	s := &Script{at: map[*syntax.CallExpr]int{}, src: command}
	constants(f, command)
	for _, r := range command {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			s.Fault("the character %U", r)
			break
		}
	}
	if continued.MatchString(command) {
		s.Fault("a line that goes on behind a \\ in the middle of a word or a comment")
	}
	s.said(f) // before braces are split
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

// said collects the words, also in parts that are not judged further.
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

// Fault records the first thing that can't be judged; the walk continues, so that all commands are counted.
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

// stmt reads a statement. A kind that it does not name can't be judged.
func (s *Script) stmt(st *syntax.Stmt, piped bool) {
	if st.Coprocess || st.Disown {
		s.Fault("a coprocess")
	}
	s.Beside = s.Beside || st.Background
	var given []string
	for _, r := range st.Redirs {
		if r.Hdoc != nil || r.Op == syntax.WordHdoc {
			given = append(given, s.given(r))
			continue
		}
		s.redirect(r)
	}
	if _, one := st.Cmd.(*syntax.CallExpr); !one && len(given) > 0 {
		s.Fault("a here-document for more than one command")
	}
	switch c := st.Cmd.(type) {
	case *syntax.CallExpr:
		s.call(c, piped || redirected(st) || len(given) > 0, given)
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

// call parses a simple command.
func (s *Script) call(c *syntax.CallExpr, piped bool, given []string) {
	for _, a := range c.Assigns {
		s.assign(a)
	}
	if len(c.Args) == 0 {
		s.Fault("an assignment without a command") // it would apply to all later commands
		return
	}
	cmd := Command{Piped: piped, Given: given, Sets: len(c.Assigns) > 0}
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

// standard are the names of the standard descriptors: the command's own, even if they lead elsewhere in other
// processes.
var standard = map[string]bool{
	"/dev/stdout": true, "/dev/stderr": true, "/dev/fd/1": true, "/dev/fd/2": true, "/proc/self/fd/1": true, "/proc/self/fd/2": true,
}

// given is the text of a here-document or a here-string.
func (s *Script) given(r *syntax.Redirect) string {
	if r.Hdoc == nil {
		if r.N != nil && r.N.Value != "0" {
			s.Fault("a redirection of descriptor %s", r.N.Value)
		}
		return s.word(r.Word).Text
	}
	text, constant := document(r, s.src)
	if s.docs++; !constant {
		s.Fault("a here-document that is not written as <<'WORD': what stands in it is expanded")
		s.count(r.Hdoc)
	} else if s.docs > 1 {
		s.Fault("several here-documents")
	}
	return text
}

// redirect allows redirections that write nothing: to /dev/null, between the standard descriptors, and from a file,
// whose path is judged like an argument.
func (s *Script) redirect(r *syntax.Redirect) {
	if r.N != nil && r.N.Value != "0" && r.N.Value != "1" && r.N.Value != "2" {
		s.Fault("a redirection of descriptor %s", r.N.Value)
	}
	if r.Word == nil {
		s.Fault("the redirection %s", r.Op)
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
		switch {
		case w.Pattern != "":
			s.Fault("a redirection to %s", w.Text)
		case w.Text != "/dev/null" && !standard[w.Text]:
			s.Outs = append(s.Outs, w.Text)
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
		switch p := part.(type) {
		case *syntax.Lit:
			quoted(unquoteDouble(p.Value), text, pattern)
		case *syntax.SglQuoted: // a constant, see constants
			quoted(p.Value, text, pattern)
		default:
			s.Fault("%s", expansion(part))
			s.count(part)
		}
	}
}

// literal removes the backslashes of unquoted text and reports whether it contains active pattern characters.
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

// quoted adds text whose pattern characters are literal.
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
