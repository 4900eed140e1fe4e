package composer

import (
	"strings"

	"charm.land/lipgloss/v2"

	"fantail/themes"
	"fantail/ui/cells"
)

// row is one line of the screen: cells[from:to]. Only a line end may be at to without belonging to the next row.
type row struct{ from, to int }

type valueCache struct {
	ok      bool
	version int
	s       string
}

// rowCache is the text laid out for one width.
type rowCache struct {
	ok      bool
	version int
	width   int
	rows    []row
}

// lineCache is the last answer of Lines.
type lineCache struct {
	w, h  int
	lines []string
	x, y  int // the cursor
	top   int // the first row shown
}

// look is the theme's styles as the box needs them.
type look struct {
	chosen, chosenMatch lipgloss.Style
}

func newLook(t *themes.Theme) look {
	s := t.Style(themes.Selection)
	return look{chosen: s, chosenMatch: s.Bold(true).Underline(true)}
}

// indent returns the width of the prompt before the first row; the other rows are indented by the same.
func (b *Box) indent(w int) int { return min(cells.Width(b.prompt), w/2) }

// room returns how many columns the text has. The last column of the box is for a cursor after a full row.
func (b *Box) room(w int) int { return max(1, w-b.indent(w)-1) }

// layout breaks the text into rows of at most width columns, at blanks where it can. Blanks that do not fit stay at
// the end of their row.
func (b *Box) layout(width int) []row {
	c := &b.rows
	if c.ok && c.version == b.text.version && c.width == width {
		return c.rows
	}
	rows := c.rows[:0]
	cells := b.text.cells
	for from := 0; ; {
		to, next := breakRow(cells, from, width)
		rows = append(rows, row{from, to})
		if next < 0 {
			break
		}
		from = next
	}
	*c = rowCache{ok: true, version: b.text.version, width: width, rows: rows}
	return rows
}

// breakRow returns the end of the row that begins at from, and where the next one begins; -1 if there is none.
func breakRow(cells []cell, from, width int) (to, next int) {
	w, blank := 0, -1
	for i := from; i < len(cells); i++ {
		c := cells[i]
		if c.newline() {
			return i, i + 1
		}
		cw := min(int(c.w), width)
		if w+cw <= width {
			w += cw
			if c.space() {
				blank = i + 1
			}
			continue
		}
		if c.space() {
			for i < len(cells) && cells[i].space() && !cells[i].newline() {
				i++
			}
			if i == len(cells) {
				return i, -1
			}
			if cells[i].newline() {
				return i, i + 1
			}
			return i, i
		}
		if blank > from {
			i = blank
		}
		return i, i
	}
	return len(cells), -1
}

// rowOf returns the row of a cursor before cells[i].
func rowOf(rows []row, i int) int {
	lo, hi := 0, len(rows)-1
	for lo < hi {
		mid := (lo + hi + 1) / 2
		if rows[mid].from <= i {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}

// column returns the cursor's column in its row.
func (b *Box) column(r row, width int) int {
	x := 0
	for _, c := range b.text.cells[r.from:max(r.from, b.text.at)] {
		x += min(int(c.w), width)
	}
	return min(x, width)
}

// vertical moves the cursor by one row and reports whether there was one.
func (b *Box) vertical(by int) bool {
	width := max(b.rows.width, 1)
	if !b.rows.ok {
		width = 1 << 15
	}
	rows := b.layout(width)
	i := rowOf(rows, b.text.at)
	to := i + by
	if to < 0 || to >= len(rows) {
		return false
	}
	if b.text.goal < 0 {
		b.text.goal = b.column(rows[i], width)
	}
	r := rows[to]
	x, at := 0, r.from
	for at < r.to && x+min(int(b.text.cells[at].w), width) <= b.text.goal {
		x += min(int(b.text.cells[at].w), width)
		at++
	}
	// The position after a row that runs on is the beginning of the next one.
	if at == r.to && to+1 < len(rows) && rows[to+1].from == r.to && at > r.from {
		at--
	}
	b.text.at = at
	return true
}

// Height returns how many lines the box needs at width w, at most max.
func (b *Box) Height(w, max int) int {
	if w <= 0 || max <= 0 {
		return 0
	}
	if b.find != nil {
		return min(max, b.findHeight())
	}
	return min(max, len(b.layout(b.room(w))))
}

// Lines returns exactly h lines of at most w columns. It renders only what changed since the last call with the same
// size.
func (b *Box) Lines(w, h int) []string {
	if w <= 0 || h <= 0 {
		return nil
	}
	if !b.dirty && b.last.w == w && b.last.h == h {
		return b.last.lines
	}
	top := b.last.top
	b.last = lineCache{w: w, h: h, lines: make([]string, 0, h)}
	if b.find != nil {
		b.findRows(w, h)
	} else {
		b.textRows(w, h, top)
	}
	for len(b.last.lines) < h {
		b.last.lines = append(b.last.lines, "")
	}
	b.dirty = false
	return b.last.lines
}

// Cursor returns the cursor's position within the last Lines.
func (b *Box) Cursor() (x, y int) { return b.last.x, b.last.y }

// textRows renders the rows around the cursor; it scrolls only as far as the cursor requires.
func (b *Box) textRows(w, h, top int) {
	width, indent := b.room(w), b.indent(w)
	rows := b.layout(width)
	at := rowOf(rows, b.text.at)
	top = min(top, at, max(0, len(rows)-h))
	top = max(top, at-h+1, 0)
	b.last.top = top
	b.last.x = min(indent+b.column(rows[at], width), w-1)
	b.last.y = at - top
	if b.Empty() && b.empty != "" {
		b.last.lines = append(b.last.lines, b.gutter(0, h, top, len(rows), indent)+b.theme.Paint(themes.Dim, cells.Cut(b.empty, width)))
		return
	}
	command := b.commandEnd()
	for y := 0; y < h && top+y < len(rows); y++ {
		b.last.lines = append(b.last.lines, b.gutter(y, h, top, len(rows), indent)+b.paint(rows[top+y], width, command))
	}
}

// gutter returns the columns before a row: the prompt before the first, arrows where more rows are hidden.
func (b *Box) gutter(y, h, top, rows, indent int) string {
	mark := ""
	switch {
	case top+y == 0:
		return b.theme.Paint(themes.Accent, cells.Fit(b.prompt, indent))
	case y == 0:
		mark = "↑"
	case y == h-1 && top+h < rows:
		mark = "↓"
	default:
		return strings.Repeat(" ", indent)
	}
	return b.theme.Paint(themes.Dim, cells.Fit(mark, indent))
}

// commandEnd returns where the `/command` ends with which the text begins, or the & that starts an agent.
func (b *Box) commandEnd() int {
	if b.Starts() {
		return 1
	}
	if len(b.text.cells) == 0 || b.text.cells[0].s != "/" {
		return 0
	}
	i := 1
	for i < len(b.text.cells) && !b.text.cells[i].space() {
		i++
	}
	return i
}

// paint renders one row, run by run of the same role.
func (b *Box) paint(r row, width, command int) string {
	var line, run strings.Builder
	role, used := themes.Text, 0
	flush := func() {
		if run.Len() > 0 {
			line.WriteString(b.theme.Paint(role, run.String()))
			run.Reset()
		}
	}
	for i := r.from; i < r.to; i++ {
		c := b.text.cells[i]
		cw := min(int(c.w), width)
		if used+cw > width {
			break // blanks at the end of the row that do not fit
		}
		used += cw
		as := themes.Text
		switch {
		case c.chip > 0 || i < command:
			as = themes.Accent
		case c.odd && c.s != "\t":
			as = themes.Dim
		}
		if as != role {
			flush()
			role = as
		}
		if int(c.w) > width {
			run.WriteString(cells.Fit(cells.Cut(c.show(), width), width))
			continue
		}
		run.WriteString(c.show())
	}
	flush()
	return line.String()
}
