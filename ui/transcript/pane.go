package transcript

import (
	"strings"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/inbox"
	"fantail/themes"
	"fantail/ui/cells"
)

// A view can also show a text, a table or a single answer instead of a transcript.

// Row is a line of a table. A row without a label continues the one above; an empty one is a gap.
type Row struct{ Label, Text string }

// reset forgets all that is shown.
func (v *View) reset() {
	v.blocks, v.warm, v.live, v.selected, v.below = nil, nil, stream{}, -1, 0
	v.more = false // there is nothing older to read
}

// rest leaves the view at its top until it is scrolled.
func (v *View) rest() { v.still, v.follow, v.top = true, false, anchor{} }

// Text shows a text from its beginning. It is copied as one, unwrapped.
func (v *View) Text(s string) { v.Marked("", s) }

// Marked is Text below a warning that is no part of it.
func (v *View) Marked(warning, s string) {
	v.reset()
	v.rest()
	if warning != "" {
		v.blocks = append(v.blocks, &block{kind: warned, text: warning})
	}
	v.pieces(s)
}

// Part is a text below a line that says what it is.
type Part struct{ Head, Text string }

// Series shows texts one below the other from the first one's beginning.
func (v *View) Series(ps []Part) {
	v.reset()
	v.rest()
	for _, p := range ps {
		v.blocks = append(v.blocks, &block{kind: host, text: p.Head})
		v.pieces(p.Text)
	}
}

// pieces adds a text that is copied as one.
func (v *View) pieces(s string) {
	g := &group{text: s}
	for len(s) > 0 {
		var text string
		text, s = cutPiece(s)
		v.blocks = append(v.blocks, &block{kind: piece, text: text, group: g})
	}
}

// pieceBytes is about how much of a text one block holds, so that only the visible part is wrapped.
const pieceBytes = 2 << 10

// cutPiece cuts off the first lines of s, or words of a line that is too long.
func cutPiece(s string) (piece, rest string) {
	if len(s) <= pieceBytes {
		return strings.TrimSuffix(s, "\n"), ""
	}
	if i := strings.LastIndexByte(s[:pieceBytes], '\n'); i >= 0 {
		return s[:i], s[i+1:]
	}
	if i := strings.LastIndexByte(s[:pieceBytes], ' '); i > 0 {
		return s[:i], s[i+1:]
	}
	piece = strings.TrimSuffix(clipTo(s, pieceBytes), "…")
	return piece, s[len(piece):]
}

// Table shows rows. The scroll position stays when rows change.
func (v *View) Table(rows []Row) {
	var whole strings.Builder
	for _, r := range rows {
		whole.WriteString(strings.TrimRight(cells.Fit(r.Label, labelCols)+r.Text, " ") + "\n")
	}
	if len(rows) != len(v.blocks) {
		v.reset()
		if !v.still {
			v.rest()
		}
		g := &group{}
		for range rows {
			v.blocks = append(v.blocks, &block{kind: row, group: g})
		}
	}
	for i, r := range rows {
		b := v.blocks[i]
		b.group.text = whole.String()
		if b.label != r.Label || b.text != r.Text {
			b.label, b.text = r.Label, r.Text
			b.touch()
		}
	}
}

// Answer shows one answer, from its beginning.
func (v *View) Answer(markdown string) {
	v.Written(markdown)
	v.rest()
}

// Written shows an answer that is still being written: the view follows its end.
func (v *View) Written(markdown string) {
	v.reset()
	v.Append([]history.Entry{{Kind: history.EntryText, Text: markdown}})
	v.still, v.follow, v.top = false, true, anchor{}
}

// Letter shows a message's whole text as on its card.
func (v *View) Letter(m inbox.Message) {
	text := strings.Trim(body(&m), "\n")
	if prose, ok := proseOf(&m, text); ok {
		v.Answer(prose)
		return
	}
	v.Text(text)
}

// Reply returns the reply that is being streamed, without the thinking, as deltas that would produce it.
func (v *View) Reply() []event.Delta {
	var ds []event.Delta
	for _, l := range v.live.blocks {
		if v.live.on && l.plain == answer {
			ds = append(ds, event.Delta{Agent: v.info.ID, Block: l.number, Text: l.source()})
		}
	}
	return ds
}

// Source returns the unwrapped text of all that is shown, if it is one piece: of a text, a table, an answer.
func (v *View) Source() string {
	var texts []string
	var last *group
	for _, b := range v.blocks {
		if b.group != nil && b.group != last {
			last = b.group
			texts = append(texts, last.source())
		}
	}
	return strings.Join(texts, "\n\n")
}

// Tail returns the last h lines, whatever the scroll position. They show what Jobs renders, at that width.
func (v *View) Tail(w, h int) []string {
	was := *v
	v.follow, v.aside = true, true
	ls := v.Lines(w, h)
	v.aside, v.follow, v.top, v.below, v.moves, v.ages = false, was.follow, was.top, was.below, was.moves, was.ages
	return ls
}

// labelCols is the width of a table's labels.
const labelCols = 11

// row renders a line of a table: what does not fit continues below the text.
func (c canvas) row(b *block) []string {
	label := c.theme.Paint(themes.Dim, cells.Fit(cells.CleanLine(b.label), labelCols))
	lines := cells.Wrap(cells.Clean(b.text), max(c.inner()-labelCols, 1))
	for i, l := range lines {
		lines[i] = c.theme.Paint(themes.Text, l)
	}
	return c.rows(c.mark(" ", themes.Dim)+label, c.mark(" ", themes.Dim)+cells.Spaces(labelCols), lines)
}

// warned returns a warning above a text.
func (c canvas) warned(b *block) []string {
	bar := c.mark("▌", themes.Bad)
	var lines []string
	for _, l := range cells.Wrap(cells.Clean(b.text), c.inner()) {
		lines = append(lines, c.theme.Paint(themes.Strong, l))
	}
	return c.rows(bar, bar, lines)
}

// piece returns a piece of a text.
func (c canvas) piece(b *block) []string {
	bar := c.mark(" ", themes.Dim)
	return c.rows(bar, bar, cells.Wrap(cells.Clean(b.text), c.inner()))
}
