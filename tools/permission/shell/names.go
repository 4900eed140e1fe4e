package shell

import (
	"path"
	"strings"
)

// List is a list of files: by name, and everything below directories by name.
type List struct{ files, places table }

// NewList returns the list of names separated by commas; a * matches any letters.
func NewList(files, places string) List {
	return List{names([][2]string{{"file", files}}), names([][2]string{{"file", places}})}
}

// Match reports whether the list names the file of that path.
func (l List) Match(p string) bool {
	return len(l.files.exact)+len(l.files.globs)+len(l.places.exact) > 0 && placed(p, l.files, l.places) != ""
}

// table maps names to descriptions; patterns are tried in order.
type table struct {
	exact map[string]string // a name, or with directories above it: directory/name
	deep  int               // largest number of slashes
	globs []glob
}

// glob is a pattern whose * matches any letters.
type glob struct {
	text  string
	parts []string // between the stars
	what  string
}

// names makes a table from pairs of a description and its names.
func names(list [][2]string) table {
	t := table{exact: map[string]string{}}
	for _, e := range list {
		for _, n := range strings.Split(e[1], ",") {
			if strings.Contains(n, "*") {
				t.globs = append(t.globs, glob{n, strings.Split(n, "*"), e[0]})
			} else {
				t.exact[n] = e[0]
				t.deep = max(t.deep, strings.Count(n, "/"))
			}
		}
	}
	return t
}

// whole looks up a literal name. dir are the names of the directories above it.
func (t table) whole(dir, name string) string {
	for n := 0; ; n++ {
		if what := t.exact[name]; what != "" || dir == "" || n >= t.deep {
			return what
		}
		at := strings.LastIndexByte(dir, '/') + 1
		name = dir[at:] + "/" + name
		dir = dir[:max(at-1, 0)]
	}
}

// of looks up a name.
func (t table) of(dir, name string) string {
	if what := t.whole(dir, name); what != "" {
		return what
	}
	return t.glob(name)
}

// glob looks up a name among the patterns.
func (t table) glob(name string) string {
	for _, g := range t.globs {
		if g.match(name) {
			return g.what
		}
	}
	return ""
}

func (g glob) match(name string) bool {
	first, last := g.parts[0], g.parts[len(g.parts)-1]
	if len(name) < len(first)+len(last) || !strings.HasPrefix(name, first) || !strings.HasSuffix(name, last) {
		return false
	}
	name = name[len(first) : len(name)-len(last)]
	for _, p := range g.parts[1 : len(g.parts)-1] {
		i := strings.Index(name, p)
		if i < 0 {
			return false
		}
		name = name[i+len(p):]
	}
	return true
}

// inside reports whether the pattern begins and ends with a *.
func (g glob) inside() bool { return g.parts[0] == "" && g.parts[len(g.parts)-1] == "" }

// placed looks up the file's name, then its directories.
func placed(p string, files, places table) string {
	whole := Fold(path.Clean("/" + p))[1:]
	parts := strings.Split(whole, "/")
	last := len(parts) - 1
	dir, at := "", -1
	for i, s := range parts {
		if what := places.of(dir, s); what != "" {
			return what + " (" + s + ")"
		}
		if i == last {
			if what := files.of(dir, s); what != "" {
				return what + " (" + path.Base(p) + ")"
			}
		}
		at += 1 + len(s)
		dir = whole[:at]
	}
	return ""
}
