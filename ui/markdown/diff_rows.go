package markdown

import (
	"strconv"
	"strings"

	"github.com/alecthomas/chroma/v2"

	"fantail/themes"
	"fantail/ui/cells"
)

// DiffRows are a diff's rows for a width and a theme. A row is painted when it first shows.
type DiffRows struct {
	*Diff
	theme *themes.Theme
	code  *coder
	width int  // of a side
	two   bool // side by side
	rows  []diffRow
}

// diffRow is a row: a line or a piece of it; side by side, of the old file and the new one.
type diffRow struct {
	left, right diffPiece
	painted     string
}

// diffPiece is a piece of a line; line -1: none.
type diffPiece struct {
	line, from, to int
	more           bool // the line began in a row above
}

// sideBySide is the width from which a change has the old file at the left and the new one at the right.
const sideBySide = 150

// Lay breaks the diff into rows of at most width cells.
func (d *Diff) Lay(width int, t *themes.Theme) *DiffRows {
	r := &DiffRows{Diff: d, theme: t, code: newCoder(t), width: max(width, 1)}
	if width >= sideBySide && d.Added > 0 && d.Removed > 0 {
		r.width, r.two = (width-1)/2, true
		r.beside()
		return r
	}
	for i := range d.lines {
		if r.skips(i) {
			continue
		}
		for _, p := range r.pieces(i) {
			r.rows = append(r.rows, diffRow{left: p, right: diffPiece{line: -1}})
		}
	}
	return r
}

// beside lays the old file and the new one side by side.
func (r *DiffRows) beside() {
	put := func(left, right []diffPiece) {
		for k := range max(len(left), len(right)) {
			row := diffRow{left: diffPiece{line: -1}, right: diffPiece{line: -1}}
			if k < len(left) {
				row.left = left[k]
			}
			if k < len(right) {
				row.right = right[k]
			}
			r.rows = append(r.rows, row)
		}
	}
	for i := 0; i < len(r.lines); {
		switch r.lines[i].sign {
		case 0, 'f':
			if !r.skips(i) {
				put(r.pieces(i), nil)
			}
			i++
		case ' ':
			put(r.pieces(i), r.pieces(i))
			i++
		default:
			old := i
			for i < len(r.lines) && r.lines[i].sign == '-' {
				i++
			}
			now := i
			for i < len(r.lines) && r.lines[i].sign == '+' {
				i++
			}
			for k := range max(now-old, i-now) {
				var left, right []diffPiece
				if old+k < now {
					left = r.pieces(old + k)
				}
				if now+k < i {
					right = r.pieces(now + k)
				}
				put(left, right)
			}
		}
	}
}

// skips reports whether line i is for the caller to show: the name of the only file.
func (r *DiffRows) skips(i int) bool { return r.lines[i].sign == 'f' && r.files == 1 }

// numbered reports whether line numbers have a place.
func (r *DiffRows) numbered() bool { return r.digits > 0 && r.width >= r.digits+20 }

// margin is the columns before a line's text: its number and its sign.
func (r *DiffRows) margin(l *diffLine) int {
	switch {
	case l.sign == 0 || l.sign == 'f' || r.width < 4:
		return 0
	case r.numbered():
		return r.digits + 3
	}
	return 2
}

// pieces breaks line i. The pieces joined are its text.
func (r *DiffRows) pieces(i int) []diffPiece {
	l := &r.lines[i]
	text, width := l.text, max(r.width-r.margin(l), 1)
	var out []diffPiece
	for from := 0; ; {
		head, _ := cells.Head(text[from:], width)
		if head == "" && from < len(text) { // a character wider than the row
			head, _ = cells.First(text[from:])
		}
		out = append(out, diffPiece{i, from, from + len(head), from > 0})
		if from += len(head); from >= len(text) {
			return out
		}
	}
}

// Len returns the number of rows.
func (r *DiffRows) Len() int { return len(r.rows) }

// Sign returns '+' or '-' for a row of an added or removed line, and ' ' for others.
func (r *DiffRows) Sign(i int) byte {
	for _, p := range []diffPiece{r.rows[i].left, r.rows[i].right} {
		if p.line >= 0 && (r.lines[p.line].sign == '+' || r.lines[p.line].sign == '-') {
			return r.lines[p.line].sign
		}
	}
	return ' '
}

// Row returns row i, painted.
func (r *DiffRows) Row(i int) string {
	row := &r.rows[i]
	if row.painted == "" {
		row.painted = r.side(row.left, '-')
		if r.two {
			row.painted = cells.Fit(row.painted, r.width) + r.theme.Paint(themes.Rule, "│") + r.side(row.right, '+')
		}
	}
	return row.painted
}

// coloured is how many rows Rows paints with their syntax, because finding it takes much longer than all else.
const coloured = 400

// Rows returns rows of a range, to excluded.
func (r *DiffRows) Rows(from, to int) []string {
	out := make([]string, 0, to-from)
	for i := from; i < to; i++ {
		if len(out) == coloured {
			r.code = &coder{plain: true, lexers: map[string]chroma.Lexer{}}
		}
		out = append(out, r.Row(i))
	}
	return out
}

// side paints a piece. Side by side it is the old file's or the new one's.
func (r *DiffRows) side(p diffPiece, sign byte) string {
	if p.line < 0 {
		return cells.Spaces(r.width)
	}
	l := &r.lines[p.line]
	switch l.sign {
	case 0:
		return r.theme.Paint(themes.Dim, l.text[p.from:p.to])
	case 'f':
		if p.from == 0 && p.to == len(l.text) {
			return cells.Cut(r.theme.Paint(themes.Text, l.text)+" "+counts(r.theme, l.now, l.old), r.width)
		}
		return r.theme.Paint(themes.Text, l.text[p.from:p.to])
	}
	if c := &r.chunks[l.chunk]; !c.ready {
		r.prepare(c, r.code)
	}
	k := ink{theme: r.theme, surface: themes.Text, word: themes.Text, mark: themes.Dim}
	switch l.sign {
	case '+':
		k.surface, k.word, k.mark = themes.Added, themes.AddedWord, themes.Good
	case '-':
		k.surface, k.word, k.mark = themes.Removed, themes.RemovedWord, themes.Bad
	}
	var b strings.Builder
	margin := r.margin(l)
	if margin > 2 {
		b.WriteString(r.theme.On(k.surface, themes.Dim, r.number(l, p, sign)))
	}
	if margin > 0 {
		glyph := string(rune(l.sign))
		if p.more {
			glyph = "↪"
		}
		b.WriteString(r.theme.On(k.surface, k.mark, glyph+" "))
	}
	k.write(&b, l, p)
	if rest := r.width - margin - cells.Width(l.text[p.from:p.to]); k.tinted() {
		b.WriteString(r.theme.On(k.surface, themes.Text, cells.Spaces(rest)))
	}
	return b.String()
}

// number returns the number before a line and the space after it. A removed line, and what is at the left, has that of
// the old file.
func (r *DiffRows) number(l *diffLine, p diffPiece, side byte) string {
	n := l.now
	if l.sign == '-' || r.two && side == '-' {
		n = l.old
	}
	if n == 0 || p.more {
		return cells.Spaces(r.digits + 1)
	}
	s := strconv.Itoa(n)
	return cells.Spaces(r.digits-len(s)) + s + " "
}

// ink is what a line is painted with.
type ink struct {
	theme         *themes.Theme
	surface, word themes.Role
	mark          themes.Role // of its sign
}

// tinted reports whether the surface shows. Without one the whole line has the sign's colour.
func (k ink) tinted() bool { return k.theme.Look(k.surface).Background != "" }

// write paints a piece of a line: its syntax, on the surface of the line or of a changed word.
func (k ink) write(b *strings.Builder, l *diffLine, p diffPiece) {
	flat := !k.tinted() && k.surface != themes.Text
	at, words := 0, l.words
	for _, s := range l.parts {
		from, to := max(at, p.from), min(at+len(s.text), p.to)
		at += len(s.text)
		role := s.role
		if flat {
			role = k.mark
		}
		for from < to {
			for len(words) > 0 && words[0].to <= from {
				words = words[1:]
			}
			end, surface := to, k.surface
			switch {
			case len(words) == 0 || words[0].from >= to:
			case words[0].from > from:
				end = words[0].from
			default:
				end, surface = min(to, words[0].to), k.word
			}
			b.WriteString(k.theme.On(surface, role, l.text[from:end]))
			from = end
		}
	}
}
