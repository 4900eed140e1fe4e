package term

import (
	"bytes"
	"strings"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// waits says what bytes are, or may become.
type waits int

const (
	some    waits = iota // a key, a report or a character that is not all there
	report               // what can only be a part of what a terminal sends
	whole                // one event
	garbage              // a part of a report without the rest
	text                 // no rest of a report
)

// sequence returns the length of the sequence that b begins with, if it is whole or garbage.
func sequence(b []byte) (int, waits) {
	switch {
	case b[0] != ansi.ESC:
		return character(b)
	case len(b) == 1:
		return 0, some
	}
	switch b[1] {
	case '[':
		return csi(b)
	case 'O':
		return ss3(b)
	case ']', 'P', '_', 'X', '^':
		return stringOf(b)
	case 0x03: // not held with Alt: it has to work whatever came before
		return 1, whole
	case ansi.ESC:
		if len(b) == 2 {
			return 0, some
		}
		if b[2] != '[' && b[2] != 'O' {
			return 1, whole
		}
	}
	n, w := sequence(b[1:])
	switch {
	case w == some || w == report:
		return 0, some
	case w == whole && (b[1] != ansi.ESC || isAltKey(b[1:n+1])):
		return n + 1, whole
	}
	return 1, whole
}

// isAltKey reports whether an ESC before that sequence is Alt, and not a key before a report: arrows, Home, Insert and
// similar keys are sent that way.
func isAltKey(seq []byte) bool {
	if len(seq) == 2 || string(seq) == pasteBegins || string(seq) == pasteEnds {
		return false
	}
	private := seq[2] >= '<' && seq[2] <= '?'
	return seq[1] == 'O' || !private && strings.IndexByte("ABCDEFHZabcd~^@$", seq[len(seq)-1]) >= 0
}

// character returns the length of what is seen as one character, or of a control byte.
func character(b []byte) (int, waits) {
	switch {
	case b[0] < utf8.RuneSelf:
		return 1, whole
	case !utf8.FullRune(b):
		return 0, some
	}
	valid := 0
	for valid < len(b) && valid < 128 {
		r, n := utf8.DecodeRune(b[valid:])
		if r == utf8.RuneError {
			break
		}
		valid += n
	}
	if valid == 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			return 1, garbage
		}
		return n, whole
	}
	n, _ := new(uv.EventDecoder).Decode(b[:valid])
	return n, whole
}

// csi handles a sequence that begins with `ESC [`. A byte that is not allowed in one ends it: the sequence is lost
// then.
func csi(b []byte) (int, waits) {
	if len(b) == 2 {
		return 0, some
	}
	if b[2] == '[' { // the Linux console's F1 to F5
		switch {
		case len(b) == 3:
			return 0, report
		case b[3] >= 'A' && b[3] <= 'E':
			return 4, whole
		}
		return 3, garbage
	}
	if b[2] == 'M' {
		return x10(b)
	}
	p := span(b, 2, 0x30, 0x3f)
	i := span(b, p, 0x20, 0x2f)
	switch {
	case i == p+1 && b[p] == '$' && p > 2 && span(b, 2, '0', '9') == p: // a key of rxvt held with Shift
		return i, whole
	case i == len(b):
		return 0, report
	case b[i] >= 0x40 && b[i] <= 0x7e:
		return i + 1, whole
	case i == 2:
		return 2, whole // Alt+[
	}
	return i, garbage
}

// x10 handles a report of the mouse in the old form: `ESC [ M` and three bytes.
func x10(b []byte) (int, waits) {
	for i := 3; i < 6; i++ {
		switch {
		case i == len(b):
			return 0, report
		case b[i] < ' ':
			return i, garbage
		}
	}
	return 6, whole
}

func ss3(b []byte) (int, waits) {
	i := span(b, 2, '0', '9')
	switch {
	case i == len(b) && i == 2:
		return 0, some
	case i == len(b):
		return 0, report
	case b[i] > ' ' && b[i] < 0x7f:
		return i + 1, whole
	case i == 2:
		return 2, whole // Alt+Shift+O
	}
	return i, garbage
}

// stringOf handles an OSC, DCS, APC, SOS or PM. It waits for the rest of an incomplete one only if that begins like an
// answer of a terminal: otherwise its first two bytes are a key held with Alt, and a text follows.
func stringOf(b []byte) (int, waits) {
	w := answer(b)
	for i := 2; i < len(b); i++ {
		switch {
		case b[i] == ansi.BEL && b[1] == ']':
			return i + 1, whole
		case b[i] == ansi.ESC && i+1 == len(b) && w != text:
			return 0, w
		case b[i] == ansi.ESC && i+1 < len(b) && b[i+1] == '\\':
			return i + 2, whole
		case b[i] >= ' ' && b[i] != ansi.DEL:
			continue
		case w == report:
			return i, garbage
		}
		return 2, whole
	}
	if w == text {
		return 2, whole
	}
	return 0, w
}

// answer returns what an incomplete string may become: a report, with a number and a semicolon (OSC), with a mark
// after its numbers (DCS: versions, settings), or about a picture (APC).
func answer(b []byte) waits {
	i, mark := 2, ""
	switch b[1] {
	case ']':
		if i = span(b, 2, '0', '9'); i > 2 {
			mark = ";"
		}
	case 'P':
		i, mark = span(b, 2, '0', ';'), "<=>?$+!|"
	case '_':
		mark = "G"
	}
	switch {
	case i == len(b):
		return some
	case strings.IndexByte(mark, b[i]) >= 0:
		return report
	}
	return text
}

// rest is sequence for a b that begins with an ESC that was alone for long, so that what follows may be typed: it
// accepts only what a terminal sends. `ESC O` and an old report of the mouse are too much like words.
func (in *input) rest(b []byte) (int, waits) {
	if len(b) == 1 {
		return 0, some
	}
	switch b[1] {
	case '[':
		return in.restOfCSI(b)
	case 'O':
		switch {
		case !in.burst:
		case len(b) == 2:
			return 0, some
		case strings.IndexByte("ABCDFHPQRS", b[2]) >= 0:
			return 3, whole
		}
	case ']', 'P', '_':
		if n, w := stringOf(b); n != 2 && answer(b) != text {
			return n, w
		}
	}
	return 0, text
}

func (in *input) restOfCSI(b []byte) (int, waits) {
	if len(b) == 2 {
		return 0, some
	}
	if b[2] == 'M' {
		if in.burst || in.x10 {
			return x10(b)
		}
		return 0, text
	}
	if strings.IndexByte("ABCDEFHIOPQRSZ", b[2]) >= 0 { // arrows, focus
		return 3, whole
	}
	private := b[2] >= '<' && b[2] <= '?'
	first := 2
	if private {
		first = 3
	}
	p := span(b, first, '0', ';')
	numbers := p > first && b[first] <= '9'
	several := bytes.IndexByte(b[first:p], ';') > 0 || bytes.IndexByte(b[first:p], ':') > 0
	sure := numbers && (private || several)
	i := span(b, p, '$', '$')
	switch {
	case i == len(b) && sure:
		return 0, report
	case i == len(b) && i == p:
		return 0, some
	case i == len(b) || !numbers:
		return 0, text
	case b[i] == '~' || b[i] == 'u', sure && (b[i] >= 'A' && b[i] <= 'Z' || b[i] == '_' || b[i] >= 'a' && b[i] <= 'z'):
		return i + 1, whole
	case sure:
		return i, garbage
	}
	return 0, text
}

// span returns the end of the run of bytes between low and high that begins at i.
func span(b []byte, i int, low, high byte) int {
	for i < len(b) && b[i] >= low && b[i] <= high {
		i++
	}
	return i
}
