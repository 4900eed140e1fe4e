package dialog

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fantail/themes"
	"fantail/ui/cells"
)

// page is a text to read in a box that scrolls, laid out for a width.
type page struct {
	theme  *themes.Theme
	title  string
	keys   string // hint in the lower border
	lay    func(w int) []string
	width  int // the width of lines
	lines  []string
	scroll scroll
}

// widest limits the width: longer lines are hard to read.
const widest = 100

func (b *page) Key(k tea.KeyPressMsg) Decision {
	switch key := k.Keystroke(); key {
	case "esc", "enter":
		return Cancelled{}
	default:
		b.scroll.read(key)
	}
	return nil
}

// Paste does nothing, because there is no line of text.
func (b *page) Paste(string) {}

func (b *page) Cursor() (x, y int, ok bool) { return 0, 0, false }

func (b *page) Lines(w, h int) []string {
	if !fits(w, h) {
		return nil
	}
	w = min(w, widest)
	b.fill(w)
	view := min(h-borderRows, len(b.lines))
	b.scroll.set(view, len(b.lines))
	return panel(b.theme, w, themes.Strong, b.title, b.hint(), b.lines[b.scroll.top:b.scroll.top+view])
}

// fill lays the text out for a box of w columns, unless it is already.
func (b *page) fill(w int) {
	if inner := w - borderCols; b.width != inner {
		b.width, b.lines = inner, b.lay(inner)
	}
}

func (b *page) hint() string {
	if len(b.lines) <= b.scroll.view {
		return b.keys
	}
	end := b.scroll.top + b.scroll.view
	return fmt.Sprintf("%d%% · %d–%d of %d · %s", end*100/len(b.lines), b.scroll.top+1, end, len(b.lines), b.keys)
}

// NewTable shows rows of two columns; Esc and Enter close it.
func NewTable(t *themes.Theme, title string, rows []Row) Box {
	return &page{
		theme: t, title: cells.CleanLine(title), keys: "esc close",
		lay: func(w int) []string { return table(t, rows, w) },
	}
}

// stacked is the width below which the columns are stacked.
const stacked = 60

// table returns the lines of rows for a width. A cell that is too long continues on the next line,
// indented.
func table(t *themes.Theme, rows []Row, w int) []string {
	column := 0
	for _, r := range rows {
		column = max(column, cells.Width(cells.CleanLine(r.Left)))
	}
	column = min(column, w*2/5)
	var lines []string
	for _, r := range rows {
		if w < stacked {
			lines = append(lines, hang(t, r.Left, w)...)
			for _, s := range wrap(r.Right, w-2) {
				if s != "" {
					lines = append(lines, "  "+t.Paint(themes.Text, s))
				}
			}
			continue
		}
		left, right := hang(t, r.Left, column), wrap(r.Right, w-column-2)
		for i := range max(len(left), len(right)) {
			line := cells.Spaces(column)
			if i < len(left) {
				line = cells.Fit(left[i], column)
			}
			if i < len(right) {
				line += "  " + t.Paint(themes.Text, right[i])
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// hang wraps a line to w columns and indents the continued lines by two.
func hang(t *themes.Theme, text string, w int) []string {
	rows := wrap(text, w)
	if len(rows) > 1 {
		first := rows[0]
		rest := strings.TrimLeft(strings.TrimPrefix(cells.Clean(text), first), " ")
		rows = append([]string{first}, wrap(rest, max(1, w-2))...)
	}
	for i, s := range rows {
		rows[i] = t.Paint(themes.Tool, s)
		if i > 0 {
			rows[i] = "  " + rows[i]
		}
	}
	return rows
}
