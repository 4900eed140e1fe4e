package cells

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

const (
	tabStop     = 4
	maxMarks    = 8       // combining marks on one character
	maxCluster  = 32      // characters that join into one cell
	maxSequence = 4 << 20 // bytes of a control string; a longer one is shown as text
)

// Clean makes text from anywhere safe and displayable: the result is valid UTF-8 and holds only printable characters
// and newlines. It removes escape sequences; an image becomes [image]. Incomplete sequences, other control characters,
// bidi controls, tag and other invisible characters and invalid bytes become visible tokens. Tabs become spaces, a
// lone CR overwrites its line, BS deletes a character, and at most eight combining marks follow a character.
// Clean(Clean(s)) is Clean(s). The time is linear in len(s); text that needs no change is returned as it is.
func Clean(s string) string {
	n := plain(s)
	if n == len(s) {
		return s
	}
	c := cleaner{in: s}
	c.out = make([]byte, 0, len(s)+len(s)/8+32)
	c.run(n)
	return string(c.out)
}

// CleanLine is Clean on one line: newlines become ⏎.
func CleanLine(s string) string { return strings.ReplaceAll(Clean(s), "\n", "⏎") }

// Reveal is for text that a human approves: it removes and overwrites nothing, and every byte that is not plainly
// printable becomes a visible token; newlines stay. A tab is ␉ and spaces up to the next stop.
func Reveal(s string) string {
	n := plain(s)
	if n == len(s) && !oddSpace(s) {
		return s
	}
	c := cleaner{in: s, all: true}
	c.out = make([]byte, 0, len(s)+len(s)/8+32)
	c.run(0)
	return string(c.out)
}

// plain returns the length of the longest prefix of s that certainly needs no change and after which cleaning can
// start afresh: printable ASCII, newlines and characters that never join with others.
func plain(s string) int {
	for i := 0; i < len(s); {
		if b := s[i]; b < 0x80 {
			if (b < 0x20 && b != '\n') || b == 0x7f {
				return lineStart(s, i)
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if !steady(r) {
			return lineStart(s, i)
		}
		i += n
	}
	return len(s)
}

// lineStart returns the start of the line of s[i]: a CR may go back that far.
func lineStart(s string, i int) int { return strings.LastIndexByte(s[:i], '\n') + 1 }

// steady reports whether r is a common character that needs no change and never joins.
func steady(r rune) bool {
	switch {
	case r < 0xa1:
		return false
	case r <= 0x2ff:
		return r != 0xad
	case r >= 0x370 && r <= 0x482, r >= 0x48a && r <= 0x52f:
		return true
	case r >= 0x2010 && r <= 0x2027, r >= 0x2030 && r <= 0x205e:
		return true
	case r >= 0x2500 && r <= 0x259f, r >= 0x2800 && r <= 0x28ff:
		return r != 0x2800
	case r >= 0x3001 && r <= 0x3029, r >= 0x3030 && r <= 0x3098, r >= 0x309b && r <= 0x3130:
		return true
	case r >= 0x3400 && r <= 0x9fff, r >= 0xff01 && r <= 0xff9d:
		return true
	}
	return false
}

// oddSpace reports whether s holds a character that looks like a space and is none.
func oddSpace(s string) bool {
	return strings.ContainsFunc(s, blank)
}

func blank(r rune) bool {
	return r >= 0x80 && unicode.Is(unicode.Zs, r) || r == 0x2800
}

// cleaner carries out Clean and Reveal. out[line:] is the line being written.
type cleaner struct {
	in  string
	out []byte
	all bool // Reveal

	line  int  // where the line begins in out
	cr    bool // the next character overwrites the line
	from  int  // cells counts out[line:from], for tabs
	cells int

	// Of the character cluster at the end of out:
	last   rune // its last character; 0: the line is empty
	marks  int  // combining marks on its last base
	length int  // characters that may have joined
	linked bool // an Indic virama joins it with a consonant to come

	ends [4]int // the next positions of BEL, ESC \, U+009C and newline; see next
}

func (c *cleaner) run(i int) {
	c.out = append(c.out, c.in[:i]...)
	c.line, c.from = i, i
	c.ends = [4]int{-1, -1, -1, -1}
	for i < len(c.in) {
		b := c.in[i]
		if b >= 0x20 && b < 0x7f {
			j := i + 1
			for j < len(c.in) && c.in[j] >= 0x20 && c.in[j] < 0x7f {
				j++
			}
			c.overwrite()
			c.out = append(c.out, c.in[i:j]...)
			c.settle(rune(c.in[j-1]))
			i = j
			continue
		}
		if b < 0x80 {
			i += c.control(i)
			continue
		}
		r, n := utf8.DecodeRuneInString(c.in[i:])
		if r == utf8.RuneError && n == 1 {
			c.token(`\x` + hex(uint32(b), 2))
		} else {
			c.char(r, i+n)
		}
		i += n
	}
}

// settle notes that the output ends with a character that never joins.
func (c *cleaner) settle(r rune) { c.last, c.marks, c.length, c.linked = r, 0, 1, false }

// overwrite empties the line if a CR came before.
func (c *cleaner) overwrite() {
	if c.cr {
		c.cr = false
		c.begin(c.line)
	}
}

// begin starts an empty line at out[at:].
func (c *cleaner) begin(at int) {
	c.out = c.out[:at]
	c.line, c.from, c.cells = at, at, 0
	c.settle(0)
}

// token shows text in place of what can't be shown.
func (c *cleaner) token(s string) {
	c.overwrite()
	c.out = append(c.out, s...)
	c.settle('>')
}

// control handles the control character at in[i] and returns how many bytes it took.
func (c *cleaner) control(i int) int {
	b := c.in[i]
	switch {
	case b == '\n':
		c.cr = false
		c.out = append(c.out, '\n')
		c.begin(len(c.out))
	case b == '\t':
		c.tab()
	case b == 0x1b && !c.all:
		if n := c.sequence(i); n > 0 {
			return n
		}
		c.token("␛")
	case b == '\r' && !c.all:
		c.cr = true
	case b == '\b' && !c.all:
		c.back()
	case b == 0x7f:
		c.token("␡")
	default:
		c.token(string(rune(0x2400 + int(b))))
	}
	return 1
}

func (c *cleaner) tab() {
	c.overwrite()
	if c.all {
		c.token("␉")
	}
	c.cells += displaywidth.Bytes(c.out[c.from:])
	n := tabStop - c.cells%tabStop
	if c.all && n == tabStop {
		n = 0
	}
	for range n {
		c.out = append(c.out, ' ')
	}
	c.cells += n
	c.from = len(c.out)
	c.settle(' ')
}

// back deletes the last character of the line, with what joined it.
func (c *cleaner) back() {
	if c.cr {
		return
	}
	out := c.out
	for len(out) > c.line {
		r, n := utf8.DecodeLastRune(out)
		out = out[:len(out)-n]
		if !extends(r) {
			break
		}
	}
	for len(out) > c.line {
		r, n := utf8.DecodeLastRune(out)
		if r != zwj {
			break
		}
		out = out[:len(out)-n]
	}
	if len(out) == c.line {
		c.begin(c.line)
		return
	}
	c.out = out
	if len(out) < c.from {
		c.from, c.cells = c.line, 0
	}
	c.look()
}

// look determines again what ends the output. Characters that may have joined count as joined.
func (c *cleaner) look() {
	c.last, _ = utf8.DecodeLastRune(c.out)
	c.marks, c.length, c.linked = 0, 1, false
	base := false
	for out := c.out; len(out) > c.line && c.length < maxCluster; c.length++ {
		r, n := utf8.DecodeLastRune(out)
		if r < 0x80 {
			return
		}
		if base = base || !extends(r); !base {
			c.linked = c.linked || virama(r)
			if mark(r) {
				c.marks++
			}
		}
		out = out[:len(out)-n]
	}
}

const (
	zwj  = 0x200d
	vs15 = 0xfe0e
	vs16 = 0xfe0f
)

// char handles a character beyond ASCII; in[next:] follows it.
func (c *cleaner) char(r rune, next int) {
	switch {
	case steady(r) && !c.linked && c.last != zwj:
		c.put(r)
		c.settle(r)
	case r == zwj:
		if emoji(c.last) || c.last == vs16 {
			if f, _ := utf8.DecodeRuneInString(c.in[next:]); emoji(f) && c.length+2 < maxCluster && !c.cr {
				c.put(r)
				c.last = r
				c.length++
				return
			}
		}
		c.token(code(r))
	case r == vs15 || r == vs16:
		if c.cr || !emoji(c.last) && !keycap(c.last) || c.length >= maxCluster {
			c.token(code(r))
			return
		}
		c.put(r)
		c.last = r
		c.length++
	case hidden(r) || c.all && blank(r):
		c.token(code(r))
	case mark(r):
		c.combine(r)
	default:
		if !c.joins(r) {
			c.put(r)
			c.settle(r)
			return
		}
		if c.length >= maxCluster {
			c.token(code(r))
			return
		}
		c.put(r)
		c.last, c.marks, c.linked = r, 0, false
		c.length++
	}
}

func (c *cleaner) put(r rune) {
	c.overwrite()
	c.out = utf8.AppendRune(c.out, r)
}

// combine puts a mark on the last character. Without one it goes on a dotted circle, so that it does not join with
// what is left of the text on the screen.
func (c *cleaner) combine(r rune) {
	c.overwrite()
	if len(c.out) == c.line {
		c.put('◌')
		c.settle('◌')
	}
	if c.marks >= maxMarks || c.length >= maxCluster {
		if c.all {
			c.token(code(r))
		}
		return
	}
	c.put(r)
	c.last = r
	c.marks++
	c.length++
	c.linked = c.linked || virama(r)
}

// joins reports whether r may form one cell with the end of the output.
func (c *cleaner) joins(r rune) bool {
	if len(c.out) == c.line || c.cr {
		return false
	}
	switch {
	case c.last == zwj, c.linked:
		return true
	case modifier(r):
		return true
	}
	return jamoFirst(c.last) && hangul(r) || jamoNext(r) && hangul(c.last)
}

// sequence returns the length of the escape sequence at in[i], 0 if none is
// complete there.
func (c *cleaner) sequence(i int) int {
	s := c.in[i:]
	if len(s) < 2 {
		return 0
	}
	switch b := s[1]; {
	case b == '[':
		for j := 2; j < len(s) && j < 256; j++ {
			if s[j] >= 0x40 && s[j] <= 0x7e {
				return j + 1
			}
			if s[j] < 0x20 || s[j] > 0x3f {
				return 0
			}
		}
		return 0
	case b == ']' || b == 'P' || b == '_' || b == '^' || b == 'X':
		return c.controlString(i)
	case b >= 0x20 && b <= 0x2f:
		for j := 2; j < len(s) && j < 8; j++ {
			if s[j] >= 0x30 && s[j] <= 0x7e {
				return j + 1
			}
			if s[j] < 0x20 || s[j] > 0x2f {
				return 0
			}
		}
		return 0
	case b >= 0x30 && b <= 0x7e:
		return 2
	}
	return 0
}

// controlString returns the length of the OSC, DCS, APC, PM or SOS at in[i], 0 if
// it has no end. An OSC ends on its line, so a broken one hides no text.
func (c *cleaner) controlString(i int) int {
	osc := c.in[i+1] == ']'
	end, size := c.next(1, i+2, "\x1b\\")
	if e, n := c.next(2, i+2, "\u009c"); e < end {
		end, size = e, n
	}
	if osc {
		if e, n := c.next(0, i+2, "\a"); e < end {
			end, size = e, n
		}
	}
	if end == len(c.in) || end-i > maxSequence {
		return 0
	}
	if osc {
		if nl, _ := c.next(3, i+2, "\n"); nl < end {
			return 0
		}
	}
	if picture(c.in[i+1], c.in[i+2:end]) {
		c.token("[image]")
	}
	return end + size - i
}

// next returns the position of end at or after i and its length, len(in) if there is none. It remembers the position,
// so that many beginnings without an end cost one search.
func (c *cleaner) next(kind, i int, end string) (int, int) {
	if c.ends[kind] < i {
		c.ends[kind] = len(c.in)
		if j := strings.Index(c.in[i:], end); j >= 0 {
			c.ends[kind] = i + j
		}
	}
	return c.ends[kind], len(end)
}

// picture reports whether a control string draws an image: sixel, kitty, iTerm.
func picture(kind byte, body string) bool {
	switch kind {
	case 'P':
		i := strings.IndexFunc(body, func(r rune) bool { return (r < '0' || r > '9') && r != ';' })
		return i >= 0 && body[i] == 'q'
	case '_':
		return strings.HasPrefix(body, "G")
	}
	return strings.HasPrefix(body, "1337;File=")
}
