package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Live returns the block under construction as far as it can be drawn, with open marks closed and without marks whose
// meaning the rest of the line decides.
func (s *Stream) Live() Block {
	s.s.take = s.slice
	c, rest := s.s, string(s.buf[s.s.next-s.base:])
	c.done = nil
	if rest != "" && !c.undecided(rest) {
		c.line(rest, c.mid)
	}
	b := c.block()
	switch n := len(c.done); {
	case n > 0 && s.s.kind == Blank && c.next == c.start: // a heading
		b = c.done[n-1]
	case n > 0 && s.s.kind != Blank: // what the line begins shows once the line has ended
		c = s.s
		b = c.block()
	}
	switch {
	case b.Kind == Blank:
		b.Gap = c.empty || apart(c.was)
	case b.Kind != Code && b.Kind != Raw && c.fence == "":
		b.close()
	}
	return b
}

// settle ends the open block as soon as the beginning of the next line shows that it belongs to another.
func (s *Stream) settle() {
	rest := s.buf[s.s.next-s.base:]
	if len(rest) == 0 || s.s.kind == Blank || s.s.mid || s.settled == s.s.next+1 {
		return
	}
	head := string(rest[:min(len(rest), maxMarks)])
	if s.s.undecided(head) && len(rest) < maxMarks {
		return
	}
	s.settled = s.s.next + 1
	c := s.s
	if _, body := indentOf(head); body == "" || strings.IndexByte("<`~", body[0]) >= 0 || c.undecided(head) {
		return
	}
	if c.goesOn(head, false) == other {
		s.s.emit()
	}
}

// maxMarks is how much of a line decides what it does to the open block.
const maxMarks = 64

// undecided reports whether a line that begins so far has only marks: it may become anything.
func (s *scanner) undecided(rest string) bool {
	text := strings.Trim(rest, " \t\r")
	switch {
	case s.mid || s.kind == Raw:
		return false
	case s.fence != "":
		return strings.Trim(text, s.fence[:1]+"> ") == ""
	case s.kind == Code:
		return false
	case strings.Trim(text, "-=*_#>+~`|:\\[! \t") == "" || fenceOf(text) != "":
		return true
	}
	number := strings.TrimLeft(text, "0123456789")
	return s.kind != Blank && (number == "" || number == "." || number == ")")
}

// close closes the marks that are open at the end of a block.
func (b *Block) close() {
	from := 0
	switch b.Kind {
	case Paragraph:
		if row := strings.TrimRight(b.Source, " \n"); row != "" && row[0] == '|' && !strings.Contains(row, "\n") {
			row = closed(row, strings.LastIndexByte(row, '|')+1)
			b.Kind, b.Source = Table, row+"\n|"+strings.Repeat("---|", countCells(row))
			return
		}
	case Table:
		from = strings.LastIndexAny(strings.TrimRight(b.Source, "\n"), "|\n") + 1
	case Item, Quote:
		from = lastText(b.Source)
	}
	b.Source = closed(b.Source, from)
}

// lastText returns where the last paragraph of an item or a quote begins.
func lastText(src string) (from int) {
	at := 0
	for line := range strings.Lines(src) {
		text := strings.TrimLeft(line, " \t>")
		start := at + len(line) - len(text)
		if m, ok := markerOf(strings.TrimRight(text, "\r\n")); ok {
			from = start + min(m.length, len(text))
		} else if strings.TrimSpace(text) == "" || isHeading(strings.TrimRight(text, "\r\n")) {
			from = start
		}
		at += len(line)
	}
	return from
}

// mark is a run of * or ~ that is open.
type mark struct{ at, n int }

// closed returns src with the marks closed that are open at its end, counted from a place.
func closed(src string, from int) string {
	var open []mark
	last := "" // closes code or a link
scan:
	for i := from; i < len(src); {
		n := run(src[i:], src[i])
		switch src[i] {
		case '\\':
			n = 2
		case '`':
			j := closing(src[i+n:], n)
			if j < 0 {
				if body := strings.TrimRight(src[i+n:], "` \t\r\n"); body != "" {
					src, last = src[:i+n]+body, strings.Repeat("`", n)
				} else {
					src = src[:i]
				}
				break scan
			}
			n += j + n
		case ']':
			if n = 1; strings.HasPrefix(src[i:], "](") && strings.IndexByte(src[i:], ')') < 0 {
				if strings.ContainsAny(src[i:], " \t\n") {
					break scan
				}
				last = ")"
				break scan
			}
		case '*', '~':
			if i+n == len(src) {
				open, src = end(src, open, i)
				break scan
			}
			open = meet(src, open, i, n)
		}
		i = min(i+n, len(src))
	}
	if last == "" && len(open) > 0 {
		src = strings.TrimRight(src, " \t\r\n")
	}
	src += last
	for k := len(open) - 1; k >= 0; k-- {
		m := open[k]
		if c := src[m.at : m.at+1]; m.at+m.n >= len(src) { // nothing is marked yet
			src = strings.TrimRight(src[:m.at], " \t")
		} else {
			src += strings.Repeat(c, m.n)
		}
	}
	return src
}

// meet returns the open marks after a run of n marks at i.
func meet(src string, open []mark, i, n int) []mark {
	before, _ := utf8.DecodeLastRuneInString(src[:i])
	after, _ := utf8.DecodeRuneInString(src[i+n:])
	if i == 0 {
		before = ' '
	}
	if n > 3 || src[i] == '~' && n != 2 {
		return open
	}
	sign := func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }
	if !unicode.IsSpace(before) && (!sign(before) || unicode.IsSpace(after) || sign(after)) {
		open, n = ended(src, open, i, n)
	}
	if n > 0 && !unicode.IsSpace(after) && (!sign(after) || unicode.IsSpace(before) || sign(before)) {
		open = append(open, mark{i, n})
	}
	return open
}

// ended takes n marks at i as the end of open ones, and returns how many are left.
func ended(src string, open []mark, i, n int) ([]mark, int) {
	for n > 0 && len(open) > 0 && src[open[len(open)-1].at] == src[i] {
		m := &open[len(open)-1]
		k := min(n, m.n)
		n -= k
		if m.n -= k; m.n == 0 {
			open = open[:len(open)-1]
		}
	}
	return open, n
}

// end takes the marks from i to the end of src, which may go on: those that end nothing are dropped.
func end(src string, open []mark, i int) ([]mark, string) {
	n := len(src) - i
	if r, _ := utf8.DecodeLastRuneInString(src[:i]); i > 0 && !unicode.IsSpace(r) {
		open, n = ended(src, open, i, n)
	}
	return open, src[:len(src)-n]
}

// Unmarked returns a piece of text without marks that the text around it may give a meaning. It shows until the piece
// is rendered.
func Unmarked(s string) string {
	if !strings.ContainsAny(s, "*`~|#") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		n := 1
		switch c := s[i]; c {
		case '*', '`', '~', '|', '#':
			n = run(s[i:], c)
			spaced := (i == 0 || s[i-1] == ' ') && i+n < len(s) && s[i+n] == ' '
			if c == '`' || c == '|' || c == '*' && (n > 1 || !spaced) || c == '~' && n > 1 || c == '#' && (i == 0 || s[i-1] == '\n') {
				break
			}
			b.WriteString(s[i : i+n])
		default:
			b.WriteByte(c)
		}
		i += n
	}
	return b.String()
}
