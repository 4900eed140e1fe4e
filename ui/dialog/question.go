package dialog

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fantail/themes"
	"fantail/tools/permission"
	"fantail/ui/cells"
	"fantail/ui/markdown"
)

// question asks whether a call may run. It shows everything that would happen, and only a key for a
// choice answers.
type question struct {
	theme *themes.Theme
	q     permission.Question
	by    answering

	// at is the highlighted choice, -1 for none. It starts at -1, so that an Enter meant for the
	// prompt answers nothing. The first arrow moves it to the last choice, no: approving by Enter
	// takes two arrows and Enter, never one slip.
	at      int
	reason  *input // the open line for a reason; nil: closed
	scroll  scroll
	body    []RevealRow
	laid    laid // the layout of body
	cx, cy  int
	choices []choice
}

// laid is what the scrolling part depends on: its width, and whether the directory and the rule
// have a place below it.
type laid struct {
	inner     int
	dir, rule bool
}

type choice struct {
	key   string
	digit string
	label string
	word  string // label where only one word fits
	is    permission.Choice
}

// NewQuestion asks q.
func NewQuestion(t *themes.Theme, q permission.Question) Question {
	b := &question{theme: t, q: q, at: -1}
	if q.Action.Kind == permission.Tamper {
		b.choices = []choice{{"y", "1", "keep it as it is", "keep", permission.Once}, {"n", "3", "put it back, and say why", "put back", permission.No}}
		return b
	}
	b.choices = append(b.choices, choice{"y", "1", "once", "once", permission.Once})
	if q.Rule != "" {
		b.choices = append(b.choices, choice{"s", "2", "for this session", "session", permission.Session})
		b.choices = append(b.choices, choice{"p", "4", "always in this project", "project", permission.Project})
	}
	if q.Auto {
		b.choices = append(b.choices, choice{"a", "5", "run such commands in the sandbox without asking (mode auto)", "auto", permission.Freely})
	}
	b.choices = append(b.choices, choice{"n", "3", "no, and say why", "no", permission.No})
	return b
}

func (b *question) Key(k tea.KeyPressMsg) Decision {
	if b.reason != nil {
		return b.reasonKey(k)
	}
	key := k.Keystroke()
	if b.scroll.key(key) {
		return nil
	}
	switch key {
	case "esc":
		return Cancelled{}
	case "tab":
		b.reason = newInput()
	case "space":
		b.scroll.key("pgdown")
	case "j":
		b.scroll.key("shift+down")
	case "k":
		b.scroll.key("shift+up")
	case "up", "left":
		if b.at--; b.at < 0 {
			b.at = len(b.choices) - 1
		}
	case "down", "right":
		b.at = min(b.at+1, len(b.choices)-1)
		if b.at == 0 {
			b.at = len(b.choices) - 1
		}
	case "enter":
		if b.at >= 0 {
			return b.answer(b.choices[b.at].is)
		}
	default:
		switch i := b.choice(typedText(k)); {
		case i >= 0 && b.by == strictly:
			b.at = i
		case i >= 0:
			return b.answer(b.choices[i].is)
		}
	}
	return nil
}

// choice returns the index of the choice that a typed text names; -1: none.
func (b *question) choice(typed string) int {
	return slices.IndexFunc(b.choices, func(c choice) bool {
		return typed == c.digit && b.by != lettered || b.by != strictly && strings.ToLower(typed) == c.key
	})
}

// Means excludes the letters that scroll, because text begins with them.
func (b *question) Means(k tea.KeyPressMsg) bool {
	typed := typedText(k)
	return typed != "" && (b.reason != nil || b.choice(typed) >= 0 || typed == " " && len(b.body) > b.scroll.view)
}

func (b *question) Strictly() { b.by, b.at = strictly, -1 }
func (b *question) Lettered() { b.by, b.at = lettered, -1 }
func (b *question) Freely()   { b.by, b.at = freely, -1 }

func (b *question) Typed() string { return b.reason.typed() }

func (b *question) SetTheme(t *themes.Theme) { b.theme, b.laid = t, laid{} }

// answer decides. For a no it first asks for the reason.
func (b *question) answer(c permission.Choice) Decision {
	if c == permission.No {
		b.reason = newInput()
		return nil
	}
	return Answered{Question: b.q.ID, Answer: permission.Answer{Choice: c}}
}

func (b *question) reasonKey(k tea.KeyPressMsg) Decision {
	switch key := k.Keystroke(); key {
	case "enter":
		reason := strings.TrimSpace(b.reason.value())
		return Answered{Question: b.q.ID, Answer: permission.Answer{Choice: permission.No, Reason: reason}}
	case "esc":
		b.reason = nil
	case "pgup", "pgdown":
		b.scroll.key(key)
	default:
		b.reason.key(k)
	}
	return nil
}

func (b *question) Paste(s string) {
	if b.reason != nil {
		b.reason.insert(s)
	}
}

func (b *question) Cursor() (x, y int, ok bool) { return b.cx, b.cy, b.reason != nil }

func (b *question) Lines(w, h int) []string {
	if !fits(w, h) {
		return nil
	}
	inner, rows := w-borderCols, h-borderRows
	foot, at := b.foot(inner, rows)
	why := b.why(inner)
	if len(why)+len(foot)+2 > rows {
		why = why[:max(0, min(len(why), rows-len(foot)-2))]
	}
	b.lay(at)
	view := max(1, rows-len(why)-len(foot))
	lines := why
	if len(b.body) <= view {
		b.scroll.set(view, len(b.body))
		lines = append(lines, b.rows(0, len(b.body))...)
	} else {
		// The last row says how many rows are hidden: an approval must not look as if it had been
		// seen in full.
		b.scroll.set(view-1, len(b.body))
		top := b.scroll.top
		end := min(len(b.body), top+max(1, view-1))
		lines = append(lines, b.rows(top, end)...)
		if view > 1 {
			lines = append(lines, outOfSight(b.theme, top, len(b.body)-end))
		}
	}
	b.cy = 1 + len(lines) + len(foot) - 1
	lines = append(lines, foot...)
	lines = lines[:min(len(lines), rows)]
	title := cells.CleanLine(b.q.Name) + " asks: " + cells.CleanLine(b.q.Action.Tool)
	return panel(b.theme, w, themes.Warn, "⚠ "+title, b.hint(), lines)
}

func (b *question) hint() string {
	hint := "esc later"
	switch {
	case b.reason != nil:
		return "enter sends the no · esc back"
	case b.by == strictly:
		hint = "enter confirms · esc later"
	}
	if len(b.body) > b.scroll.view {
		hint += " · pgup/pgdn scroll"
	}
	return hint
}

// why says what is special about the action.
func (b *question) why(inner int) []string {
	var why []string
	if b.q.Action.Outside {
		why = append(why, "outside the workspace")
	}
	if s := b.q.Action.Sensitive; s != "" {
		why = append(why, "sensitive: "+cells.CleanLine(cells.Reveal(s)))
	}
	if s := b.q.Again; s != "" {
		why = append(why, cells.CleanLine(cells.Reveal(s)))
	}
	if len(why) == 0 {
		return nil
	}
	rows := cells.Wrap("⚠ "+strings.Join(why, " · "), inner)
	for i, row := range rows {
		rows[i] = b.theme.Paint(themes.Warn, row)
	}
	return rows
}

// roomy is how many rows a box needs for one row per choice.
const roomy = 7

// ruleRows limits the rows of the rule beside its choice. A longer rule is shown in full in the
// scrolling part.
const ruleRows = 2

// foot returns the lowest part: the directory, and the choices or the line for a reason.
func (b *question) foot(inner, rows int) (foot []string, at laid) {
	d := b.dir()
	at = laid{
		inner: inner,
		dir:   d != "" && cells.Width(d) <= inner && rows >= roomy,
		rule:  rows >= roomy && len(chopLine(b.sessionLabel(inner-4), inner-4)) <= ruleRows,
	}
	if at.dir {
		foot = append(foot, b.theme.Paint(themes.Dim, d))
	}
	if rows >= 2*roomy {
		foot = append(foot, "")
	}
	if b.reason != nil {
		label := "no, because: "
		view, x := b.reason.view(inner - len(label) - 1)
		b.cx = 2 + len(label) + x
		return append(foot, b.theme.Paint(themes.Warn, label)+b.theme.Paint(themes.Text, view)), at
	}
	if rows < roomy {
		return append(foot, b.short(inner)), at
	}
	session := "for this session, by the rule above"
	if at.rule {
		session = b.sessionLabel(inner - 4)
	}
	list := b.listed(inner, session)
	if len(foot)+len(list)+2 > rows { // some rows of the question stay visible, and no choice is cut off
		at.rule = false
		list = b.listed(0, "")
	}
	return append(foot, list...), at
}

// listed returns the rows of each choice, with its label wrapped to inner columns; 0: its word
// alone. session is the label of the choice for this session.
func (b *question) listed(inner int, session string) (list []string) {
	for i, c := range b.choices {
		label := c.label
		switch {
		case inner == 0:
			list = append(list, b.choiceRow(i, " "+b.name(c)+"  ", c.word, 4+cells.Width(c.word)))
			continue
		case c.is == permission.Session:
			label = session
		}
		for j, row := range chopLine(label, inner-4) {
			key := "    "
			if j == 0 {
				key = " " + b.name(c) + "  "
			}
			list = append(list, b.choiceRow(i, key, row, inner))
		}
	}
	return list
}

func (b *question) choiceRow(i int, key, row string, inner int) string {
	if i == b.at {
		return b.theme.Paint(themes.Selection, cells.Fit(key+row, inner))
	}
	return b.theme.Paint(themes.Accent, key) + b.theme.Paint(themes.Text, row)
}

// name returns the key shown before a choice.
func (b *question) name(c choice) string {
	if b.by == strictly {
		return c.digit
	}
	return c.key
}

// short returns the choices in one row of inner columns, for a box with few rows.
func (b *question) short(inner int) string {
	var parts []string
	for i, c := range b.choices {
		if i == b.at {
			parts = append(parts, b.theme.Paint(themes.Selection, b.name(c)+" "+c.word))
			continue
		}
		parts = append(parts, b.theme.Paint(themes.Accent, b.name(c))+" "+b.theme.Paint(themes.Text, c.word))
	}
	if row := strings.Join(parts, b.theme.Paint(themes.Dim, " · ")); cells.Width(row) <= inner {
		return row
	}
	if row := strings.Join(parts, "  "); cells.Width(row) <= inner {
		return row
	}
	for i, c := range b.choices { // cut the words rather than leave a choice out
		word := c.word[:min(len(c.word), 4)]
		if parts[i] = b.theme.Paint(themes.Accent, b.name(c)) + " " + b.theme.Paint(themes.Text, word); i == b.at {
			parts[i] = b.theme.Paint(themes.Selection, b.name(c)+" "+word)
		}
	}
	return strings.Join(parts, "  ")
}

// sessionLabel names the exact rule. It is shorter if there are few columns.
func (b *question) sessionLabel(w int) string {
	if label := "for this session: " + b.rule(); cells.Width(label) <= w {
		return label
	}
	return "session: " + b.rule()
}

func (b *question) rule() string { return cells.CleanLine(cells.Reveal(string(b.q.Rule))) }

// dir returns the directory of a command. For a file its path suffices.
func (b *question) dir() string {
	if b.q.Action.Dir == "" || b.q.Action.Command == "" {
		return ""
	}
	return "in " + cells.CleanLine(cells.Reveal(b.q.Action.Dir))
}

// lay makes the scrolling part for a layout: paths, command, diff, and what did not fit below.
func (b *question) lay(at laid) {
	if b.laid == at {
		return
	}
	a := b.q.Action
	b.laid, b.body = at, nil
	add := func(s string, role themes.Role) {
		b.body = append(b.body, runOnRows(cells.CleanLine(cells.Reveal(s)), at.inner, role)...)
	}
	if a.Command == "" && a.Title != "" {
		add(a.Title, themes.Tool)
	}
	if a.Command == "" {
		for _, p := range a.Paths {
			add(p, themes.Dim)
		}
	}
	if a.Command != "" {
		b.body = append(b.body, commandRows(a.Command, at.inner)...)
	}
	for line := range strings.SplitSeq(a.Input, "\n") {
		if line != "" {
			add(line, themes.Code)
		}
	}
	if a.Diff != "" {
		d := markdown.NewDiff(a.Diff)
		if a.Kind != permission.Write && d.Name != "" { // the title names the file of an edit
			add(d.Name, themes.Text)
		}
		b.body = append(b.body, diffRows(d.Lay(at.inner, b.theme))...)
	}
	if d := b.dir(); d != "" && !at.dir {
		add(d, themes.Dim)
	}
	if b.q.Rule != "" && !at.rule {
		add("rule for this session:", themes.Dim)
		add(string(b.q.Rule), themes.Code)
	}
}

func (b *question) rows(from, to int) []string {
	out := make([]string, 0, to-from)
	for _, l := range b.body[from:to] {
		out = append(out, l.paint(b.theme))
	}
	return out
}

// QuestionRows returns all that a call would do in painted lines of w cells.
func QuestionRows(t *themes.Theme, q permission.Question, w int) []string {
	b := &question{theme: t, q: q}
	b.lay(laid{inner: w, rule: true})
	return b.rows(0, len(b.body))
}

// outOfSight says how many rows of a question are hidden.
func outOfSight(t *themes.Theme, above, below int) string {
	if below == 0 {
		return t.Paint(themes.Dim, fmt.Sprintf("── the end · %s above ──", count(above)))
	}
	s := fmt.Sprintf("── %s more ──", count(below))
	if above > 0 {
		s = fmt.Sprintf("── %s more · %d above ──", count(below), above)
	}
	return t.Paint(themes.Warn, s)
}

func count(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}
