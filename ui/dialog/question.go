package dialog

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fantail/themes"
	"fantail/tools/permission"
	"fantail/ui/cells"
	"fantail/ui/composer"
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
	reason  *input        // the open line for a reason; nil: closed
	edit    *composer.Box // the open box with the command to change; nil: closed
	edited  int           // rows of edit
	whole   bool          // it fills the screen
	scroll  scroll
	body    []RevealRow
	laid    laid // the layout of body
	first   int  // row of body that shows at first at the top
	length  int  // lines of what would happen, before they are laid out
	size    int  // bytes of it
	cx, cy  int
	choices []choice
}

// laid is what the scrolling part depends on: its width, whether the title names what is asked for,
// and whether the directory and the rule have a place below it.
type laid struct {
	inner            int
	title, dir, rule bool
}

type choice struct {
	key   string
	digit string // selects it where letters do not
	label string // a sentence
	brief string // the same beside others in one row
	word  string // the same in one word
	is    permission.Choice
}

// NewQuestion asks q.
func NewQuestion(t *themes.Theme, q permission.Question) Question {
	b := &question{theme: t, q: q, at: -1}
	if q.Draft != "" {
		b.change(q.Draft)
	}
	b.choices = choicesOf(q)
	for _, s := range []string{q.Action.Command, q.Action.Diff, q.Action.Input} {
		b.length, b.size = b.length+strings.Count(s, "\n"), b.size+len(s)
	}
	b.length++
	return b
}

func (b *question) Key(k tea.KeyPressMsg) Decision {
	switch {
	case b.reason != nil:
		return b.reasonKey(k)
	case b.edit != nil:
		return b.editKey(k)
	}
	key := k.Keystroke()
	if b.scroll.key(key) {
		return nil
	}
	switch key {
	case "esc":
		return Cancelled{}
	case "tab":
		if b.q.Editable {
			b.change(b.q.Action.Command)
		}
	case "space":
		if !b.whole && b.by != strictly {
			b.whole = true
			return Whole{}
		}
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
		if b.by == strictly {
			return typed == c.digit
		}
		return strings.ToLower(typed) == c.key
	})
}

// Means excludes the letters that scroll, because text begins with them.
func (b *question) Means(k tea.KeyPressMsg) bool {
	typed := typedText(k)
	return typed != "" && (b.writing() || b.choice(typed) >= 0 || typed == " ")
}

func (b *question) Strictly() { b.by, b.at, b.whole = strictly, -1, false }
func (b *question) Lettered() { b.by, b.at, b.whole = lettered, -1, false }
func (b *question) Freely()   { b.by, b.at, b.whole = freely, -1, false }

func (b *question) Typed() string {
	if b.edit != nil && b.edit.Value() != b.q.Action.Command {
		return b.edit.Value()
	}
	return b.reason.typed()
}

func (b *question) SetTheme(t *themes.Theme) {
	b.theme, b.laid = t, laid{}
	if b.edit != nil {
		b.edit.SetTheme(t)
	}
}

// writing reports whether a line for text is open.
func (b *question) writing() bool { return b.reason != nil || b.edit != nil }

// change opens the box in which the human changes the command.
func (b *question) change(command string) {
	b.edit = composer.New(b.theme, nil, editPrompt)
	b.edit.Set(command)
}

const editPrompt = "$ "

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

// editKey edits the command. Enter sends it to be asked about in place of the one that is asked about.
func (b *question) editKey(k tea.KeyPressMsg) Decision {
	switch key := k.Keystroke(); key {
	case "enter":
		command := strings.TrimSpace(b.edit.Value())
		if command == strings.TrimSpace(b.q.Action.Command) {
			b.edit = nil
		} else if command != "" {
			return Answered{Question: b.q.ID, Answer: permission.Answer{Choice: permission.Edited, Command: command}}
		}
	case "esc":
		b.edit = nil
	case "pgup", "pgdown":
		b.scroll.key(key)
	case "tab", "up", "down", "ctrl+r": // the box has no completion and no history
		if key == "up" || key == "down" {
			b.edit.Key(k)
		}
	default:
		b.edit.Key(k)
	}
	return nil
}

func (b *question) Paste(s string) {
	switch {
	case b.reason != nil:
		b.reason.insert(s)
	case b.edit != nil:
		b.edit.Insert(s)
	}
}

func (b *question) Cursor() (x, y int, ok bool) { return b.cx, b.cy, b.writing() }

func (b *question) Lines(w, h int) []string {
	if !fits(w, h) {
		return nil
	}
	inner, rows := w-borderCols, h-borderRows
	why := b.why(inner)
	foot, at := b.foot(inner, rows, len(why))
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
	if b.edit != nil {
		x, y := b.edit.Cursor()
		b.cx, b.cy = 2+x, b.cy-b.edited+1+y
	}
	lines = append(lines, foot...)
	lines = lines[:min(len(lines), rows)]
	return bright(b.theme, w, b.title(w-titleCols), b.hint(), lines)
}

func (b *question) hint() string {
	hint := "space whole · esc decide later"
	switch {
	case b.whole:
		hint = "esc back"
	case b.by == strictly:
		hint = "esc decide later"
	}
	if b.q.Editable {
		hint = "tab edit · " + hint
	}
	switch {
	case b.reason != nil:
		return "enter send · esc back"
	case b.edit != nil:
		return "enter ask about this one · alt+enter new line · esc back"
	case b.by == strictly:
		hint = "enter confirm · " + hint
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
	rows := cells.Wrap("● "+strings.Join(why, " · "), inner)
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

// listRows is how many rows a box has where its choices take one row each, however much they
// leave out of what is asked.
const listRows = 17

// foot returns the lowest part below why more rows: the directory, and the choices or the line for a
// reason.
func (b *question) foot(inner, rows, why int) (foot []string, at laid) {
	d := b.dir()
	at = laid{
		inner: inner,
		title: cells.Width(b.wants()) <= inner-2,
		dir:   d != "" && cells.Width(d) <= inner && rows >= roomy,
		rule:  b.q.Rule == "" || rows >= roomy && len(chopLine(b.sessionLabel(), inner-4)) <= ruleRows,
	}
	if at.dir {
		foot = append(foot, b.theme.Paint(themes.Dim, d))
	}
	if rows >= 2*roomy {
		foot = append(foot, "")
	}
	if b.reason != nil {
		label := "Instead: "
		view, x := b.reason.view(inner - len(label) - 1)
		b.cx = 2 + len(label) + x
		return append(foot, b.theme.Paint(themes.Warn, label)+b.theme.Paint(themes.Text, view)), at
	}
	if b.edit != nil {
		b.edited = b.edit.Height(inner, max(1, rows/3))
		return append(foot, b.edit.Lines(inner, b.edited)...), at
	}
	list, body := b.listed(at), b.length+b.size/inner
	if rows >= listRows {
		body = min(body, rows/2)
	}
	if rows >= roomy && why+body+len(foot)+len(list) <= rows {
		return append(foot, list...), at
	}
	// One row for all choices, and if there is room, one for the rule that two of them give.
	if at.rule = b.q.Rule == ""; !at.rule && rows >= roomy+3 {
		if rule := "the rule: " + plain(string(b.q.Rule)); cells.Width(rule) <= inner {
			foot, at.rule = append(foot, b.theme.Paint(themes.Dim, rule)), true
		}
	}
	if row := b.row(inner); row != "" {
		return append(foot, row), at
	}
	return append(foot, b.short(inner)), at
}

// listed returns the rows of each choice, with its label wrapped. Where at has no place for the rule,
// the labels point to where it is.
func (b *question) listed(at laid) (list []string) {
	for i, c := range b.choices {
		label := c.label
		switch {
		case c.is == permission.Session && !at.rule:
			label = "Yes, and allow the rule above until you quit"
		case c.is == permission.Project && !at.rule:
			label = "Yes, and always allow the rule above in this project"
		}
		for j, row := range chopLine(label, at.inner-4) {
			key := "    "
			if j == 0 {
				key = " " + b.name(c) + "  "
			}
			list = append(list, b.choiceRow(i, key, row, at.inner))
		}
	}
	return list
}

// row returns the choices beside one another; "": they do not fit.
func (b *question) row(inner int) string {
	var parts []string
	for i, c := range b.choices {
		parts = append(parts, b.choiceRow(i, b.name(c)+" ", c.brief, cells.Width(b.name(c)+" "+c.brief)))
	}
	for _, gap := range []string{"   ", "  "} {
		if row := strings.Join(parts, gap); cells.Width(row) <= inner {
			return row
		}
	}
	return ""
}

func (b *question) choiceRow(i int, key, row string, inner int) string {
	if i == b.at {
		return b.theme.Paint(themes.Selection, cells.Fit(key+row, inner))
	}
	return b.theme.Paint(b.role(i), key) + b.theme.Paint(themes.Text, row)
}

// role returns the role of choice i's key. The key of "yes", the usual answer, is highlighted.
func (b *question) role(i int) themes.Role {
	if i == 0 && b.choices[i].is == permission.Once {
		return themes.Warn
	}
	return themes.Accent
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
		parts = append(parts, b.theme.Paint(b.role(i), b.name(c))+" "+b.theme.Paint(themes.Text, c.word))
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

// sessionLabel returns the sentence that names the rule.
func (b *question) sessionLabel() string {
	for _, c := range b.choices {
		if c.is == permission.Session {
			return c.label
		}
	}
	return ""
}

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
	if a.Command == "" && !at.title && a.Title != "" {
		add(a.Title, themes.Tool)
	}
	if a.Command == "" && (!at.title || len(a.Paths) > 1) {
		for _, p := range a.Paths {
			add(within(a, p), themes.Dim)
		}
	}
	if a.Command != "" {
		b.body = append(b.body, commandRows(a.Command, at.inner)...)
	}
	if b.q.Was != "" {
		add("you changed it; "+b.q.Name+" asked for:", themes.Dim)
		b.body = append(b.body, commandRows(b.q.Was, at.inner)...)
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
		add("the rule: "+string(b.q.Rule), themes.Dim)
	}
	if b.scroll.top == b.first {
		b.first = firstChange(b.body)
		b.scroll.top = b.first
	}
}

// firstChange returns the row before the first one that a diff adds or removes; 0: none does.
func firstChange(rows []RevealRow) int {
	for i, r := range rows {
		if r.Role == themes.Good || r.Role == themes.Bad {
			return max(0, i-1)
		}
	}
	return 0
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
	switch {
	case below == 0:
		return t.Paint(themes.Dim, "… the end · "+count(above)+" above (pgup)")
	case above > 0:
		return t.Paint(themes.Warn, fmt.Sprintf("… %s (pgdn) · %d above", more(below), above))
	}
	return t.Paint(themes.Warn, fmt.Sprintf("… %s (pgdn)", more(below)))
}

func count(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}

func more(n int) string {
	if n == 1 {
		return "1 more line"
	}
	return fmt.Sprintf("%d more lines", n)
}
