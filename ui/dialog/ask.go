package dialog

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fantail/themes"
	"fantail/ui/cells"
)

// Asked is an agent's question with free text as an answer.
type Asked struct {
	ID       int64
	Name     string // name of the agent
	Text     string
	Options  []Offer
	Multiple bool // several options may be chosen
	Outside  bool // it belongs to work that was requested from outside the program
}

// Offer is an answer to choose.
type Offer struct{ Label, Why string }

// Said is the answer to such a question, as text.
type Said struct {
	Question int64
	Text     string
}

func (Said) decision() {}

// ask asks an agent's question. Digits answer with an option, and so do the arrows and Enter. Typed
// text is an answer too.
type ask struct {
	theme *themes.Theme
	q     Asked
	by    answering // if strictly, typing does not open the line for text

	// at is the highlighted row, -1 for none, so that an Enter meant for the prompt answers
	// nothing. The row after the options opens the line for text.
	at     int
	chosen map[int]bool // if several may be
	words  *input       // the open line for text; nil: closed
	scroll scroll
	width  int // the width of body
	body   []string
	cx, cy int
}

// NewAsk asks q.
func NewAsk(t *themes.Theme, q Asked) Question {
	b := &ask{theme: t, q: q, at: -1, chosen: map[int]bool{}}
	if len(q.Options) == 0 {
		b.words = newInput()
	}
	return b
}

func (b *ask) Key(k tea.KeyPressMsg) Decision {
	key, typed := k.Keystroke(), typedText(k)
	if b.words != nil {
		return b.wordsKey(k)
	}
	if b.scroll.key(key) {
		return nil
	}
	last := len(b.q.Options)
	switch key {
	case "esc":
		return Cancelled{}
	case "tab":
		b.words = newInput()
	case "up", "left":
		if b.at--; b.at < 0 {
			b.at = last
		}
	case "down", "right":
		b.at = (b.at + 1) % (last + 1)
	case "space":
		if b.q.Multiple && b.at >= 0 && b.at < last {
			b.toggle(b.at)
		} else {
			b.scroll.key("pgdown")
		}
	case "enter":
		return b.enter()
	default:
		n := digit(typed)
		switch {
		case n >= 0 && b.by == lettered:
		case n >= 0 && n < last:
			return b.pick(n)
		case typed != "" && b.by != strictly: // typed text is an answer
			b.words = newInput()
			b.words.key(k)
		}
	}
	return nil
}

// digit returns the index of the option with that digit; -1: it is none.
func digit(s string) int {
	if len(s) == 1 && s[0] >= '1' && s[0] <= '9' {
		return int(s[0] - '1')
	}
	return -1
}

func (b *ask) toggle(n int) { b.chosen[n] = !b.chosen[n] }

// pick takes an option by its digit: it answers, or toggles one of several.
func (b *ask) pick(n int) Decision {
	if b.at = n; b.q.Multiple {
		b.toggle(n)
		return nil
	}
	if b.by == strictly {
		return nil
	}
	return Said{b.q.ID, b.q.Options[n].Label}
}

// enter answers with the chosen options or the highlighted one.
func (b *ask) enter() Decision {
	last := len(b.q.Options)
	var labels []string
	for n, o := range b.q.Options {
		if b.chosen[n] {
			labels = append(labels, o.Label)
		}
	}
	switch {
	case b.at == last:
		b.words = newInput()
	case len(labels) > 0:
		return Said{b.q.ID, strings.Join(labels, ", ")}
	case b.at >= 0:
		return Said{b.q.ID, b.q.Options[b.at].Label}
	}
	return nil
}

func (b *ask) wordsKey(k tea.KeyPressMsg) Decision {
	switch key := k.Keystroke(); key {
	case "enter":
		if text := strings.TrimSpace(b.words.value()); text != "" {
			return Said{b.q.ID, text}
		}
	case "esc":
		if len(b.q.Options) == 0 {
			return Cancelled{}
		}
		b.words = nil
	case "pgup", "pgdown", "shift+up", "shift+down":
		b.scroll.key(key)
	default:
		b.words.key(k)
	}
	return nil
}

// Means accepts any text, except where digits only select or switch views.
func (b *ask) Means(k tea.KeyPressMsg) bool {
	typed := typedText(k)
	switch n := digit(typed); {
	case b.words == nil && b.by == strictly:
		return n >= 0 && n < len(b.q.Options)
	case b.words == nil && b.by == lettered && n >= 0:
		return false
	}
	return typed != ""
}

func (b *ask) Strictly() { b.by, b.at = strictly, -1 }
func (b *ask) Lettered() { b.by, b.at = lettered, -1 }
func (b *ask) Freely()   { b.by, b.at = freely, -1 }

func (b *ask) Typed() string { return b.words.typed() }

func (b *ask) SetTheme(t *themes.Theme) { b.theme, b.width = t, 0 }

func (b *ask) Paste(s string) {
	if b.words == nil && b.by != strictly {
		b.words = newInput()
	}
	if b.words != nil {
		b.words.insert(s)
	}
}

func (b *ask) Cursor() (x, y int, ok bool) { return b.cx, b.cy, b.words != nil }

func (b *ask) Lines(w, h int) []string {
	if !fits(w, h) {
		return nil
	}
	inner, rows := w-borderCols, h-borderRows
	if b.width != inner {
		b.width, b.body = inner, b.lay(inner)
	}
	foot, hidden := b.foot(inner, max(1, rows-min(len(b.body), max(1, rows/2))))
	view := max(1, rows-len(foot))
	if view > len(b.body) && rows > len(b.body)+len(foot) {
		foot = append([]string{""}, foot...)
		view = rows - len(foot)
	}
	var lines []string
	if len(b.body) <= view {
		b.scroll.set(view, len(b.body))
		lines = append(lines, b.body...)
	} else {
		// If there is room, the last row says how many rows are hidden.
		shown := max(1, view-1)
		b.scroll.set(shown, len(b.body))
		top := b.scroll.top
		end := min(len(b.body), top+shown)
		lines = append(lines, b.body[top:end]...)
		if view > 1 {
			lines = append(lines, outOfSight(b.theme, top, len(b.body)-end))
		}
	}
	b.cy = 1 + len(lines) + len(foot) - 1
	lines = append(lines, foot...)
	title := cells.Cut(cells.CleanLine(b.q.Name)+" has a question", max(0, w-titleCols))
	return bright(b.theme, w, b.theme.Paint(themes.Warn, title), b.hint(hidden), lines[:min(len(lines), rows)])
}

// lay returns the question wrapped to w columns.
func (b *ask) lay(w int) (rows []string) {
	if b.q.Outside {
		for _, s := range cells.Wrap("● for work that was asked for outside of the program", w) {
			rows = append(rows, b.theme.Paint(themes.Warn, s))
		}
	}
	for _, s := range wrap(cells.Reveal(b.q.Text), w) {
		rows = append(rows, b.theme.Paint(themes.Text, s))
	}
	return rows
}

// foot returns the options, or the line for text, in at most `most` rows. hidden is the number of
// rows left out. The highlighted option is always shown.
func (b *ask) foot(inner, most int) (rows []string, hidden int) {
	if b.words != nil {
		label := "› "
		view, x := b.words.view(inner - 3)
		b.cx = 2 + 2 + x
		return []string{b.theme.Paint(themes.Accent, label) + b.theme.Paint(themes.Text, view)}, 0
	}
	first, last := 0, 0
	for n := range len(b.q.Options) + 1 {
		if n == b.at {
			first = len(rows)
		}
		rows = append(rows, b.option(n, inner)...)
		if n == b.at {
			last = len(rows)
		}
	}
	if hidden = len(rows) - most; hidden <= 0 {
		return rows, 0
	}
	top := max(0, min(last-most, first, hidden))
	if b.at >= 0 && last-first <= most {
		top = min(first, max(0, last-most))
	}
	return rows[top : top+most], hidden
}

// option returns the rows of option n.
func (b *ask) option(n, inner int) (rows []string) {
	key, label, why := "", "", ""
	if n == len(b.q.Options) {
		key, label = " ›  ", "Type your own answer"
	} else {
		o := b.q.Options[n]
		label, why = cells.CleanLine(cells.Reveal(o.Label)), cells.CleanLine(cells.Reveal(o.Why))
		digit := strconv.Itoa(n + 1)
		if b.by == lettered {
			digit = "·"
		}
		switch key = " " + digit + "  "; {
		case b.q.Multiple && b.chosen[n]:
			key = " " + digit + " [x] "
		case b.q.Multiple:
			key = " " + digit + " [ ] "
		}
	}
	k := cells.Width(key)
	for i, row := range chopLine(label, inner-k) {
		gutter := key
		if i > 0 {
			gutter = strings.Repeat(" ", k)
		}
		if n == b.at {
			rows = append(rows, b.theme.Paint(themes.Selection, cells.Fit(gutter+row, inner)))
			continue
		}
		rows = append(rows, b.theme.Paint(themes.Accent, gutter)+b.theme.Paint(themes.Text, row))
	}
	if why == "" {
		return rows
	}
	if len(rows) == 1 && k+cells.Width(label)+3+cells.Width(why) <= inner && n != b.at {
		rows[0] += b.theme.Paint(themes.Dim, " · "+why)
		return rows
	}
	if len(rows) == 1 && k+cells.Width(label)+3+cells.Width(why) <= inner {
		return []string{b.theme.Paint(themes.Selection, cells.Fit(key+label+" · "+why, inner))}
	}
	for _, row := range cells.Wrap(why, max(1, inner-k)) {
		rows = append(rows, strings.Repeat(" ", k)+b.theme.Paint(themes.Dim, row))
	}
	return rows
}

func (b *ask) hint(hidden int) string {
	var parts []string
	switch {
	case b.words != nil && len(b.q.Options) > 0:
		parts = append(parts, "enter send", "esc back")
	case b.words != nil:
		parts = append(parts, "enter send", "esc decide later")
	case b.q.Multiple && hidden == 0:
		parts = append(parts, "space mark", "enter send", "esc decide later")
	case b.q.Multiple:
		parts = append(parts, "space mark", "esc decide later")
	case b.by == strictly:
		parts = append(parts, "enter confirm", "esc decide later")
	case b.by == lettered:
		parts = append(parts, "arrows, enter", "esc decide later")
	default:
		parts = append(parts, "esc decide later")
	}
	if hidden > 0 {
		parts = append(parts, "↓ more")
	}
	if len(b.body) > b.scroll.view {
		parts = append(parts, "pgup/pgdn")
	}
	return strings.Join(parts, " · ")
}
