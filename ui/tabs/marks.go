package tabs

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"fantail/inbox"
	"fantail/inbox/policy"
	"fantail/themes"
	"fantail/ui/cells"
	"fantail/ui/format"
)

// Signs of mail, and their replacements where there is only ASCII.
const (
	SignUrgent, PlainUrgent = "🔴", "!"
	SignNews, PlainNews     = "📨", "*"
)

// Sign returns one of the program's own signs, as this terminal can show it.
func (t *Tabs) Sign(s, plain string) string {
	if t.ASCII {
		return plain
	}
	return s
}

// MailWords returns a tab's mail for the status line: `2 pending`, preceded by 📨 if something is new and by `🔴 urgent
// · ` if something urgent waits; 📨 alone if everything that came has been taken since; "": nothing.
func (t *Tab) MailWords() string {
	n := t.Info.Pending
	news := ""
	if t.News {
		news = t.of.Sign(SignNews, PlainNews)
	}
	if n == 0 {
		return news
	}
	said := fmt.Sprintf("%d pending", n)
	if t.of.Msgs {
		said = format.Count(n, "msg")
	}
	if news != "" {
		said = news + " " + said
	}
	if t.Info.Urgent > 0 {
		said = t.of.Sign(SignUrgent, PlainUrgent) + " urgent · " + said
	}
	return said
}

// MailMark returns a tab's mail for narrow places: ✉2, or !2 while something urgent waits; ✉ alone and "" as in
// MailWords.
func MailMark(t *Tab, news bool) string {
	sign := "✉"
	switch n := t.Info.Pending; {
	case n == 0 && !news:
		return ""
	case n == 0:
		return sign
	case t.Info.Urgent > 0:
		sign = "!"
	}
	return fmt.Sprintf("%s%d", sign, t.Info.Pending)
}

// mailRole is how a tab's mail shows: urgent red, new in the colour of mail, seen quietly.
func (t *Tabs) mailRole(x *Tab) themes.Role {
	switch {
	case x.Info.Urgent > 0:
		return themes.Bad
	case x.News:
		return themes.Message
	}
	return themes.Dim
}

// WithAsks adds the questions in the tab's inbox to a [MailMark]: ✉2 ?1.
func (t *Tab) WithAsks(mark string) string {
	if n := t.Info.Asks; n > 0 {
		mark = strings.TrimSpace(fmt.Sprintf("%s ?%d", mark, n))
	}
	return mark
}

// nameLeast is how many cells of a longer name the status line always shows.
const nameLeast = 8

// statusLeft returns `[Agent: NAME | 2 pending]` in at most w cells. A name that is too long is cut; if even then the
// words about the mail do not fit, the tab's mark replaces them, and whole is false.
func (t *Tabs) statusLeft(w int) (left string, whole bool) {
	name, mail, mark := "main", "", ""
	role := themes.Message
	if x := t.Focus; x != nil {
		name, mail, mark = x.Info.Name, x.MailWords(), MailMark(x, x.News)
		if x.Info.Urgent > 0 {
			role, mark = themes.Bad, t.Sign(SignUrgent, PlainUrgent)+strconv.Itoa(x.Info.Pending)
		}
	}
	name = cells.CleanLine(name)
	const before, between, after = "[Agent: ", " | ", "]"
	most, least := cells.Width(name), min(cells.Width(name), nameLeast)
	around := len(before + after)
	whole = true
	if mail != "" {
		around += len(between)
		if around+least+cells.Width(mail) > w {
			mail, most, whole = mark, least, false
		}
		around += cells.Width(mail)
	}
	name = cells.CutMiddle(name, min(most, max(1, w-around)))
	if mail != "" {
		mail = t.Theme.Paint(themes.Status, between) + t.Theme.Paint(role, mail)
	}
	left = t.Theme.Paint(themes.Status, before) + t.Theme.Paint(themes.Accent, name) + mail +
		t.Theme.Paint(themes.Status, after)
	return cells.Cut(left, w), whole
}

// quietMark says that all mail is held, and until when; "": it is not.
func quietMark(q policy.Quiet, now time.Time) string {
	switch {
	case !q.Holds(now):
		return ""
	case q.Until.IsZero():
		return "quiet"
	}
	return "quiet until " + inbox.Clock(q.Until, now)
}
