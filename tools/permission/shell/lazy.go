package shell

import (
	"regexp"
	"sync"
)

// lazyRegexp is a regular expression. It is safe for concurrent use.
type lazyRegexp struct{ compiled func() *regexp.Regexp }

// lazy is the pattern of an expression, which must be one.
func lazy(expression string) lazyRegexp {
	return lazyRegexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })}
}

// MatchString reports whether s contains a match.
func (p lazyRegexp) MatchString(s string) bool { return p.compiled().MatchString(s) }

// Match reports whether b contains a match.
func (p lazyRegexp) Match(b []byte) bool { return p.compiled().Match(b) }

// FindStringIndex returns the position of the leftmost match in s, or nil.
func (p lazyRegexp) FindStringIndex(s string) []int { return p.compiled().FindStringIndex(s) }

// ReplaceAllString returns s with each match replaced by text, in which $1 is the first group.
func (p lazyRegexp) ReplaceAllString(s, text string) string {
	return p.compiled().ReplaceAllString(s, text)
}
