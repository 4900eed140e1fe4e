package dialog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/themes"
	"fantail/tools/permission"
	"fantail/ui/cells"
)

// sheetGuard is how long a question must have been on the sheet, and a row selected, before a key
// answers.
const sheetGuard = 500 * time.Millisecond

// SheetItem is an open question on an answer sheet.
type SheetItem struct {
	permission.Question
	Text    string // of a question that wants words; "": it asks whether a call may run
	Outside bool   // it comes from work requested from outside the program
	Since   time.Time
}

// SheetAnswer answers several equal questions. The sheet stays open.
type SheetAnswer struct {
	Questions []int64
	Answer    permission.Answer
}

// SheetOpen asks for the whole question of an agent. The sheet stays open.
type SheetOpen struct{ Agent int64 }

func (SheetAnswer) decision() {}
func (SheetOpen) decision()   {}

// Sheet lists all open questions, harmless ones first. Equal ones have one row and are answered
// together. A key answers only questions that were shown for long enough.
type Sheet struct {
	theme  *themes.Theme
	now    func() time.Time
	groups []sheetGroup
	at     string              // key of the selected group
	since  time.Time           // when it was selected, or the last letter typed that answers nothing
	shown  map[int64]time.Time // when each question was first drawn
	done   map[int64]bool      // answered here
	text   int                 // columns of a row for what is asked
	reason *input              // the open line for what to do instead; nil: closed
	no     []int64             // the questions that it answers
	say    string              // what the last key did not do; "": nothing to say
	cx, cy int
}

// sheetGroup is one row: equal questions.
type sheetGroup struct {
	key   string
	items []SheetItem
}

// NewSheet returns a sheet without questions.
func NewSheet(t *themes.Theme, now func() time.Time) *Sheet {
	return &Sheet{theme: t, now: now, since: now(), shown: map[int64]time.Time{}, done: map[int64]bool{}}
}

// Show replaces the questions. The selected row stays selected while it has a question.
func (b *Sheet) Show(all []SheetItem) {
	old := b.index()
	b.groups = b.groups[:0:0]
	open := map[int64]time.Time{}
	for _, it := range all {
		if b.done[it.ID] {
			continue
		}
		if at, ok := b.shown[it.ID]; ok {
			open[it.ID] = at
		}
		key := it.key()
		if i := slices.IndexFunc(b.groups, func(g sheetGroup) bool { return g.key == key }); i >= 0 {
			b.groups[i].items = append(b.groups[i].items, it)
			continue
		}
		b.groups = append(b.groups, sheetGroup{key, []SheetItem{it}})
	}
	b.shown = open
	slices.SortStableFunc(b.groups, func(x, y sheetGroup) int {
		return cmp.Or(x.items[0].rank()-y.items[0].rank(), x.items[0].Since.Compare(y.items[0].Since))
	})
	if b.index() < 0 && len(b.groups) > 0 {
		b.at, b.since = b.groups[min(max(old, 0), len(b.groups)-1)].key, b.now()
	}
}

// Empty reports whether no question is left.
func (b *Sheet) Empty() bool { return len(b.groups) == 0 }

// Guard has no key answer for half a second: the human sees the sheet only now.
func (b *Sheet) Guard() { b.since = b.now() }

// key is equal for questions that one answer may answer: everything that is shown of them, and
// everything that decides what they may do, is the same.
func (it SheetItem) key() string {
	if it.Text != "" || it.Was != "" {
		return fmt.Sprint(it.ID)
	}
	data, err := json.Marshal([]any{it.Action, it.Action.Boxed, it.Rule, it.Auto, it.Edits, it.Again, it.Outside})
	if err != nil {
		return fmt.Sprint(it.ID)
	}
	return string(data)
}

// rank orders questions: commands that a rule may cover, other calls, questions that want words, and
// what is risky.
func (it SheetItem) rank() int {
	switch {
	case it.risk() != "":
		return 3
	case it.Text != "":
		return 2
	case it.Rule == "" || it.Action.Command == "":
		return 1
	}
	return 0
}

// risk says why a call must be looked at before it may run; "": nothing is special about it.
func (it SheetItem) risk() string {
	a := it.Action
	switch {
	case it.Text != "":
		return ""
	case a.Kind == permission.Widen:
		return "leaves the sandbox"
	case a.Sensitive != "":
		return "sensitive: " + plain(a.Sensitive)
	case a.Outside:
		return "outside the workspace"
	case a.Kind == permission.Tamper:
		return "changed protected files"
	case a.Kind == permission.Abroad:
		return "goes to another vendor's agent"
	case it.Again != "":
		return plain(it.Again)
	}
	return ""
}

// line returns what is asked in one line.
func (it SheetItem) line() string {
	if it.Text != "" {
		return plain(it.Text)
	}
	if verb, object := act(it.Action); verb != "run a command" {
		line := strings.TrimSpace(verb + " " + object)
		if added, removed := changed(it.Action.Diff); added+removed > 0 {
			line += fmt.Sprintf("  +%d −%d", added, removed)
		}
		return line
	}
	return plain(it.Action.Command)
}

// hides reports whether a row of w columns leaves out some of the question.
func (it SheetItem) hides(w int) bool {
	a := it.Action
	return a.Command == "" || a.Diff != "" || a.Input != "" || cells.Width(it.line()) > w
}

func (b *Sheet) index() int {
	return slices.IndexFunc(b.groups, func(g sheetGroup) bool { return g.key == b.at })
}

func (b *Sheet) Key(k tea.KeyPressMsg) Decision {
	b.say = ""
	if b.reason != nil {
		return b.reasonKey(k)
	}
	i, key := b.index(), k.Keystroke()
	switch key {
	case "esc":
		return Cancelled{}
	case "up", "k", "down", "j", "home", "end":
		b.move(key)
		return nil
	}
	if i < 0 {
		return nil
	}
	switch key = strings.ToLower(typedText(k)); {
	case k.Code == tea.KeyEnter || key == " ":
		return SheetOpen{b.groups[i].items[0].Agent}
	case key == "y" || key == "s" || key == "p" || key == "n":
		return b.answer(b.groups[i], key)
	case key != "":
		b.Guard() // the human is writing
	}
	return nil
}

// move selects another row.
func (b *Sheet) move(key string) {
	i := b.index()
	switch key {
	case "up", "k":
		i--
	case "down", "j":
		i++
	case "home":
		i = 0
	case "end":
		i = len(b.groups) - 1
	}
	if i = max(0, min(i, len(b.groups)-1)); len(b.groups) > 0 && b.groups[i].key != b.at {
		b.at = b.groups[i].key
		b.Guard()
	}
}

// answer answers those of a row's questions that were shown for long enough.
func (b *Sheet) answer(g sheetGroup, key string) Decision {
	is, ids := map[string]permission.Choice{"y": permission.Once, "s": permission.Session, "p": permission.Project, "n": permission.No}[key], []int64(nil)
	for _, it := range g.items {
		if at, ok := b.shown[it.ID]; ok && b.now().Sub(at) >= sheetGuard {
			ids = append(ids, it.ID)
		}
	}
	it := g.items[0]
	switch {
	case len(ids) == 0 || b.now().Sub(b.since) < sheetGuard:
		b.say = "Not answered: this question just appeared. Press the key again"
	case it.Text != "":
		b.say = "Open it to answer: space"
	case is == permission.No:
		b.reason, b.no = newInput(), ids
	case it.risk() != "" || it.hides(b.text):
		b.say = "Open it before you allow it: space"
	case it.Rule == "" && is != permission.Once:
		b.say = "No rule can cover this: y or n"
	default:
		return b.close(ids, permission.Answer{Choice: is})
	}
	return nil
}

// close takes answered questions off the sheet.
func (b *Sheet) close(ids []int64, ans permission.Answer) Decision {
	var rest []SheetItem
	for _, id := range ids {
		b.done[id] = true
	}
	for _, g := range b.groups {
		rest = append(rest, g.items...)
	}
	b.Show(rest)
	b.Guard()
	return SheetAnswer{ids, ans}
}

func (b *Sheet) reasonKey(k tea.KeyPressMsg) Decision {
	switch k.Keystroke() {
	case "esc":
		b.reason = nil
		b.Guard()
	case "enter":
		reason := strings.TrimSpace(b.reason.value())
		b.reason = nil
		return b.close(b.no, permission.Answer{Choice: permission.No, Reason: reason})
	default:
		b.reason.key(k)
	}
	return nil
}

// Paste inserts into the line for what to do instead, and answers nothing.
func (b *Sheet) Paste(s string) {
	if b.reason != nil {
		b.reason.insert(s)
	}
	b.Guard()
}

func (b *Sheet) Cursor() (x, y int, ok bool) { return b.cx, b.cy, b.reason != nil }

func (b *Sheet) Lines(w, h int) []string {
	if !fits(w, h) {
		return nil
	}
	inner, rows := w-borderCols, h-borderRows
	names := max(8, min(24, inner/4))
	b.text = max(1, inner-2-names-2-6)
	b.cy = 0
	var lines []string
	from, to := 0, 0 // the rows of the selected group
	starts := make([]int, len(b.groups))
	for i, g := range b.groups {
		if i > 0 && rows > 2*len(b.groups)+2 {
			lines = append(lines, "")
		}
		starts[i] = len(lines)
		lines = append(lines, b.row(g, names))
		if g.key == b.at {
			lines = append(lines, b.below(g, inner))
			from, to = starts[i], len(lines)
		} else if risk := g.items[0].risk(); risk != "" {
			lines = append(lines, "  "+b.theme.Paint(themes.Bad, cells.Cut(risk+" · must be opened to be allowed", inner-2)))
		}
	}
	top := max(0, min(to-rows, from))
	for i, g := range b.groups {
		if starts[i] < top || starts[i] >= top+rows {
			continue
		}
		for _, it := range g.items {
			if _, ok := b.shown[it.ID]; !ok {
				b.shown[it.ID] = b.now()
			}
		}
	}
	b.cy = 1 + from + 1 - top
	hidden := len(lines) - top - rows
	lines = lines[top:min(len(lines), top+rows)]
	for len(lines) < rows {
		lines = append(lines, "")
	}
	return bright(b.theme, w, b.theme.Paint(themes.Warn, cells.Cut(b.title(), max(0, w-titleCols))), b.hint(hidden), lines)
}

func (b *Sheet) title() string {
	n, agents, oldest := 0, map[int64]bool{}, b.now()
	for _, g := range b.groups {
		for _, it := range g.items {
			n++
			agents[it.Agent] = true
			if it.Since.Before(oldest) {
				oldest = it.Since
			}
		}
	}
	s := fmt.Sprintf("%d questions from %d agents · oldest %s", n, len(agents), waited(b.now().Sub(oldest)))
	return strings.Replace(strings.Replace(s, "from 1 agents", "from 1 agent", 1), "1 questions", "1 question", 1)
}

func (b *Sheet) hint(hidden int) string {
	hint := "↑↓ move · y s p n answer · space open · esc decide later"
	switch {
	case b.reason != nil:
		return "enter send · esc back"
	case b.say != "":
		return b.say
	case hidden > 0:
		hint = "↓ more · " + hint
	}
	return hint
}

// row returns the first row of a group: who asks, for what, and for how long.
func (b *Sheet) row(g sheetGroup, names int) string {
	it, who := g.items[0], []string(nil)
	for _, it := range g.items {
		who = append(who, plain(it.Name))
	}
	name := strings.Join(who, " · ")
	if len(g.items) > 1 {
		times := fmt.Sprintf(" ×%d", len(g.items))
		name = cells.Cut(name, max(1, names-cells.Width(times))) + times
	}
	text, age := cells.Fit(it.line(), b.text), cells.Fit(waited(b.now().Sub(it.Since)), 6)
	head, role := "  ", themes.Text
	if g.key == b.at {
		head, role = b.theme.Paint(themes.Warn, "▌ "), themes.Heading
	}
	return head + b.theme.Paint(themes.Warn, cells.Fit(name, names)) + "  " + b.theme.Paint(role, text) + b.theme.Paint(themes.Dim, age)
}

// below returns the row under the selected one: its answers, or why it must be opened.
func (b *Sheet) below(g sheetGroup, inner int) string {
	bar, it := b.theme.Paint(themes.Warn, "▌ "), g.items[0]
	key := func(key, word string) string {
		return b.theme.Paint(themes.Accent, key) + " " + b.theme.Paint(themes.Text, word)
	}
	if b.reason != nil {
		label := "Instead: "
		view, x := b.reason.view(max(1, inner-2-len(label)-1))
		b.cx = 2 + 2 + len(label) + x
		return bar + b.theme.Paint(themes.Warn, label) + b.theme.Paint(themes.Text, view)
	}
	parts := []string{key("y", "once"), key("s", "until you quit"), key("p", "always here"), key("n", "no, instead…")}
	switch {
	case it.Text != "":
		parts = []string{key("space", "open and answer")}
	case it.risk() != "":
		parts = []string{b.theme.Paint(themes.Bad, it.risk()), key("space", "open, to allow it"), key("n", "no, instead…")}
	case it.hides(b.text):
		parts = []string{key("space", "open, to allow it"), key("n", "no, instead…")}
	case it.Rule == "":
		parts = []string{parts[0], parts[3]}
	}
	if rule := "   " + plain(string(it.Rule)); it.Rule != "" && it.risk() == "" {
		if row := strings.Join(parts, "   "); cells.Width(row)+cells.Width(rule) <= inner-2 {
			return bar + row + b.theme.Paint(themes.Dim, rule)
		}
	}
	row := strings.Join(parts, "   ")
	if cells.Width(row) > inner-2 && len(parts) == 4 {
		row = strings.Join([]string{key("y", "once"), key("s", "session"), key("p", "project"), key("n", "no")}, "  ")
	}
	return bar + row
}

// waited returns how long a question has waited.
func waited(d time.Duration) string {
	s := max(0, int(d.Seconds()))
	if s >= 3600 {
		return fmt.Sprintf("%dh%02d", s/3600, s%3600/60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
