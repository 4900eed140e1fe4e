package inbox

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	// fence is a line that begins or ends code in Markdown, a line across the page, or the line below a table's head.
	fence = regexp.MustCompile("(?m)^[ \\t]*(?:(?:```+|~~~+)[^`\\n]*|[-=*_|:][-=*_|: \\t]{2,})$")
	// head is what a heading or a quotation begins with, point what a point of a list begins with.
	head  = regexp.MustCompile(`(?m)^[ \t]*(?:#{1,6}[ \t]+|(?:>[ \t]?)+)`)
	point = regexp.MustCompile(`(?m)^[ \t]*[*+-][ \t]+(?:\[[ xX]\][ \t]+)?`)
	// marked is code, a link, or words between marks. A mark within a word is none.
	marked = regexp.MustCompile("``+ ?(.+?) ?``+|`([^`]+)`|\\B!?\\[([^\\]\\n]*)\\]\\([^()\\s]*\\)|" +
		`\B\*\*\*?(\S(?:[^\n]*?\S)?)\*?\*\*\B|\B~~(\S(?:[^\n]*?\S)?)~~\B|\B\*([\pL\pN"'(](?:[^*\n]*[^*\s])?)\*\B|\*\*+`)
)

// maxUnmarked is the most bytes of a text that Unmarked reads. A line shows less.
const maxUnmarked = 2000

// Unmarked returns the beginning of a text without the marks of Markdown, for a line that shows its first words.
func Unmarked(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > maxUnmarked {
		end := maxUnmarked
		for !utf8.RuneStart(text[end]) && end > maxUnmarked-utf8.UTFMax {
			end--
		}
		text = text[:end]
	}
	text = strings.TrimSpace(head.ReplaceAllString(fence.ReplaceAllString(text, ""), ""))
	return inline(strings.TrimPrefix(point.ReplaceAllString(text, "- "), "- "))
}

// inline returns a text without the marks within its lines. In code, marks are text.
func inline(text string) string {
	var b strings.Builder
	at := 0
	for _, m := range marked.FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(text[at:m[0]])
		at = m[1]
		inside := text[m[0]:m[1]]
		for g := 2; g < len(m); g += 2 {
			if m[g] < 0 {
				continue
			}
			if inside = text[m[g]:m[g+1]]; g > 4 { // no code
				inside = inline(inside)
			}
		}
		b.WriteString(inside)
	}
	return b.String() + text[at:]
}
