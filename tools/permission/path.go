package permission

import (
	"path"
	"slices"
	"strings"

	"fantail/tools/permission/shell"
)

// Places are the directories that the paths of rules count from, absolute and without links.
type Places struct {
	Root string // the workspace
	Base string // directory of the rule's file, for /x
	Home string // for ~/x; "": there is none
}

// place is a pattern of absolute paths.
type place []name

// name is the pattern of one name of a path.
type name struct {
	text string // its letters, if it is no pattern; ** matches any names
	dot  bool   // it begins with a dot
	of   glob   // nil: it is its text
}

const anyNames = "**"

func nameOf(text string) name {
	n := name{text: text, dot: strings.HasPrefix(text, ".")}
	if g := shellGlob(text); text == anyNames {
		return n
	} else if g.open() {
		n.of = g
	} else {
		n.text = string(g)
	}
	return n
}

// places are the readings of a rule's path. The rule also covers everything below.
func (at Places) places(body string) (all []place) {
	body = strings.ToLower(body)
	root, base, home := strings.ToLower(at.Root), strings.ToLower(at.Base), strings.ToLower(at.Home)
	switch {
	case strings.HasPrefix(body, "//"):
		all = append(all, split(body[1:]))
	case body == "~" || strings.HasPrefix(body, "~/"):
		if home != "" {
			all = append(all, split(quote(home)+"/"+body[1:]))
		}
	case strings.HasPrefix(body, "/"):
		all = append(all, split(quote(base)+body), split(body))
	case strings.HasPrefix(body, "./") || strings.HasPrefix(body, "../"):
		if all = append(all, split(quote(root)+"/"+body)); at.anywhere(body) {
			all = append(all, split(quote(root)+"/"+anyNames+body[1:]))
		}
	case strings.Contains(strings.TrimSuffix(body, "/"), "/"):
		all = append(all, split(quote(root)+"/"+body))
	default: // a name, wherever it is
		all = append(all, place{{text: anyNames}, nameOf(strings.TrimSuffix(body, "/"))})
	}
	return all
}

// anywhere reports whether a text that begins with ./ is a name in any directory of the workspace: others read it so.
func (Places) anywhere(body string) bool {
	name, is := strings.CutPrefix(strings.TrimSuffix(body, "/"), "./")
	return is && !strings.Contains(name, "/")
}

// quote returns a pattern that matches only the path.
func quote(p string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(p)
}

// split splits an absolute pattern into names.
func split(p string) (out place) {
	for _, n := range namesOf(p) {
		out = append(out, nameOf(n))
	}
	return out
}

// holds reports whether the pattern matches a path, or a directory that holds it. If globs is set, names of the path
// are patterns of the shell, whose * matches no leading dot.
func (pl place) holds(names []string, globs reading) bool {
	for len(pl) > 0 && !pl[0].any() { // name by name, up to the first **
		if len(names) == 0 || !globs.same(pl[0], names[0]) {
			return false
		}
		pl, names = pl[1:], names[1:]
	}
	if len(pl) == 0 {
		return true
	}
	// row: how many names of the pattern the path so far may match.
	row := make([]bool, len(pl)+1)
	row[0] = true
	for i := 0; ; i++ {
		for j := 0; j < len(pl); j++ { // ** may match no name
			if row[j] && pl[j].any() {
				row[j+1] = true
			}
		}
		if row[len(pl)] {
			return true
		}
		if i == len(names) {
			return false
		}
		next := make([]bool, len(pl)+1)
		for j := range pl {
			switch {
			case !row[j]:
			case pl[j].any():
				next[j] = true
			case globs.same(pl[j], names[i]):
				next[j+1] = true
			}
		}
		row = next
	}
}

// reading says how to read the names of a path.
type reading int

const (
	literal reading = iota
	pattern
)

func (n name) any() bool { return n.of == nil && n.text == anyNames }

func (r reading) same(rule name, n string) bool {
	switch {
	case r == literal && rule.of == nil:
		return rule.text == n
	case r == literal:
		return rule.of.matches(n)
	case rule.dot && !strings.HasPrefix(n, ".") && !strings.HasPrefix(n, `\.`):
		return false
	case rule.of == nil:
		return shellGlob(n).matches(rule.text)
	}
	return rule.of.meets(shellGlob(n))
}

// namesOf splits a path into names, in lower case.
func namesOf(p string) (out []string) {
	for n := range strings.SplitSeq(path.Clean(strings.ToLower(p)), "/") {
		if n != "" {
			out = append(out, n)
		}
	}
	return out
}

// At reports whether the rule matches a path, absolute and without links.
func (r *ToolRule) At(p string) bool {
	if r.What != Path {
		return false
	}
	names := namesOf(p)
	for _, pl := range r.places {
		if pl.holds(names, literal) {
			return true
		}
	}
	return false
}

// Hides are the absolute directories and files that a rule covers whole and names literally: only its end may be a
// pattern.
func (r *ToolRule) Hides() (all []string) {
	if r.Tool != "Read" {
		return nil
	}
	return r.Fixed()
}

// Wild reports whether the rule hides files by a pattern, so that [Rule.Hides] does not list them all.
func (r *ToolRule) Wild() bool {
	return r.Tool == "Read" && r.What == Path && (len(r.Hides()) == 0 || r.at.anywhere(r.Body))
}

// Ends reports whether the rule may match a file of that name by itself, and not only through a directory that holds
// it.
func (r *ToolRule) Ends(n string) bool {
	n = strings.ToLower(n)
	return slices.ContainsFunc(r.places, func(pl place) bool {
		for len(pl) > 0 && pl[len(pl)-1].any() {
			pl = pl[:len(pl)-1]
		}
		return len(pl) == 0 || literal.same(pl[len(pl)-1], n)
	})
}

// Below reports whether the rule may match a file below a directory.
func (r *ToolRule) Below(dir string) bool {
	if r.What != Path {
		return false
	}
	names := namesOf(dir)
	return slices.ContainsFunc(r.places, func(pl place) bool {
		rest := names
		for len(pl) > 0 && !pl[0].any() && len(rest) > 0 && literal.same(pl[0], rest[0]) {
			pl, rest = pl[1:], rest[1:]
		}
		return len(rest) == 0 || len(pl) == 0 || pl[0].any()
	})
}

// Fixed are the directories or files that the rule names, without its /**; none if a pattern is left.
func (r *ToolRule) Fixed() []string {
	body := strings.TrimSuffix(strings.TrimSuffix(r.Body, "/**"), "/")
	if r.What != Path || strings.ContainsAny(body, `*?[\`) || !strings.Contains(r.Body, "/") {
		return nil
	}
	return r.at.fixed(body)
}

// fixed are the paths that a text without patterns may mean.
func (at Places) fixed(body string) []string {
	switch {
	case strings.HasPrefix(body, "//"):
		return []string{path.Clean(body[1:])}
	case body == "~" || strings.HasPrefix(body, "~/"):
		if at.Home == "" {
			return nil
		}
		return []string{path.Join(at.Home, body[1:])}
	case strings.HasPrefix(body, "/"):
		return []string{path.Join(at.Base, body), path.Clean(body)}
	}
	return []string{path.Join(at.Root, body)}
}

// names says whether a command line names a path that the rule matches.
func (r *ToolRule) names(l *Line) Match {
	best := NoMatch
	for _, w := range l.reads {
		best = max(best, r.word(w, l))
	}
	l.sort()
	if ls := l.listed(r.at); ls.whole {
		return max(best, r.among(ls.named))
	}
	for w, most := range l.words {
		best = max(best, min(most, r.word(w, l)))
	}
	return best
}

// changes says whether a command line may change a path that the rule matches.
func (r *ToolRule) changes(l *Line) Match {
	best := NoMatch
	for _, w := range l.writes {
		best = max(best, r.word(w, l))
	}
	l.sort()
	if ls := l.listed(r.at); ls.whole {
		return max(best, r.among(ls.moved))
	}
	for w := range l.moves {
		best = max(best, min(MayMatch, r.word(w, l)))
	}
	return best
}

// among says whether the rule matches one of the paths.
func (r *ToolRule) among(all []spelling) Match {
	best := NoMatch
	for _, p := range all {
		if best = max(best, r.speaks(p)); best == Matches {
			break
		}
	}
	return best
}

// sort finds the words that may name files, each once.
func (l *Line) sort() {
	if l.words != nil {
		return
	}
	l.words, l.moves = map[shell.Loose]Match{}, map[shell.Loose]bool{}
	for _, run := range l.runs {
		reads := onlyReadsWords(run.words)
		for i, w := range run.words {
			l.words[w] = max(l.words[w], run.most)
			if !reads && i > 0 {
				l.moves[w] = true
			}
		}
	}
}

// word says whether a word names a path that the rule matches.
func (r *ToolRule) word(w shell.Loose, l *Line) Match {
	best := NoMatch
	all, known := l.spelled(w, r.at)
	if !known {
		l.spell(w, r.at, func(p spelling) bool {
			best = max(best, r.speaks(p))
			return best < Matches
		})
		return best
	}
	return r.among(all)
}

// speaks says whether the rule matches a path that a word may name.
func (r *ToolRule) speaks(p spelling) Match {
	for _, pl := range r.places {
		if pl.holds(p.names, p.as) {
			return p.most
		}
	}
	return NoMatch
}

// onlyReadsWords reports whether a command is known to only read the files that it names.
func onlyReadsWords(words []shell.Loose) bool {
	head := words[0]
	if head.Open() || !readers[head.Text] {
		return false
	}
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.Text
	}
	if head.Text != "git" {
		return !shell.Writes(texts)
	}
	for _, text := range texts[1:] {
		switch {
		case gitFronts[text]:
		case strings.HasPrefix(text, "-"):
			return false
		default:
			return gitReaders[text] && !shell.Writes(texts)
		}
	}
	return true
}
