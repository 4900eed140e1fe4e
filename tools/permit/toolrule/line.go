package toolrule

import (
	"path"
	"strings"

	"fantail/tools/permit/bash"
)

const (
	deepest  = 5         // scripts inside of scripts
	mostRuns = 400       // commands of a line that are told apart
	mostKept = 256 << 10 // letters that are kept while a line is held against rules
)

// Line is a command line with all that it runs, as far as its words tell: also what env, timeout, xargs or a shell's -c
// run, which are commands of their own here.
//
// It is not safe for concurrent use: what it may name is found out once, for all rules.
type Line struct {
	raw    glob // as it is written
	broken bool // it can't be parsed: it may run anything
	runs   []run
	reads  []bash.Loose
	writes []bash.Loose
	dirs   []string // that a cd leads to, from the workspace; "" is it

	words map[bash.Loose]Match // of all commands -> what a rule that speaks of one may say; nil: not asked yet
	moves map[bash.Loose]bool  // of those commands that do not only read: their words behind the program

	of    Places // whose paths are known
	known map[bash.Loose][]spelling
	lists *lists // nil: not made yet
	room  int    // letters that may still be kept
}

// run is one command, the program without its directories.
type run struct {
	words []bash.Loose
	most  Match // what a rule that matches it may say

	of whole // what the words are as patterns, nil where they are too many to be kept
}

// whole is the words of a command as patterns.
type whole struct {
	globs []glob // of each, up to mostWords
	text  glob   // of all of them, with blanks between
	told  Match  // whether all are known as they will be
}

// patterns are the words of the command as patterns.
func (r run) patterns() whole {
	if r.of.globs != nil {
		return r.of
	}
	of := whole{told: Yes}
	for i, w := range r.words {
		if i > 0 {
			of.text = append(of.text, ' ')
		}
		g := ofWord(w)
		of.text, of.told = append(of.text, g...), min(of.told, told(w))
		if i < mostWords {
			of.globs = append(of.globs, g)
		}
	}
	return of
}

// anything is a command that can't be told.
var anything = bash.Loose{Glob: "*", Many: true}

// Read takes a command line apart.
func Read(command string) *Line {
	l := &Line{raw: plain(strings.TrimSpace(command)), dirs: []string{""}, room: mostKept}
	l.script(command, 0, Yes)
	for i, r := range l.runs {
		if l.room > 0 { // what is kept is taken apart once for all rules
			l.runs[i].of = r.patterns()
			l.room -= len(l.runs[i].of.text)
		}
	}
	for _, r := range l.runs {
		if len(l.dirs) > 16 || len(r.words) < 2 {
			continue
		}
		last := r.words[len(r.words)-1]
		switch to := r.words[0].Text; {
		case (to == "cd" || to == "pushd") && !last.Open():
			for _, d := range l.dirs[:len(l.dirs):len(l.dirs)] {
				l.dirs = append(l.dirs, join(d, last.Text))
			}
		}
		for i, w := range r.words[:len(r.words)-1] {
			if w.Text == "-C" && !r.words[i+1].Open() {
				l.dirs = append(l.dirs, r.words[i+1].Text)
			}
		}
	}
	return l
}

// join is a path as it counts from a directory.
func join(dir, p string) string {
	if path.IsAbs(p) {
		return path.Clean(p)
	}
	return path.Join(dir, p)
}

// script adds what a text runs, if it is a script.
func (l *Line) script(text string, depth int, most Match) {
	w, err := bash.Wide(text)
	switch {
	case err != nil && depth == 0:
		l.broken = true
		return
	case err != nil || depth > deepest:
		l.add([]bash.Loose{anything}, Maybe)
		return
	}
	if w.Doubt {
		l.add([]bash.Loose{anything}, Maybe)
	}
	l.reads, l.writes = append(l.reads, w.Reads...), append(l.writes, w.Writes...)
	for _, c := range w.Calls {
		l.call(c, depth, most)
	}
}

func (l *Line) add(words []bash.Loose, most Match) {
	switch {
	case len(l.runs) == mostRuns:
		l.runs = append(l.runs, run{words: []bash.Loose{anything}, most: Maybe})
	case len(l.runs) < mostRuns:
		l.runs = append(l.runs, run{words: words, most: most})
	}
}

// call adds one command, and what it runs.
func (l *Line) call(c bash.Call, depth int, most Match) {
	for _, a := range c.Assigns {
		if name, value, _ := strings.Cut(a.Text, "="); !a.Open() && strings.ContainsAny(value, " \t") && name != "" {
			l.script(value, depth+1, min(most, Maybe))
		}
	}
	if len(c.Words) == 0 {
		return
	}
	words := append([]bash.Loose{c.Words[0].Base()}, c.Words[1:]...)
	l.add(words, most)
	head := words[0].Text
	if words[0].Open() {
		return
	}
	switch {
	case shells[head]:
		l.shell(c, depth, most)
	case head == "eval":
		l.text(words[1:], depth, most)
	case head == "alias":
		for _, w := range words[1:] {
			l.nickname(w, depth, most)
		}
	case head == "find" || head == "fd" || head == "fdfind":
		for i, w := range words {
			if executes[w.Text] {
				l.within(words[i+1:], depth, most)
			}
		}
	case head == "git":
		l.git(c, depth, most)
	case wrappers[head]:
		l.within(words[1:], depth, most)
		if head == "xargs" || head == "parallel" {
			l.given(words[1:])
		}
	default:
		for i, w := range words[1:] {
			if runners[head+" "+w.Text] {
				l.within(words[i+2:], depth, most)
				break
			}
		}
	}
}

// within adds what a command runs that takes another command's words as its own: any of them
// may be the first, as nobody knows all options. A word that is a text may be a script.
func (l *Line) within(words []bash.Loose, depth int, most Match) {
	if depth > deepest {
		return
	}
	for i, w := range words {
		if strings.HasPrefix(w.Text, "-") && !w.Many || isAssign(w.Text) {
			if _, value, is := strings.Cut(w.Text, "="); is && strings.ContainsAny(value, " \t;|&") {
				l.script(value, depth+1, most)
			}
			continue
		}
		if !w.Open() && strings.ContainsAny(w.Text, " \t\n;|&$`(<>") {
			l.script(w.Text, depth+1, most)
			continue
		}
		rest := append([]bash.Loose{w.Base()}, words[i+1:]...)
		if head := rest[0].Text; !w.Open() && (shells[head] || head == "eval" || head == "git" || head == "find") {
			l.call(bash.Call{Words: rest}, depth+1, most)
			continue
		}
		l.add(rest, most)
	}
}

// given adds what a command runs that is given further words while it runs.
func (l *Line) given(words []bash.Loose) {
	for i, w := range words {
		if !strings.HasPrefix(w.Text, "-") {
			l.add(append(append([]bash.Loose{w.Base()}, words[i+1:]...), anything), Maybe)
		}
	}
}

// shell adds what a shell is given to run: any of its words may be a script.
func (l *Line) shell(c bash.Call, depth int, most Match) {
	named := false
	for _, w := range c.Words[1:] {
		switch {
		case w.Open():
			l.add([]bash.Loose{anything}, Maybe)
			named = true
		case strings.HasPrefix(w.Text, "-") || strings.HasPrefix(w.Text, "+"):
		default:
			l.script(w.Text, depth+1, most)
			named = true
		}
	}
	for _, f := range c.Fed {
		if f.Open() {
			l.add([]bash.Loose{anything}, Maybe)
		}
		l.script(f.Text, depth+1, most)
		named = true
	}
	if c.Piped && !named {
		l.add([]bash.Loose{anything}, Maybe)
	}
}

// text adds what words run that are a script together.
func (l *Line) text(words []bash.Loose, depth int, most Match) {
	var all []string
	for _, w := range words {
		if w.Open() {
			l.add([]bash.Loose{anything}, Maybe)
			return
		}
		all = append(all, w.Text)
	}
	l.script(strings.Join(all, " "), depth+1, most)
}

// nickname adds what NAME=VALUE of an alias runs, with whatever follows it.
func (l *Line) nickname(w bash.Loose, depth int, most Match) {
	_, value, is := strings.Cut(w.Text, "=")
	if !is {
		return
	}
	l.script(value, depth+1, most)
	var words []bash.Loose
	for _, f := range strings.Fields(value) {
		words = append(words, bash.Loose{Text: f})
	}
	if len(words) > 0 {
		l.add(append([]bash.Loose{words[0].Base()}, append(words[1:], anything)...), Maybe)
	}
}

// git adds what git is told to run: aliases, and the programs of its options.
func (l *Line) git(c bash.Call, depth int, most Match) {
	for _, a := range c.Assigns {
		if strings.HasPrefix(a.Text, "GIT_CONFIG") {
			l.add([]bash.Loose{{Text: "git"}, anything}, Maybe)
		}
	}
	words := c.Words
	for i, w := range words {
		key, value, is := strings.Cut(w.Text, "=")
		key = strings.TrimPrefix(key, "-c")
		switch {
		case strings.HasPrefix(strings.ToLower(key), "alias."):
			if !is && i+1 < len(words) {
				value = words[i+1].Text
			}
			if of, shell := strings.CutPrefix(value, "!"); shell {
				l.script(of, depth+1, most)
				continue
			}
			l.nickname(bash.Loose{Text: "=git " + value}, depth, most)
		case is && !w.Open():
			if strings.ContainsAny(value, " \t;|&!") {
				l.script(strings.TrimPrefix(value, "!"), depth+1, most)
			}
		case gitRuns[w.Text]:
			l.within(words[i+1:], depth+1, most)
		}
	}
}

func isAssign(word string) bool {
	name, _, is := strings.Cut(word, "=")
	return is && name != "" && !strings.ContainsAny(name, "/.-") && (name[0] < '0' || name[0] > '9')
}
