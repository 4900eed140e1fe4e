package dialog

import (
	tea "charm.land/bubbletea/v2"

	"fantail/themes"
	"fantail/ui/cells"
)

// reader shows a whole text below its facts.
type reader struct {
	page
	text string
}

// Copied asks for a text to be copied to the clipboard. The box stays open.
type Copied struct{ Text string }

func (Copied) decision() {}

// NewReader shows a text below rows of facts. Esc and Enter close it, y copies the text. It lays
// the text out for w columns at once, so call it in a command.
func NewReader(t *themes.Theme, title string, facts []Row, text string, w int) Box {
	return NewPage(t, title, text, func(w int) []string { return letter(t, facts, text, w) }, w)
}

// NewPage shows a text that lay lays out for a width. Esc and Enter close it, y copies the text. It
// lays the text out for w columns at once, so call it in a command.
func NewPage(t *themes.Theme, title, text string, lay func(w int) []string, w int) Box {
	b := &reader{text: text, page: page{theme: t, title: cells.CleanLine(title), keys: "y copy · esc close", lay: lay}}
	b.fill(min(w, widest))
	return b
}

func (b *reader) Key(k tea.KeyPressMsg) Decision {
	if k.Keystroke() == "y" {
		b.keys = "copied · esc close"
		return Copied{b.text}
	}
	return b.page.Key(k)
}

// letter returns the lines for a width: the facts, an empty line, the text.
func letter(t *themes.Theme, facts []Row, text string, w int) (lines []string) {
	column := 0
	for _, r := range facts {
		column = max(column, cells.Width(cells.CleanLine(r.Left)))
	}
	column = min(column, w/2)
	for _, r := range facts {
		for i, s := range wrap(r.Right, w-column-2) {
			label := ""
			if i == 0 {
				label = cells.CleanLine(r.Left)
			}
			lines = append(lines, t.Paint(themes.Dim, cells.Fit(label, column))+"  "+t.Paint(themes.Text, s))
		}
	}
	if text != "" {
		lines = append(append(lines, ""), wrap(text, w)...)
	}
	return lines
}
