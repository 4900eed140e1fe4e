package permission

import "strings"

// glob is a pattern of runes, in which anyRun matches any text and anyOne one letter.
type glob []rune

const (
	anyRun rune = -1
	anyOne rune = -2
)

// wild reads a text in which a * matches any text, and nothing else is special.
func wild(text string) glob {
	g := make(glob, 0, len(text))
	for _, c := range text {
		if c == '*' {
			if len(g) > 0 && g[len(g)-1] == anyRun {
				continue
			}
			c = anyRun
		}
		g = append(g, c)
	}
	return g
}

// plain reads a text in which nothing is special.
func plain(text string) glob { return glob([]rune(text)) }

// shellGlob reads a pattern of the shell, no narrower than it: a class is any letter.
func shellGlob(pattern string) glob {
	var g glob
	in := []rune(pattern)
	for i := 0; i < len(in); i++ {
		switch c := in[i]; c {
		case '\\':
			if i++; i < len(in) {
				g = append(g, in[i])
			}
		case '*':
			g = append(g, anyRun)
		case '?':
			g = append(g, anyOne)
		case '[':
			end := strings.IndexByte(string(in[i+1:]), ']')
			if end <= 0 || strings.ContainsAny(string(in[i+1:])[:end], `[\`) {
				return append(g, anyRun)
			}
			g = append(g, anyOne)
			i += len([]rune(string(in[i+1:])[:end])) + 1
		default:
			g = append(g, c)
		}
	}
	return g
}

// open reports whether the pattern matches more than one text.
func (g glob) open() bool {
	for _, c := range g {
		if c < 0 {
			return true
		}
	}
	return false
}

// matches reports whether the pattern matches a text.
func (g glob) matches(text string) bool { return g.meets(plain(text)) }

// maxSteps bounds the comparison of two patterns. Beyond it they count as meeting.
const maxSteps = 1 << 20

// meets reports whether some text matches both patterns.
func (g glob) meets(o glob) bool {
	g, o, same := g.ends(o)
	switch {
	case !same:
		return false
	case len(g) == 0:
		return o.empty()
	case len(o) == 0:
		return g.empty()
	case len(g)*len(o) > maxSteps:
		return true
	}
	// row[j]: whether the part of g read so far can match the first j of o.
	row, next := make([]bool, len(o)+1), make([]bool, len(o)+1)
	row[0] = true
	for j := 0; j < len(o) && o[j] == anyRun; j++ {
		row[j+1] = true
	}
	for _, c := range g {
		next[0] = row[0] && c == anyRun
		for j, d := range o {
			switch {
			case c == anyRun:
				next[j+1] = row[j+1] || next[j] || row[j]
			case d == anyRun:
				next[j+1] = row[j+1] || next[j] || row[j]
			default:
				next[j+1] = row[j] && alike(c, d)
			}
		}
		row, next = next, row
	}
	return row[len(o)]
}

// alike reports whether two letters of patterns, neither of them anyRun, can match the same letter.
func alike(c, d rune) bool { return c == d || c == anyOne || d == anyOne }

// ends removes the literal beginnings and ends that both patterns share; same is false if these differ, so that no text
// can match both. Most patterns that do not meet differ in their first letter.
func (g glob) ends(o glob) (g2, o2 glob, same bool) {
	for len(g) > 0 && len(o) > 0 && g[0] != anyRun && o[0] != anyRun {
		if !alike(g[0], o[0]) {
			return nil, nil, false
		}
		g, o = g[1:], o[1:]
	}
	for len(g) > 0 && len(o) > 0 && g[len(g)-1] != anyRun && o[len(o)-1] != anyRun {
		if !alike(g[len(g)-1], o[len(o)-1]) {
			return nil, nil, false
		}
		g, o = g[:len(g)-1], o[:len(o)-1]
	}
	return g, o, true
}

// empty reports whether the pattern matches no letters.
func (g glob) empty() bool {
	for _, c := range g {
		if c != anyRun {
			return false
		}
	}
	return true
}
