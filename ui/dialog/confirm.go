package dialog

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fantail/themes"
	"fantail/ui/cells"
	"fantail/ui/markdown"
)

// confirm asks for one of several options.
type confirm struct {
	theme   *themes.Theme
	title   string
	parts   []Part
	options []Option
	width   int // of lines
	lines   []string
	at      int // highlighted option; -1: none, so that Enter alone decides nothing
	scroll  scroll
	unread  bool // the end of the text has not been shown
}

// Part is a part of a text: words or, if it has no words, a diff.
type Part struct{ Text, Diff string }

// NewConsent is NewConfirm for a text that must be seen in full. Until its end was shown, any
// answer except the last option shows the next page.
func NewConsent(t *themes.Theme, title string, parts []Part, options []Option) Box {
	return &confirm{theme: t, title: cells.CleanLine(title), parts: parts, options: options, at: -1, unread: true}
}

// NewConfirm asks for one of the options, by its key or by the arrows and Enter. Nothing is
// highlighted before the first arrow key.
func NewConfirm(t *themes.Theme, title, text string, options []Option) Box {
	return &confirm{theme: t, title: cells.CleanLine(title), parts: []Part{{Text: text}}, options: options, at: -1}
}

func (b *confirm) Key(k tea.KeyPressMsg) Decision {
	key := k.Keystroke()
	if key == "esc" {
		return Cancelled{}
	}
	// A capital and its small letter may be different options.
	for _, name := range []string{k.String(), strings.ToLower(typedText(k)), key} {
		for _, o := range b.options {
			if name != "" && o.Key == name {
				return b.choose(o)
			}
		}
	}
	n := len(b.options)
	switch key {
	case "up", "left", "shift+tab":
		if b.at--; b.at < 0 {
			b.at = n - 1
		}
	case "down", "right", "tab":
		b.at = (b.at + 1) % max(n, 1)
	case "enter":
		if b.at >= 0 && b.at < n {
			return b.choose(b.options[b.at])
		}
	default:
		b.scroll.key(key)
	}
	return nil
}

func (b *confirm) choose(o Option) Decision {
	if b.unread && o != b.options[len(b.options)-1] {
		b.scroll.key("pgdown")
		return nil
	}
	return Confirmed{o.Key}
}

// Paste does nothing, because there is no line of text.
func (b *confirm) Paste(string) {}

func (b *confirm) Cursor() (x, y int, ok bool) { return 0, 0, false }

func (b *confirm) Lines(w, h int) []string {
	if !fits(w, h) {
		return nil
	}
	w = b.size(w)
	inner, rows := w-borderCols, h-borderRows
	text := b.lay(inner)
	foot := min(len(b.options), max(1, rows-1))
	gap := 0
	if len(text)+1+foot <= rows {
		gap = 1
	}
	view := max(0, min(len(text), rows-foot-gap))
	b.scroll.set(view, len(text))
	b.unread = b.unread && b.scroll.top+view < len(text)
	lines := slices.Clone(text[b.scroll.top:min(len(text), b.scroll.top+view)])
	for range gap {
		lines = append(lines, "")
	}
	// Moving the highlight reaches options that do not fit.
	first := max(0, min(b.at-foot+1, len(b.options)-foot))
	for i, o := range b.options[first : first+foot] {
		lines = append(lines, b.option(o, first+i == b.at, inner))
	}
	hint := "esc back"
	if len(text) > view {
		hint += " · pgup/pgdn scroll"
	}
	return panel(b.theme, w, themes.Warn, b.title, hint, lines[:min(len(lines), rows)])
}

// diffIndent is how far a diff stands in.
const diffIndent = 5

// lay returns the painted lines of the text at that width.
func (b *confirm) lay(w int) []string {
	if b.width == w {
		return b.lines
	}
	b.width, b.lines = w, nil
	for i, p := range b.parts {
		if i > 0 && p.Text != "" {
			b.lines = append(b.lines, "")
		}
		if p.Text != "" || p.Diff == "" {
			for _, s := range wrap(p.Text, w) {
				b.lines = append(b.lines, b.theme.Paint(themes.Text, s))
			}
			continue
		}
		d := markdown.NewDiff(p.Diff)
		if name := d.Only(); name != "" {
			for _, s := range wrap(cells.Reveal(name), w-diffIndent) {
				b.lines = append(b.lines, cells.Spaces(diffIndent)+b.theme.Paint(themes.Strong, s))
			}
		}
		rows := d.Lay(w-diffIndent, b.theme)
		for i := range rows.Len() {
			b.lines = append(b.lines, cells.Spaces(diffIndent)+rows.Row(i))
		}
	}
	return b.lines
}

func (b *confirm) option(o Option, chosen bool, inner int) string {
	key, label := cells.CleanLine(o.Key), cells.CleanLine(o.Label)
	if chosen {
		return b.theme.Paint(themes.Selection, cells.Fit(" "+key+"  "+label, inner))
	}
	return cells.Cut(" "+b.theme.Paint(themes.Accent, key)+"  "+b.theme.Paint(themes.Text, label), inner)
}

func (b *confirm) size(w int) int {
	inner := max(cells.Width(b.title)+4, 28)
	for _, o := range b.options {
		inner = max(inner, 3+cells.Width(cells.CleanLine(o.Key))+cells.Width(cells.CleanLine(o.Label)))
	}
	for _, p := range b.parts {
		if p.Diff != "" {
			return min(w, widest)
		}
		for s := range strings.SplitSeq(cells.Clean(p.Text), "\n") {
			inner = max(inner, cells.Width(s))
		}
	}
	return min(w, inner+borderCols, 72)
}
