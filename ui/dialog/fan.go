package dialog

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fantail/themes"
	"fantail/ui/cells"
)

// Cell is what the Fan shows of an agent around its last lines.
type Cell struct {
	Sign  string
	Role  themes.Role
	Name  string
	Word  string   // its state and for how long: `asks · 2:31`
	Pulse string   // how much it wrote lately, in six cells; "": it does not work
	Mail  string   // its pending mail, as the tabs show it
	Foot  []string // painted lines below its last lines, as wide as the cell's text
	Asks  bool     // a question of it is open
	Moves bool     // it changes with time
	Keys  []string // keys that act on it, and what they do: `x end`
}

// FanSource is what the Fan reads when it draws.
type FanSource struct {
	Cell  func(id int64, w, h int) Cell     // for a text of w by h cells
	Tail  func(id int64, w, h int) []string // the last lines of an agent
	Head  func() (left, right string)       // painted
	Below func(w, h int) []string           // painted lines below the cells, at most h
}

// Fan is a wall of cells, one for each agent, with what each of them says last. The agents stay in
// their order, and the bar on its agent, whatever happens.
type Fan struct {
	theme  *themes.Theme
	source FanSource

	members []Member
	listed  []int // indexes into members: those that the filter matches
	at      int64 // selected agent
	filter  *input
	typing  bool
	zoomed  bool // the selected agent fills the wall

	grid  grid    // of the last frame
	shown []int64 // agents of the last frame
	moves bool
	keys  []string // of the selected agent
	cx    int
}

// grid is how the cells are laid out.
type grid struct{ cols, rows, per int }

// The size of a cell, with its border, below which there are fewer of them.
const (
	cellCols = 38
	cellRows = 7
	maxCells = 3 // beside and above one another
)

// gridOf lays out n cells in w columns and h rows.
func gridOf(n, w, h int) grid {
	cols, rows := max(1, min(maxCells, w/cellCols)), max(1, min(maxCells, h/cellRows))
	per := cols * rows
	rows = min(rows, (n+cols-1)/cols)
	rows = max(rows, 1)
	return grid{cols: max(1, min(cols, (min(n, per)+rows-1)/rows)), rows: rows, per: per}
}

// NewFan makes the Fan with the agent at selected.
func NewFan(t *themes.Theme, at int64, source FanSource) *Fan {
	return &Fan{theme: t, at: at, source: source, filter: newInput()}
}

// SetTheme changes the colours.
func (b *Fan) SetTheme(t *themes.Theme) { b.theme = t }

// Members replaces the agents.
func (b *Fan) Members(ms []Member) {
	was := max(b.place(), 0)
	b.members = ms
	b.list(was)
}

// list lists the filter's matches. If the selected agent is gone, the one in its place is selected.
func (b *Fan) list(was int) {
	word := strings.ToLower(b.filter.value())
	b.listed = b.listed[:0]
	for i, m := range b.members {
		if word == "" || strings.Contains(strings.ToLower(m.Name), word) || strings.HasPrefix(m.State, word) {
			b.listed = append(b.listed, i)
		}
	}
	if n := len(b.listed); n > 0 && b.place() < 0 {
		b.at = b.members[b.listed[min(was, n-1)]].ID
	}
}

// At returns the selected agent; 0: none.
func (b *Fan) At() int64 {
	if b.place() < 0 {
		return 0
	}
	return b.at
}

// Typing reports whether keys that type something go to the filter.
func (b *Fan) Typing() bool { return b.typing }

// Shown returns the agents that the last frame showed.
func (b *Fan) Shown() []int64 { return b.shown }

// Moves reports whether a cell of the last frame changes with time.
func (b *Fan) Moves() bool { return b.moves }

// Zoom has the selected agent fill the wall, or no longer.
func (b *Fan) Zoom() { b.zoomed = !b.zoomed }

// place returns the place of the selected agent among those listed; -1: it is not.
func (b *Fan) place() int {
	return slices.IndexFunc(b.listed, func(i int) bool { return b.members[i].ID == b.at })
}

// move selects the agent that many places further on.
func (b *Fan) move(by int) {
	if n := len(b.listed); n > 0 {
		b.at = b.members[b.listed[max(0, min(n-1, b.place()+by))]].ID
	}
}

// next selects the next agent that asks.
func (b *Fan) next() {
	n, at := len(b.listed), b.place()
	for i := 1; i <= n; i++ {
		if m := b.members[b.listed[(at+i)%n]]; m.State == "asking" {
			b.at = m.ID
			return
		}
	}
}

// fanVerbs are the actions on the selected agent by their keys, and those on none.
var fanVerbs = map[string]string{
	"space": "peek", "m": "tell", "x": "remove", "w": "wrap", "r": "respawn", "c": "check", "u": "undo", "l": "table", "t": "timeline", "?": "keys",
	"f3": "inbox", "f4": "queue", "f6": "schedules",
}

func (b *Fan) Key(k tea.KeyPressMsg) Decision {
	key := k.Keystroke()
	if typed := typedText(k); typed == "?" || typed == "/" {
		key = typed
	}
	switch key {
	case "f2":
		return Cancelled{}
	case "enter":
		if at := b.At(); at != 0 {
			return Opened{at}
		}
		return nil
	case "esc":
		return b.back()
	}
	if b.keyMove(key) {
		return nil
	}
	if b.typing {
		b.edit(func() { b.filter.key(k) })
		return nil
	}
	switch {
	case key == "/":
		b.typing, b.zoomed = true, false
	case fanVerbs[key] != "":
		return Wanted{fanVerbs[key], b.At()}
	default:
		b.keyMove(map[string]string{"j": "down", "k": "up", "home": "ctrl+home", "end": "ctrl+end"}[key])
	}
	return nil
}

// back ends what narrows the wall, else closes it.
func (b *Fan) back() Decision {
	switch {
	case b.typing || b.filter.value() != "":
		b.typing, b.filter = false, newInput()
		b.list(0)
	case b.zoomed:
		b.zoomed = false
	default:
		return Cancelled{}
	}
	return nil
}

// keyMove takes the keys that select another agent, also while a filter is typed.
func (b *Fan) keyMove(key string) bool {
	switch key {
	case "left":
		b.move(-1)
	case "right":
		b.move(1)
	case "up", "ctrl+p":
		if b.place() >= b.grid.cols {
			b.move(-b.grid.cols)
		}
	case "down", "ctrl+n":
		if at := b.place(); at/b.grid.cols < (len(b.listed)-1)/b.grid.cols {
			b.move(b.grid.cols)
		}
	case "pgup":
		b.move(-b.grid.per)
	case "pgdown":
		b.move(b.grid.per)
	case "ctrl+home":
		b.move(-len(b.listed))
	case "ctrl+end":
		b.move(len(b.listed))
	case "tab":
		b.next()
	default:
		return false
	}
	return true
}

func (b *Fan) edit(change func()) {
	was := b.filter.value()
	change()
	if b.filter.value() != was {
		b.list(max(b.place(), 0))
	}
}

func (b *Fan) Paste(s string) {
	if b.typing {
		b.edit(func() { b.filter.insert(s) })
	}
}

func (b *Fan) Cursor() (x, y int, ok bool) { return b.cx, 0, b.typing }

func (b *Fan) Lines(w, h int) []string {
	b.shown, b.moves, b.keys = b.shown[:0], false, nil
	out := []string{b.head(w)}
	var below []string
	switch room := h - 2 - cellRows; {
	case b.zoomed:
	case h >= 28:
		below = b.source.Below(w, min(room, max(8, h/4)))
	case h >= 14:
		below = b.source.Below(w, 2)
	}
	page := b.listed
	wall := h - 2 - len(below)
	b.grid = gridOf(len(b.listed), w, wall)
	at, per := max(b.place(), 0), b.grid.per
	if b.zoomed && len(page) > 0 {
		page, b.grid = page[at:at+1], grid{1, 1, 1}
	} else if len(page) > 0 {
		from := at / per * per
		page = page[from:min(from+per, len(page))]
	}
	out = append(out, b.wall(page, w, wall)...)
	for _, l := range below {
		out = append(out, cells.Fit(l, w))
	}
	return append(out, cells.Fit(b.hint(w, at, per), w))
}

// head returns the line above the cells: the filter, else the counts.
func (b *Fan) head(w int) string {
	if b.typing || b.filter.value() != "" {
		view, x := b.filter.view(w - 4)
		b.cx = 3 + x
		return cells.Fit(b.theme.Paint(themes.Accent, " / ")+b.theme.Paint(themes.Text, view), w)
	}
	left, right := b.source.Head()
	left = " " + left
	if cells.Width(left)+cells.Width(right)+3 > w {
		return cells.Fit(left, w)
	}
	return cells.Fit(left, w-cells.Width(right)-1) + right + " "
}

// wall returns h lines with the cells of a page.
func (b *Fan) wall(page []int, w, h int) []string {
	out := make([]string, 0, h)
	if len(page) == 0 {
		out = append(out, cells.Fit(b.theme.Paint(themes.Dim, "  No agent matches"), w))
	}
	for row := 0; row*b.grid.cols < len(page); row++ {
		high := h / b.grid.rows
		if row == b.grid.rows-1 {
			high = h - row*high
		}
		var beside [maxCells][]string
		for col := range b.grid.cols {
			wide := w / b.grid.cols
			if col == b.grid.cols-1 {
				wide = w - col*wide
			}
			if i := row*b.grid.cols + col; i < len(page) {
				beside[col] = b.cell(b.members[page[i]], wide, high)
			} else {
				beside[col] = slices.Repeat([]string{cells.Spaces(wide)}, high)
			}
		}
		for i := range high {
			line := ""
			for col := range b.grid.cols {
				line += beside[col][i]
			}
			out = append(out, line)
		}
	}
	for len(out) < h {
		out = append(out, cells.Spaces(w))
	}
	return out[:h]
}

// cell returns the h lines of an agent's cell.
func (b *Fan) cell(m Member, w, h int) []string {
	inner, rows := max(1, w-borderCols), max(0, h-borderRows)
	c := b.source.Cell(m.ID, inner, rows)
	b.shown, b.moves = append(b.shown, m.ID), b.moves || c.Moves
	edge, line := themes.Border, [...]string{"╭", "─", "╮", "│", "╰", "╯"}
	name := b.theme.Paint(themes.Text, c.Name)
	if m.ID == b.at {
		b.keys = c.Keys
		edge, line = themes.Accent, [...]string{"┏", "━", "┓", "┃", "┗", "┛"}
		name = b.theme.Paint(themes.Selection, " "+c.Name+" ")
	}
	word := themes.Dim
	if c.Asks {
		edge, word = themes.Warn, themes.Warn
	}
	title := b.theme.Paint(c.Role, c.Sign) + " " + name
	if c.Word != "" {
		title += " " + b.theme.Paint(word, c.Word)
	}
	if c.Pulse != "" && cells.Width(title)+cells.Width(c.Pulse)+7 <= w {
		title += " " + b.theme.Paint(themes.Accent, c.Pulse)
	}
	if c.Mail != "" {
		title += " " + b.theme.Paint(themes.Message, c.Mail)
	}
	title = cells.Cut(title, max(1, w-6))
	rest := max(0, w-5-cells.Width(title))
	paint := func(s string) string { return b.theme.Paint(edge, s) }
	out := make([]string, 0, h)
	out = append(out, cells.Fit(paint(line[0]+line[1])+" "+title+" "+paint(strings.Repeat(line[1], rest)+line[2]), w))
	foot := c.Foot[max(0, len(c.Foot)-rows):]
	tail := b.source.Tail(m.ID, inner, rows-len(foot))
	side := paint(line[3])
	for i := range rows {
		text := ""
		switch n := rows - len(foot); {
		case i >= n:
			text = foot[i-n]
		case i < len(tail):
			text = tail[i]
		}
		out = append(out, side+" "+cells.Fit(text, inner)+" "+side)
	}
	return append(out, paint(line[4]+strings.Repeat(line[1], max(0, w-2))+line[5]))
}

// hint names the keys, as many as fit.
func (b *Fan) hint(w, at, per int) string {
	const rest = "esc back"
	hint := " "
	if n := len(b.listed); n > per && !b.zoomed {
		hint += fmt.Sprintf("page %d/%d pgdn · ", at/per+1, (n+per-1)/per)
	}
	for _, part := range slices.Concat([]string{"enter open"}, b.keys, []string{"space peek", "c collect", "t timeline", "l list", "/ find", "? keys"}) {
		if cells.Width(hint+part+" · "+rest) > w-1 {
			break
		}
		hint += part + " · "
	}
	return b.theme.Paint(themes.Dim, hint+rest)
}
