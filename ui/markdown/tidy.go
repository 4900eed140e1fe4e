package markdown

import (
	"html"
	"strings"

	"fantail/ui/cells"
)

// literal changes clean source so that what Glamour decodes stays safe: a character reference becomes text unless it
// means a plainly printable character, and always in code spans.
func literal(src string) string {
	if !strings.Contains(src, "&") {
		return src
	}
	var b strings.Builder
	for src != "" {
		i := strings.IndexAny(src, "&`")
		if i < 0 {
			break
		}
		b.WriteString(src[:i])
		src = src[i:]
		if src[0] == '`' {
			n := run(src, '`')
			ticks := src[:n]
			b.WriteString(ticks)
			src = src[n:]
			if j := closing(src, n); j >= 0 {
				b.WriteString(strings.ReplaceAll(src[:j], "&", "&amp;"))
				b.WriteString(ticks)
				src = src[j+n:]
			}
			continue
		}
		b.WriteByte('&')
		if !harmless(src) {
			b.WriteString("amp;")
		}
		src = src[1:]
	}
	b.WriteString(src)
	return b.String()
}

// closing returns the position of a run of exactly n backticks in s, -1 if there is none.
func closing(s string, n int) int {
	for i := 0; i < len(s); {
		j := strings.IndexByte(s[i:], '`')
		if j < 0 {
			return -1
		}
		i += j
		m := run(s[i:], '`')
		if m == n {
			return i
		}
		i += m
	}
	return -1
}

// harmless reports whether the reference at the start of src decodes to characters that are safe as they are, and that
// don't begin another reference.
func harmless(src string) bool {
	end := strings.IndexByte(src[:min(len(src), 40)], ';')
	if end < 0 {
		// Some names are decoded without their semicolon.
		head := src[:min(len(src), 40)]
		return html.UnescapeString(head) == head
	}
	text := html.UnescapeString(src[:end+1])
	if text == "&" {
		next := src[end+1:]
		return next == "" || next[0] != '#' && !(next[0]|0x20 >= 'a' && next[0]|0x20 <= 'z')
	}
	return !strings.ContainsAny(text, "\n\x1b") && cells.Clean("a"+text) == "a"+text && text != src[:end+1]
}

// tidy turns Glamour's output into lines of at most width cells: only SGR sequences stay, each line begins and ends
// without style, and there is no padding.
func tidy(out string, width int) []string {
	var lines []string
	style := ""
	for _, l := range strings.Split(strings.Trim(out, "\n"), "\n") {
		l, style = tidyLine(l, style)
		if cells.Width(l) > width {
			rest := ""
			for _, w := range wrapStyled(l, width) {
				w, rest = tidyLine(w, rest)
				lines = append(lines, w)
			}
			continue
		}
		lines = append(lines, l)
	}
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// tidyLine returns the line with style on at its start, and the style that is on at its end.
func tidyLine(l, style string) (string, string) {
	var b strings.Builder
	on := ""     // the style written last
	blanks := "" // spaces that may turn out to be padding
	text := func(s string) {
		body := strings.TrimRight(s, " ")
		if body == "" {
			blanks += s
			return
		}
		if on != style && on != "" {
			b.WriteString("\x1b[m")
			on = ""
		}
		b.WriteString(blanks)
		if on != style {
			b.WriteString(style)
			on = style
		}
		b.WriteString(cells.Clean(body))
		blanks = s[len(body):]
	}
	for l != "" {
		i := strings.IndexByte(l, 0x1b)
		if i < 0 {
			i = len(l)
		}
		if i > 0 {
			text(l[:i])
			l = l[i:]
			continue
		}
		seq := l[:sequence(l)]
		l = l[len(seq):]
		if strings.HasPrefix(seq, "\x1b[") && strings.HasSuffix(seq, "m") {
			if seq == "\x1b[m" || seq == "\x1b[0m" {
				style = ""
			} else {
				style += seq
			}
		}
	}
	if on != "" {
		b.WriteString("\x1b[m")
	}
	return b.String(), style
}

// sequence returns the length of the escape sequence that l begins with; all are Glamour's own.
func sequence(l string) int {
	if len(l) < 2 {
		return len(l)
	}
	switch l[1] {
	case '[':
		for i := 2; i < len(l); i++ {
			if l[i] >= 0x40 && l[i] <= 0x7e {
				return i + 1
			}
		}
		return len(l)
	case ']':
		for i := 2; i < len(l); i++ {
			if l[i] == '\a' {
				return i + 1
			}
			if l[i] == 0x1b && i+1 < len(l) && l[i+1] == '\\' {
				return i + 2
			}
		}
		return len(l)
	}
	return 2
}
