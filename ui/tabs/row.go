package tabs

import (
	"fmt"
	"strconv"
	"strings"

	"fantail/agents/event"
	"fantail/themes"
	"fantail/ui/cells"
	"fantail/ui/format"
)

// tabCell is one tab in the row. Most cells are only measured: visible ones are painted at layout.
type tabCell struct {
	id    int64
	sign  string // before the name
	name  string
	named int // the columns of name
	width int
	parts [8]part
	n     int // of parts
	spare int // the part that is left out first; 0: none
}

// fit numbers the cell at place i as Alt does, cuts the name in the middle to its allowed width, and leaves out what
// there is no room for.
func (c *tabCell) fit(i int, room nameWidth) {
	if c.spare > 0 && !room.spare {
		c.width -= cells.Width(c.parts[c.spare].text)
		c.parts[c.spare].text = ""
	}
	number, name := "", c.name
	if room.number && i < 9 {
		number = strconv.Itoa(i+1) + " "
	}
	if c.named > room.name {
		name = cells.CutMiddle(name, room.name)
	}
	c.parts[0].text = " " + number + c.sign + name + " "
	c.width += len(number) + cells.Width(name) - c.named
}

// part is a stretch of a cell in one role.
type part struct {
	role themes.Role
	text string
}

func (c *tabCell) add(r themes.Role, text string) {
	c.parts[c.n] = part{r, text}
	c.n++
	c.width += cells.Width(text)
}

// paint writes the cell in the colours of a theme.
func (c *tabCell) paint(b *strings.Builder, t *themes.Theme) {
	for _, p := range c.parts[:c.n] {
		b.WriteString(t.Paint(p.role, p.text))
	}
}

// Span is an agent's columns in the row; the group of ended agents has the id EndedGroup.
type Span struct {
	From, To int
	ID       int64
}

const EndedGroup = -1

// nameWidth is the room of a tab in the row: the cells for its name, and whether its spare part and its number show.
type nameWidth struct {
	name   int
	spare  bool
	number bool
}

// cellRooms go from much room to little.
var cellRooms = [...]nameWidth{{24, true, true}, {24, false, true}, {24, false, false}, {20, false, false}, {16, false, false}, {12, false, false}}

// Row returns the row of tabs at that width, and the columns of each tab in it. If not all fit, the word idle is left
// out, then the numbers, and names are cut, unless two would look alike; next, ended agents are folded into a group that counts them;
// last, the row scrolls to show the focused tab. The cost depends on the visible tabs, not on the number of tabs.
func (t *Tabs) Row(w int) (string, []Span) {
	if len(t.All) == 0 || t.Focus == nil {
		return cells.Fit(t.Theme.Paint(themes.TabActive, " main "), w), nil
	}
	t.folded = false
	clear(t.whole)
	cells, ok := t.allTabs(w - 1)
	if ok || t.Good+t.Bad == 0 {
		return t.layTabs(cells, ok, tabCell{}, w)
	}
	t.folded = true
	group, room := t.groupCell(), w-1
	if group.width > 0 {
		room -= group.width + 1
	}
	cells, ok = t.allTabs(room)
	return t.layTabs(cells, ok, group, w)
}

// tabCells are the cells of the row, made on demand, with names cut to one width.
type tabCells struct {
	t    *Tabs
	room nameWidth
}

func (c *tabCells) at(i int) tabCell {
	x := c.t.inRow(i)
	cell, ok := c.t.whole[x]
	if !ok {
		if cell = c.t.tabCell(x); c.t.whole == nil {
			c.t.whole = map[*Tab]tabCell{}
		}
		c.t.whole[x] = cell
	}
	cell.fit(i, c.room)
	return cell
}

// alike reports whether cutting has made two of the names equal.
func (c *tabCells) alike(from, to int) bool {
	seen := make(map[string]string, to-from)
	for i := from; i < to; i++ {
		name := c.t.inRow(i).Info.Name
		short := tabName(name, c.room.name)
		if was, ok := seen[short]; ok && was != name {
			return true
		}
		seen[short] = name
	}
	return false
}

// allTabs returns the row with all its tabs in w cells; ok is false if they don't fit even with cut names.
func (t *Tabs) allTabs(w int) (c *tabCells, ok bool) {
	n := t.count()
	for _, room := range cellRooms {
		c = &tabCells{t, room}
		used, i := 0, 0
		for ; i < n && used <= w; i++ {
			used += c.at(i).width + 1
		}
		if used <= w && (room.name == cellRooms[0].name || !c.alike(0, n)) {
			return c, true
		}
	}
	return c, false
}

// scrolled returns the part of the row around a tab that fits into w cells, together with counts of the hidden tabs.
func (t *Tabs) scrolled(n, at, w int) (c *tabCells, from, to int) {
	beside := len(fmt.Sprint(n)) + 2 // the columns a count may take
	if len(t.asking) > 0 {
		beside++
	}
	for i := len(cellRooms) - 1; i >= 0; i-- {
		c = &tabCells{t, cellRooms[i]}
		if from, to = window(c.at, n, at, w-beside); from > 0 {
			from, to = window(c.at, n, at, w+1-2*beside)
		}
		if !c.alike(from, to) {
			break
		}
	}
	return c, from, to
}

// layTabs lays out the cells and the group side by side; all reports that all of them fit.
func (t *Tabs) layTabs(c *tabCells, all bool, group tabCell, w int) (string, []Span) {
	right := w - 1
	if group.width > 0 {
		right -= group.width + 1
	}
	n := t.count()
	from, to, begin := 0, n, " "
	if !all {
		c, from, to = t.scrolled(n, t.placeOf(t.Focus), right)
		begin = t.hidden("‹", 0, from)
	}
	var row strings.Builder
	row.Grow(1 << 10)
	row.WriteString(begin)
	x, rule := cells.Width(begin), t.Theme.Paint(themes.Rule, "│")
	spans := make([]Span, 0, to-from+1)
	stand := func(c tabCell, first bool) {
		if !first {
			row.WriteString(rule)
			x++
		}
		spans = append(spans, Span{x, x + c.width, c.id})
		c.paint(&row, t.Theme)
		x += c.width
	}
	for i := from; i < to; i++ {
		stand(c.at(i), i == from)
	}
	if to < n {
		more := t.hidden("›", to, n)
		row.WriteString(cells.Spaces(right + 1 - x - cells.Width(more)))
		row.WriteString(more)
		x = max(x, right+1)
	}
	if group.width > 0 {
		stand(group, false)
	}
	return cells.Fit(row.String(), w), spans
}

// hidden returns the count of hidden tabs on one side, with ? if one of them asks.
func (t *Tabs) hidden(arrow string, from, to int) string {
	if from == to {
		return " "
	}
	role, sign := themes.Dim, ""
	for x := range t.asking {
		if i := t.placeOf(x); i >= from && i < to {
			role, sign = themes.Warn, "?"
			break
		}
	}
	if arrow == "‹" {
		return t.Theme.Paint(role, fmt.Sprintf("‹%d%s", to-from, sign)) + " "
	}
	return t.Theme.Paint(role, fmt.Sprintf(" %s%d›", sign, to-from))
}

// window returns the range of the n cells around at that fits into w.
func window(cell func(int) tabCell, n, at, w int) (from, to int) {
	from, to = at, at+1
	used := cell(at).width
	for {
		grew := false
		if from > 0 && used+1+cell(from-1).width <= w {
			from--
			used += 1 + cell(from).width
			grew = true
		}
		if to < n && used+1+cell(to).width <= w {
			used += 1 + cell(to).width
			to++
			grew = true
		}
		if !grew {
			return from, to
		}
	}
}

// groupCell counts the ended agents, except the focused one.
func (t *Tabs) groupCell() tabCell {
	good, bad := t.Good, t.Bad
	switch s := t.Focus.Info.State; {
	case s == event.Done:
		good--
	case s.Terminal():
		bad--
	}
	c := tabCell{id: EndedGroup}
	add := func(n int, sign string, role themes.Role) {
		if n == 0 {
			return
		}
		if c.n == 0 {
			c.add(themes.TabIdle, " ")
		}
		c.add(role, sign)
		c.add(themes.TabIdle, fmt.Sprintf(" %d ", n))
	}
	add(good, "✓", themes.Good)
	add(bad, "✗", themes.Bad)
	return c
}

// nameRole is how a tab's name shows: one that asks is the brightest, one that failed is red.
func (t *Tabs) nameRole(x *Tab) themes.Role {
	switch {
	case x == t.Focus:
		return themes.TabActive
	case x.Info.State == event.Asking:
		return themes.Warn
	case x.Info.State == event.Failed, x.Info.State == event.Crashed:
		return themes.Bad
	}
	return themes.TabIdle
}

// tabCell returns the cell of one tab: its whole name, its state, its age while it works or the time it has left while
// it awaits input, its unread messages.
func (t *Tabs) tabCell(x *Tab) tabCell {
	i := x.Info
	sign, role := format.Glyph(i)
	role2 := themes.TabIdle
	if x == t.Focus {
		role2 = themes.TabActive
	}
	c := tabCell{id: i.ID, name: cells.CleanLine(i.Name)}
	if i.Kind.Nature().Opened {
		c.sign = "›" // as its prompt box
	}
	c.named = cells.Width(c.name)
	c.add(t.nameRole(x), " "+c.sign+c.name+" ")
	part := func(r themes.Role, s string) {
		if role2 == themes.TabActive {
			r = role2 // its background fills the whole cell
		}
		c.add(r, s)
	}
	add := func(r themes.Role, s string) {
		part(r, s)
		c.add(role2, " ")
	}
	if quiet, ok := i.Stalled(x.Active, t.Now()); ok {
		add(themes.Strong, "◌ stalled "+format.Silence(quiet))
	} else {
		add(role, sign)
		switch {
		case i.State == event.Asking:
			add(role, "asks")
		case i.Kind.Ends() && format.Working(i.State):
			add(themes.Dim, format.Ran(t.Now().Sub(i.Started)))
		case format.Awaits(i):
			c.spare = c.n
			part(themes.Dim, "idle ")
			if left := format.TimeLeft(i, t.Now()); left != "" {
				add(themes.Dim, left)
			}
		}
	}
	if mail := x.WithAsks(MailMark(x, x.News && x != t.Focus)); mail != "" {
		add(t.mailRole(x), mail)
	}
	return c
}

// tabName returns an agent's name cut in the middle to the room of its tab.
func tabName(name string, most int) string { return cells.CutMiddle(cells.CleanLine(name), most) }
