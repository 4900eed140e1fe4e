package ui

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/inbox"
	"fantail/themes"
	"fantail/ui/dialog"
)

// mailStock is an agent's inbox as a panel lists it: a window of its messages.
type mailStock struct {
	a     *App
	agent int64
	name  string
	box   *dialog.Board

	of    string // which shelf shows
	shown mailQuery
	any   bool // it was read
	win   stretch
	undo  []undone
}

// mailQuery is what the stretch is of.
type mailQuery struct {
	lane   inbox.Lane
	search string
	of     string
	folds  int // changes when a thread is folded or unfolded
}

// stretch is a run of messages in the shelf's order. It is never changed, only
// replaced.
type stretch struct {
	rows  []inbox.Message
	under map[int64][]inbox.Message // by the row they hang on: the others of its thread
	over  int64                     // the message before it; 0: it begins with the first
	more  bool                      // there are messages behind it
}

// undone is something that u takes back.
type undone struct {
	what string
	do   func(ctx context.Context) error
}

// mailPage is how many messages are read at once; the stretch holds three times as
// many at most.
const mailPage = 200

var mailVerbs = []dialog.Verb{
	{Key: "enter", Name: "take", Hint: "takes", Help: "a turn with it, or with all that are picked; an answer, if it asks"},
	{Key: "f", Name: "fire", Help: "one turn with all that are picked, or with this one"},
	{Key: "r", Name: "reply", Hint: "replies", Ask: "reply to %s› ", Help: "answer its sender"},
	{Key: "a", Name: "archive", Hint: "archives", Help: "put it away without taking it"},
	{Key: "s", Name: "snooze", Hint: "snoozes", Ask: "snooze %s until (30m, 2h, 14:00, tomorrow)› ", Help: "away until a time"},
	{Key: "u", Name: "undo", Hint: "undo", Help: "take back what was done last here", Bare: true},
	{Key: "!", Name: "pin", Help: "keep it on top, or no longer"},
	{Key: "x", Name: "dismiss", Help: "you know of it; it waits on, quietly"},
	{Key: "m", Name: "mute", Help: "hold its thread silently, or no longer"},
	{Key: "d", Name: "made", Hint: "diff", Help: "what its sender changed, and what it put out; again: the message"},
	{Key: "w", Name: "why", Help: "when it enters a context, and why; again: the message"},
	{Key: "c", Name: "check", Help: "take all that is ready, as /check does", Bare: true},
	{Key: "v", Name: "shelf", Help: "what shows: what waits, what is snoozed, archived, everything", Bare: true},
	{Key: "f4 Q", Name: "queue", Hint: "queue", Help: "the queue", Bare: true},
	{Key: "f3", Name: "close", Help: "close", Bare: true},
	{Key: "f2", Name: "agents", Help: "the overview of all agents", Bare: true},
	{Key: "?", Name: "keys", Help: "this list", Bare: true},
}

// The shelves, as v goes from one to the next, and what the title says of them.
var mailShelves = [...]struct{ of, title, empty string }{
	{inbox.Waiting, "", "Nothing waits. /push queues work and /run starts it: results land here, and so does mail."},
	{inbox.Snoozed, " · snoozed", "Nothing is snoozed. s puts a message away until a time; v shows another shelf."},
	{inbox.Archived, " · archived", "Nothing is archived. a puts a message away without taking it; v shows another shelf."},
	{inbox.Everything, " · everything", "No message has come yet."},
}

// inboxPanel opens the panel of an agent's inbox.
func (a *App) inboxPanel(agent int64, name string) tea.Cmd {
	if a.pool == nil || agent == 0 {
		a.say(sentence(errOpening))
		return nil
	}
	s := &mailStock{a: a, agent: agent, name: name}
	s.box = dialog.NewBoard(a.theme, a.o.Now, "", "", mailVerbs, true)
	s.box.Lanes(mailLanes(nil, true))
	s.entitle()
	a.openPanel(s.box, s)
	return nil
}

// entitle says which shelf shows.
func (s *mailStock) entitle() {
	for _, x := range mailShelves {
		if x.of == s.of {
			s.box.Entitle("Inbox of "+s.name+x.title, x.empty)
		}
	}
}

func (s *mailStock) touched(e agents.Event) bool {
	switch e := e.(type) {
	case agents.Mailed:
		return e.Agent == s.agent
	case agents.Changed: // what it does decides when mail enters
		t := s.a.tabs.byID(s.agent)
		return e.ID == s.agent && (t == nil || t.info.State != e.State || t.info.Pending != e.Pending)
	}
	return false
}

func (s *mailStock) next(b *dialog.Board, stale bool) read {
	_, folds := b.Unfolded()
	want := mailQuery{search: b.Search(), of: s.of, folds: folds}
	if l := b.Lane(); l >= 0 {
		want.lane = inbox.LaneOrder[l]
	}
	above, below := b.Wants()
	was, leaps, page := s.shown, b.Leaps(), (*mailStock).again
	was.folds = want.folds
	switch {
	case !s.any || want != was || leaps < 0:
		page = (*mailStock).first
	case leaps > 0:
		page = (*mailStock).last
	case stale || want != s.shown:
	case below:
		page = (*mailStock).behind
	case above:
		page = (*mailStock).ahead
	default:
		return nil
	}
	from, pool := *s, s.a.pool
	ids, _ := b.Unfolded()
	return func(ctx context.Context) (func(b *dialog.Board), error) {
		win, err := page(&from, ctx, want)
		if err == nil {
			err = win.unfold(ctx, pool, ids)
		}
		if err != nil {
			return nil, err
		}
		counts, err := pool.Lanes(ctx, from.agent)
		if err != nil {
			return nil, err
		}
		lines, lanes := win.lines(), mailLanes(counts, want.of != inbox.Waiting || want.search != "")
		return func(b *dialog.Board) {
			s.win, s.shown, s.any = win, want, true
			for i := range lines {
				lines[i].Fresh = lines[i].Fresh && !s.a.looked[lines[i].ID]
			}
			b.Lanes(lanes)
			b.Show(lines, win.over != 0, win.more)
			if leaps != 0 {
				b.Landed()
			}
		}, nil
	}
}

// page reads messages of the shelf: those behind one, or with back those ahead of
// it. more says whether there are others beyond.
func (s *mailStock) page(ctx context.Context, q mailQuery, before int64, back bool, n int) (ms []inbox.Message, more bool, err error) {
	ms, err = s.a.pool.Shelf(ctx, inbox.Shelf{
		Recipient: s.agent, Lane: q.lane, Search: q.search, Of: q.of, Before: before, Back: back, Folded: q.search == "" && q.of == inbox.Waiting, Limit: n + 1,
	})
	switch {
	case err != nil || len(ms) <= n:
		return ms, false, err
	case back:
		return ms, true, nil // the first is the one ahead of the page
	}
	return ms[:n], true, nil
}

// first, last, again, behind and ahead read a stretch: the beginning of the shelf,
// its end, what the stretch has now, and that with more behind or ahead.
func (s *mailStock) first(ctx context.Context, q mailQuery) (w stretch, err error) {
	w.rows, w.more, err = s.page(ctx, q, 0, false, mailPage)
	return w, err
}

func (s *mailStock) last(ctx context.Context, q mailQuery) (w stretch, err error) {
	ms, more, err := s.page(ctx, q, 0, true, mailPage)
	w.begin(ms, more)
	return w, err
}

func (s *mailStock) again(ctx context.Context, q mailQuery) (w stretch, err error) {
	w.over = s.win.over
	w.rows, w.more, err = s.page(ctx, q, w.over, false, min(max(len(s.win.rows), mailPage), 3*mailPage))
	if err == nil && len(w.rows) == 0 && w.over != 0 {
		return s.last(ctx, q)
	}
	return w, err
}

func (s *mailStock) behind(ctx context.Context, q mailQuery) (w stretch, err error) {
	have := s.win.rows
	ms, more, err := s.page(ctx, q, have[len(have)-1].ID, false, mailPage)
	w = stretch{rows: append(slices.Clone(have), ms...), over: s.win.over, more: more}
	if n := len(w.rows) - 3*mailPage; n > 0 {
		w.over, w.rows = w.rows[n-1].ID, w.rows[n:]
	}
	return w, err
}

func (s *mailStock) ahead(ctx context.Context, q mailQuery) (w stretch, err error) {
	ms, more, err := s.page(ctx, q, s.win.rows[0].ID, true, mailPage)
	w.begin(ms, more)
	w.rows, w.more = append(w.rows, s.win.rows...), s.win.more
	if len(w.rows) > 3*mailPage {
		w.rows, w.more = w.rows[:3*mailPage], true
	}
	return w, err
}

// begin sets the rows of a page that was read from its end.
func (w *stretch) begin(ms []inbox.Message, more bool) {
	if more {
		w.over, ms = ms[0].ID, ms[1:]
	}
	w.rows = slices.Clone(ms)
}

// unfold reads the other messages of the threads that are unfolded.
func (w *stretch) unfold(ctx context.Context, pool Pool, ids []int64) error {
	w.under = map[int64][]inbox.Message{}
	for _, m := range w.rows {
		if m.Folded == 0 || !slices.Contains(ids, m.ID) {
			continue
		}
		ms, err := pool.Thread(ctx, m.ID)
		if err != nil {
			return err
		}
		for _, x := range slices.Backward(ms) {
			if x.ID < m.ID {
				w.under[m.ID] = append(w.under[m.ID], x)
			}
		}
	}
	return nil
}

// message is one of the stretch.
func (w *stretch) message(id int64) (inbox.Message, bool) {
	all := append([][]inbox.Message{w.rows}, slices.Collect(maps.Values(w.under))...)
	for _, ms := range all {
		if i := slices.IndexFunc(ms, func(m inbox.Message) bool { return m.ID == id }); i >= 0 {
			return ms[i], true
		}
	}
	return inbox.Message{}, false
}

func (w *stretch) lines() []dialog.Line {
	ls := make([]dialog.Line, 0, len(w.rows))
	seen := make(map[int64]bool, len(w.rows))
	for _, m := range w.rows {
		seen[m.ID] = true
	}
	for _, m := range w.rows {
		l := mailLine(m)
		l.Fold, l.Open = m.Folded, len(w.under[m.ID]) > 0
		ls = append(ls, l)
		for _, x := range w.under[m.ID] {
			if seen[x.ID] { // it is pinned and stands for itself
				continue
			}
			seen[x.ID] = true
			l := mailLine(x)
			l.Under, l.Faint = true, l.Faint || !x.Taken.IsZero()
			ls = append(ls, l)
		}
	}
	return ls
}

// mailLanes are the lanes with their counts; unknown says that those are of
// something else than what shows.
func mailLanes(counts map[inbox.Lane]int, unknown bool) []dialog.Lane {
	lanes := []dialog.Lane{
		{Name: "Needs you", Short: "Need", Role: themes.Warn},
		{Name: "Failed", Short: "Fail", Role: themes.Bad},
		{Name: "Done", Short: "Done", Role: themes.Good},
		{Name: "FYI", Short: "FYI", Role: themes.Text},
	}
	for i, l := range inbox.LaneOrder {
		if lanes[i].Count = counts[l]; unknown {
			lanes[i].Count = -1
		}
	}
	return lanes
}

// mailLine is a message's row.
func mailLine(m inbox.Message) dialog.Line {
	l := dialog.Line{
		ID: m.ID, Number: fmt.Sprintf("#%d", m.ID), Who: inbox.Label(m.From), Text: m.Gist(), At: m.Created,
		Faint: !m.Dismissed.IsZero() || m.Muted, Fresh: m.Taken.IsZero(), Cost: agents.Tokens(m),
	}
	l.Sign, l.Role = mailSign(m)
	if m.Priority != inbox.Normal && m.Priority != "" {
		l.Flags = string(m.Priority)
	}
	l.Flags = strings.TrimSpace(l.Flags + " " + m.Labels())
	switch {
	case !m.Snoozed.IsZero():
		l.Mark = "z"
	case m.Pinned:
		l.Mark = "^"
	case m.Muted:
		l.Mark = "~"
	}
	return l
}

// mailSign is the sign of what a message is.
func mailSign(m inbox.Message) (sign string, role themes.Role) {
	switch m.Kind {
	case inbox.Result:
		if m.Success() {
			return "✓", themes.Good
		}
		return "◐", themes.Warn
	case inbox.Failure:
		return "✗", themes.Bad
	case inbox.Question, inbox.Approval:
		return "⚠", themes.Warn
	case inbox.Reminder, inbox.Scheduled:
		return "↻", themes.Accent
	case inbox.Notice:
		return "·", themes.Dim
	}
	if m.Loud() {
		return "✉", themes.Warn
	}
	return "✉", themes.Message
}

func (s *mailStock) look(id int64) func(ctx context.Context) (*preview, error) {
	s.a.looked[id] = true
	pool, theme, now := s.a.pool, s.a.theme, s.a.o.Now
	return func(ctx context.Context) (*preview, error) {
		m, ok, err := pool.Message(ctx, id)
		if err == nil && !ok {
			err = fmt.Errorf("there is no message #%d", id)
		}
		if err != nil {
			return nil, err
		}
		why, err := pool.Why(ctx, id)
		if err != nil {
			return nil, err
		}
		p := newPreview(theme, now)
		p.letter(m, why)
		thread, err := pool.Thread(ctx, id)
		if err != nil {
			return nil, err
		}
		if n := len(thread); n > 1 {
			at := slices.IndexFunc(thread, func(x inbox.Message) bool { return x.ID == id })
			p.add("thread", fmt.Sprintf("%d of %d, begun by %s", at+1, n, inbox.Label(thread[0].From)))
		}
		p.of = fmt.Sprintf("#%d", id)
		p.view.Letter(m)
		return p, nil
	}
}

// letter are the facts of a message.
func (p *preview) letter(m inbox.Message, why string) {
	_, role := mailSign(m)
	p.facts = append(p.facts, fact{text: fmt.Sprintf("%s · %s · #%d · ", inbox.Label(m.From), m.Nature(), m.ID), at: m.Created, role: role})
	if labels := m.Labels(); labels != "" {
		p.add("tags", labels)
	}
	if m.Subject != "" {
		p.facts = append(p.facts, fact{label: map[bool]string{true: "task", false: "about"}[m.Task != 0], text: m.Subject, role: themes.User, most: 2})
	}
	when, _, _ := strings.Cut(why, "\n")
	if _, rest, ok := strings.Cut(when, ": "); ok {
		when = rest
	}
	p.facts = append(p.facts, fact{label: "enters", text: when, role: themes.Dim, most: 3})
}

// made shows what the sender did in place of the message.
func (s *mailStock) made(a *App, p *panel, id int64) tea.Cmd {
	theme, now := a.theme, a.o.Now
	return s.instead(p, id, "made", func(ctx context.Context) (*preview, error) {
		made, err := a.pool.Made(ctx, id)
		if err != nil {
			return nil, err
		}
		v := newPreview(theme, now)
		v.facts = append(v.facts, fact{text: fmt.Sprintf("what %s did for #%d · d shows the message again", inbox.Label(made.Message.From), id), role: themes.Accent})
		text := ""
		if made.Diff != "" {
			v.add("changed", count(made.Files, "file")+" times")
			text = fenced("diff", made.Diff) + "\n"
		} else {
			v.add("changed", "no file")
		}
		if out := made.Output(); out != "" {
			text += "**What it put out**\n\n" + fenced("", out)
		}
		v.answer(text)
		return v, nil
	})
}

// why shows the whole reason why a message waits in its place.
func (s *mailStock) why(a *App, p *panel, id int64) tea.Cmd {
	theme, now := a.theme, a.o.Now
	return s.instead(p, id, "why", func(ctx context.Context) (*preview, error) {
		text, err := a.pool.Why(ctx, id)
		if err != nil {
			return nil, err
		}
		v := newPreview(theme, now)
		v.facts = append(v.facts, fact{text: fmt.Sprintf("when #%d enters · w shows the message again", id), role: themes.Accent})
		v.plain(text)
		return v, nil
	})
}

// instead shows something in a message's place, or the message again if that shows.
func (s *mailStock) instead(p *panel, id int64, what string, f func(ctx context.Context) (*preview, error)) tea.Cmd {
	if p.preview != nil && p.preview.what == what && p.box.Previews() == id {
		p.worn = true
		p.preview = nil
		return nil
	}
	if p.looking {
		return nil
	}
	p.looking = true
	p.box.Peek()
	return func() tea.Msg {
		v, err := f(s.a.ctx)
		if v != nil {
			v.what = what
		}
		return previewed{p, id, v, err}
	}
}

// fenced is text as a block of code.
func fenced(lang, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + lang + "\n" + strings.TrimRight(text, "\n") + "\n" + fence + "\n"
}

func (s *mailStock) do(a *App, p *panel, w dialog.Wish) tea.Cmd {
	m, _ := s.win.message(w.ID)
	n := len(w.IDs)
	one := fmt.Sprintf("#%d", w.ID)
	some := one
	if n > 1 {
		some = count(n, "message")
	} else if n == 1 {
		some = fmt.Sprintf("#%d", w.IDs[0])
	}
	// did does f, and notes how it is taken back.
	did := func(text string, f func() error, back *undone) tea.Cmd {
		return a.wish(p, w, func() (string, error) { return text, f() }, func() tea.Cmd {
			p.box.Unpick(w.IDs...)
			if back != nil {
				s.undo = append(s.undo, *back)
			}
			return nil
		})
	}
	restore := func(what string, ids ...int64) *undone {
		return &undone{what, func(ctx context.Context) error { _, err := a.pool.Restore(ctx, s.agent, ids); return err }}
	}
	switch w.Verb {
	case "queue":
		return a.queuePanel(s.agent, s.name)
	case "close":
		a.leavePanel()
	case "shelf":
		i := slices.IndexFunc(mailShelves[:], func(x struct{ of, title, empty string }) bool { return x.of == s.of })
		s.of = mailShelves[(i+1)%len(mailShelves)].of
		s.entitle()
	case "take":
		if len(p.box.Picked()) > 0 {
			return s.fire(a, p, w)
		}
		return s.take(a, p, w, m)
	case "fire":
		return s.fire(a, p, w)
	case "check":
		return s.check(a, p, w)
	case "reply":
		return a.wish(p, w, func() (string, error) {
			sent, err := a.pool.Reply(a.ctx, s.agent, w.ID, w.Text)
			return fmt.Sprintf("#%d is in the inbox of %s", sent.ID, sent.To), err
		}, nil)
	case "archive":
		if m.Aside() {
			return did(one+" waits again", func() error { _, err := a.pool.Restore(a.ctx, s.agent, w.IDs); return err }, nil)
		}
		return did("Archived "+some+"; u brings it back", func() error { _, err := a.pool.Archive(a.ctx, s.agent, w.IDs); return err }, restore(some+" waits again", w.IDs...))
	case "snooze":
		return s.snooze(a, p, w, restore(one+" waits again", w.ID))
	case "undo":
		return s.takeBack(a, p, w)
	case "pin":
		return did(map[bool]string{true: one + " stays on top", false: one + " is no longer kept on top"}[!m.Pinned],
			func() error { return a.pool.Pin(a.ctx, s.agent, w.ID, !m.Pinned) }, nil)
	case "dismiss":
		each := func(ctx context.Context, f func(ctx context.Context, agent, id int64) error) (err error) {
			for _, id := range w.IDs {
				err = cmp.Or(err, f(ctx, s.agent, id))
			}
			return err
		}
		return did(some+" waits on quietly", func() error { return each(a.ctx, a.pool.Dismiss) }, &undone{
			some + " stands out again", func(ctx context.Context) error { return each(ctx, a.pool.Undismiss) },
		})
	case "mute":
		return a.wish(p, w, func() (string, error) {
			n, err := a.pool.Mute(a.ctx, s.agent, w.ID, !m.Muted)
			if m.Muted {
				return "The thread of " + one + " is heard again", err
			}
			return fmt.Sprintf("The thread of %s is held silently, what is yet to come too; %s of it waits", one, count(n, "message")), err
		}, nil)
	case "made":
		return s.made(a, p, w.ID)
	case "why":
		return s.why(a, p, w.ID)
	}
	return nil
}

// snooze puts a message away until the time that was typed.
func (s *mailStock) snooze(a *App, p *panel, w dialog.Wish, back *undone) tea.Cmd {
	until, err := when(w.Text, a.o.Now())
	return a.wish(p, w, func() (string, error) {
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("#%d is away until %s; u brings it back", w.ID, inbox.Clock(until, a.o.Now())), a.pool.Snooze(a.ctx, s.agent, w.ID, until)
	}, func() tea.Cmd {
		s.undo = append(s.undo, *back)
		return nil
	})
}

// busy says, at the foot, that what begins a turn waits for the one that runs.
func (s *mailStock) busy(a *App, p *panel) {
	if t := a.tabs.byID(s.agent); t != nil && working(t.info.State) {
		p.box.Say("it is taken when this turn ends", false)
	}
}

// take starts a turn with a message; one that asks is answered.
func (s *mailStock) take(a *App, p *panel, w dialog.Wish, m inbox.Message) tea.Cmd {
	if m.Asks() {
		return a.askedIn(p, m)
	}
	s.busy(a, p)
	return a.wish(p, w, func() (string, error) {
		_, ok, err := a.pool.Next(a.ctx, s.agent, w.ID)
		if err == nil && !ok {
			err = fmt.Errorf("message #%d was taken meanwhile", w.ID)
		}
		return fmt.Sprintf("A turn of %s begins with #%d", s.name, w.ID), err
	}, nil)
}

// askedIn opens, over the panel, the question that a message stands for.
func (a *App) askedIn(p *panel, m inbox.Message) tea.Cmd {
	for _, t := range a.tabs.all {
		if q := t.info.Question; q != nil && q.Message == m.ID {
			return a.openQuestion(t.info.ID)
		}
	}
	p.box.Say(fmt.Sprintf("%s does not ask #%d now; /answer %d says why", inbox.Label(m.From), m.ID, m.ID), true)
	return nil
}

// fire starts one turn with the messages that are picked.
func (s *mailStock) fire(a *App, p *panel, w dialog.Wish) tea.Cmd {
	s.busy(a, p)
	return a.wish(p, w, func() (string, error) {
		n, err := a.pool.FireThese(a.ctx, s.agent, w.IDs, "")
		return fmt.Sprintf("A turn of %s begins with %s", s.name, count(n, "message")), err
	}, func() tea.Cmd {
		p.box.Unpick(w.IDs...)
		return nil
	})
}

// check takes all that is ready.
func (s *mailStock) check(a *App, p *panel, w dialog.Wish) tea.Cmd {
	return a.wish(p, w, func() (string, error) {
		ms, left, err := a.pool.Check(a.ctx, s.agent, inbox.Query{})
		switch {
		case err != nil:
			return "", err
		case left > 0:
			return fmt.Sprintf("Took %s; %d more: c again", count(len(ms), "message"), left), nil
		}
		return "Took " + count(len(ms), "message"), nil
	}, func() tea.Cmd {
		s.undo = append(s.undo, undone{"They wait again", func(ctx context.Context) error { _, err := a.pool.Undo(ctx, s.agent); return err }})
		return nil
	})
}

// takeBack takes back what was done last in this panel; without anything, what was
// taken last, as /inbox undo does.
func (s *mailStock) takeBack(a *App, p *panel, w dialog.Wish) tea.Cmd {
	u := undone{"What was taken last waits again", func(ctx context.Context) error { _, err := a.pool.Undo(ctx, s.agent); return err }}
	if n := len(s.undo); n > 0 {
		u, s.undo = s.undo[n-1], s.undo[:n-1]
	}
	return a.wish(p, w, func() (string, error) { return u.what, u.do(a.ctx) }, nil)
}
