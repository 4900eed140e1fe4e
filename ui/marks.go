package ui

import (
	"fmt"

	"fantail/agents"
	"fantail/inbox"
	"fantail/themes"
	"fantail/ui/frame"
	"fantail/ui/words"
)

// What the screen says of an agent's mail: how much waits, whether something came
// since its tab was last looked at, and whether something urgent waits. Coming to a
// tab is looking at it, and so is sending something from it; that its mail was
// taken before somebody's eyes leaves nothing new, nor does what comes into an inbox
// that is open.

// arrived notes what a change of an agent says of its mail.
func (a *App) arrived(t *tab, i agents.Info) {
	t.news = t.news || i.Came > t.info.Came && !a.reads(i.ID)
	if i.Pending == 0 && t == a.tabs.focus && !a.away() {
		t.news = false
	}
}

// reads reports whether the human has the inbox of that agent before their eyes.
func (a *App) reads(agent int64) bool {
	if a.panel == nil || a.away() {
		return false
	}
	s, is := a.panel.of.(*mailStock)
	return is && s.agent == agent
}

// visited notes that the focused tab shows: at the moment somebody comes to it,
// nothing in it is new.
func (a *App) visited() {
	if t := a.tabs.focus; t != a.drawn.focus {
		a.drawn.focus = t
		if t != nil {
			t.news = false
		}
	}
}

// Signs of mail, and what stands for them where there is only ASCII.
const (
	signUrgent, plainUrgent = "🔴", "!"
	signNews, plainNews     = "📨", "*"
)

// sign is one of the program's own signs as this terminal can show it.
func (a *App) sign(s, plain string) string {
	if a.look.ascii {
		return plain
	}
	return s
}

// mailWords are a tab's mail in the status line: `2 pending`, behind 📨 while
// something is new, behind `🔴 urgent · ` while something urgent waits; 📨 alone if
// all that came was taken meanwhile; "": nothing.
func (a *App) mailWords(t *tab) string {
	n := t.info.Pending
	news := ""
	if t.news {
		news = a.sign(signNews, plainNews)
	}
	if n == 0 {
		return news
	}
	args := fmt.Sprintf("%d pending", n)
	if a.o.Msgs {
		args = words.Count(n, "msg")
	}
	if news != "" {
		args = news + " " + args
	}
	if t.info.Urgent > 0 {
		args = a.sign(signUrgent, plainUrgent) + " urgent · " + args
	}
	return args
}

// mailMark is a tab's mail where there is little room: ✉2, 📨2 with news, 🔴2 while
// something urgent waits; 📨 alone and "" as in mailWords.
func mailMark(t *tab, news bool) string {
	sign := "✉"
	switch n := t.info.Pending; {
	case n == 0 && !news:
		return ""
	case n == 0:
		return signNews
	case t.info.Urgent > 0:
		sign = signUrgent
	case news:
		sign = signNews
	}
	return fmt.Sprintf("%s%d", sign, t.info.Pending)
}

// nameLeast is how many cells of a name the status line always has, if the name has them.
const nameLeast = 8

// statusLeft is `[Agent: NAME | 2 pending]` in at most w cells: a name too long for
// it is cut; where the words for its mail have no room beside what is left of the
// name, the tab's mark stands for them, and whole is false.
func (a *App) statusLeft(w int) (left string, whole bool) {
	name, mail, mark := "main", "", ""
	role := themes.Message
	if t := a.tabs.focus; t != nil {
		name, mail, mark = t.info.Name, a.mailWords(t), mailMark(t, t.news)
		if t.info.Urgent > 0 {
			role = themes.Warn
		}
	}
	name = frame.CleanLine(name)
	const before, between, after = "[Agent: ", " | ", "]"
	most, least := frame.Width(name), min(frame.Width(name), nameLeast)
	around := len(before + after)
	whole = true
	if mail != "" {
		around += len(between)
		if around+least+frame.Width(mail) > w {
			mail, most, whole = mark, least, false
		}
		around += frame.Width(mail)
	}
	name = frame.CutMiddle(name, min(most, max(1, w-around)))
	if mail != "" {
		mail = a.theme.Paint(themes.Status, between) + a.theme.Paint(role, mail)
	}
	left = a.theme.Paint(themes.Status, before) + a.theme.Paint(themes.Accent, name) + mail + a.theme.Paint(themes.Status, after)
	return frame.Cut(left, w), whole
}

// quietMark says that all mail is held, and until when; "": it is not.
func (a *App) quietMark() string {
	q, now := a.tally.Quiet, a.o.Now()
	switch {
	case !q.Holds(now):
		return ""
	case q.Until.IsZero():
		return "quiet"
	}
	return "quiet until " + inbox.Clock(q.Until, now)
}
