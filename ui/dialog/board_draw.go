package dialog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fantail/themes"
	"fantail/ui/cells"
)

// The sizes that decide which parts a board shows.
const (
	besideCols  = 100 // minimum width for the preview beside the list
	underCols   = 60  // minimum width for the preview below the list
	underRows   = 14
	longestText = 12 // minimum height of a preview below the list
	narrowCols  = 40 // below this width the parts of a row may not fit
	numberCols  = 45 // minimum width for a row's number
)

// Lines draws the board. Its cost depends on what is visible, not on the number of rows.
func (b *Board) Lines(w, h int) []string {
	b.cursor, b.last = false, frames{}
	if !fits(w, h) {
		return nil
	}
	inner, rows := w-borderCols, h-borderRows
	var out []string
	if len(b.lanes) > 0 && rows > 3 && !b.Bare() {
		out = append(out, cells.Fit(b.tabs(inner), inner))
	}
	room := rows - len(out)
	foot := b.foot(inner, max(1, room/3), h-2)
	if room > len(foot) {
		room -= len(foot)
	} else {
		foot = nil
	}
	top := len(out)
	switch {
	case b.peeks && b.At() != 0:
		b.last.preview = area{2, top + 1, inner, room}
		out = append(out, b.shown(inner, room)...)
	case w >= besideCols && !b.Bare():
		left := (inner - 3) * 48 / 100
		right := inner - 3 - left
		b.last.preview = area{2 + left + 3, top + 1, right, room}
		list, text := b.list(left, room, top), b.shown(right, room)
		bar := b.theme.Paint(themes.Rule, " │ ")
		for i := range list {
			out = append(out, list[i]+bar+text[i])
		}
	case w >= underCols && room >= underRows && b.At() != 0:
		under := max(room/2, min(longestText, room-6))
		b.last.preview = area{2, top + 1 + room - under + 1, inner, under - 1}
		out = append(out, b.list(inner, room-under, top)...)
		out = append(out, b.theme.Paint(themes.Rule, strings.Repeat("─", inner)))
		out = append(out, b.shown(inner, under-1)...)
	default:
		out = append(out, b.list(inner, room, top)...)
	}
	for _, l := range foot {
		out = append(out, cells.Fit(l, inner))
	}
	return framed(b.theme, w, themes.Strong, b.title, b.hint(w), out[:min(len(out), rows)])
}

// tabs returns the lanes with their counts. The lane shown is in brackets.
func (b *Board) tabs(w int) string {
	all := 0
	for _, l := range b.lanes {
		if all += l.Count; l.Count < 0 {
			all = -1
			break
		}
	}
	lanes := append([]Lane{{Name: "All", Short: "All", Count: all, Role: themes.Text}}, b.lanes...)
	shown := func(i int, short bool) string {
		text := laneText(lanes[i], short)
		if i-1 == b.lane {
			return "[" + text + "]"
		}
		return text
	}
	sep, short := " · ", false
	wide := -cells.Width(sep)
	for i := range lanes {
		wide += cells.Width(shown(i, false)) + cells.Width(sep)
	}
	if wide > w {
		sep, short = " ", true
	}
	text, x := "", 0
	for i, l := range lanes {
		name, role := shown(i, short), l.Role
		if i > 0 {
			text += b.theme.Paint(themes.Dim, sep)
			x += cells.Width(sep)
		}
		switch {
		case i-1 == b.lane:
			role = themes.Accent
		case l.Count == 0:
			role = themes.Dim
		}
		text += b.theme.Paint(role, name)
		b.last.tabs = append(b.last.tabs, tabAt{i - 1, 2 + x, 2 + x + cells.Width(name)})
		x += cells.Width(name)
	}
	return cells.Cut(text, w)
}

func laneText(l Lane, short bool) string {
	name := l.Name
	if short {
		name = l.Short
	}
	if l.Count < 0 {
		return name
	}
	return name + " " + thousands(l.Count)
}

// foot returns the result of an action, in at most `most` rows, above the open line. Without either
// it is the cost of taking the rows. y is the row of its last line.
func (b *Board) foot(w, most, y int) (out []string) {
	line := func(label string, in *input) {
		label = cells.Cut(label, w/2)
		n := cells.Width(label)
		view, x := in.view(max(1, w-n-1))
		b.cx, b.cy, b.cursor = 2+n+x, y, true
		out = append(out, b.theme.Paint(themes.Accent, label)+b.theme.Paint(themes.Text, view))
	}
	if b.notice != "" {
		tone := themes.Text
		if b.bad {
			tone = themes.Bad
		}
		rows := wrap(b.notice, w)
		if len(rows) > most {
			rows = rows[:most]
			rows[most-1] = cells.Cut(rows[most-1]+"…", w)
		}
		for _, l := range rows {
			out = append(out, b.theme.Paint(tone, l))
		}
	}
	switch {
	case b.asks.Name != "":
		line(b.label(), b.ask)
	case b.seeks:
		line("/ ", b.find)
	case b.notice == "":
		text := ""
		if b.picks {
			text = b.price()
		}
		if s := b.Search(); s != "" {
			text = strings.TrimPrefix(text+" · / "+s, " · ") + " (esc show all)"
		}
		out = append(out, b.theme.Paint(themes.Dim, cells.Cut(cells.CleanLine(text), w)))
	}
	return out
}

// label returns the label of the line for a verb's text. %s in it becomes the row's name, or the
// number of picked rows.
func (b *Board) label() string {
	of := ""
	if n := len(b.ids); n > 1 && b.asks.All {
		return strings.ReplaceAll(b.asks.Ask, "%s", thousands(n)+" messages")
	}
	for _, l := range b.lines {
		if l.ID == b.of {
			of = strings.TrimSpace(l.Who)
			if l.Number != "" {
				of = strings.TrimSpace(of + " " + l.Number)
			}
			break
		}
	}
	return strings.ReplaceAll(b.asks.Ask, "%s", of)
}

// price returns the cost of taking the picked rows, or else the row under the bar.
func (b *Board) price() string {
	n, cost := len(b.picked), 0
	for _, c := range b.picked {
		cost += c
	}
	if at := b.bar(); n == 0 && at >= 0 && b.lines[at].Does == "" {
		n, cost = 1, b.lines[at].Cost
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "~" + thousands(cost) + " tokens"
	}
	return fmt.Sprintf("%s messages, ~%s tokens", thousands(n), thousands(cost))
}

// thousands formats n with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// list draws the rows around the bar. top is the number of lines above it.
func (b *Board) list(w, h, top int) []string {
	b.last.list = area{2, top + 1, w, h}
	at := b.bar()
	b.scroll.set(h, len(b.lines))
	switch {
	case at < 0:
	case at == b.next(0, 1): // a heading precedes the first row
		b.scroll.to(0)
	case at < b.scroll.top:
		b.scroll.to(at)
	case at >= b.scroll.top+h:
		b.scroll.to(at - h + 1)
	}
	shown := b.lines[b.scroll.top:min(b.scroll.top+h, len(b.lines))]
	c := widths(shown, w)
	now := b.now()
	out := make([]string, 0, h)
	for i, l := range shown {
		row := b.row(l, c, b.scroll.top+i == at, w, now)
		if l.ID == 0 || w < narrowCols {
			row = cells.Fit(row, w)
		}
		out = append(out, row)
	}
	if len(shown) == 0 {
		text := b.empty
		if b.Search() != "" {
			text = "No matches."
		} else if b.lane >= 0 && b.lane < len(b.lanes) {
			text = "Nothing here. 0 to show all."
		}
		for _, s := range wrap(text, w) {
			out = append(out, cells.Fit(b.theme.Paint(themes.Dim, s), w))
		}
	}
	for len(out) < h {
		out = append(out, cells.Spaces(w))
	}
	return out[:h]
}

// cols are the widths of a row's parts.
type cols struct{ number, who, fold int }

func widths(shown []Line, w int) (c cols) {
	for _, l := range shown {
		c.number = max(c.number, cells.Width(l.Number))
		c.who = max(c.who, cells.Width(l.Who)+under(l))
		if l.Fold > 0 {
			c.fold = max(c.fold, 3+len(strconv.Itoa(l.Fold)))
		}
	}
	c.who = min(c.who, max(8, w/4), 20)
	if w < numberCols {
		c.number = 0
	}
	return c
}

func under(l Line) int {
	if l.Under {
		return 2
	}
	return 0
}

// row returns a row, exactly w cells wide unless w is narrow.
func (b *Board) row(l Line, c cols, bar bool, w int, now time.Time) string {
	if l.ID == 0 {
		return b.theme.Paint(themes.Dim, cells.Cut(l.Text, w))
	}
	state := " "
	if _, ok := b.picked[l.ID]; ok {
		state = "■"
	} else if l.Fresh {
		state = "•"
	}
	age := age(l, now)
	fold := ""
	if l.Fold > 0 {
		sign := "▸"
		if l.Open {
			sign = "▾"
		}
		fold = fmt.Sprintf("%s %d", sign, l.Fold)
	}
	mark := l.Mark
	if mark == "" {
		mark = " "
	}
	head := state + l.Sign + mark
	number := ""
	if c.number > 0 {
		number = cells.Spaces(c.number-cells.Width(l.Number)) + l.Number + " "
	}
	who := l.Who
	if l.Under {
		who = "└ " + who
	}
	who = cells.Fit(who, c.who) + " "
	tail := cells.Spaces(c.fold-cells.Width(fold)) + fold + cells.Spaces(max(1, 5-cells.Width(age))) + age
	room := max(0, w-cells.Width(head)-cells.Width(number)-cells.Width(who)-cells.Width(tail))
	flags := l.Flags
	if flags != "" {
		flags = cells.Cut(flags, room*2/5) + " "
	}
	if l.ID == b.covered {
		l.Text = ""
	}
	text := cells.Fit(l.Text, max(0, room-cells.Width(flags)))
	if bar {
		return b.theme.Paint(themes.Selection, cells.Fit(head+number+who+flags+text+tail, w))
	}
	p := b.theme.Paint
	name, body := themes.Text, themes.Text
	switch {
	case l.Faint:
		name, body = themes.Dim, themes.Dim
	case l.Fresh:
		name = themes.Strong
	}
	mark = p(themes.Bad, mark)
	return p(themes.Accent, state) + p(l.Role, l.Sign) + mark + p(themes.Dim, number) + p(name, who) + p(themes.Strong, flags) + p(body, text) + p(themes.Dim, tail)
}

// lateAfter is how long after its time a due thing counts as late.
const lateAfter = time.Minute

// age returns how old a row is, or how long until it is due.
func age(l Line, now time.Time) string {
	d := now.Sub(l.At)
	switch {
	case l.At.IsZero():
		return ""
	case !l.Ahead:
		return short(d)
	case d >= lateAfter:
		return "late"
	case d >= 0:
		return "now"
	case d > -time.Minute:
		return "soon" // the seconds are not counted down
	}
	return "in " + short((-d).Round(time.Second))
}

// short returns an age in a few cells.
func short(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}

// shown returns the preview's lines.
func (b *Board) shown(w, h int) []string {
	var out []string
	if b.preview != nil && b.shows == b.At() && b.shows != 0 && b.shows != b.covered && h > 0 {
		out = b.preview.Lines(w, h)
	}
	for i, l := range out {
		out[i] = cells.Fit(l, w)
	}
	for len(out) < h {
		out = append(out, cells.Spaces(w))
	}
	return out[:max(h, 0)]
}

// hint names the keys that work now.
func (b *Board) hint(w int) string {
	switch {
	case b.asks.Name != "":
		return "enter confirm · esc back"
	case b.seeks:
		return "enter keep · esc show all"
	}
	const rest = "? keys · esc back"
	verbs := slices.Clone(b.verbs)
	if b.picks && len(verbs) > 0 {
		verbs = slices.Insert(verbs, 1, Verb{Key: "space", Hint: "select"})
	}
	at, hint := b.bar(), ""
	for _, v := range verbs {
		if v.Hint == "" {
			continue
		}
		key, _, _ := strings.Cut(v.Key, " ")
		word := v.Hint
		switch {
		case len(b.picked) > 0 && v.Many != "":
			word = v.Many + " " + thousands(len(b.picked))
		case key == "enter" && len(b.picked) == 0 && !b.Peeks():
			word = "open"
		case key == "enter" && at >= 0 && b.lines[at].Does != "":
			word = b.lines[at].Does
		}
		part := key + " " + word + " · "
		if cells.Width(hint+part+rest) > w-6 {
			break
		}
		hint += part
	}
	return hint + rest
}

// Keys returns the keys of a board for its help.
func (b *Board) Keys() []Row {
	var rows []Row
	for _, v := range b.verbs {
		if v.Key == "" {
			continue
		}
		rows = append(rows, Row{shortKeys(v.Key), v.Help})
	}
	if b.picks {
		rows = append(rows, Row{"space", "select or deselect"}, Row{"l, h", "unfold, fold thread"})
	}
	rows = append(rows,
		Row{"j, k", "move down, up"},
		Row{"g, G", "first, last"},
		Row{fmt.Sprintf("1…%d", len(b.lanes)), "one lane"},
		Row{"0", "all lanes"},
	)
	if !slices.ContainsFunc(b.verbs, func(v Verb) bool { return v.Key == "p" }) {
		rows = append(rows, Row{"p", "preview alone"})
	}
	return append(rows,
		Row{"pgup/pgdn", "scroll the preview"},
		Row{"/", "find"},
		Row{"esc", "back"},
	)
}

// shortKeys returns the first of a verb's keys, and the others as long as they are letters.
func shortKeys(keys string) string {
	all := strings.Fields(keys)
	short := all[0]
	for _, k := range all[1:] {
		if len(k) == 1 {
			short += ", " + k
		}
	}
	return short
}
