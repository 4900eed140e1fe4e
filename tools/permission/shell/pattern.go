package shell

import "strings"

// may reports whether a pattern of the shell could match a name that g matches. For a word that may be anywhere in a
// name only the plainest name counts, else every * would match.
func (g glob) may(pattern string) bool {
	if len(g.parts) == 2 && (g.parts[0] != "" || strings.HasPrefix(g.text, "*.") && strings.Contains(pattern, ".")) {
		return meet(pattern, g.text)
	}
	for _, x := range []string{"", "x"} {
		if meet(pattern, strings.ReplaceAll(g.text, "*", x)) {
			return true
		}
	}
	return false
}

// meet reports whether there is a name that both patterns match; * matches any letters, ? one.
func meet(a, b string) bool {
	seen := map[[2]int]bool{}
	var step func(i, j int) bool
	step = func(i, j int) bool {
		if i == len(a) && j == len(b) {
			return true
		}
		if seen[[2]int{i, j}] {
			return false
		}
		seen[[2]int{i, j}] = true
		switch {
		case i < len(a) && a[i] == '*':
			return step(i+1, j) || j < len(b) && step(i, j+1)
		case j < len(b) && b[j] == '*':
			return step(i, j+1) || i < len(a) && step(i+1, j)
		case i == len(a) || j == len(b):
			return false
		}
		return (a[i] == b[j] || a[i] == '?' || b[j] == '?') && step(i+1, j+1)
	}
	return step(0, 0)
}

// Brackets makes a pattern's segment match at least as much in package path as in the shell: [!a] and [[:alpha:]] mean
// something else there. A bracket becomes ?, and if its end is unclear, everything after it becomes *.
func Brackets(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			b.WriteByte(s[i])
			if i++; i < len(s) {
				b.WriteByte(s[i])
			}
		case '[':
			set := strings.TrimLeft(s[i+1:], "!^")
			end := strings.IndexByte(set, ']')
			if end <= 0 || strings.ContainsAny(set[:end], `[\`) {
				return b.String() + "*"
			}
			b.WriteByte('?')
			i = len(s) - len(set) + end
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
