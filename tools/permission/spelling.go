package permission

import (
	"strings"

	"fantail/tools/permission/shell"
)

// spelling is a path that a word of a command line may name.
type spelling struct {
	names []string
	as    reading
	most  Match // the strongest result of a rule that matches it
}

// spelled returns the paths that a word may name. They are cached for all rules with the same directories, unless they
// are too many.
func (l *Line) spelled(w shell.Loose, at Places) (all []spelling, known bool) {
	at.Base = "" // only the rules' own paths are relative to it
	if l.known == nil || l.of != at {
		l.of, l.known, l.lists = at, map[shell.Loose][]spelling{}, nil
	}
	if all, known = l.known[w]; known || l.room <= 0 {
		return all, known
	}
	l.spell(w, at, func(p spelling) bool {
		for _, n := range p.names {
			l.room -= len(n)
		}
		all = append(all, p)
		return l.room > 0
	})
	if l.room <= 0 {
		return nil, false
	}
	l.known[w] = all
	return all, true
}

// spell calls more with each path that a word may name, until it returns false. A variable's value is unknown, and a
// word that is only a variable names nothing.
func (l *Line) spell(w shell.Loose, at Places, more func(spelling) bool) {
	text, as := w.Text, literal
	if w.Glob != "" {
		text, as = w.Glob, pattern
	}
	if strings.Trim(text, "*") == "" {
		return
	}
	for i, p := range (shell.Word{Text: text}).Readings() {
		most := Matches
		if as == pattern || i > 0 && strings.ContainsAny(text, " \t\n") {
			most = MayMatch
		}
		if rest, is := strings.CutPrefix(p, "~/"); is && at.Home != "" {
			p = at.Home + "/" + rest
		}
		for _, d := range l.dirs {
			if !more(spelling{namesOf(join(join(at.Root, d), p)), as, most}) {
				return
			}
		}
	}
}

// lists are the paths that all words of a line may name, and those that its commands may change.
type lists struct {
	named, moved []spelling
	whole        bool // false: the paths are too many to cache
}

// listed makes them, once for all rules with the same directories.
func (l *Line) listed(at Places) *lists {
	if at.Base = ""; l.lists != nil && l.of == at {
		return l.lists
	}
	ls := &lists{whole: true}
	for w, most := range l.words {
		all, known := l.spelled(w, at)
		ls.whole = ls.whole && known
		for _, p := range all {
			p.most = min(p.most, most)
			if ls.named = append(ls.named, p); l.moves[w] {
				p.most = min(p.most, MayMatch)
				ls.moved = append(ls.moved, p)
			}
		}
	}
	l.lists = ls
	return ls
}
