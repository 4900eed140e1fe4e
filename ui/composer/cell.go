package composer

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"fantail/ui/cells"
)

// cell is the unit of cursor movement: a grapheme cluster, a line end, or a chip. s holds its exact bytes; what the
// screen shows is derived from them.
type cell struct {
	s     string
	lines int32  // of a chip
	w     uint16 // columns it takes on the screen, 0 only for a line end
	chip  uint16 // the number of the chip, 0 if it is none
	odd   bool   // it shows as something else than s
	typed bool   // it is an & or a \ that was typed as the first character
}

// tab is how many columns a tab takes, at any position.
const tab = 4

func (c cell) newline() bool { return c.chip == 0 && (c.s == "\n" || c.s == "\r\n") }

func (c cell) space() bool { return c.chip == 0 && (c.s == " " || c.s == "\t" || c.newline()) }

// word reports whether the cell belongs to a word; a chip is one.
func (c cell) word() bool {
	if c.chip > 0 {
		return true
	}
	r, _ := utf8.DecodeRuneInString(c.s)
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// show returns the cell as it is on the screen: clean, one line, w columns wide.
func (c cell) show() string {
	switch {
	case c.chip > 0:
		return c.label()
	case c.odd:
		return display(c.s)
	default:
		return c.s
	}
}

func newChip(s string, number int) cell {
	lines := strings.Count(s, "\n")
	if !strings.HasSuffix(s, "\n") {
		lines++
	}
	c := cell{s: s, lines: int32(min(lines, math.MaxInt32)), chip: uint16(min(number, math.MaxUint16))}
	c.w = uint16(cells.Width(c.label()))
	return c
}

// label returns the text shown for a chip.
func (c cell) label() string {
	unit := " lines]"
	if c.lines == 1 {
		unit = " line]"
	}
	return "[Pasted #" + strconv.Itoa(int(c.chip)) + ", " + thousands(int(c.lines)) + unit
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// plain reports whether the byte is printable and joins nothing.
func plain(c byte) bool { return c >= 0x20 && c < 0x7f }

// split cuts s into cells; joined returns s byte for byte.
func split(s string) []cell {
	out := make([]cell, 0, len(s))
	for len(s) > 0 {
		n := 1
		if plain(s[0]) && (len(s) == 1 || s[1] < utf8.RuneSelf) {
			out = append(out, cell{s: s[:1], w: 1})
			s = s[1:]
			continue
		}
		if s[0] < utf8.RuneSelf && s[0] != '\r' && (len(s) == 1 || s[1] < utf8.RuneSelf) {
			out = append(out, newCell(s[:1]))
			s = s[1:]
			continue
		}
		cluster, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		n = max(n, len(cluster))
		out = append(out, newCell(s[:n]))
		s = s[n:]
	}
	return out
}

func newCell(s string) cell {
	c := cell{s: s}
	if c.newline() {
		return c
	}
	d := display(s)
	c.odd = d != s
	c.w = uint16(min(cells.Width(d), math.MaxUint16))
	return c
}

// display makes one cluster harmless and visible.
func display(s string) string {
	if s == "\t" {
		return strings.Repeat(" ", tab)
	}
	if d := cells.CleanLine(s); cells.Width(d) > 0 {
		return d
	}
	if d := cells.CleanLine(cells.Reveal(s)); cells.Width(d) > 0 {
		return d
	}
	return "·"
}

func joined(cells []cell) string {
	if len(cells) == 1 {
		return cells[0].s
	}
	n := 0
	for _, c := range cells {
		n += len(c.s)
	}
	var sb strings.Builder
	sb.Grow(n)
	for _, c := range cells {
		sb.WriteString(c.s)
	}
	return sb.String()
}

func runeLen(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	return max(n, 1)
}
