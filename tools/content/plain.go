package content

import (
	"strings"
	"unicode"
)

// Plain is text that a terminal shows as it is.
func Plain(s string) string {
	return strings.Map(func(c rune) rune {
		if c == '\n' || c == '\t' || unicode.IsPrint(c) {
			return c
		}
		return '\uFFFD'
	}, strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), "\uFFFD"))
}

// Short is Plain of text with at most so many bytes, and a mark where it was cut.
func Short(s string, most int) string {
	if len(s) <= most {
		return Plain(s)
	}
	return Plain(strings.ToValidUTF8(s[:most], "")) + "…"
}
