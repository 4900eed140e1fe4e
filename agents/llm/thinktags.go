package llm

import "strings"

// The tags around the thinking of models whose server leaves it in the text.
const (
	thinkStart = "<think>"
	thinkEnd   = "</think>"
)

// ThinkTagParser takes thinking out of a text that comes in pieces. Thinking is only at the beginning of a text. Without
// an end tag all of the text is thinking.
type ThinkTagParser struct {
	held  string // not known yet to be a tag or text
	state int
}

// The states of a [ThinkTagParser].
const (
	beforeText = iota
	inThinking
	afterThinking // skips blanks
	inText
)

// Take parses the next piece. It returns what the piece adds to the thinking and to the text.
func (t *ThinkTagParser) Take(piece string) (thinking, text string) {
	if t.state == inText {
		return "", piece
	}
	t.held += piece
	if t.state == beforeText {
		rest := strings.TrimLeft(t.held, " \t\r\n")
		switch {
		case strings.HasPrefix(rest, thinkStart):
			t.held, t.state = rest[len(thinkStart):], inThinking
		case strings.HasPrefix(thinkStart, rest):
			return "", ""
		default:
			return t.rest()
		}
	}
	if t.state == inThinking {
		var found bool
		if thinking, t.held, found = strings.Cut(t.held, thinkEnd); found {
			t.state = afterThinking
		} else {
			thinking, t.held = splitPrefix(thinking, thinkEnd)
			return thinking, ""
		}
	}
	t.held = strings.TrimLeft(t.held, " \t\r\n")
	if t.held != "" {
		_, text = t.rest()
	}
	return thinking, text
}

// End returns what was held back when the text ends.
func (t *ThinkTagParser) End() (thinking, text string) {
	switch {
	case t.state == inThinking:
		_, thinking = t.rest()
		return thinking, ""
	case t.held == "":
		return "", ""
	}
	return t.rest()
}

func (t *ThinkTagParser) rest() (thinking, text string) {
	text, t.held, t.state = t.held, "", inText
	return "", text
}

// splitPrefix cuts off the end of s that may be the start of mark.
func splitPrefix(s, mark string) (sure, held string) {
	for n := min(len(s), len(mark)-1); n > 0; n-- {
		if strings.HasSuffix(s, mark[:n]) {
			return s[:len(s)-n], s[len(s)-n:]
		}
	}
	return s, ""
}
