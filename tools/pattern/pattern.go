// Package pattern is regular expressions that cost nothing until they are used.
//
// Does: compile an expression when it is first asked for, once, for any goroutine.
//
// Does not: accept one that is wrong: that panics at its first use.
//
// Imports: nothing of ours.
package pattern

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression. It is safe for concurrent use.
type Pattern struct{ compiled func() *regexp.Regexp }

// Of is the pattern of an expression, which must be one.
func Of(expression string) Pattern {
	return Pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })}
}

// MatchString reports whether s contains a match.
func (p Pattern) MatchString(s string) bool { return p.compiled().MatchString(s) }

// Match reports whether b contains a match.
func (p Pattern) Match(b []byte) bool { return p.compiled().Match(b) }

// FindStringIndex returns where the leftmost match in s begins and ends; nil: there is none.
func (p Pattern) FindStringIndex(s string) []int { return p.compiled().FindStringIndex(s) }

// ReplaceAllString returns s with each match replaced by text, in which $1 is the first group.
func (p Pattern) ReplaceAllString(s, text string) string {
	return p.compiled().ReplaceAllString(s, text)
}
