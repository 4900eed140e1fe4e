package transcript

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"fantail/agents/history"
	"fantail/inbox"
	"fantail/themes"
	"fantail/ui/cells"
	"fantail/ui/format"
	"fantail/ui/markdown"
)

// gutter is the columns left of every text, for a mark and a space.
const gutter = 2

// canvas is what a block is drawn with.
type canvas struct {
	theme    *themes.Theme
	width    int
	now      time.Time
	folded   bool
	selected bool
	calm     bool             // no spinner turns
	children map[int64]*child // by task
	told     int64            // the task of the agent whose question shows over all this
	letters  map[int64]bool   // messages that are known, by number
	aside    bool             // as of the view
	hint     string           // the keys that act on the block's messages
}

// inner returns the width of a block's markdown.
func (v *View) inner(*block) int { return max(v.w-gutter, 1) }

// draw makes a block's lines.
func (v *View) draw(b *block, c canvas) []string {
	switch b.kind {
	case prompt:
		return c.prompt(b)
	case answer:
		return c.answer(b)
	case thinking:
		return c.thinking(b)
	case call:
		if calls := v.summed(b); len(calls) > 1 {
			return c.batch(calls)
		}
		return c.call(b)
	case message:
		if b.listed() {
			return c.listed(b)
		}
		v.parts(b)
		return c.message(b)
	case shell:
		return c.shell(b)
	case notice:
		return c.text("·", themes.Dim, themes.Dim, b.text)
	case host:
		return c.text("↳", themes.Dim, themes.Dim, b.text)
	case local:
		return c.local(b)
	case ended:
		return c.ended(b.end)
	case cleared:
		return []string{c.rule("cleared · the model no longer sees the above")}
	case summary:
		return c.summary(b)
	case snapshot:
		return c.snapshot(b)
	case memory:
		v.parts(b)
		return c.document(b)
	case queued:
		return c.queued(b)
	case piece:
		return c.piece(b)
	case warned:
		return c.warned(b)
	case row:
		return c.row(b)
	case doing:
		return c.doing(v.info, v.live.on)
	case waits:
		return c.waits(v.info)
	}
	return nil
}

// mark returns a gutter with a glyph; the selected block has a bar instead.
func (c canvas) mark(glyph string, r themes.Role) string {
	if c.selected {
		return c.theme.Paint(themes.Accent, "▎") + " "
	}
	if strings.TrimSpace(glyph) == "" {
		return "  "
	}
	return c.theme.Paint(r, glyph) + " "
}

// rows puts the first mark before the first line and the other before the rest.
func (c canvas) rows(first, rest string, lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		if i == 0 {
			out[i] = first + l
		} else {
			out[i] = rest + l
		}
	}
	return out
}

// surface fills the lines of a block to the edge, after a bar.
func (c canvas) surface(bar string, ground themes.Role, lines []string) []string {
	if c.theme.Look(ground).Background != "" {
		for i, l := range lines {
			lines[i] = c.theme.Under(ground, cells.Fit(" "+l, c.inner()+1))
		}
		bar = strings.TrimSuffix(bar, " ")
	}
	return c.rows(bar, bar, lines)
}

func (c canvas) inner() int { return max(c.width-gutter, 1) }

// text returns a short text of the program's own after a mark.
func (c canvas) text(glyph string, mark, role themes.Role, text string) []string {
	lines := cells.Wrap(strings.TrimRight(cells.Clean(text), "\n"), c.inner())
	for i, l := range lines {
		lines[i] = c.theme.Paint(role, l)
	}
	return c.rows(c.mark(glyph, mark), c.mark(" ", mark), lines)
}

// local renders a text of the program's own for the human, below the command it answers.
func (c canvas) local(b *block) []string {
	var lines []string
	if b.typed != "" {
		typed, more, _ := strings.Cut(cells.Clean(b.typed), "\n")
		if more != "" {
			typed += " …"
		}
		lines = append(lines, c.mark("›", themes.Dim)+c.theme.Paint(themes.Dim, cells.Cut(typed, c.inner())))
	}
	text := strings.TrimRight(b.text, "\n")
	switch {
	case text == "":
		return lines
	case b.times > 1:
		text += fmt.Sprintf(" ×%d", b.times)
	}
	glyph, mark, role := " ", themes.Dim, themes.Text
	switch b.tone {
	case Good:
		glyph, mark = "✓", themes.Good
	case Bad:
		glyph, mark, role = "✗", themes.Bad, themes.Bad
	}
	lines = append(lines, c.text(glyph, mark, role, text)...)
	if b.bars != nil {
		for _, x := range *b.bars {
			lines = append(lines, c.mark(" ", mark)+c.acted(x))
		}
	}
	return lines
}

// acted returns a bar: the agent's name, what it did when, and how long that was.
func (c canvas) acted(x Bar) string {
	line := "  " + c.theme.Paint(themes.Strong, cells.Fit(cells.CutMiddle(cells.CleanLine(x.Name), labelCols), labelCols)) + " "
	for _, a := range x.Acts {
		line += c.theme.Paint(format.Acts[a].Role, format.Acts[a].Sign)
	}
	return cells.Cut(line+c.theme.Paint(themes.Dim, "  "+x.Text), c.inner())
}

// short reports whether a local block has one line below the command it answers.
func (b *block) short(lines []string) bool {
	n := 1
	if b.typed != "" {
		n++
	}
	return len(lines) <= n
}

// rule returns a line across the view with a word in it.
func (c canvas) rule(word string) string {
	rule := func(n int) string { return c.theme.Paint(themes.Rule, strings.Repeat("─", max(n, 0))) }
	word = cells.Cut(word, max(c.width-4, 1))
	return cells.Cut(rule(2)+" "+c.theme.Paint(themes.Dim, word)+" "+rule(c.width-4-cells.Width(word)), c.width)
}

// prompt renders what the human wrote, after a bar, or a task from outside.
func (c canvas) prompt(b *block) []string {
	bar := c.mark("▌", themes.User)
	e := excerpt{head: 12, tail: 4}.of(strings.TrimRight(b.text, "\n"), c.folded)
	var lines []string
	switch b.by {
	case "":
	case "user":
		lines = append(lines, c.theme.Paint(themes.Dim, cells.Cut("you, "+When(b.at, c.now), c.inner())))
	default:
		bar = c.mark("▌", themes.Dim)
		lines = append(lines, c.theme.Paint(themes.Dim, cells.Cut("from outside ("+cells.CleanLine(b.by)+"): asks before all but reading", c.inner())))
	}
	for _, l := range e.head {
		lines = append(lines, cells.Wrap(cells.Clean(l), c.inner())...)
	}
	if e.more != "" {
		lines = append(lines, c.theme.Paint(themes.Dim, e.more))
		for _, l := range e.tail {
			lines = append(lines, cells.Wrap(cells.Clean(l), c.inner())...)
		}
	}
	return c.surface(bar, themes.Raised, lines)
}

// answer renders a part of the model's words: markdown where it is rendered already, the rest plain.
func (c canvas) answer(b *block) []string {
	var lines []string
	if len(b.md) == 1 {
		lines = c.prose(b)
	} else if strings.TrimSpace(b.text) != "" {
		lines = cells.Wrap(strings.Trim(cells.Clean(b.text), "\n"), markdown.Measure(c.inner()))
	}
	for i, l := range lines {
		lines[i] = c.cited(l)
	}
	mark := c.mark(" ", themes.Answer)
	return c.rows(mark, mark, lines)
}

// prose returns the lines of a block of an answer. What came after it was rendered follows its last words.
func (c canvas) prose(b *block) []string {
	p := b.md[0]
	if d := b.drawn; d != nil && len(d.fancy) > 0 && d.shape.width == c.inner() && d.shape.theme == c.theme && d.rendered != "" {
		if left, ok := strings.CutPrefix(b.source(), d.rendered); ok {
			return c.extended(d.fancy[0], d.rendered, left, p.Kind)
		}
	}
	if b.group.live != nil && p.Source != "" && p.Kind != markdown.Code && p.Kind != markdown.Raw {
		p.Source = strings.TrimRight(markdown.Unmarked(b.source()), marks)
	}
	return markdown.Plain(p, c.inner())
}

// marks are not shown at the end of a text that comes: what follows may give them a meaning.
const marks = "-=*_#>+~`| \t\r\n"

// extended returns the lines of a block with the text that came after it was rendered. The next rendering gives that its
// place and its style.
func (c canvas) extended(lines []string, before, left string, kind markdown.Kind) []string {
	lines = slices.Clone(lines)
	verbatim := kind == markdown.Code || kind == markdown.Raw
	switch {
	case verbatim && strings.TrimSpace(left) == "", kind == markdown.Table:
		return lines
	case !verbatim:
		left = strings.TrimRight(markdown.Unmarked(left), marks)
		if strings.HasSuffix(before, " ") || strings.HasSuffix(before, "\n") {
			left = " " + strings.TrimLeft(left, " ")
		}
		left = strings.ReplaceAll(left, "\n", " ")
		if len(lines) > 0 && strings.HasSuffix(ansi.Strip(lines[len(lines)-1]), " ") {
			left = strings.TrimLeft(left, " ")
		}
	}
	width := c.inner()
	if !verbatim {
		width = markdown.Measure(width)
	}
	if len(lines) == 0 || verbatim && strings.HasSuffix(before, "\n") {
		lines = append(lines, "")
	}
	last := len(lines) - 1
	at := ansi.Strip(lines[last])
	indent := min(len(at)-len(strings.TrimLeft(at, " ")), width/2)
	if verbatim {
		indent = min(2, width/2)
	}
	for i, text := range strings.Split(cells.Clean(left), "\n") {
		if i > 0 {
			lines, last = append(lines, ""), last+1
		}
		if lines[last] == "" {
			lines[last] = cells.Spaces(indent)
		}
		room := max(width-cells.Width(lines[last]), 0)
		head, _ := cells.Head(text, room)
		if head != text {
			head = head[:strings.LastIndexByte(head, ' ')+1]
		}
		lines[last] += strings.TrimRight(head, " ")
		if rest := strings.TrimLeft(text[len(head):], " "); rest != "" {
			for _, l := range cells.Wrap(rest, max(width-indent, 1)) {
				lines, last = append(lines, cells.Spaces(indent)+l), last+1
			}
		}
	}
	return lines
}

// part returns the lines of part i of a block's markdown.
func (c canvas) part(b *block, i int) []string {
	if d := b.drawn; len(d.fancy) > i && d.shape.width == c.inner() && d.shape.theme == c.theme && (len(b.md) > 1 || d.rendered == b.md[i].Source) {
		return slices.Clone(d.fancy[i])
	}
	return markdown.Plain(b.md[i], c.inner())
}

// thinking is folded to one line.
func (c canvas) thinking(b *block) []string {
	live := b.group.live
	paint := func(s string) string { return c.theme.Paint(themes.Thinking, s) }
	mark := c.mark("✻", themes.Thinking)
	if !c.folded {
		text := bounded(b.text)
		if live != nil {
			text = live.end(whole)
		}
		lines := cells.Wrap(strings.Trim(cells.Clean(text), "\n"), markdown.Measure(c.inner()))
		for i, l := range lines {
			lines[i] = paint(l)
		}
		return c.rows(mark, c.mark(" ", themes.Thinking), lines)
	}
	if live != nil {
		return []string{mark + paint(cells.Cut("thinking · "+lastWords(live.end(shortEnd)), c.inner()))}
	}
	n := strings.Count(strings.TrimSpace(b.text), "\n") + 1
	first, _, _ := strings.Cut(strings.TrimSpace(b.text), "\n")
	return []string{mark + paint(cells.Cut("thought · "+lineCount(n)+" · "+cells.CleanLine(clip(first)), c.inner()))}
}

// bounded returns a text, or the beginning of one that is too long to be shown at once.
func bounded(text string) string {
	if len(text) <= whole {
		return text
	}
	head := strings.TrimSuffix(clipTo(text, whole), "…")
	return head + fmt.Sprintf("\n… %s more bytes · y copy all", thousands(len(text)-len(head)))
}

// shortEnd is how many bytes of the end of a text fill a line.
const shortEnd = 400

// lastWords returns the end of a text that still grows, on one line.
func lastWords(text string) string {
	tail := strings.TrimSpace(text[max(0, len(text)-shortEnd):])
	return cells.CleanLine(strings.ToValidUTF8(tail[strings.LastIndexByte(tail, '\n')+1:], ""))
}

// summary renders what the model reads instead of everything above it, folded to its beginning; while it is being
// written, to its end.
func (c canvas) summary(b *block) []string {
	mark, rest := c.mark("≡", themes.Dim), c.mark(" ", themes.Dim)
	if live := b.group.live; live != nil {
		if c.folded {
			return []string{mark + c.theme.Paint(themes.Dim, cells.Cut("compacting · "+lastWords(live.end(shortEnd)), c.inner()))}
		}
		return c.rows(mark, rest, cells.Wrap(strings.Trim(cells.Clean(live.end(whole)), "\n"), c.inner()))
	}
	word := "compacted"
	if b.sum.Auto {
		word += " by itself"
	}
	if b.sum.Before > 0 {
		word += fmt.Sprintf(" · %s → about %s tokens", thousands(b.sum.Before), thousands(b.sum.After))
	}
	lines := []string{c.rule(word + " · the model now sees this summary instead of the above")}
	text := b.text
	if b.sum.State != "" {
		text += "\n\n" + b.sum.State
	}
	e := excerpt{head: 6}.of(strings.Trim(text, "\n"), c.folded)
	var body []string
	for _, l := range e.head {
		body = append(body, cells.Wrap(cells.Clean(l), c.inner())...)
	}
	for i, l := range body {
		body[i] = c.theme.Paint(themes.Dim, l)
	}
	if e.more != "" {
		body = append(body, c.theme.Paint(themes.Dim, e.more))
	}
	return append(lines, c.rows(mark, rest, body)...)
}

// snapshot renders what a fork was told about its parent, folded to one line.
func (c canvas) snapshot(b *block) []string {
	mark := c.mark("≡", themes.Dim)
	lines := []string{"snapshot of what its parent did last · " + lineCount(strings.Count(strings.TrimSpace(b.text), "\n")+1)}
	if c.folded {
		lines[0] = cells.Cut(lines[0], c.inner())
	} else {
		lines = cells.Wrap(strings.Trim(cells.Clean(b.text), "\n"), c.inner())
	}
	for i, l := range lines {
		lines[i] = c.theme.Paint(themes.Dim, l)
	}
	return c.rows(mark, c.mark(" ", themes.Dim), lines)
}

// ended renders how a turn ended.
func (c canvas) ended(e *history.End) []string {
	facts := []string{lasted(time.Duration(e.Millis) * time.Millisecond)}
	if e.Steps > 0 {
		facts = append(facts, plural(e.Steps, "step"))
	}
	switch {
	case e.Cost >= 5000:
		facts = append(facts, fmt.Sprintf("$%.2f", float64(e.Cost)/1e6))
	case e.Cost > 0:
		facts = append(facts, "<$0.01")
	case e.Tokens > 0: // of a model without a price
		facts = append(facts, thousands(e.Tokens)+" tokens")
	}
	all := strings.Join(facts, " · ")
	if e.Outcome == history.Completed {
		return []string{c.mark(" ", themes.Dim) + c.theme.Paint(themes.Faint, cells.Cut(all, c.inner()))}
	}
	word, sign, role := strings.ReplaceAll(string(e.Outcome), "_", " "), "✗", themes.Bad
	if e.Outcome == history.Interrupted || e.Outcome == history.OutKilled {
		sign, role = "■", themes.Dim
	}
	head, cause := word+" after "+all, e.Error
	switch {
	case cause == "stopped by the user":
		head, cause = "You stopped it after "+all, ""
	case cause == word:
		cause = ""
	case strings.HasPrefix(cause, word): // `timed out after 2s`: how long it took is another time
		head, cause = cause+" · "+all, ""
	}
	lines := c.text(sign, role, role, strings.ToUpper(head[:1])+head[1:])
	if cause != "" {
		lines = append(lines, c.text(" ", role, themes.Text, clipTo(cause, 2000))...)
	}
	return lines
}

// queued returns a prompt that has not entered.
func (c canvas) queued(b *block) []string {
	word := "queued"
	switch {
	case b.then:
		word = "queued until this turn ends"
	case b.held:
		word = "not sent: typed before Fantail stopped"
	}
	lines := cells.Wrap(strings.TrimRight(cells.Clean(clipTo(b.text, 300)), "\n"), c.inner())
	const most = 3
	if len(lines) > most {
		lines = append(lines[:most-1], cells.Cut(lines[most-1]+"…", c.inner()))
	}
	for i, l := range lines {
		lines[i] = c.theme.Paint(themes.Dim, l)
	}
	if n := len(lines) - 1; cells.Width(lines[n])+3+len(word) <= c.inner() {
		lines[n] += c.theme.Paint(themes.Dim, " · "+word)
	} else {
		lines = append(lines, c.theme.Paint(themes.Dim, word))
	}
	bar := c.mark("▏", themes.Dim)
	return c.rows(bar, bar, lines)
}

// message renders a card: the sender, its number and age, how it ended, its body.
func (c canvas) message(b *block) []string {
	m := b.mail
	role := themes.Message
	if !m.Success() || m.Priority == inbox.Urgent {
		role = themes.Bad
	}
	paint := c.theme.Paint
	facts := " · #" + strconv.FormatInt(m.ID, 10) + " · " + ago(m.Created, c.now)
	nature := cells.CleanLine(strings.TrimSpace(m.Nature() + " " + m.Labels()))
	name := cells.Cut("✉ from "+sender(b), c.inner())
	below := cells.Width(name+facts+" · "+nature) > c.inner() // on a narrow screen what it is gets a line of its own
	if !below {
		facts += " · " + nature
	}
	if cost := " · " + b.cost; b.cost != "" && cells.Width(name+facts+cost) <= c.inner() {
		facts += cost
	}
	lines := []string{paint(role, name) + paint(themes.Dim, cells.Cut(facts, c.inner()-cells.Width(name)))}
	switch d := b.list; {
	case d == nil:
		lines[0] = c.keyed(lines[0])
	case d.first == b:
		lines = append([]string{c.header(d), ""}, lines...)
	}
	if below {
		lines = append(lines, paint(themes.Dim, cells.Cut(nature, c.inner())))
	}
	if s := strings.TrimSpace(m.Subject); s != "" {
		lines = append(lines, paint(themes.Dim, cells.Cut(cells.CleanLine(clip(s)), c.inner())))
	}
	for i := range b.md {
		part := c.part(b, i)
		if len(part) > 0 && (i == 0 || b.md[i].Gap) {
			lines = append(lines, "")
		}
		lines = append(lines, part...)
	}
	if b.plain != "" {
		lines = append(append(lines, ""), cells.Wrap(cells.Clean(b.plain), c.inner())...)
	}
	if b.text != "" { // what the excerpt leaves out
		lines = append(lines, paint(themes.Dim, b.text))
	}
	return c.surface(c.mark("▌", role), themes.Letter, lines)
}

// proseOf returns a part of a message's text as markdown, with the line breaks of mail. Text from outside, often a
// command's output, is not markdown, and a request for approval may be a diff: those are shown as they are.
func proseOf(m *inbox.Message, text string) (prose string, ok bool) {
	switch {
	case m.Outside(), m.Kind == inbox.Approval:
		return "", false
	case m.Kind == inbox.Mail:
		return strings.ReplaceAll(text, "\n", "  \n"), true
	}
	return text, true
}

// whole is how many bytes of a body or a document are shown at once.
const whole = 64 << 10

// parts splits a message's body, folded to its beginning, into markdown; a folded document has none.
func (v *View) parts(b *block) {
	folded := v.folded(b)
	if b.md != nil && b.brief == folded {
		return
	}
	b.brief = folded
	if b.kind == memory {
		b.md = []markdown.Block{}
		b.forget()
		if !folded {
			b.md = append(b.md, markdown.Split(strings.Trim(clipTo(b.text, whole), "\n"))...)
		}
		return
	}
	text := body(b.mail)
	e := excerpt{head: 10}.of(strings.Trim(clipTo(text, whole), "\n"), folded)
	said := strings.Join(e.head, "\n")
	b.md, b.plain, b.text = nil, "", e.more
	if prose, ok := proseOf(b.mail, said); ok {
		b.md = markdown.Split(prose)
	} else {
		b.plain = said
	}
	if b.md == nil {
		b.md = []markdown.Block{}
	}
	if len(text) > whole && e.more == "" {
		b.text = fmt.Sprintf("… %s more bytes", thousands(len(text)-whole))
	}
	b.forget()
}
