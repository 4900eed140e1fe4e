package composer

import "strings"

// A text whose first character was typed and is an & is for a new agent. In all other texts an & is a character like
// any other: `&&` and `\&` begin a plain text, as does an & that was pasted or recalled.

// mark notes that the first character was typed, if it is one of those that matter.
func (x *text) mark() {
	if s := x.cells[0].s; s != "&" && s != `\` {
		return
	}
	x.cells[0].typed = true
	if n := len(x.done); n > 0 && x.done[n-1].at == 0 && len(x.done[n-1].new) > 0 {
		x.done[n-1].new[0].typed = true // for redo
	}
}

// Sent returns the text of a box as it is sent, and whether it is for a new agent.
func (b *Box) Sent() (text string, starts bool) {
	text = b.Value()
	switch {
	case b.Starts():
		return text[1:], true
	case b.text.first(`\`) && strings.HasPrefix(text, `\&`):
		return text[1:], false
	}
	return text, false
}

// Starts reports whether the text is for a new agent.
func (b *Box) Starts() bool {
	return b.text.first("&") && (len(b.text.cells) == 1 || !strings.HasPrefix(b.text.cells[1].s, "&"))
}

// first reports whether the text begins with that typed character.
func (x *text) first(s string) bool { return len(x.cells) > 0 && x.cells[0].typed && x.cells[0].s == s }

// Again puts a text for a new agent before the draft, as if its & had just been typed.
func (b *Box) Again(s string) {
	b.Prepend("&" + s)
	b.text.mark()
	b.touch()
}

// escaped returns cells as a text that means the same if its first character is taken for typed.
func escaped(cells []cell) string {
	s := joined(cells)
	if len(cells) > 0 && !cells[0].typed && strings.HasPrefix(s, "&") && !strings.HasPrefix(s, "&&") {
		return `\` + s
	}
	return s
}
