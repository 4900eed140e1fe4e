package dialog

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fantail/themes"
	"fantail/ui/cells"
)

// Member is an agent as the overview sorts and finds it.
type Member struct {
	ID, Parent  int64
	Name, State string
}

// Glance is what a line of the overview shows of an agent.
type Glance struct {
	Sign  string
	Role  themes.Role
	State string // what it does now
	Short string // where there is no room for that; "": it is cut
	Age   string
	Seen  string // since its last sign of life
	Cost  string
	Mail  string   // what waits in its inbox, as the tabs show it
	Moves bool     // with time
	Keys  []string // that do something with it, and what: `k kills`
}

// Fleet is the overview of all agents, as a tree of who dispatched whom. It asks
// for what a line shows when the line is drawn.
type Fleet struct {
	theme  *themes.Theme
	glance func(id int64) Glance
	peek   func(id int64, w, h int) []string

	members []Member
	lines   []leaf
	longest int   // the width of the longest name with what leads to it
	at      int64 // the agent under the bar
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
	member int // its index
	depth  int
	last   bool   // of those beside it
	rails  uint64 // bit n: the one n+1 levels above it is not the last of its kind
}

// branch is what leads to a leaf's name, drawn in at most so many levels: where they don't suffice, a number tells the depth.
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

// Wanted is what the human wants done with an agent of the overview, which stays
// open unless they go to its tab: kill, wrap, close, tell, end, respawn.
type Wanted struct {
	Verb  string
	Agent int64
}

// Opened is the agent whose tab the human goes to.
type Opened struct{ Agent int64 }

func (Wanted) decision() {}
func (Opened) decision() {}

// NewFleet makes the overview; the bar is on that agent. peek returns the last
// lines of an agent.
func NewFleet(t *themes.Theme, at int64, glance func(id int64) Glance, peek func(id int64, w, h int) []string) *Fleet {
	return &Fleet{theme: t, glance: glance, peek: peek, at: at, filter: newInput()}
}

// Members replaces the agents; the bar stays on its agent, or on the place it had.
func (b *Fleet) Members(ms []Member) {
	b.members = ms
	b.sort()
}

// Peeked is the agent whose last lines show; 0: none.
func (b *Fleet) Peeked() int64 {
	if !b.peeks || len(b.lines) == 0 {
		return 0
	}
	return b.at
}

// Moves reports whether a line that shows changes with time.
func (b *Fleet) Moves() bool { return b.moves }

// sort makes the lines: the tree, or the matches of the filter one below the other.
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
		here := make(map[int64]bool, len(b.members))
		for _, m := range b.members {
			here[m.ID] = true
		}
		below := map[int64][]int{}
		for i, m := range b.members {
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
				b.lines = append(b.lines, l)
				rail := uint64(1)
				if l.last || depth == 0 {
					rail = 0
				}
				if id := b.members[i].ID; id != 0 { // 0: main, before the workspace is open; nothing is below it
					add(id, depth+1, rails<<1|rail)
				}
			}
		}
		add(0, 0, 0)
	}
	b.longest = 0
	for _, l := range b.lines {
		b.longest = max(b.longest, 2*l.depth+cells.Width(b.members[l.member].Name))
	}
	if b.place() < 0 && len(b.lines) > 0 {
		b.at = b.members[b.lines[min(was, len(b.lines)-1)].member].ID
	}
}

// place is the line of the bar, -1 if its agent is not there.
func (b *Fleet) place() int {
	return slices.IndexFunc(b.lines, func(l leaf) bool { return l.member < len(b.members) && b.members[l.member].ID == b.at })
}

// move puts the bar on the line that far from its own.
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
	verbs := map[string]string{"k": "kill", "w": "wrap", "c": "close", "m": "tell", "e": "end", "r": "respawn"}
	switch {
	case key == "/":
		b.typing = true
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

// columns are the widths of a line's parts; a part of width 0 does not show. What an agent is doing
// comes last, where its length moves nothing.
type columns struct{ name, age, seen, cost, mail, state int }

// columnsOf divides w cells: names get what the longest needs, if that can be,
// costs nothing if none is known.
func (b *Fleet) columnsOf(w int, priced bool) columns {
	c := columns{age: 5, mail: 5}
	if w >= 60 {
		c.seen = 6
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
		out = append(out, b.theme.Paint(themes.Dim, "  "+c.cells("agent", "age", "seen", "cost", "mail", "does").String()))
	}
	for i, l := range shown {
		out = append(out, b.row(l, glances[i], c, inner))
	}
	for i := len(shown); i < view; i++ {
		if i == 0 {
			out = append(out, b.theme.Paint(themes.Dim, cells.Cut("  nothing matches", inner)))
			continue
		}
		out = append(out, "")
	}
	if id := b.Peeked(); id != 0 {
		name := cells.CleanLine(b.members[b.lines[max(b.place(), 0)].member].Name)
		head := "── last lines of " + name + " "
		out = append(out, b.theme.Paint(themes.Rule, cells.Cut(head+strings.Repeat("─", max(0, inner-cells.Width(head))), inner)))
		out = append(out, b.peek(id, inner, under-1)...)
	}
	title := fmt.Sprintf("Agents · %d", len(b.members))
	return panel(b.theme, w, themes.Accent, title, b.hint(w), out[:min(len(out), rows)])
}

// cells are a line's parts in their columns.
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

// hint names the keys, as many as the border has room for, with what they do: those that do something with the agent
// under the bar, and those for all.
func (b *Fleet) hint(w int) string {
	const rest = "esc"
	hint := ""
	if n := len(b.lines); n > b.scroll.view {
		hint = fmt.Sprintf("%d/%d · ", max(b.place(), 0)+1, n)
	}
	for _, part := range slices.Concat([]string{"enter opens"}, b.keys, []string{"p peeks", "/ finds"}) {
		if cells.Width(hint+part+" · "+rest) > w-6 {
			break
		}
		hint += part + " · "
	}
	return hint + rest
}
