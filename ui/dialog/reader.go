package dialog

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"fantail/themes"
	"fantail/ui/frame"
)

// reader is a text to read whole, below what is known of it.
type reader struct {
	theme  *themes.Theme
	title  string
	facts  []Row
	text   string
	copied bool
	width  int // what lines were laid out for
	lines  []string
	scroll scroll
}

// Copied asks for a text to be put on the clipboard; the box stays open.
type Copied struct{ Text string }

func (Copied) decision() {}

// NewReader shows a text below rows of facts; Esc and Enter close it, y copies
// the text. It lays out for w columns at once, so that it is best made in a command.
func NewReader(t *themes.Theme, title string, facts []Row, text string, w int) Box {
	b := &reader{theme: t, title: frame.CleanLine(title), facts: facts, text: text}
	b.lay(min(w, widest) - borderCols)
	return b
}

func (b *reader) Key(k tea.KeyPressMsg) Decision {
	switch key := k.Keystroke(); key {
	case "esc", "enter":
		return Cancelled{}
	case "y":
		b.copied = true
		return Copied{b.text}
	default:
		b.scroll.read(key)
	}
	return nil
}

// Paste does nothing: there is no line of text.
func (b *reader) Paste(string) {}

func (b *reader) Cursor() (x, y int, ok bool) { return 0, 0, false }

func (b *reader) Lines(w, h int) []string {
	if !fits(w, h) {
		return nil
	}
	w = min(w, widest)
	if b.width != w-borderCols {
		b.lay(w - borderCols)
	}
	view := min(h-borderRows, len(b.lines))
	b.scroll.set(view, len(b.lines))
	return panel(b.theme, w, themes.Accent, b.title, b.hint(), b.lines[b.scroll.top:b.scroll.top+view])
}

// lay makes the lines for a width: the facts, an empty line, the text as it is.
func (b *reader) lay(w int) {
	b.width, b.lines = w, nil
	column := 0
	for _, r := range b.facts {
		column = max(column, frame.Width(frame.CleanLine(r.Left)))
	}
	column = min(column, w/2)
	for _, r := range b.facts {
		for i, s := range wrap(r.Right, w-column-2) {
			label := ""
			if i == 0 {
				label = frame.CleanLine(r.Left)
			}
			b.lines = append(b.lines, b.theme.Paint(themes.Dim, frame.Fit(label, column))+"  "+b.theme.Paint(themes.Text, s))
		}
	}
	if b.text != "" {
		b.lines = append(append(b.lines, ""), wrap(b.text, w)...)
	}
}

func (b *reader) hint() string {
	keys := "y copies · esc closes"
	if b.copied {
		keys = "copied · esc closes"
	}
	if len(b.lines) <= b.scroll.view {
		return keys
	}
	end := b.scroll.top + b.scroll.view
	return fmt.Sprintf("%d%% · %d–%d of %d · %s", end*100/len(b.lines), b.scroll.top+1, end, len(b.lines), keys)
}
