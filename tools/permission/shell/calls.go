package shell

import (
	"fmt"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Call is a simple command anywhere in a command line: also in a part that no rule could allow, such as a substitution,
// a loop or the body of a function.
type Call struct {
	Words   []Loose
	Assigns []Loose // NAME=VALUE before it
	Fed     []Loose // its input: here-documents and here-strings
	Piped   bool    // its input is another command's output
}

// Loose is what is known about a word before the command runs.
type Loose struct {
	Text string // its literal parts
	Glob string // a pattern that the word matches; "": it is Text
	Many bool   // the shell computes it; it may become several words or none
}

// Open reports whether the word may differ from its text.
func (w Loose) Open() bool { return w.Glob != "" || w.Many }

// Base is the word without the directories it names.
func (w Loose) Base() Loose {
	w.Text = path.Base(w.Text)
	if i := strings.LastIndexByte(w.Glob, '/'); i >= 0 {
		w.Glob = w.Glob[i+1:]
	}
	return w
}

// Whole is a command line with all commands in it.
type Whole struct {
	Calls  []Call
	Reads  []Loose // files of its input
	Writes []Loose // files of its output
	Doubt  bool    // bash may read it in another way
}

// Wide reads a command line for commands that must not run: it finds every command in it, and what each word may be.
// The error is that of [Parse].
func Wide(command string) (*Whole, error) {
	if len(command) > maxCommand {
		return nil, fmt.Errorf("the command has %d bytes, at most %d are judged", len(command), maxCommand)
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return nil, fmt.Errorf("the command can't be parsed as bash: %w", err)
	}
	w, piped := &Whole{Doubt: continued.MatchString(command)}, map[*syntax.Stmt]bool{}
	for range constants(f, command) {
		w.Calls = append(w.Calls, Call{Words: []Loose{{Text: "cat"}}})
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				syntax.Walk(n.Y, func(in syntax.Node) bool {
					if st, is := in.(*syntax.Stmt); is {
						piped[st] = true
					}
					return true
				})
			}
		case *syntax.Stmt:
			w.stmt(n, Call{Piped: piped[n]})
		}
		return true
	})
	return w, nil
}

// stmt records the command of a statement, and the files that it reads and writes.
func (w *Whole) stmt(st *syntax.Stmt, call Call) {
	for _, r := range st.Redirs {
		switch {
		case r.Hdoc != nil:
			call.Fed = append(call.Fed, loose(r.Hdoc))
		case r.Word == nil:
		case r.Op == syntax.WordHdoc:
			call.Fed = append(call.Fed, loose(r.Word))
		case r.Op == syntax.RdrIn:
			w.Reads = append(w.Reads, loose(r.Word))
			call.Piped = true
		case r.Op == syntax.RdrInOut:
			w.Reads, w.Writes = append(w.Reads, loose(r.Word)), append(w.Writes, loose(r.Word))
			call.Piped = true
		case r.Op != syntax.DplIn && r.Op != syntax.DplOut:
			w.Writes = append(w.Writes, loose(r.Word))
		}
	}
	c, is := st.Cmd.(*syntax.CallExpr)
	if !is || len(c.Args) == 0 && len(c.Assigns) == 0 {
		return
	}
	for _, a := range c.Assigns {
		if a.Name == nil {
			continue
		}
		v := Loose{}
		if a.Value != nil {
			v = loose(a.Value)
		}
		if v.Open() {
			v.Glob = quoteGlob(a.Name.Value+"=") + "*"
		}
		v.Text = a.Name.Value + "=" + v.Text
		call.Assigns = append(call.Assigns, v)
	}
	for _, a := range c.Args {
		call.Words = append(call.Words, loose(a))
	}
	w.Calls = append(w.Calls, call)
}

// loose reads a word; a part that the shell computes may be anything.
func loose(w *syntax.Word) (l Loose) {
	var text, pattern strings.Builder
	l.Many = parts(w.Parts, &text, &pattern, unquoted)
	open := active(pattern.String())
	l.Text = text.String()
	if braced := *w; syntax.SplitBraces(&braced) {
		l.Many, open = true, true
	}
	if open && l.Text != "[" {
		l.Glob = pattern.String()
	}
	return l
}

// quoting says whether a word's parts are in double quotes.
type quoting int

const (
	unquoted quoting = iota
	doubled
)

// parts writes the literal text of a word, and its pattern with a * for each computed part. It reports whether the word
// may become several.
func parts(list []syntax.WordPart, text, pattern *strings.Builder, q quoting) (many bool) {
	for _, part := range list {
		switch p := part.(type) {
		case *syntax.Lit:
			if q == doubled {
				quoted(unquoteDouble(p.Value), text, pattern)
			} else {
				literal(p.Value, text, pattern)
			}
		case *syntax.SglQuoted:
			if p.Dollar {
				pattern.WriteByte('*')
			} else {
				quoted(p.Value, text, pattern)
			}
		case *syntax.DblQuoted:
			many = parts(p.Parts, text, pattern, doubled) || many
		default:
			pattern.WriteByte('*')
			many = many || q == unquoted || lists(p)
		}
	}
	return many
}

// lists reports whether an expansion makes several words also in double quotes: "$@", "${a[@]}".
func lists(p syntax.WordPart) bool {
	e, is := p.(*syntax.ParamExp)
	return is && (e.Param != nil && e.Param.Value == "@" || e.Index != nil || e.Names != 0)
}

// unquoteDouble removes the backslashes of text in double quotes.
func unquoteDouble(v string) string {
	var b strings.Builder
	for i := 0; i < len(v); i++ {
		if c := v[i]; c == '\\' && i+1 < len(v) && strings.IndexByte("$`\"\\\n", v[i+1]) >= 0 {
			i++
			if v[i] == '\n' {
				continue
			}
		}
		b.WriteByte(v[i])
	}
	return b.String()
}

// active reports whether a pattern matches more than one text.
func active(pattern string) bool {
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '*', '?', '[':
			return true
		}
	}
	return false
}

// quoteGlob returns a pattern that matches only the text.
func quoteGlob(text string) string {
	var t, p strings.Builder
	quoted(text, &t, &p)
	return p.String()
}
