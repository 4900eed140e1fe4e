package transcript

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"fantail/agents/history"
	"fantail/inbox"
	"fantail/themes"
	"fantail/ui/cells"
	"fantail/ui/format"
	"fantail/ui/markdown"
)

// digest is messages that the human collected at once. Each shows as one line below a common head, until it is
// unfolded.
type digest struct {
	first                *block
	head, facts          string
	names, ids, expenses int // the widest of each, in cells
}

// byHand reports whether messages were taken by the human, who may put them back.
func byHand(by string) bool { return by == "check" || by == "receive" || by == "show" }

// digested makes a digest of the messages of an entry.
func digested(e *history.Entry, blocks []*block) {
	d := &digest{first: blocks[0], head: plural(len(blocks), "message") + " collected"}
	var facts []string
	switch {
	case e.By == "show":
		d.head = plural(len(blocks), "message") + " shown to you alone"
	case e.Tokens > 0:
		facts = append(facts, thousands(e.Tokens)+" tokens")
	}
	sum := int64(0)
	for i, b := range blocks {
		b.list = d
		if i < len(e.Spent) {
			b.cost = expense(e.Spent[i])
			sum += e.Spent[i].Cost
		}
		d.names = max(d.names, cells.Width(sender(b)))
		d.ids = max(d.ids, len(number(b)))
		d.expenses = max(d.expenses, cells.Width(b.cost))
	}
	if sum > 0 {
		facts = append(facts, dollars(sum))
	}
	d.facts = strings.Join(facts, " · ")
}

// expense says what was spent on a message.
func expense(s history.Spent) string {
	var facts []string
	if s.Cost > 0 {
		facts = append(facts, dollars(s.Cost))
	}
	if s.Millis > 0 {
		facts = append(facts, lasted(time.Duration(s.Millis)*time.Millisecond))
	}
	return strings.Join(facts, " · ")
}

func dollars(millionths int64) string {
	if millionths < 5000 {
		return "<$0.01"
	}
	return fmt.Sprintf("$%.2f", float64(millionths)/1e6)
}

// sender names who wrote a message.
func sender(b *block) string {
	if from := cells.CleanLine(clip(b.mail.From)); from != "" {
		return from
	}
	return "outside"
}

func number(b *block) string { return "#" + strconv.FormatInt(b.mail.ID, 10) }

// listed reports whether a message shows as a line of its digest.
func (b *block) listed() bool { return b.list != nil && !b.group.open }

// header returns the head of a digest, above its first message. The keys are more important than the facts.
func (c canvas) header(d *digest) string {
	head := c.theme.Paint(themes.Message, cells.Cut(d.head, c.inner()))
	all := head + c.theme.Paint(themes.Dim, "  "+d.facts)
	if line := c.keyed(all); d.facts != "" && cells.Width(all) <= c.inner() && (c.hint == "" || line != all) {
		return line
	}
	return c.keyed(head)
}

// keyed puts the keys that act on the messages that were taken last at the right end of a line, or only the last key.
func (c canvas) keyed(line string) string {
	w := markdown.Measure(c.inner())
	for hint := c.hint; hint != ""; _, hint, _ = strings.Cut(hint, " · ") {
		if cells.Width(line)+2+cells.Width(hint) <= w {
			return cells.Fit(line, w-cells.Width(hint)) + c.theme.Paint(themes.Dim, hint)
		}
	}
	return line
}

// listed renders a message as one line: who wrote it, whether it comes from outside, how it begins, its number and what
// was spent on it.
func (c canvas) listed(b *block) []string {
	d, w := b.list, markdown.Measure(c.inner())
	sign, role := format.MailSign(*b.mail)
	names := min(d.names, max(8, w/5))
	line := c.theme.Paint(role, sign) + " " + c.theme.Paint(themes.Strong, cells.Fit(cells.CutMiddle(sender(b), names), names)) + "  "
	if b.mail.Outside() {
		line += c.theme.Paint(themes.Dim, "external · ")
	}
	right := ""
	if w >= 60 {
		right = "  " + cells.Fit(number(b), d.ids)
		if d.expenses > 0 {
			right += "  " + cells.Fit(b.cost, d.expenses)
		}
	}
	room := max(w-cells.Width(line)-cells.Width(right), 1)
	line += cells.Fit(cells.Cut(opening(b), room), room) + c.theme.Paint(themes.Dim, right)
	lines := c.surface(c.mark("▌", themes.Message), themes.Letter, []string{line})
	if b == d.first {
		c.selected = false
		lines = append(c.surface(c.mark("▌", themes.Message), themes.Letter, []string{c.header(d)}), lines...)
	}
	return lines
}

// opening returns what a message says first: its error, its subject unless that is a prompt or another message's, or the
// first sentence of its text.
func opening(b *block) string {
	m := b.mail
	text := m.Body
	switch reports := m.Kind == inbox.Result || m.Kind == inbox.Failure; {
	case reports && !m.Success() && m.Error != "":
		text = m.Error
	case !reports && m.InReplyTo == 0 && m.Subject != "":
		text = m.Subject
	}
	if strings.TrimSpace(text) == "" {
		text = body(m)
	}
	if s := cells.CleanLine(sentence(text)); s != "" {
		return s
	}
	return cells.CleanLine(m.Nature())
}

// full is the end of a sentence: not of a number or an initial, and not before a small letter.
var full = regexp.MustCompile(`(?:\pL\pL|[)"'\]])([.!?])(?:\s+\P{Ll}|$)`)

// sentence returns the first sentence of a text, or what one line has of it. A heading counts only if there is nothing
// else.
func sentence(text string) (first string) {
	for line := range strings.Lines(clip(strings.TrimSpace(text))) {
		words, heading := inbox.Unmarked(line), strings.HasPrefix(line, "#")
		if words == "" || heading && first != "" {
			continue
		}
		if first = words; !heading {
			break
		}
	}
	if at := full.FindStringSubmatchIndex(first); at != nil {
		first = first[:at[3]]
	}
	return first
}

// taken returns the blocks of the messages that the human took last, the last one first; none if something follows them.
func (v *View) taken() (list []*block) {
	if v.live.on || len(v.end) > 0 {
		return nil
	}
	for i := len(v.blocks) - 1; i >= 0; i-- {
		b := v.blocks[i]
		switch {
		case b.hidden:
			continue
		case b.entry == 0 || len(list) > 0 && b.entry != list[0].entry:
			return list
		case b.kind == message && byHand(b.by):
			list = append(list, b)
		}
	}
	return list
}

// Taken returns how many messages the human took last; 0: something follows them.
func (v *View) Taken() int { return len(v.taken()) }

// Hint shows beside the messages that were taken last which keys act on them; "": none do.
func (v *View) Hint(keys string) {
	v.hint, v.hinted = keys, nil
	if list := v.taken(); keys != "" && len(list) > 0 {
		v.hinted = list[len(list)-1]
	}
}

// SelectTaken selects the first of the messages that were taken last.
func (v *View) SelectTaken() {
	if list := v.taken(); len(list) > 0 {
		v.choose(slices.Index(v.blocks, list[len(list)-1]))
	}
}
