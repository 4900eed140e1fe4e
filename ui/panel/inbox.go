package panel

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/inbox"
	"fantail/themes"
	"fantail/ui/dialog"
)

// mailStock is an agent's inbox as a panel lists it: a window of its messages.
type mailStock struct {
	Env
	agent int64
	name  string
	box   *dialog.Board

	of    string // which shelf shows
	shown mailQuery
	any   bool // it was read
	win   stretch
	costs map[int64]int // what taking a message costs; only reads use it, and only one runs at a time
	undo  []undone
}

// mailQuery is what a stretch is a part of.
type mailQuery struct {
	lane   inbox.Lane
	search string
	of     string
	folds  int // changes when a thread is folded or unfolded
}

// stretch is a window of messages.
type stretch struct {
	window[inbox.Message]
	under map[int64][]inbox.Message // by row: the other messages of its thread
}

type mailShelf struct{ of, title, empty string }

// The shelves, in the order in which v goes through them, and their names in the title.
var mailShelves = [...]mailShelf{
	{inbox.Waiting, "", "Nothing waits. /push queues work and /run starts it: results land here, and so does mail."},
	{inbox.Snoozed, " · snoozed", "Nothing is snoozed. s puts a message away until a time; v shows another shelf."},
	{inbox.Archived, " · archived", "Nothing is archived. a puts a message away without taking it; v shows another shelf."},
	{inbox.Everything, " · everything", "No message has come yet."},
}

// Inbox opens the panel of an agent's inbox.
func Inbox(e Env, agent int64, name string) *Panel {
	s := &mailStock{Env: e, agent: agent, name: name, costs: map[int64]int{}}
	s.box = dialog.NewBoard(e.Theme, e.Now, "", "", mailVerbs, true)
	s.box.Lanes(mailLanes(nil, true))
	s.entitle()
	return open(e, s.box, s)
}

// entitle names the shelf that shows.
func (s *mailStock) entitle() {
	for _, x := range mailShelves {
		if x.of == s.of {
			s.box.Entitle("Inbox of "+s.name+x.title, x.empty)
		}
	}
}

func (s *mailStock) recolour(t *themes.Theme) { s.Theme = t }

func (s *mailStock) touched(e event.Event) bool {
	switch e := e.(type) {
	case event.Mailed:
		return e.Agent == s.agent
	case event.Changed: // its state decides when mail enters
		t := s.Tabs.ByID(s.agent)
		return e.ID == s.agent && (t == nil || t.Info.State != e.State || t.Info.Pending != e.Pending)
	}
	return false
}

func (s *mailStock) next(b *dialog.Board, stale staleness) read {
	_, folds := b.Unfolded()
	want := mailQuery{search: b.Search(), of: s.of, folds: folds}
	if l := b.Lane(); l >= 0 {
		want.lane = inbox.LaneOrder[l]
	}
	was := s.shown
	was.folds = want.folds
	turn := s.list(want).next(b, !s.any || want != was, bool(stale) || want != s.shown)
	if turn == nil {
		return nil
	}
	have, agent, costs, pool, leaps := s.win.window, s.agent, s.costs, s.Pool.Letters, b.Leaps()
	ids, _ := b.Unfolded()
	return func(ctx context.Context) (func(b *dialog.Board), error) {
		rows, err := turn(ctx, have)
		win := stretch{window: rows}
		if err == nil {
			err = win.unfold(ctx, pool, ids)
		}
		if err != nil {
			return nil, err
		}
		counts, err := pool.Lanes(ctx, agent)
		if err != nil {
			return nil, err
		}
		lines, lanes := win.lines(costs), mailLanes(counts, want.of != inbox.Waiting || want.search != "")
		return func(b *dialog.Board) {
			if !s.any {
				b.Stand(win.firstNeed())
			}
			s.win, s.shown, s.any = win, want, true
			for i := range lines {
				lines[i].Fresh = lines[i].Fresh && !s.Looked[lines[i].ID]
			}
			b.Lanes(lanes)
			b.Show(lines, win.over != 0, win.more)
			if leaps != 0 {
				b.Landed()
			}
		}, nil
	}
}

// list is what a query finds.
func (s *mailStock) list(q mailQuery) long[inbox.Message] {
	agent, post := s.agent, s.Pool.Letters
	return long[inbox.Message]{
		read: func(ctx context.Context, before int64, back bool, n int) ([]inbox.Message, error) {
			return post.Shelf(ctx, inbox.Shelf{
				Recipient: agent, Lane: q.lane, Search: q.search, Of: q.of, Before: before, Back: back, Folded: q.search == "" && q.of == inbox.Waiting, Limit: n,
			})
		},
		id: func(m inbox.Message) int64 { return m.ID },
	}
}

// unfold reads the other messages of unfolded threads.
func (w *stretch) unfold(ctx context.Context, pool Post, ids []int64) error {
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

// firstNeed is the first message that needs the human; 0: none.
func (w *stretch) firstNeed() int64 {
	if i := slices.IndexFunc(w.rows, func(m inbox.Message) bool { return m.Lane() == inbox.Needs }); i >= 0 {
		return w.rows[i].ID
	}
	return 0
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

// lines are the rows; costs caches what is expensive to find out.
func (w *stretch) lines(costs map[int64]int) []dialog.Line {
	if len(costs) > 50*pageRows {
		clear(costs)
	}
	line := func(m inbox.Message) dialog.Line {
		l, ok := mailLine(m), false
		if l.Cost, ok = costs[m.ID]; !ok {
			l.Cost = history.MessageTokens(m)
			costs[m.ID] = l.Cost
		}
		return l
	}
	ls := make([]dialog.Line, 0, len(w.rows))
	seen := make(map[int64]bool, len(w.rows))
	for _, m := range w.rows {
		seen[m.ID] = true
	}
	for _, m := range w.rows {
		l := line(m)
		l.Fold, l.Open = m.Folded, len(w.under[m.ID]) > 0
		ls = append(ls, l)
		for _, x := range w.under[m.ID] {
			if seen[x.ID] { // it is pinned and has a row of its own
				continue
			}
			seen[x.ID] = true
			l := line(x)
			l.Under, l.Faint = true, l.Faint || !x.Taken.IsZero()
			l.Fresh = l.Fresh && x.Recipient == m.Recipient
			ls = append(ls, l)
		}
	}
	return ls
}

// mailLanes are the lanes with their counts; unknown says that the counts belong to something other
// than what shows.
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
		Faint: !m.Dismissed.IsZero() || m.Muted, Fresh: m.Taken.IsZero(),
	}
	l.Sign, l.Role = mailSign(m)
	if words := inbox.Label(m.Body); m.InReplyTo != 0 && words != "" {
		l.Text = words // its subject is that of the message it answers
	}
	if m.Priority != inbox.Normal && m.Priority != "" {
		l.Flags = string(m.Priority)
	}
	if m.Asks() && m.Taken.IsZero() {
		l.Does = "answers"
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

// mailSign is the sign for a kind of message.
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

func (s *mailStock) preview(id int64) func(ctx context.Context) (*preview, error) {
	s.Looked[id] = true
	pool, theme, now := s.Pool, s.Theme, s.Now
	return func(ctx context.Context) (*preview, error) {
		m, ok, err := pool.Letters.Message(ctx, id)
		if err == nil && !ok {
			err = fmt.Errorf("there is no message #%d", id)
		}
		if err != nil {
			return nil, err
		}
		why, err := pool.Mail.Why(ctx, id)
		if err != nil {
			return nil, err
		}
		p := newPreview(theme, now)
		p.letter(m, why)
		thread, err := pool.Letters.Thread(ctx, id)
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
