package filenames

import (
	"path"
	"strings"
)

// List names files: by their names, and all below directories of those names.
type List struct{ files, places table }

// NewList returns the list of names separated by commas; a * stands for any letters.
func NewList(files, places string) List {
	return List{names([][2]string{{"file", files}}), names([][2]string{{"file", places}})}
}

// Match reports whether the list names the file of that path.
func (l List) Match(p string) bool {
	return len(l.files.exact)+len(l.files.globs)+len(l.places.exact) > 0 && placed(p, l.files, l.places) != ""
}

// table says what names stand for; patterns are tried in their order.
type table struct {
	exact map[string]string // name, or directory/name
	globs []glob
}

// glob is a pattern whose * stands for any letters.
type glob struct {
	text  string
	parts []string // between the stars
	what  string
}

// names makes a table of what -> names.
func names(list [][2]string) table {
	t := table{exact: map[string]string{}}
	for _, e := range list {
		for _, n := range strings.Split(e[1], ",") {
			if strings.Contains(n, "*") {
				t.globs = append(t.globs, glob{n, strings.Split(n, "*"), e[0]})
			} else {
				t.exact[n] = e[0]
			}
		}
	}
	return t
}

// whole looks up a name that the table holds as it is.
func (t table) whole(dir, name string) string {
	if what := t.exact[name]; what != "" {
		return what
	}
	if dir == "" {
		return ""
	}
	return t.exact[dir+"/"+name]
}

// of looks a name up.
func (t table) of(dir, name string) string {
	if what := t.whole(dir, name); what != "" {
		return what
	}
	return t.glob(name)
}

// glob looks a name up among the patterns.
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

// inside reports whether a name may begin and end as it likes.
func (g glob) inside() bool { return g.parts[0] == "" && g.parts[len(g.parts)-1] == "" }

// placed looks up the file's name, then the directories it is in.
func placed(p string, files, places table) string {
	parts := strings.Split(Fold(path.Clean("/" + p))[1:], "/")
	last := len(parts) - 1
	dir := ""
	for i, s := range parts {
		if what := places.of(dir, s); what != "" {
			return what + " (" + s + ")"
		}
		if i == last {
			if what := files.of(dir, s); what != "" {
				return what + " (" + path.Base(p) + ")"
			}
		}
		dir = s
	}
	return ""
}
