package dialog

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"fantail/themes"
	"fantail/ui/cells"
	"fantail/ui/markdown"
)

// RevealRow is one row of what a human approves.
type RevealRow struct {
	Gutter string // shown before it, never part of the text
	Text   string
	Role   themes.Role

	diff *markdown.DiffRows // instead of Text: its row at
	at   int
}

// paint returns the row as it shows.
func (r RevealRow) paint(t *themes.Theme) string {
	if r.diff != nil {
		return r.diff.Row(r.at)
	}
	return t.Paint(themes.Dim, r.Gutter) + t.Paint(r.Role, r.Text)
}

// chopLine breaks a revealed line into rows of at most w columns, after a blank if one is near.
// Unlike wrapping it drops nothing: the rows joined are s.
func chopLine(s string, w int) []string {
	w = max(w, 1)
	if len(s) <= w && ascii(s) {
		return []string{s}
	}
	var rows []string
	start, used, blank := 0, 0, -1
	for i := 0; i < len(s); {
		n, cw := 1, 1
		if s[i] >= utf8.RuneSelf || i+1 < len(s) && s[i+1] >= utf8.RuneSelf {
			cluster, _ := ansi.FirstGraphemeCluster(s[i:], ansi.GraphemeWidth)
			n = max(1, len(cluster))
			cw = cells.Width(s[i : i+n])
		}
		if used+cw > w && i > start {
			end := i
			if blank > start && i-blank <= w/2 {
				end = blank
			}
			rows = append(rows, s[start:end])
			start, used, blank = end, cells.Width(s[end:i]), -1
		}
		used += cw
		i += n
		if s[i-1] == ' ' {
			blank = i
		}
	}
	return append(rows, s[start:])
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// commandRows shows a command in full. `$` and `>` mark its own lines, as in a shell, and
// distinguish them from rows that only continue one.
func commandRows(command string, w int) []RevealRow {
	var out []RevealRow
	gutter := "$ "
	for s := range strings.SplitSeq(cells.Reveal(command), "\n") {
		for _, row := range chopLine(s, w-2) {
			out = append(out, RevealRow{Gutter: gutter, Text: row, Role: themes.Code})
			gutter = "  "
		}
		gutter = "> "
	}
	return out
}

// diffRows shows a diff in full. A row that adds or removes something has the role for that.
func diffRows(d *markdown.DiffRows) []RevealRow {
	out := make([]RevealRow, d.Len())
	for i := range out {
		out[i] = RevealRow{Role: themes.Text, diff: d, at: i}
		switch d.Sign(i) {
		case '+':
			out[i].Role = themes.Good
		case '-':
			out[i].Role = themes.Bad
		}
	}
	return out
}

// runOnRows returns the rows of one line of text, marked where it continues.
func runOnRows(s string, w int, role themes.Role) []RevealRow {
	if len(s) <= w && ascii(s) || cells.Width(s) <= w {
		return []RevealRow{{Text: s, Role: role}}
	}
	var out []RevealRow
	gutter := ""
	for _, row := range chopLine(s, w-1) {
		out = append(out, RevealRow{Gutter: gutter, Text: row, Role: role})
		gutter = "↪"
	}
	return out
}
