package files

import (
	"strings"
	"unicode"
)

// PlainText is text without characters that a terminal interprets.
func PlainText(s string) string {
	return strings.Map(func(c rune) rune {
		if c == '\n' || c == '\t' || unicode.IsPrint(c) {
			return c
		}
		return '\uFFFD'
	}, strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), "\uFFFD"))
}

// ShortText is PlainText of at most so many bytes, with a mark where it was cut.
func ShortText(s string, most int) string {
	if len(s) <= most {
		return PlainText(s)
	}
	return PlainText(strings.ToValidUTF8(s[:most], "")) + "…"
}
