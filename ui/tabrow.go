package ui

import (
	"fmt"

	"fantail/agents"
	"fantail/themes"
	"fantail/ui/frame"
	"fantail/ui/words"
)

// tabCell is one tab's piece of the row.
type tabCell struct {
	id    int64
	text  string // painted
	width int
}

// span is where on the row an agent's tab stands; the group of those that ended
// has the id endedGroup.
type span struct {
	from, to int
	id       int64
}

const endedGroup = -1

// nameCells are how many cells a name may take in the row, from where there is room
// to where there is least.
var nameCells = [...]int{24, 20, 16, 12}

// tabRow is the row of tabs at that width, and where each tab stands in it. If not
// all fit, their names are cut, unless two would look alike; if that is not enough,
// those that have ended are folded into a group that counts them; and if that is not,
// the row is scrolled so that the focused one shows. It costs what shows, whatever the
// number of tabs.
func (a *App) tabRow(w int) (string, []span) {
	t := &a.tabs
	if len(t.all) == 0 || t.focus == nil {
		return frame.Fit(a.theme.Paint(themes.TabActive, " main "), w), nil
	}
	t.folded = false
	cells, ok := a.allTabs(w - 1)
	if ok || t.good+t.bad == 0 {
		return a.layTabs(cells, ok, tabCell{}, w)
	}
	t.folded = true
	group, room := a.groupCell(), w-1
	if group.width > 0 {
		room -= group.width + 1
	}
	cells, ok = a.allTabs(room)
	return a.layTabs(cells, ok, group, w)
}

// tabCells are cells of the row as they are asked for, with names of one width.
type tabCells struct {
	a    *App
	most int
	made map[int]tabCell
}

func (a *App) tabCells(most int) *tabCells { return &tabCells{a, most, map[int]tabCell{}} }

func (c *tabCells) at(i int) tabCell {
	x, ok := c.made[i]
	if !ok {
		x = c.a.tabCell(c.a.tabs.inRow(i), c.most)
		c.made[i] = x
	}
	return x
}

// alike reports whether the cut has made two of the names the same.
func (c *tabCells) alike(from, to int) bool {
	seen := make(map[string]string, to-from)
	for i := from; i < to; i++ {
		name := c.a.tabs.inRow(i).info.Name
		short := tabName(name, c.most)
		if was, ok := seen[short]; ok && was != name {
			return true
		}
		seen[short] = name
	}
	return false
}

// allTabs is the row with all its tabs in w cells; where ok is false they have no
// room, whatever is cut.
func (a *App) allTabs(w int) (c *tabCells, ok bool) {
	n := a.tabs.count()
	for _, most := range nameCells {
		c = a.tabCells(most)
		used, i := 0, 0
		for ; i < n && used <= w; i++ {
			used += c.at(i).width + 1
		}
		if used <= w && (most == nameCells[0] || !c.alike(0, n)) {
			return c, true
		}
	}
	return c, false
}

// scrolled is the part of the row around a tab that has room in what is left of w
// beside the counts of those out of sight.
func (a *App) scrolled(n, at, w int) (c *tabCells, from, to int) {
	beside := len(fmt.Sprint(n)) + 2 // the columns that such a count may take
	if len(a.tabs.asking) > 0 {
		beside++
	}
	for i := len(nameCells) - 1; i >= 0; i-- {
		c = a.tabCells(nameCells[i])
		if from, to = window(c.at, n, at, w-beside); from > 0 {
			from, to = window(c.at, n, at, w+1-2*beside)
		}
		if !c.alike(from, to) {
			break
		}
	}
	return c, from, to
}

// layTabs lays the cells and the group side by side; all says that there is room for
// all of them.
func (a *App) layTabs(c *tabCells, all bool, group tabCell, w int) (string, []span) {
	right := w - 1
	if group.width > 0 {
		right -= group.width + 1
	}
	n := a.tabs.count()
	from, to, row, x := 0, n, " ", 1
	if !all {
		c, from, to = a.scrolled(n, a.tabs.placeOf(a.tabs.focus), right)
		row = a.hidden("‹", 0, from)
		x = frame.Width(row)
	}
	var spans []span
	stand := func(c tabCell, first bool) {
		if !first {
			row += a.theme.Paint(themes.Rule, "│")
			x++
		}
		spans = append(spans, span{x, x + c.width, c.id})
		row += c.text
		x += c.width
	}
	for i := from; i < to; i++ {
		stand(c.at(i), i == from)
	}
	if to < n {
		more := a.hidden("›", to, n)
		row += frame.Spaces(right+1-x-frame.Width(more)) + more
		x = max(x, right+1)
	}
	if group.width > 0 {
		stand(group, false)
	}
	return frame.Fit(row, w), spans
}

// hidden tells how many tabs are out of sight at a side, with ⚠ if one of them asks.
func (a *App) hidden(arrow string, from, to int) string {
	if from == to {
		return " "
	}
	role, sign := themes.Dim, ""
	for x := range a.tabs.asking {
		if i := a.tabs.placeOf(x); i >= from && i < to {
			role, sign = themes.Warn, "⚠"
			break
		}
	}
	if arrow == "‹" {
		return a.theme.Paint(role, fmt.Sprintf("‹%d%s", to-from, sign)) + " "
	}
	return a.theme.Paint(role, fmt.Sprintf(" %s%d›", sign, to-from))
}

// window is the range of the n cells around at that fits into w.
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

// groupCell counts the tabs of agents that ended, but for the focused one.
func (a *App) groupCell() tabCell {
	good, bad := a.tabs.good, a.tabs.bad
	switch s := a.tabs.focus.info.State; {
	case s == agents.Done:
		good--
	case s.Terminal():
		bad--
	}
	c := tabCell{id: endedGroup}
	add := func(n int, sign string, role themes.Role) {
		if n == 0 {
			return
		}
		if c.width == 0 {
			c.text, c.width = a.theme.Paint(themes.TabIdle, " "), 1
		}
		num := fmt.Sprintf(" %d ", n)
		c.text += a.theme.Paint(role, sign) + a.theme.Paint(themes.TabIdle, num)
		c.width += 1 + len(num)
	}
	add(good, "✓", themes.Good)
	add(bad, "✗", themes.Bad)
	return c
}

// tabCell draws one tab: its name in so many cells, state, age while it works, unread
// messages.
func (a *App) tabCell(x *tab, most int) tabCell {
	i := x.info
	name := tabName(i.Name, most)
	sign, role := words.Glyph(i)
	role2 := themes.TabIdle
	if x == a.tabs.focus {
		role2 = themes.TabActive
	}
	if i.Kind == agents.Helper {
		name = "›" + name // as its prompt box
	}
	text := a.theme.Paint(role2, " "+name+" ")
	width := frame.Width(name) + 2
	add := func(r themes.Role, s string) {
		if role2 == themes.TabActive {
			r = role2 // its ground is under the whole cell
		}
		text += a.theme.Paint(r, s) + a.theme.Paint(role2, " ")
		width += frame.Width(s) + 1
	}
	if quiet, ok := i.Stalled(x.active, a.o.Now()); ok {
		add(themes.Warn, "◌ stalled "+words.Silence(quiet))
	} else {
		add(role, sign)
		if i.Kind.Ends() && words.Working(i.State) {
			add(themes.Dim, words.Clock(a.o.Now().Sub(i.Started)))
		}
	}
	if mail := mailMark(x, x.news && x != a.tabs.focus); mail != "" {
		add(themes.Message, mail)
	}
	return tabCell{i.ID, text, width}
}

// tabName is an agent's name as its tab has room for it: what it begins and ends with.
func tabName(name string, most int) string { return frame.CutMiddle(frame.CleanLine(name), most) }
