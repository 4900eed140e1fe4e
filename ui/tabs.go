package ui

import (
	"fmt"
	"slices"
	"time"

	"fantail/agents"
	"fantail/themes"
	"fantail/ui/composer"
	"fantail/ui/dialog"
	"fantail/ui/frame"
	"fantail/ui/transcript"
)

// tab is the screen's part of one agent.
type tab struct {
	info agents.Info
	view *transcript.View
	box  *composer.Box // nil for an agent without a prompt box
	line *line         // the one-line box of such a tab, if open

	loaded  bool           // its newest page is shown
	asked   bool           // that page was asked for
	newest  int64          // the Seq of the newest entry shown
	backlog []agents.Event // what came before the page

	question dialog.Box // for the agent's question, made when it is first shown
	about    int64      // the question it is for
	typed    time.Time  // when the draft a question came upon was last typed at
	news     bool       // a message came since the tab was last looked at
}

// line is a one-line box in the tab of an agent without a prompt box.
type line struct {
	box   *composer.Box
	mail  bool // to the agent; else a command as main
	label string
}

// walkPause ends a walk through the recently used tabs.
const walkPause = time.Second

// tabs are the tabs in their order on the row, and the order of their use.
type tabs struct {
	all    []*tab
	focus  *tab
	recent []*tab // most recently used first
	walk   int    // the place in recent of a walk that goes on
	walked time.Time
}

func (t *tabs) byID(id int64) *tab {
	for _, x := range t.all {
		if x.info.ID == id {
			return x
		}
	}
	return nil
}

func (t *tabs) byName(name string) *tab {
	for _, x := range t.all {
		if x.info.Name == name {
			return x
		}
	}
	return nil
}

// main is the tab of main.
func (t *tabs) main() *tab {
	for _, x := range t.all {
		if x.info.Kind == agents.Main {
			return x
		}
	}
	return nil
}

// add puts a tab at the end of the row; those with a prompt box stand at its
// beginning.
func (t *tabs) add(x *tab) {
	at := len(t.all)
	if x.info.Kind.HasPrompt() {
		at = 0
		for at < len(t.all) && t.all[at].info.Kind.HasPrompt() {
			at++
		}
	}
	t.all = slices.Insert(t.all, at, x)
	t.recent = append(t.recent, x)
	if t.focus == nil {
		t.focus = x
	}
}

func (t *tabs) remove(id int64) {
	keep := func(xs []*tab) []*tab {
		var rest []*tab
		for _, x := range xs {
			if x.info.ID != id {
				rest = append(rest, x)
			}
		}
		return rest
	}
	t.all, t.recent = keep(t.all), keep(t.recent)
	if t.focus != nil && t.focus.info.ID == id {
		t.focus = nil
		if len(t.recent) > 0 {
			t.focus = t.recent[0]
		}
	}
	t.walk = max(0, slices.Index(t.recent, t.focus))
}

// to focuses a tab; it becomes the most recently used, before the one a walk
// ended on.
func (t *tabs) to(x *tab) {
	if t.walk != 0 {
		t.front(t.focus)
	}
	t.front(x)
	t.focus, t.walk = x, 0
}

// front makes a tab the most recently used.
func (t *tabs) front(x *tab) {
	if i := slices.Index(t.recent, x); i > 0 {
		copy(t.recent[1:], t.recent[:i])
		t.recent[0] = x
	}
}

// before is the tab used before the focused one; nil if there is none.
func (t *tabs) before() *tab {
	for _, x := range t.recent {
		if x != t.focus {
			return x
		}
	}
	return nil
}

// nth focuses the n-th tab from 1.
func (t *tabs) nth(n int) {
	if n >= 1 && n <= len(t.all) {
		t.to(t.all[n-1])
	}
}

// next focuses the neighbour to the right (1) or left (-1).
func (t *tabs) next(by int) {
	for i, x := range t.all {
		if x == t.focus {
			t.to(t.all[(i+by+len(t.all))%len(t.all)])
			return
		}
	}
}

// back walks the recently used tabs as windows do: the first press after a
// pause goes to the previous one, presses less than a second apart walk on. The
// order of use changes once the walk is over.
func (t *tabs) back(now time.Time, by int) {
	n := len(t.recent)
	if n < 2 {
		return
	}
	if now.Sub(t.walked) > walkPause {
		t.to(t.focus)
	}
	t.walked = now
	t.walk = (t.walk + by + n) % n
	t.focus = t.recent[t.walk]
}

// tabCell is one tab's piece of the row.
type tabCell struct {
	id    int64
	text  string // painted
	width int
}

// tabRow is the row of tabs at that width, scrolled so that the focused one
// shows, and where each tab stands in it.
func (a *App) tabRow(w int) (string, []span) {
	var cells []tabCell
	at := 0
	for i, x := range a.tabs.all {
		if x == a.tabs.focus {
			at = i
		}
		cells = append(cells, a.tabCell(x))
	}
	if len(cells) == 0 {
		return frame.Fit(a.theme.Paint(themes.TabActive, " main "), w), nil
	}
	sep := "│"
	from, to := window(cells, at, w-1)
	row, x := " ", 1
	if from > 0 || to < len(cells) {
		from, to = window(cells, at, w-2*beside)
		row = a.hidden("‹", from, a.tabs.all[:from])
		x = frame.Width(row)
	}
	var spans []span
	for i := from; i < to; i++ {
		if i > from {
			row += a.theme.Paint(themes.Rule, sep)
			x++
		}
		spans = append(spans, span{x, x + cells[i].width, cells[i].id})
		row += cells[i].text
		x += cells[i].width
	}
	if to < len(cells) {
		more := a.hidden("›", len(cells)-to, a.tabs.all[to:])
		row += frame.Spaces(w-x-frame.Width(more)) + more
	}
	return frame.Fit(row, w), spans
}

// beside is how many columns the count of hidden tabs may take at either side.
const beside = 4

// hidden tells how many tabs are out of sight at a side, and by its colour
// whether one of them asks.
func (a *App) hidden(arrow string, n int, out []*tab) string {
	if n == 0 {
		return " "
	}
	role := themes.Dim
	for _, x := range out {
		if x.info.State == agents.Asking {
			role = themes.Warn
			break
		}
	}
	if arrow == "‹" {
		return a.theme.Paint(role, fmt.Sprintf("‹%d", n)) + " "
	}
	return a.theme.Paint(role, fmt.Sprintf(" %d›", n))
}

// span is where on the row an agent's tab stands.
type span struct {
	from, to int
	id       int64
}

// window is the range of cells around at that fits into w.
func window(cells []tabCell, at, w int) (from, to int) {
	from, to = at, at+1
	used := cells[at].width
	for {
		grew := false
		if from > 0 && used+1+cells[from-1].width <= w {
			from--
			used += 1 + cells[from].width
			grew = true
		}
		if to < len(cells) && used+1+cells[to].width <= w {
			used += 1 + cells[to].width
			to++
			grew = true
		}
		if !grew {
			return from, to
		}
	}
}

// tabCell draws one tab: name, state, age while it works, unread messages.
func (a *App) tabCell(x *tab) tabCell {
	i := x.info
	name := frame.Cut(frame.CleanLine(i.Name), 24)
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
	add(role, sign)
	if i.Kind == agents.Sub && working(i.State) {
		add(themes.Dim, clock(a.o.Now().Sub(i.Started)))
	}
	if i.Pending > 0 {
		mail := "✉"
		if x.news && x != a.tabs.focus {
			mail = "📨"
		}
		add(themes.Message, fmt.Sprintf("%s%d", mail, i.Pending))
	}
	return tabCell{i.ID, text, width}
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
