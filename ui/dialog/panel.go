package dialog

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"fantail/themes"
	"fantail/ui/cells"
)

// A box has a border all around, and a blank on either side of its text.
const (
	borderRows = 2
	borderCols = 4
)

// panel draws a box of w columns around lines of at most w-borderCols columns.
func panel(t *themes.Theme, w int, titleRole themes.Role, title, hint string, lines []string) []string {
	for i, line := range lines {
		lines[i] = cells.Fit(line, max(0, w-borderCols))
	}
	return framed(t, w, titleRole, title, hint, lines)
}

// framed is panel for lines that have the exact width already: measuring them is most of their
// cost.
func framed(t *themes.Theme, w int, titleRole themes.Role, title, hint string, lines []string) []string {
	out := make([]string, 0, len(lines)+borderRows)
	out = append(out, edge(t, w, "╭─", titleRole, title, "╮"))
	bar := t.Paint(themes.Border, "│")
	for _, line := range lines {
		out = append(out, bar+" "+line+" "+bar)
	}
	return append(out, edge(t, w, "╰─", themes.Dim, hint, "╯"))
}

// titleCols is how many columns of a box its title can't have.
const titleCols = 6

// bright is panel for a question: its border has the colour of questions. title is painted.
func bright(t *themes.Theme, w int, title, hint string, lines []string) []string {
	out := make([]string, 0, len(lines)+borderRows)
	rest := strings.Repeat("─", max(0, w-cells.Width(title)-5)) + "╮"
	out = append(out, cells.Fit(t.Paint(themes.Warn, "╭─ ")+title+t.Paint(themes.Warn, " "+rest), w))
	bar := t.Paint(themes.Warn, "│")
	for _, line := range lines {
		out = append(out, bar+" "+cells.Fit(line, max(0, w-borderCols))+" "+bar)
	}
	if hint = cells.Cut(hint, max(0, w-titleCols)); hint != "" {
		hint = " " + hint + " "
	}
	rest = strings.Repeat("─", max(0, w-cells.Width(hint)-3)) + "╯"
	return append(out, cells.Fit(t.Paint(themes.Warn, "╰─")+t.Paint(themes.Dim, hint)+t.Paint(themes.Warn, rest), w))
}

// edge returns the upper or lower border with a text in it.
func edge(t *themes.Theme, w int, corner string, role themes.Role, text, end string) string {
	if text = cells.Cut(text, max(0, w-6)); text != "" {
		text = " " + text + " "
	}
	rest := strings.Repeat("─", max(0, w-cells.Width(corner+text+end))) + end
	return cells.Fit(t.Paint(themes.Border, corner)+t.Paint(role, text)+t.Paint(themes.Border, rest), w)
}

// fits reports whether a box of w by h can show anything.
func fits(w, h int) bool { return w > borderCols+1 && h > borderRows }

// scroll is a position in lines of which only some are visible.
type scroll struct{ top, view, total int }

// set sets the visible and the total number of lines. The position stays within them.
func (s *scroll) set(view, total int) {
	s.view, s.total = max(view, 1), total
	s.to(s.top)
}

func (s *scroll) to(top int) { s.top = max(0, min(top, s.total-s.view)) }

// key scrolls by the keys that all boxes have for that.
func (s *scroll) key(key string) bool {
	switch key {
	case "pgup", "ctrl+u":
		s.to(s.top - max(1, s.view-1))
	case "pgdown", "ctrl+d":
		s.to(s.top + max(1, s.view-1))
	case "home", "ctrl+home":
		s.to(0)
	case "end", "ctrl+end":
		s.to(s.total)
	case "shift+up", "ctrl+up":
		s.to(s.top - 1)
	case "shift+down", "ctrl+down":
		s.to(s.top + 1)
	default:
		return false
	}
	return true
}

// read also scrolls by the keys of a pager, for boxes in which nothing is typed or chosen.
func (s *scroll) read(key string) {
	same := map[string]string{
		"up": "shift+up", "k": "shift+up", "down": "shift+down", "j": "shift+down",
		"space": "pgdown", "f": "pgdown", "b": "pgup", "g": "home", "shift+g": "end",
	}
	if k, ok := same[key]; ok {
		key = k
	}
	s.key(key)
}

// typedText returns what the key types: nothing if it is held with Ctrl or Alt.
func typedText(k tea.KeyPressMsg) string {
	if k.Mod&(tea.ModCtrl|tea.ModAlt|tea.ModMeta|tea.ModHyper|tea.ModSuper) != 0 {
		return ""
	}
	return k.Text
}

// wrap cleans a text of the program and breaks it into lines.
func wrap(text string, w int) []string {
	return cells.Wrap(strings.Trim(cells.Clean(text), "\n"), max(1, w))
}
