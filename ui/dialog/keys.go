package dialog

import (
	tea "charm.land/bubbletea/v2"

	"fantail/themes"
	"fantail/ui/cells"
)

// keySheet is a page of keys.
type keySheet struct{ page }

// NewKeys shows keys and what they do, in as many columns as fit, at most three. Esc, Enter and ? close it.
func NewKeys(t *themes.Theme, title string, rows []Row) Box {
	return &keySheet{page{
		theme: t, title: cells.CleanLine(title), keys: "esc close",
		lay: func(w int) []string { return keyColumns(t, rows, w) },
	}}
}

func (b *keySheet) Key(k tea.KeyPressMsg) Decision {
	if typedText(k) == "?" {
		return Cancelled{}
	}
	return b.page.Key(k)
}

// A column of keys has at least that width, and columns are that far apart.
const (
	keyCols = 30
	keyGap  = 3
)

// keyColumns lays rows out in columns, from top to bottom.
func keyColumns(t *themes.Theme, rows []Row, w int) []string {
	n := max(1, min(3, (w+keyGap)/(keyCols+keyGap)))
	col := (w - (n-1)*keyGap) / n
	per := (len(rows) + n - 1) / n
	var lines []string
	for c := 0; c < n && c*per < len(rows); c++ {
		for i, s := range keyLines(t, rows[c*per:min(len(rows), (c+1)*per)], col) {
			for i >= len(lines) {
				lines = append(lines, "")
			}
			if c > 0 {
				lines[i] = cells.Fit(lines[i], c*(col+keyGap))
			}
			lines[i] += s
		}
	}
	return lines
}

// keyLines returns the lines of one column.
func keyLines(t *themes.Theme, rows []Row, w int) (lines []string) {
	left := 0
	for _, r := range rows {
		left = max(left, cells.Width(cells.CleanLine(r.Left)))
	}
	left = min(left, w/2)
	for _, r := range rows {
		for i, s := range wrap(r.Right, w-left-2) {
			name := ""
			if i == 0 {
				name = cells.CleanLine(r.Left)
			}
			lines = append(lines, t.Paint(themes.Accent, cells.Fit(name, left))+"  "+t.Paint(themes.Text, s))
		}
	}
	return lines
}
