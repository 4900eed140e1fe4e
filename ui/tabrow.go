package ui

import (
	"fmt"
	"strings"
	"time"

	"fantail/agents"
	"fantail/themes"
	"fantail/ui/frame"
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

// tabRow is the row of tabs at that width, and where each tab stands in it. If
// not all fit, those that have ended are folded into a group that counts them,
// and the row is scrolled so that the focused one shows. It costs what shows,
// whatever the number of tabs.
func (a *App) tabRow(w int) (string, []span) {
	t := &a.tabs
	if len(t.all) == 0 || t.focus == nil {
		return frame.Fit(a.theme.Paint(themes.TabActive, " main "), w), nil
	}
	cells := map[int]tabCell{}
	known := func(i int) tabCell {
		c, ok := cells[i]
		if !ok {
			c = a.tabCell(t.inRow(i))
			cells[i] = c
		}
		return c
	}
	t.folded = false
	if used := 0; t.good+t.bad > 0 {
		for i := 0; i < t.count() && !t.folded; i++ {
			used += known(i).width + 1
			t.folded = used > w-1
		}
	}
	group := tabCell{}
	if t.folded {
		clear(cells)
		group = a.groupCell()
	}
	right := w - 1
	if group.width > 0 {
		right -= group.width + 1
	}
	n, at := t.count(), t.placeOf(t.focus)
	from, to := window(known, n, at, right)
	row, x := " ", 1
	if from > 0 || to < n {
		beside := len(fmt.Sprint(n)) + 2 // the columns that a count of hidden tabs may take
		if from, to = window(known, n, at, right-beside); from > 0 {
			from, to = window(known, n, at, right+1-2*beside)
		}
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
		stand(known(i), i == from)
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

// hidden tells how many tabs are out of sight at a side, and by its colour
// whether one of them asks.
func (a *App) hidden(arrow string, from, to int) string {
	if from == to {
		return " "
	}
	role := themes.Dim
	for x := range a.tabs.asking {
		if i := a.tabs.placeOf(x); i >= from && i < to {
			role = themes.Warn
			break
		}
	}
	if arrow == "‹" {
		return a.theme.Paint(role, fmt.Sprintf("‹%d", to-from)) + " "
	}
	return a.theme.Paint(role, fmt.Sprintf(" %d›", to-from))
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

// tabCell draws one tab: name, state, age while it works, unread messages.
func (a *App) tabCell(x *tab) tabCell {
	i := x.info
	name := tabName(i)
	sign, role := glyph(i)
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
		add(themes.Warn, "◌ stalled "+silence(quiet))
	} else {
		add(role, sign)
		if i.Kind.Ends() && working(i.State) {
			add(themes.Dim, clock(a.o.Now().Sub(i.Started)))
		}
	}
	if mail := mailMark(x, x.news && x != a.tabs.focus); mail != "" {
		add(themes.Message, mail)
	}
	return tabCell{i.ID, text, width}
}

// tabName is an agent's name as its tab has room for it: of a fork's always the number.
func tabName(i agents.Info) string {
	const most = 24
	name := frame.CleanLine(i.Name)
	if at := strings.LastIndex(name, "-fork-"); i.Kind == agents.Fork && at > 0 && frame.Width(name) > most {
		number := name[at:]
		return frame.Cut(name[:at], max(1, most-frame.Width(number))) + number
	}
	return frame.Cut(name, most)
}

func working(s agents.State) bool {
	return s == agents.Running || s == agents.Waiting || s == agents.Asking
}

// glyph is an agent's state as one character: ● at work, ◐ waiting or at rest
// with something to come, ⚠ asking, ✓ and ✗ ended, ○ at rest.
func glyph(i agents.Info) (string, themes.Role) {
	switch i.State {
	case agents.Running:
		return "●", themes.Accent
	case agents.Waiting, agents.Queued:
		return "◐", themes.Accent
	case agents.Asking:
		return "⚠", themes.Warn
	case agents.Done:
		return "✓", themes.Good
	case agents.Failed, agents.Killed, agents.Crashed:
		return "✗", themes.Bad
	}
	return "○", themes.Dim
}

// clock is a running time: 0:42, 12:05, 1:02:03.
func clock(d time.Duration) string {
	s := int(max(d, 0).Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// silence is for how long an agent gave no sign of life: 95s, 12m.
func silence(d time.Duration) string {
	if d < 10*time.Minute {
		return fmt.Sprintf("%ds", int(d.Seconds()))
	}
	return age(d)
}
