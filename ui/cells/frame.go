package cells

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/clipperhouse/displaywidth"
)

// Width returns the number of cells of a line, styles not counted.
func Width(s string) int {
	if n, ok := simple(s); ok {
		return n
	}
	if strings.IndexByte(s, 0x1b) < 0 {
		return displaywidth.String(s)
	}
	return ansi.StringWidth(s)
}

// simple measures a line that holds only printable ASCII, SGR sequences and signs that are one cell wide whatever is
// beside them.
func simple(s string) (int, bool) {
	n := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c < 0x7f {
			n++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if !narrow(r) {
				return 0, false
			}
			n++
			i += size - 1
			continue
		}
		if c != 0x1b || i+1 >= len(s) || s[i+1] != '[' {
			return 0, false
		}
		for i += 2; i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == ';' || s[i] == ':'); i++ {
		}
		if i >= len(s) || s[i] != 'm' {
			return 0, false
		}
	}
	return n, true
}

// narrow reports whether r is one of the signs that the screen itself is drawn with: lines, blocks, geometric shapes,
// braille. A sign that would widen or join one of them is not narrow itself.
func narrow(r rune) bool {
	switch r {
	case '·', '…', '‹', '›', '✓', '✗':
		return true
	}
	return r >= 0x2500 && r <= 0x25ef || r >= 0x2800 && r <= 0x28ff
}

// Wrap breaks clean text into lines of at most w cells, at spaces where it can. Spaces at a break vanish, those at a
// line's start stay. A character wider than w becomes ….
func Wrap(s string, w int) []string {
	w = max(w, 1)
	var lines []string
	for {
		i := strings.IndexByte(s, '\n')
		if i < 0 {
			return wrapLine(lines, s, w)
		}
		lines = wrapLine(lines, s[:i], w)
		s = s[i+1:]
	}
}

// wrapLine appends the wrapped parts of one line to lines. The parts share s's memory.
func wrapLine(lines []string, s string, w int) []string {
	if len(s) <= w && ascii(s) {
		return append(lines, s)
	}
	var (
		start  = 0     // of the line
		cells  = 0     // of s[start:i]
		space  = -1    // the start of the last run of spaces where a break may go
		behind = 0     // where that run ends
		after  = 0     // cells of s[behind:i]
		text   = false // the line has something other than spaces
	)
	for i := 0; i < len(s); {
		n, cw := cluster(s[i:])
		if s[i] == ' ' && text {
			if behind != i || space < 0 {
				space = i
			}
			behind, after = i+1, 0
			cells++
			i++
			continue
		}
		if cells+cw > w {
			switch {
			case space >= 0:
				lines = append(lines, s[start:space])
				start, cells = behind, after
			case i > start:
				lines = append(lines, s[start:i])
				start, cells = i, 0
			}
			space, text = -1, start < i
			if cw > w {
				lines = append(lines, "…")
				i += n
				start = i
				continue
			}
			if cells+cw > w { // the word that moved down is itself too wide
				continue
			}
		}
		text = text || s[i] != ' '
		cells += cw
		after += cw
		i += n
	}
	if space >= 0 && cells > w { // only spaces follow the last word that fits
		return append(lines, s[start:space])
	}
	if start < len(s) || start == 0 {
		return append(lines, s[start:])
	}
	return lines
}

// cluster returns the length in bytes and cells of the character that s begins with.
func cluster(s string) (n, cells int) {
	if s[0] < 0x80 && (len(s) == 1 || s[1] < 0x80) {
		return 1, 1
	}
	c, w := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return max(len(c), 1), w
}

func ascii(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// Cut shortens a line (styles allowed) to w cells, ending in … if it was longer.
func Cut(s string, w int) string {
	if w <= 0 {
		return ""
	}
	if n, ok := simple(s); ok {
		switch {
		case n <= w:
			return s
		case n == len(s):
			return s[:w-1] + "…"
		}
	}
	return ansi.Truncate(s, w, "…")
}

// CutMiddle shortens clean text to w cells by replacing its middle with …: related names often differ only at their
// end.
func CutMiddle(s string, w int) string {
	if w <= 2 || Width(s) <= w {
		return Cut(s, w)
	}
	head, n := Head(s, (w-1)/2)
	return head + "…" + tail(s, w-1-n)
}

// tail returns the longest end of clean text that fits into w cells.
func tail(s string, w int) string {
	over := Width(s) - w
	for i := 0; i < len(s); {
		if over <= 0 {
			return s[i:]
		}
		n, cw := cluster(s[i:])
		i += n
		over -= cw
	}
	return ""
}

// Fit cuts or pads a line to exactly w cells.
func Fit(s string, w int) string {
	if w <= 0 {
		return ""
	}
	n := Width(s)
	if n > w {
		s = Cut(s, w)
		n = Width(s)
	}
	return s + Spaces(w-n)
}

const blanks = "                                                                                                                                "

// Spaces is n spaces; none if n is negative.
func Spaces(n int) string {
	if n <= 0 {
		return ""
	}
	if n <= len(blanks) {
		return blanks[:n]
	}
	return strings.Repeat(" ", n)
}

// Overlay draws box over base with its upper left corner at x, y, and returns new lines. It cuts off what is outside
// base's lines or left of its first column.
func Overlay(base, box []string, x, y int) []string {
	out := append([]string(nil), base...)
	for i, b := range box {
		if row := y + i; row >= 0 && row < len(out) {
			out[row] = splice(out[row], b, x)
		}
	}
	return out
}

// splice draws b over line from column x on. A wide character half covered by b becomes a space.
func splice(line, b string, x int) string {
	bw := Width(b)
	if x < 0 {
		b = ansi.TruncateLeft(b, -x, "")
		bw = Width(b)
		x = 0
	}
	if bw == 0 {
		return line
	}
	var s strings.Builder
	s.Grow(len(line) + len(b) + 8)
	lw := Width(line)
	left := line
	if lw > x {
		left = ansi.Truncate(line, x, "")
	}
	s.WriteString(left)
	if strings.IndexByte(left, 0x1b) >= 0 {
		s.WriteString(reset)
	}
	s.WriteString(Spaces(x - Width(left)))
	s.WriteString(b)
	if rest := lw - x - bw; rest > 0 {
		if strings.IndexByte(b, 0x1b) >= 0 {
			s.WriteString(reset)
		}
		right := ansi.TruncateLeft(line, x+bw, "")
		if Width(right) > rest {
			right = ansi.TruncateLeft(line, x+bw+1, "")
		}
		s.WriteString(Spaces(rest - Width(right)))
		s.WriteString(right)
	}
	return s.String()
}

const reset = "\x1b[m"

// Head returns the longest beginning of clean text that fits into w cells, and its cells.
func Head(s string, w int) (string, int) {
	if len(s) <= w && ascii(s) {
		return s, len(s)
	}
	cells := 0
	for i := 0; i < len(s); {
		n, cw := cluster(s[i:])
		if cells+cw > w {
			return s[:i], cells
		}
		i += n
		cells += cw
	}
	return s, cells
}

// First returns the first character of clean text, as it is seen, and its bytes.
func First(s string) (string, int) {
	if s == "" {
		return "", 0
	}
	n, _ := cluster(s)
	return s[:n], n
}
