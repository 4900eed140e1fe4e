package panel

import (
	"fmt"
	"strings"
	"time"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/themes"
	"fantail/ui/cells"
	"fantail/ui/format"
)

// legend is the order in which the signs are explained.
var legend = []agents.Act{agents.Thought, agents.Called, agents.ForHuman, agents.Stood, agents.Rested}

// timelineCols are the widths of a row's parts.
type timelineCols struct{ name, bar, state int }

func (t *Timeline) layout(w int) timelineCols {
	c := timelineCols{name: 8}
	for _, m := range t.members {
		c.name = max(c.name, cells.Width(m.Branch)+cells.Width(m.Name))
	}
	c.name = min(c.name, max(8, w/5))
	switch {
	case w >= 100:
		c.state = 20
	case w >= 64:
		c.state = 12
	}
	c.bar = max(1, w-c.name-c.state-6)
	return c
}

// Lines draws the board.
func (t *Timeline) Lines(w, h int) []string {
	c := t.layout(w)
	t.cols = c.bar
	win := t.visible()
	times, line := t.axis(win, c)
	out := []string{t.head(win, w), times}
	if h >= 24 {
		out = append(out, line)
	}
	tail := 3 // the moment, the name of the transcript, the hints
	if h >= 16 {
		tail++ // the legend
	}
	t.rows = max(1, min(len(t.members), (h-len(out)-tail)*3/5))
	if at := max(t.place(), 0); at < t.top {
		t.top = at
	} else if at >= t.top+t.rows {
		t.top = at - t.rows + 1
	}
	t.top = max(0, min(t.top, len(t.members)-t.rows))
	for i := t.top; i < min(t.top+t.rows, len(t.members)); i++ {
		out = append(out, t.row(i, win, c))
	}
	out = append(out, t.cursor(win, c, w))
	if h >= 16 {
		out = append(out, t.legend(w))
	}
	out = append(out, t.below(w, max(0, h-len(out)-1))...)
	out = append(out, t.hint(w))
	for i, l := range out {
		out[i] = cells.Fit(l, w)
	}
	return out[:min(len(out), h)]
}

// clock returns a time of day, with the day if that is another one than today.
func (t *Timeline) clock(at time.Time, layout string) string {
	at, now := at.Local(), t.Now().Local()
	if at.YearDay() != now.YearDay() || at.Year() != now.Year() {
		layout = "2 Jan " + layout
	}
	return at.Format(layout)
}

func (t *Timeline) head(win visible, w int) string {
	until := "now"
	if end := win.from.Add(time.Duration(win.n) * win.stretch); end.Before(t.Now()) {
		until = t.clock(end, "15:04")
	}
	left := " " + t.Theme.Paint(themes.Heading, "Timeline") +
		t.Theme.Paint(themes.Dim, "  "+t.clock(win.from, "15:04")+" – "+until+" · "+format.Count(len(t.Tabs.All), "agent"))
	right := t.Theme.Paint(themes.Dim, spans[t.zoom].name+" · + - zoom ")
	if t.failed != "" {
		return left + "  " + t.Theme.Paint(themes.Bad, cells.CleanLine(t.failed))
	}
	if cells.Width(left)+cells.Width(right)+2 > w {
		return left
	}
	return cells.Fit(left, w-cells.Width(right)) + right
}

// axisSteps are the distances between two times of the axis.
var axisSteps = [...]time.Duration{
	10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour,
	2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 48 * time.Hour,
}

// tick is a time of the axis and its column.
type tick struct {
	col  int
	text string
}

// ticks returns the times of the axis.
func ticks(win visible) (ts []tick) {
	length := time.Duration(win.n) * win.stretch
	step := axisSteps[len(axisSteps)-1]
	for _, s := range axisSteps {
		if int(length/s)*10 <= win.n {
			step = s
			break
		}
	}
	layout := "15:04"
	switch {
	case step >= 24*time.Hour:
		layout = "2 Jan"
	case step < time.Minute:
		layout = time.TimeOnly
	}
	_, zone := win.from.Local().Zone()
	offset := time.Duration(zone) * time.Second
	for x := win.from.Add(offset).Truncate(step).Add(-offset); x.Before(win.from.Add(length)); x = x.Add(step) {
		if !x.Before(win.from) {
			ts = append(ts, tick{int(x.Sub(win.from) / win.stretch), x.Local().Format(layout)})
		}
	}
	return ts
}

// axis returns the times of the clock, and the line below them.
func (t *Timeline) axis(win visible, c timelineCols) (times, line string) {
	at := 0
	for _, x := range ticks(win) {
		line += strings.Repeat("─", max(0, x.col-cells.Width(line))) + "┬"
		if x.col >= at && x.col+cells.Width(x.text) <= win.n {
			times += cells.Spaces(x.col-cells.Width(times)) + x.text
			at = cells.Width(times) + 1
		}
	}
	line += strings.Repeat("─", max(0, win.n-cells.Width(line)))
	lead := cells.Spaces(c.name + 5)
	return lead + t.Theme.Paint(themes.Dim, times), lead + t.Theme.Paint(themes.Rule, line)
}

// row returns the line of an agent or of a queued task.
func (t *Timeline) row(i int, win visible, c timelineCols) string {
	m := t.members[i]
	sign, role, state, word := "┄", themes.Dim, "", themes.Dim
	var acts []agents.Act
	var mail []bool
	if x := t.Tabs.ByID(m.ID); x != nil {
		sign, role = format.Glyph(x.Info)
		state, word = t.state(m.ID)
		if r := t.read.Rows[m.ID]; r != nil {
			acts, mail = r.Acts, r.Mail
		}
	} else {
		for _, q := range t.read.Queued {
			if -q.Task == m.ID {
				acts = q.Acts
			}
		}
		for _, q := range t.waiting.queued {
			if q.name == m.Name {
				state = q.why
			}
		}
	}
	name := cells.Fit(m.Branch+cells.CutMiddle(cells.CleanLine(m.Name), max(3, c.name-cells.Width(m.Branch))), c.name)
	who, cursor := themes.Text, -1
	if m.ID == t.agent {
		who, cursor = themes.Selection, t.column(win)
	}
	line := " " + t.Theme.Paint(role, sign) + " " + t.Theme.Paint(who, name) + "  " + t.bar(acts, mail, win, cursor)
	if c.state > 0 {
		line += " " + t.Theme.Paint(word, cells.Cut(cells.CleanLine(state), c.state))
	}
	return line
}

// state says what an agent does now.
func (t *Timeline) state(agent int64) (string, themes.Role) {
	x, now := t.Tabs.ByID(agent), t.Now()
	i := x.Info
	switch {
	case i.Question != nil:
		return "asks · " + format.Ran(now.Sub(i.Question.Since)), themes.Warn
	case i.State == event.Failed || i.State == event.Crashed:
		if why, _, _ := strings.Cut(i.Why, "\n"); why != "" {
			return why, themes.Bad
		}
		return string(i.State), themes.Bad
	case format.Awaits(i):
		return stateText(x, now), themes.Dim
	case i.State == event.Running:
		return x.StateText(false), themes.Accent
	case i.State == event.Done:
		return "done " + stateText(x, now), themes.Good
	}
	return x.StateText(false), themes.Dim
}

// bar draws what was done in each column. The marks of what was read are found by their time, as the visible time moves
// on before the next ones are read. cursor is the column of the selected moment.
func (t *Timeline) bar(acts []agents.Act, mail []bool, win visible, cursor int) string {
	var out, run strings.Builder
	role := themes.Dim
	flush := func(next themes.Role) {
		if next != role {
			out.WriteString(t.Theme.Paint(role, run.String()))
			run.Reset()
			role = next
		}
	}
	for col := range win.n {
		sign, as := " ", themes.Dim
		if i := t.index(win, col); i >= 0 && i < len(acts) {
			sign, as = format.Acts[acts[i]].Sign, format.Acts[acts[i]].Role
			if mail != nil && mail[i] {
				sign, as = "✉", themes.Message
			}
		}
		if col == cursor {
			as = themes.Selection
		}
		flush(as)
		run.WriteString(sign)
	}
	flush(-1)
	return out.String()
}

// index returns which of the stretches that were read a column shows; -1: it was not read.
func (t *Timeline) index(win visible, col int) int {
	if t.read.Stretch <= 0 {
		return -1
	}
	at := win.from.Add(time.Duration(col)*win.stretch + win.stretch/2).Sub(t.read.From)
	if at < 0 {
		return -1
	}
	return int(at / t.read.Stretch)
}

// column returns the column of the selected moment.
func (t *Timeline) column(win visible) int {
	if t.at.IsZero() {
		return win.n - 1
	}
	return int((t.at.Sub(win.from) - 1) / win.stretch)
}

// cursor returns the line below the rows: the selected moment, and how long agents waited for the human.
func (t *Timeline) cursor(win visible, c timelineCols, w int) string {
	text := "now"
	if !t.at.IsZero() {
		text = t.clock(t.at, time.TimeOnly)
	}
	if more := len(t.members) - t.rows; more > 0 {
		text += fmt.Sprintf(" · row %d of %d", t.place()+1, len(t.members))
	}
	col := max(0, t.column(win))
	line := cells.Spaces(c.name + 5)
	if room := c.bar - cells.Width(text) - 2; col > room {
		at := max(0, col-cells.Width(text)-1)
		line += cells.Spaces(at) + t.Theme.Paint(themes.Strong, text+" ▲")
	} else {
		line += cells.Spaces(col) + t.Theme.Paint(themes.Strong, "▲ "+text)
	}
	return cells.Cut(line, w)
}

// waited says how long agents waited for the human in the time that was read.
func (t *Timeline) waited() string {
	if t.read.Busy == 0 {
		return ""
	}
	return "Waited for you: " + format.Clock(t.read.Waited) + " of " + format.Clock(t.read.Busy)
}

// legend explains the signs, as many as fit. The time that was waited for the human is on the right.
func (t *Timeline) legend(w int) string {
	line, sum := " ", t.waited()
	room := max(0, w-cells.Width(sum)-1)
	add := func(role themes.Role, sign, word string) {
		if cells.Width(line+sign+word)+3 <= room {
			line += t.Theme.Paint(role, sign) + t.Theme.Paint(themes.Dim, " "+word+"  ")
		}
	}
	for _, a := range legend {
		add(format.Acts[a].Role, format.Acts[a].Sign, format.Acts[a].Word)
	}
	add(themes.Message, "✉", "mail")
	return cells.Fit(line, room) + t.Theme.Paint(themes.Text, sum)
}

// below returns exactly h lines with the transcript of the selected agent at the selected moment.
func (t *Timeline) below(w, h int) []string {
	if h == 0 {
		return nil
	}
	p := max(t.place(), 0)
	if p >= len(t.members) {
		return make([]string, h)
	}
	m := t.members[p]
	text := " · now"
	if !t.at.IsZero() {
		text = " at " + t.clock(t.at, time.TimeOnly)
		if r := t.read.Rows[m.ID]; r != nil {
			if i := t.index(t.visible(), t.column(t.visible())); i >= 0 && i < len(r.Acts) && r.Acts[i] != agents.Absent {
				text += " · " + format.Acts[r.Acts[i]].Word
			}
		}
	}
	head := t.Theme.Paint(themes.Rule, "── ") + t.Theme.Paint(themes.Strong, cells.CleanLine(m.Name)) + t.Theme.Paint(themes.Dim, text) + " "
	if sum := t.waited(); h < 10 && w < 64 && sum != "" {
		head += t.Theme.Paint(themes.Dim, "· "+sum) + " "
	}
	out := []string{head + t.Theme.Paint(themes.Rule, strings.Repeat("─", max(0, w-cells.Width(head))))}
	if h--; h == 0 {
		return out
	}
	var lines []string
	switch {
	case m.ID < 0:
		lines = []string{t.Theme.Paint(themes.Dim, "  This task has not started")}
	case t.at.IsZero():
		lines = t.Tabs.LastLines(m.ID, w, h)
	case t.past.agent == m.ID && t.past.last > 0:
		lines = t.past.view.Lines(w, h)
	case t.past.agent == m.ID && t.past.at.Equal(t.at):
		lines = []string{t.Theme.Paint(themes.Dim, "  "+cells.CleanLine(m.Name)+" had done nothing yet")}
	}
	for len(lines) < h {
		lines = append(lines, "")
	}
	return append(out, lines[:h]...)
}

// hint names the keys, as many as fit.
func (t *Timeline) hint(w int) string {
	const rest = "esc back"
	hint := " "
	for _, part := range []string{"←→ time", "↑↓ agent", "enter open there", "f fork there", "t fan", "end now", "? keys"} {
		if part == "end now" && t.at.IsZero() {
			continue
		}
		if cells.Width(hint+part+" · "+rest) > w-1 {
			break
		}
		hint += part + " · "
	}
	return t.Theme.Paint(themes.Dim, hint+rest)
}
