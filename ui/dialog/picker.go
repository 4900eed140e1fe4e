package dialog

import (
	"fmt"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/sahilm/fuzzy"

	"fantail/themes"
	"fantail/ui/cells"
)

// picker is a list to pick from, which typing narrows.
type picker struct {
	theme  *themes.Theme
	title  string
	items  []Item
	labels []string // without control characters
	fuzzy  bool
	named  bool // the filter also matches the help, which comes first
	filter *input
	hits   []found
	at     int
	scroll scroll
	cx, cy int
}

// found is an item that matches the filter, and the matching bytes of its label.
type found struct {
	index int
	marks []int
}

// NewPicker picks one of the items. The filter matches a part of the label, and the order stays.
func NewPicker(t *themes.Theme, title string, items []Item) Box {
	b := newPicker(t, title, items)
	b.match()
	return b
}

// NewFinder is NewPicker for many items: the filter's letters need not be adjacent, and the best
// match comes first.
func NewFinder(t *themes.Theme, title string, items []Item) Box {
	b := newPicker(t, title, items)
	b.fuzzy = true
	b.match()
	return b
}

// NewPalette is NewFinder for items whose help is the name to type: the filter matches it too.
func NewPalette(t *themes.Theme, title string, items []Item) Box {
	b := newPicker(t, title, items)
	b.fuzzy, b.named = true, true
	b.match()
	return b
}

// Refill gives a list to pick from other items. What was typed stays, and so does the item under the bar.
func Refill(box Box, items []Item) {
	b, ok := box.(*picker)
	if !ok {
		return
	}
	at := ""
	if len(b.hits) > 0 {
		at = b.items[b.hits[b.at].index].Value
	}
	b.items, b.labels = items, nil
	for _, it := range items {
		b.labels = append(b.labels, cells.CleanLine(it.Label))
	}
	b.match()
	for i, f := range b.hits {
		if b.items[f.index].Value == at {
			b.at = i
		}
	}
}

func newPicker(t *themes.Theme, title string, items []Item) *picker {
	b := &picker{filter: newInput(), theme: t, title: cells.CleanLine(title), items: items}
	for _, it := range items {
		b.labels = append(b.labels, cells.CleanLine(it.Label))
	}
	return b
}

func (b *picker) match() {
	word := b.filter.value()
	b.hits, b.at, b.scroll.top = nil, 0, 0
	if b.fuzzy && word != "" {
		of := b.labels
		if b.named {
			of = make([]string, len(b.labels))
			for i, it := range b.items {
				of[i] = cells.CleanLine(it.Help) + " " + b.labels[i]
			}
		}
		for _, m := range fuzzy.Find(word, of) {
			f, before := found{index: m.Index}, len(of[m.Index])-len(b.labels[m.Index])
			for _, at := range m.MatchedIndexes {
				if at >= before {
					f.marks = append(f.marks, at-before)
				}
			}
			b.hits = append(b.hits, f)
		}
		return
	}
	low := strings.ToLower(word)
	for i, label := range b.labels {
		from := strings.Index(strings.ToLower(label), low)
		if from < 0 {
			continue
		}
		f := found{index: i}
		// If lower case has another length, offsets differ and nothing is marked.
		if len(strings.ToLower(label)) == len(label) {
			for j := from; j < from+len(low); {
				f.marks = append(f.marks, j)
				_, n := utf8.DecodeRuneInString(label[j:])
				j += n
			}
		}
		if word == "" && b.items[i].Chosen {
			b.at = len(b.hits)
		}
		b.hits = append(b.hits, f)
	}
}

func (b *picker) Key(k tea.KeyPressMsg) Decision {
	n := len(b.hits)
	switch k.Keystroke() {
	case "esc":
		return Cancelled{}
	case "enter":
		if n > 0 {
			return Picked{b.items[b.hits[b.at].index].Value}
		}
	case "up", "ctrl+p", "shift+tab":
		b.at = (b.at + max(n, 1) - 1) % max(n, 1)
	case "down", "ctrl+n", "tab", "ctrl+space", "ctrl+@":
		b.at = (b.at + 1) % max(n, 1)
	case "pgup":
		b.at = max(0, b.at-b.scroll.view)
	case "pgdown":
		b.at = max(0, min(n-1, b.at+b.scroll.view))
	case "ctrl+home":
		b.at = 0
	case "ctrl+end":
		b.at = max(0, n-1)
	default:
		b.edit(func() { b.filter.key(k) })
	}
	return nil
}

// edit changes the filter. It updates the list only after a change.
func (b *picker) edit(change func()) {
	was := b.filter.value()
	change()
	if b.filter.value() != was {
		b.match()
	}
}

func (b *picker) Paste(s string) { b.edit(func() { b.filter.insert(s) }) }

func (b *picker) Cursor() (x, y int, ok bool) { return b.cx, b.cy, true }

// size returns the narrowest width that shows every item in full, within limits. It does not change
// while the list is narrowed.
func (b *picker) size(w int) (width, label, help int) {
	for i, it := range b.items {
		label = max(label, cells.Width(b.labels[i]))
		help = max(help, cells.Width(cells.CleanLine(it.Help)))
	}
	inner := label + 4
	if help > 0 {
		inner += 2 + help
	}
	inner = max(inner, cells.Width(b.title)+4, 36)
	width = min(w, inner+borderCols, 80)
	if help > 0 {
		label = min(label, max((width-borderCols)*3/5, width-borderCols-4-help, 8))
	}
	return width, label, help
}

func (b *picker) Lines(w, h int) []string {
	if !fits(w, h) {
		return nil
	}
	w, label, help := b.size(w)
	inner := w - borderCols
	view, x := b.filter.view(inner - 3)
	b.cx, b.cy = 2+2+x, 1
	lines := []string{b.theme.Paint(themes.Accent, "› ") + b.theme.Paint(themes.Text, view)}
	// The height stays while the list is narrowed, so that the box does not jump.
	rows := min(h-borderRows-1, max(len(b.items), 1))
	b.scroll.set(rows, len(b.hits))
	if b.at < b.scroll.top {
		b.scroll.to(b.at)
	} else if b.at >= b.scroll.top+b.scroll.view {
		b.scroll.to(b.at - b.scroll.view + 1)
	}
	for i := range rows {
		at := b.scroll.top + i
		switch {
		case at < len(b.hits):
			lines = append(lines, b.row(b.hits[at], at == b.at, inner, label, help))
		case i == 0:
			lines = append(lines, b.theme.Paint(themes.Dim, cells.Cut("  No matches", inner)))
		default:
			lines = append(lines, "")
		}
	}
	lines = lines[:min(len(lines), h-borderRows)]
	return panel(b.theme, w, themes.Strong, b.title, b.hint(), lines)
}

func (b *picker) hint() string {
	hint := "enter choose · esc close"
	if len(b.hits) > b.scroll.view {
		hint = fmt.Sprintf("%d/%d · %s", b.at+1, len(b.hits), hint)
	}
	return hint
}

func (b *picker) row(f found, chosen bool, inner, label, help int) string {
	plain, match := b.theme.Style(themes.Text), b.theme.Style(themes.Accent)
	side, mark := b.theme.Style(themes.Dim), "  "
	if chosen {
		plain = b.theme.Style(themes.Selection)
		match, side, mark = plain.Bold(true).Underline(true), plain, "▸ "
	}
	text := cells.Cut(marked(b.labels[f.index], f.marks, plain.Render, match.Render), min(label, inner-2))
	rest := strings.Repeat(" ", max(0, min(label, inner-2)-cells.Width(text)))
	if help > 0 {
		rest += "  " + cells.CleanLine(b.items[f.index].Help)
	}
	return plain.Render(mark) + text + side.Render(cells.Fit(rest, max(0, inner-2-cells.Width(text))))
}

// marked renders a label and highlights the characters that begin at marks.
func marked(label string, marks []int, plain, match func(...string) string) string {
	var out strings.Builder
	at := 0
	for i := 0; i < len(marks) && marks[i] < len(label); {
		from, to := marks[i], marks[i]
		for i < len(marks) && marks[i] == to && to < len(label) {
			_, n := utf8.DecodeRuneInString(label[to:])
			to += n
			i++
		}
		if from > at {
			out.WriteString(plain(label[at:from]))
		}
		out.WriteString(match(label[from:to]))
		at = to
	}
	if at < len(label) {
		out.WriteString(plain(label[at:]))
	}
	return out.String()
}
