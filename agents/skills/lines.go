package skills

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"fantail/tools"
)

// Wanted is a command line in a file, to be replaced by its output.
type Wanted struct {
	Of    *Item
	All   []string // the present command lines of the file, including this one
	Line  string   // as written in the file
	Args  string   // what the file is used for: $ARGUMENTS
	Words []string // the same, in words: $1 and on
	Typed bool     // a human typed these; otherwise a model wrote them
}

// Runner runs a line and returns its output. The error says why it did not run.
type Runner func(ctx context.Context, w Wanted) (string, error)

// Begin sets what runs command lines. Until then none runs.
func (s *Catalog) Begin(r Runner) {
	if s != nil {
		s.runs.Store(&r)
	}
}

// piece is a piece of a text: words, or a command line.
type piece struct {
	text string
	code bool   // it is code, where no file is named
	line string // of a command line; "": it is none
}

// pieces splits a text completely into text and command lines. A command line is !`cmd` at the beginning of a word, or
// a fenced block that begins with ```!. In other blocks only one that is alone on its line counts, and in a code span
// none: there, texts show commands without wanting them run.
func pieces(body string) (all []piece) {
	fence := "" // that ends the block; "": there is none
	lines := strings.SplitAfter(body, "\n")
	for n := 0; n < len(lines); n++ {
		line := strings.TrimSpace(lines[n])
		mark := fenceOf(line)
		switch {
		case fence != "" && mark != "" && mark == line && len(mark) >= len(fence) && mark[0] == fence[0]:
			fence = ""
			all = append(all, piece{text: lines[n], code: true})
		case fence != "":
			if cmd, whole := strings.CutPrefix(line, "!`"); whole && strings.IndexByte(cmd, '`') == len(cmd)-1 && strings.TrimSpace(cmd[:len(cmd)-1]) != "" {
				before, after, _ := strings.Cut(lines[n], line)
				all = append(all, piece{text: before, code: true}, piece{text: line, line: cmd[:len(cmd)-1]}, piece{text: after, code: true})
				continue
			}
			all = append(all, piece{text: lines[n], code: true})
		case mark != "" && line[len(mark):] == "!":
			if end := closing(lines[n+1:], mark); end > 0 {
				all = append(all, piece{text: strings.Join(lines[n:n+end+2], ""), line: strings.TrimSpace(strings.Join(lines[n+1:n+1+end], ""))})
				n += end + 1
				continue
			}
			fence = mark
			all = append(all, piece{text: lines[n], code: true})
		case mark != "":
			fence = mark
			all = append(all, piece{text: lines[n], code: true})
		default:
			all = append(all, spans(lines[n])...)
		}
	}
	return all
}

// fenceOf returns the mark with which a line begins or ends a fenced block; "": it does not.
func fenceOf(line string) string {
	for _, c := range "`~" {
		if rest := strings.TrimLeft(line, string(c)); len(line)-len(rest) >= 3 && !strings.ContainsRune(rest, c) {
			return line[:len(line)-len(rest)]
		}
	}
	return ""
}

// closing returns how many lines a block has that ends with the mark; 0: none, or it does not end.
func closing(lines []string, mark string) int {
	for n, l := range lines {
		if l = strings.TrimSpace(l); fenceOf(l) == l && len(l) >= len(mark) && l[0] == mark[0] {
			return n
		}
	}
	return 0
}

// spans splits a line into pieces.
func spans(line string) (all []piece) {
	from := 0
	text := func(to int) {
		if to > from {
			all = append(all, piece{text: line[from:to]})
		}
	}
	for at := 0; at < len(line); {
		if line[at] != '`' {
			at++
			continue
		}
		run := len(line[at:]) - len(strings.TrimLeft(line[at:], "`"))
		if run == 1 && at > 0 && line[at-1] == '!' && apart(line[:at-1]) {
			if end := strings.IndexByte(line[at+1:], '`'); end > 0 && strings.TrimSpace(line[at+1:at+1+end]) != "" {
				text(at - 1)
				all = append(all, piece{text: line[at-1 : at+end+2], line: line[at+1 : at+1+end]})
				at += end + 2
				from = at
				continue
			}
		}
		end := spanEnd(line[at+run:], run)
		if end < 0 { // it opens nothing
			at += run
			continue
		}
		text(at)
		all = append(all, piece{text: line[at : at+run+end], code: true})
		at += run + end
		from = at
	}
	text(len(line))
	return all
}

// spanEnd returns where a code span ends that this many backticks opened; -1: nowhere.
func spanEnd(s string, run int) int {
	for at := 0; at < len(s); {
		if s[at] != '`' {
			at++
			continue
		}
		n := len(s[at:]) - len(strings.TrimLeft(s[at:], "`"))
		if at += n; n == run {
			return at
		}
	}
	return -1
}

// apart reports whether text after before begins a new word.
func apart(before string) bool {
	return before == "" || strings.ContainsAny(before[len(before)-1:], " \t([{<>\"'=:|*_-")
}

// commandLines returns the command lines among the pieces of a text.
func commandLines(pieces []piece) (all []string) {
	for _, p := range pieces {
		if p.line != "" && len(all) < maxRefs {
			all = append(all, p.line)
		}
	}
	return all
}

// takes matches where a command line uses the arguments of its file.
var takes = regexp.MustCompile(`\$\{?(?:ARGUMENTS|[0-9@*#])`)

// Takes reports whether the line uses the arguments of its file.
func (w Wanted) Takes() bool { return takes.MatchString(w.Line) }

// command returns the output of a command line, if it may run.
func (e *expansion) command(p piece) string {
	e.refs++
	run := e.s.runs.Load()
	var err error
	out := ""
	switch {
	case run == nil:
		err = errors.New("nothing runs it here")
	case e.refs > maxRefs:
		err = fmt.Errorf("more than %d files and commands are named", maxRefs)
	default:
		w := Wanted{Of: e.i, All: e.lines, Line: p.line, Args: e.args, Words: split(e.args), Typed: e.typed}
		e.took = e.took || w.Takes()
		out, err = (*run)(e.ctx, w)
	}
	if err != nil {
		return p.text + " (not run: " + tools.Line(err.Error()) + ")"
	}
	out = strings.TrimSpace(strings.ReplaceAll(clean(out), "</output>", "<\\/output>"))
	if strings.Contains(out, "\n") {
		out = "\n" + out + "\n"
	}
	return "<output>" + out + "</output>"
}

// Lines returns the command lines of a skill or a command when it was found. They run where its text is used.
func (i *Item) Lines() []string { return i.lines }

// Dir returns the directory of the file, relative to the workspace or to the user's directory that contains it.
func (i *Item) Dir() string { return filepath.Dir(i.rel) }

// Own reports whether the file is the user's own, or the program's, and not the workspace's.
func (i *Item) Own() bool { return !i.tree.Bound }
