package permission

import (
	"path"
	"strings"

	"fantail/tools/permission/shell"
)

const (
	deepest = 5         // scripts inside of scripts
	maxRuns = 400       // commands of a line that are distinguished
	maxKept = 256 << 10 // letters that are cached while a line is matched against rules
)

// Line is a command line with all commands in it, as far as its words tell. A command that env, timeout, xargs or a
// shell's -c runs is a command of its own.
//
// It is not safe for concurrent use: it finds out once, for all rules, which paths it may name.
type Line struct {
	raw    glob // as it is written
	broken bool // it can't be parsed: it may run anything
	runs   []run
	reads  []shell.Loose
	writes []shell.Loose
	dirs   []string // that a cd leads to, from the workspace; "" is it

	words map[shell.Loose]Match // of all commands -> the strongest match of a rule for them; nil: not made yet
	moves map[shell.Loose]bool  // words after the program, of the commands that do not only read

	of    Places // whose paths are cached
	known map[shell.Loose][]spelling
	lists *lists // nil: not made yet
	room  int    // letters that may still be cached
}

// run is one command, the program without its directories.
type run struct {
	words []shell.Loose
	most  Match // the strongest result of a rule that matches it

	of whole // the words as patterns; empty if they are too many to cache
}

// whole is the words of a command as patterns.
type whole struct {
	globs []glob // of each, up to maxWords
	text  glob   // all of them, with blanks between
	told  Match  // whether all are fully known
}

// patterns are the words of the command as patterns.
func (r run) patterns() whole {
	if r.of.globs != nil {
		return r.of
	}
	of := whole{told: Matches}
	for i, w := range r.words {
		if i > 0 {
			of.text = append(of.text, ' ')
		}
		g := ofWord(w)
		of.text, of.told = append(of.text, g...), min(of.told, told(w))
		if i < maxWords {
			of.globs = append(of.globs, g)
		}
	}
	return of
}

// anything is an unknown command.
var anything = shell.Loose{Glob: "*", Many: true}

// ReadLine parses a command line.
func ReadLine(command string) *Line {
	l := &Line{raw: plain(strings.TrimSpace(command)), dirs: []string{""}, room: maxKept}
	l.script(command, 0, Matches)
	for i, r := range l.runs {
		if l.room > 0 { // cached patterns are made once for all rules
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

// script adds the commands of a text, if it is a script.
func (l *Line) script(text string, depth int, most Match) {
	w, err := shell.Wide(text)
	switch {
	case err != nil && depth == 0:
		l.broken = true
		return
	case err != nil || depth > deepest:
		l.add([]shell.Loose{anything}, MayMatch)
		return
	}
	if w.Doubt {
		l.add([]shell.Loose{anything}, MayMatch)
	}
	l.reads, l.writes = append(l.reads, w.Reads...), append(l.writes, w.Writes...)
	for _, c := range w.Calls {
		l.call(c, depth, most)
	}
}

func (l *Line) add(words []shell.Loose, most Match) {
	switch {
	case len(l.runs) == maxRuns:
		l.runs = append(l.runs, run{words: []shell.Loose{anything}, most: MayMatch})
	case len(l.runs) < maxRuns:
		l.runs = append(l.runs, run{words: words, most: most})
	}
}

// call adds one command, and the commands that it runs.
func (l *Line) call(c shell.Call, depth int, most Match) {
	for _, a := range c.Assigns {
		if name, value, _ := strings.Cut(a.Text, "="); !a.Open() && strings.ContainsAny(value, " \t") && name != "" {
			l.script(value, depth+1, min(most, MayMatch))
		}
	}
	if len(c.Words) == 0 {
		return
	}
	words := append([]shell.Loose{c.Words[0].Base()}, c.Words[1:]...)
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

// within adds the commands that a command runs whose further words are another command: any of them may be the first
// word, as not all options are known. A word that is a text may be a script.
func (l *Line) within(words []shell.Loose, depth int, most Match) {
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
		rest := append([]shell.Loose{w.Base()}, words[i+1:]...)
		if head := rest[0].Text; !w.Open() && (shells[head] || head == "eval" || head == "git" || head == "find") {
			l.call(shell.Call{Words: rest}, depth+1, most)
			continue
		}
		l.add(rest, most)
	}
}

// given adds the commands of a program that gets further words while it runs.
func (l *Line) given(words []shell.Loose) {
	for i, w := range words {
		if !strings.HasPrefix(w.Text, "-") {
			l.add(append(append([]shell.Loose{w.Base()}, words[i+1:]...), anything), MayMatch)
		}
	}
}

// shell adds the commands that a shell runs: any of its words may be a script.
func (l *Line) shell(c shell.Call, depth int, most Match) {
	named := false
	for _, w := range c.Words[1:] {
		switch {
		case w.Open():
			l.add([]shell.Loose{anything}, MayMatch)
			named = true
		case strings.HasPrefix(w.Text, "-") || strings.HasPrefix(w.Text, "+"):
		default:
			l.script(w.Text, depth+1, most)
			named = true
		}
	}
	for _, f := range c.Fed {
		if f.Open() {
			l.add([]shell.Loose{anything}, MayMatch)
		}
		l.script(f.Text, depth+1, most)
		named = true
	}
	if c.Piped && !named {
		l.add([]shell.Loose{anything}, MayMatch)
	}
}

// text adds the commands of words that together are a script.
func (l *Line) text(words []shell.Loose, depth int, most Match) {
	var all []string
	for _, w := range words {
		if w.Open() {
			l.add([]shell.Loose{anything}, MayMatch)
			return
		}
		all = append(all, w.Text)
	}
	l.script(strings.Join(all, " "), depth+1, most)
}

// nickname adds the command of an alias, NAME=VALUE, with any further words.
func (l *Line) nickname(w shell.Loose, depth int, most Match) {
	_, value, is := strings.Cut(w.Text, "=")
	if !is {
		return
	}
	l.script(value, depth+1, most)
	var words []shell.Loose
	for _, f := range strings.Fields(value) {
		words = append(words, shell.Loose{Text: f})
	}
	if len(words) > 0 {
		l.add(append([]shell.Loose{words[0].Base()}, append(words[1:], anything)...), MayMatch)
	}
}

// git adds the commands that git runs: aliases, and the programs of its options.
func (l *Line) git(c shell.Call, depth int, most Match) {
	for _, a := range c.Assigns {
		if strings.HasPrefix(a.Text, "GIT_CONFIG") {
			l.add([]shell.Loose{{Text: "git"}, anything}, MayMatch)
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
			if of, isShell := strings.CutPrefix(value, "!"); isShell {
				l.script(of, depth+1, most)
				continue
			}
			l.nickname(shell.Loose{Text: "=git " + value}, depth, most)
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
