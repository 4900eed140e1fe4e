package dialog

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"fantail/themes"
	"fantail/ui/frame"
)

// page is a text to read.
type page struct {
	theme  *themes.Theme
	title  string
	text   string
	width  int // what lines were wrapped for
	lines  []string
	scroll scroll
}

// NewText shows a text; Esc, q and Enter close it.
func NewText(t *themes.Theme, title, text string) Box {
	return &page{theme: t, title: frame.CleanLine(title), text: text}
}

func (b *page) Key(k tea.KeyPressMsg) Decision {
	switch key := k.Keystroke(); key {
	case "esc", "q", "enter":
		return Cancelled{}
	case "up", "k":
		b.scroll.key("shift+up")
	case "down", "j":
		b.scroll.key("shift+down")
	case "space", "f":
		b.scroll.key("pgdown")
	case "b":
		b.scroll.key("pgup")
	case "g":
		b.scroll.key("home")
	case "shift+g":
		b.scroll.key("end")
	default:
		b.scroll.key(key)
	}
	return nil
}

// Paste does nothing: there is no line of text.
func (b *page) Paste(string) {}

func (b *page) Cursor() (x, y int, ok bool) { return 0, 0, false }

func (b *page) Lines(w, h int) []string {
	if !fits(w, h) {
		return nil
	}
	w = min(w, widest)
	inner := w - borderCols
	if b.width != inner {
		b.width, b.lines = inner, wrap(b.text, inner)
	}
	view := min(h-borderRows, len(b.lines))
	b.scroll.set(view, len(b.lines))
	var lines []string
	for _, s := range b.lines[b.scroll.top : b.scroll.top+view] {
		lines = append(lines, b.theme.Paint(themes.Text, s))
	}
	return panel(b.theme, w, themes.Accent, b.title, b.hint(), lines)
}

func (b *page) hint() string {
	if len(b.lines) <= b.scroll.view {
		return "esc closes"
	}
	end := b.scroll.top + b.scroll.view
	return fmt.Sprintf("%d%% · %d–%d of %d · esc closes", end*100/len(b.lines), b.scroll.top+1, end, len(b.lines))
}
