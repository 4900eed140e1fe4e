package dialog

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fantail/themes"
	"fantail/ui/cells"
)

// Member is an agent as the overview sorts and searches it.
type Member struct {
	ID, Parent  int64
	Name, State string
}

// Glance is what a line of the overview shows of an agent.
type Glance struct {
	Sign  string
	Role  themes.Role
	State string // what it does now
	Short string // replaces State where that does not fit; "": State is cut
	Age   string
	Seen  string // time since its last sign of life
	Cost  string
	Mail  string   // its pending mail, as the tabs show it
	Moves bool     // the line changes with time
	Keys  []string // keys that act on it, and what they do: `x end`
}

// Fleet is the overview of all agents, as a tree of who dispatched whom. It reads a line's content
// when it draws the line.
type Fleet struct {
	theme  *themes.Theme
	glance func(id int64) Glance
	peek   func(id int64, w, h int) []string

	members []Member
	lines   []leaf
	longest int   // width of the longest name with its branch
	at      int64 // agent under the bar
	filter  *input
	typing  bool
	peeks   bool
	moves   bool
	keys    []string // of the agent under the bar
	scroll  scroll
	cx, cy  int
}

// leaf is a line of the tree.
type leaf struct {
	member int // index into members
	depth  int
	last   bool   // the last of its siblings
	rails  uint64 // bit n: the ancestor n+1 levels above has later siblings
}

// branch returns the lines drawn before a leaf's name, at most `levels` levels deep. Beyond that a
// number gives the depth.
func (l leaf) branch(levels int) string {
	if l.depth == 0 {
		return ""
	}
	s := ""
	if l.depth-1 > levels {
		s = fmt.Sprint(l.depth, " ")
		levels -= (len(s) + 1) / 2
	}
	for n := min(l.depth-1, levels) - 1; n >= 0; n-- {
		if l.rails>>n&1 == 1 {
			s += "│ "
		} else {
			s += "  "
		}
	}
	if l.last {
		return s + "└ "
	}
	return s + "├ "
}

// Wanted is an action on an agent of the overview: remove (kill or close), kill, wrap, close, tell, end, respawn, fan. The
// overview stays open unless the human goes to a tab.
type Wanted struct {
	Verb  string
	Agent int64
}

// Opened is the agent whose tab the human goes to.
type Opened struct{ Agent int64 }

func (Wanted) decision() {}
func (Opened) decision() {}

// NewFleet makes the overview with the bar on the agent at. peek returns the last lines of an
// agent.
func NewFleet(t *themes.Theme, at int64, glance func(id int64) Glance, peek func(id int64, w, h int) []string) *Fleet {
	return &Fleet{theme: t, glance: glance, peek: peek, at: at, filter: newInput()}
}

// Members replaces the agents. The bar stays on its agent, else at its place.
func (b *Fleet) Members(ms []Member) {
	b.members = ms
	b.sort()
}

// Peeked returns the agent whose last lines are shown; 0: none.
func (b *Fleet) Peeked() int64 {
	if !b.peeks || len(b.lines) == 0 {
		return 0
	}
	return b.at
}

// Moves reports whether a visible line changes with time.
func (b *Fleet) Moves() bool { return b.moves }

// sort makes the lines: the tree, or a list of the filter's matches.
func (b *Fleet) sort() {
	was := max(b.place(), 0)
	b.lines = b.lines[:0]
	if word := strings.ToLower(b.filter.value()); word != "" {
		for i, m := range b.members {
			if strings.Contains(strings.ToLower(m.Name), word) || strings.HasPrefix(m.State, word) {
				b.lines = append(b.lines, leaf{member: i})
			}
		}
	} else {
		b.lines = appendTree(b.lines, b.members)
	}
	b.longest = 0
	for _, l := range b.lines {
		b.longest = max(b.longest, 2*l.depth+cells.Width(b.members[l.member].Name))
	}
	if b.place() < 0 && len(b.lines) > 0 {
		b.at = b.members[b.lines[min(was, len(b.lines)-1)].member].ID
	}
}

// appendTree appends the lines of the tree of these agents.
func appendTree(lines []leaf, members []Member) []leaf {
	here := make(map[int64]bool, len(members))
	for _, m := range members {
		here[m.ID] = true
	}
	below := map[int64][]int{}
	for i, m := range members {
		parent := m.Parent
		if !here[parent] || parent == m.ID {
			parent = 0
		}
		below[parent] = append(below[parent], i)
	}
	var add func(parent int64, depth int, rails uint64)
	add = func(parent int64, depth int, rails uint64) {
		for n, i := range below[parent] {
			l := leaf{i, depth, n == len(below[parent])-1, rails}
			lines = append(lines, l)
			rail := uint64(1)
			if l.last || depth == 0 {
				rail = 0
			}
			if id := members[i].ID; id != 0 { // 0: main before the workspace is open; it has nothing below it
				add(id, depth+1, rails<<1|rail)
			}
		}
	}
	add(0, 0, 0)
	return lines
}

// Branched is an agent in the tree, and the lines drawn before its name.
type Branched struct {
	Member
	Branch string
}

// Tree returns the agents in the order of the overview's tree. The lines are at most `levels` levels deep.
func Tree(members []Member, levels int) []Branched {
	lines := appendTree(nil, members)
	out := make([]Branched, len(lines))
	for i, l := range lines {
		out[i] = Branched{members[l.member], l.branch(levels)}
	}
	return out
}

// place returns the index of the bar's line; -1: its agent has none.
func (b *Fleet) place() int {
	return slices.IndexFunc(b.lines, func(l leaf) bool { return l.member < len(b.members) && b.members[l.member].ID == b.at })
}

// move moves the bar by lines.
func (b *Fleet) move(by int) {
	if n := len(b.lines); n > 0 {
		b.at = b.members[b.lines[max(0, min(n-1, b.place()+by))].member].ID
	}
}

func (b *Fleet) Key(k tea.KeyPressMsg) Decision {
	key := k.Keystroke()
	switch key {
	case "up", "ctrl+p", "shift+up":
		b.move(-1)
		return nil
	case "down", "ctrl+n", "shift+down":
		b.move(1)
		return nil
	case "pgup":
		b.move(-max(1, b.scroll.view-1))
		return nil
	case "pgdown":
		b.move(max(1, b.scroll.view-1))
		return nil
	case "f2":
		return Cancelled{}
	case "enter":
		if len(b.lines) > 0 {
			return Opened{b.at}
		}
		return nil
	case "esc":
		if b.typing || b.filter.value() != "" {
			b.typing, b.filter = false, newInput()
			b.sort()
			return nil
		}
		return Cancelled{}
	}
	if b.typing {
		b.edit(func() { b.filter.key(k) })
		return nil
	}
	verbs := map[string]string{"x": "remove", "w": "wrap", "c": "close", "m": "tell", "e": "end", "r": "respawn", "l": "fan"}
	switch {
	case key == "/":
		b.typing = true
	case key == "j":
		b.move(1)
	case key == "k":
		b.move(-1)
	case key == "home" || key == "ctrl+home":
		b.move(-len(b.lines))
	case key == "end" || key == "ctrl+end":
		b.move(len(b.lines))
	case key == "p":
		b.peeks = !b.peeks
	case verbs[key] != "" && len(b.lines) > 0:
		return Wanted{verbs[key], b.at}
	}
	return nil
}

func (b *Fleet) edit(change func()) {
	was := b.filter.value()
	change()
	if b.filter.value() != was {
		b.sort()
	}
}

func (b *Fleet) Paste(s string) {
	if b.typing {
		b.edit(func() { b.filter.insert(s) })
	}
}

func (b *Fleet) Cursor() (x, y int, ok bool) { return b.cx, b.cy, b.typing }

// columns are the widths of a line's parts. A part of width 0 is not shown. What an agent does
// comes last, where its length moves nothing.
type columns struct{ name, age, seen, cost, mail, state int }

// columnsOf divides w cells. Names get the width of the longest one if possible; costs get none if
// none is known.
func (b *Fleet) columnsOf(w int, priced bool) columns {
	c := columns{age: 5, mail: 5}
	if w >= 60 {
		c.seen, c.mail = 7, 7
	}
	if w >= 90 && priced {
		c.cost = 9
	}
	left := w - 2 - c.age - c.seen - c.cost - c.mail
	c.name = max(10, min(b.longest+1, 34, left*2/5))
	c.state = max(0, left-c.name)
	return c
}

func (b *Fleet) Lines(w, h int) []string {
	if !fits(w, h) {
		return nil
	}
	inner, rows := w-borderCols, h-borderRows
	b.moves, b.keys = false, nil
	var out []string
	if b.typing || b.filter.value() != "" {
		view, x := b.filter.view(inner - 3)
		b.cx, b.cy = 2+2+x, 1
		out = append(out, b.theme.Paint(themes.Accent, "/ ")+b.theme.Paint(themes.Text, view))
	}
	under := 0
	if b.Peeked() != 0 {
		under = max(3, rows*2/5)
	}
	head := min(1, rows/8)
	view := max(1, rows-len(out)-head-under)
	b.scroll.set(view, len(b.lines))
	if at := max(b.place(), 0); at < b.scroll.top {
		b.scroll.to(at)
	} else if at >= b.scroll.top+view {
		b.scroll.to(at - view + 1)
	}
	shown := b.lines[b.scroll.top:min(b.scroll.top+view, len(b.lines))]
	glances := make([]Glance, len(shown))
	for i, l := range shown {
		glances[i] = b.glance(b.members[l.member].ID)
		b.moves = b.moves || glances[i].Moves
		if b.members[l.member].ID == b.at {
			b.keys = glances[i].Keys
		}
	}
	c := b.columnsOf(inner, slices.ContainsFunc(glances, func(g Glance) bool { return g.Cost != "" }))
	if head > 0 {
		out = append(out, b.theme.Paint(themes.Dim, "  "+c.cells("agent", "age", "active", "cost", "mail", "now").String()))
	}
	for i, l := range shown {
		out = append(out, b.row(l, glances[i], c, inner))
	}
	for i := len(shown); i < view; i++ {
		if i == 0 {
			out = append(out, b.theme.Paint(themes.Dim, cells.Cut("  No matches", inner)))
			continue
		}
		out = append(out, "")
	}
	if id := b.Peeked(); id != 0 {
		name := cells.CleanLine(b.members[b.lines[max(b.place(), 0)].member].Name)
		head := "── " + name + ", live "
		out = append(out, b.theme.Paint(themes.Rule, cells.Cut(head+strings.Repeat("─", max(0, inner-cells.Width(head))), inner)))
		out = append(out, b.peek(id, inner, under-1)...)
	}
	title := fmt.Sprintf("Agents · %d", len(b.members))
	return panel(b.theme, w, themes.Accent, title, b.hint(w), out[:min(len(out), rows)])
}

// fleetRow holds a line's parts in their columns.
type fleetRow struct{ name, numbers, mail, state string }

func (c fleetRow) String() string { return c.name + c.numbers + c.mail + c.state }

func (c columns) cells(name, age, seen, cost, mail, state string) fleetRow {
	right := func(s string, w int) string {
		if w == 0 {
			return ""
		}
		s = cells.Cut(s, w-1)
		return cells.Spaces(w-cells.Width(s)) + s
	}
	cs := fleetRow{cells.Fit(name, c.name), right(age, c.age) + right(seen, c.seen) + right(cost, c.cost), right(mail, c.mail), ""}
	if c.state > 2 {
		cs.state = "  " + cells.Cut(state, c.state-2)
	}
	return cs
}

func (b *Fleet) row(l leaf, g Glance, c columns, inner int) string {
	m := b.members[l.member]
	name := cells.CleanLine(m.Name)
	lead := l.branch((c.name - 3 - min(cells.Width(name), 6)) / 2)
	name = lead + cells.CutMiddle(name, max(3, c.name-cells.Width(lead)-1))
	state := cells.CleanLine(g.State)
	if g.Short != "" && cells.Width(state) > c.state-2 {
		state = g.Short
	}
	cs := c.cells(name, g.Age, g.Seen, g.Cost, g.Mail, state)
	if m.ID == b.at {
		return b.theme.Paint(themes.Selection, cells.Fit(g.Sign+" "+cs.String(), inner))
	}
	who, does := themes.Text, themes.Text
	switch {
	case g.Role == themes.Warn || g.Role == themes.Bad:
		who, does = g.Role, g.Role
	case !g.Moves:
		does = themes.Dim
	}
	return b.theme.Paint(g.Role, g.Sign) + " " + b.theme.Paint(who, cs.name) + b.theme.Paint(themes.Dim, cs.numbers) +
		b.theme.Paint(themes.Message, cs.mail) + b.theme.Paint(does, cs.state)
}

// hint names the keys that act on the agent under the bar, then those for all, as many as fit the
// border.
func (b *Fleet) hint(w int) string {
	const rest = "esc back"
	hint := ""
	if n := len(b.lines); n > b.scroll.view {
		hint = fmt.Sprintf("%d/%d · ", max(b.place(), 0)+1, n)
	}
	for _, part := range slices.Concat([]string{"enter open"}, b.keys, []string{"p preview", "/ find"}) {
		if cells.Width(hint+part+" · "+rest) > w-6 {
			break
		}
		hint += part + " · "
	}
	return hint + rest
}
