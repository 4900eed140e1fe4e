package panel

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/mail"
	"fantail/inbox"
	"fantail/themes"
	"fantail/ui/dialog"
	"fantail/ui/format"
)

// Messages reads the messages of inboxes.
type Messages interface {
	Select(ctx context.Context, s inbox.Selection) ([]inbox.Message, error)
	Lanes(ctx context.Context, agent int64) (map[inbox.Lane]int, error)
	Message(ctx context.Context, id int64) (inbox.Message, bool, error)
	Thread(ctx context.Context, id int64) ([]inbox.Message, error)
	Why(ctx context.Context, id int64) (string, error)
}

// MessagesOf returns the messages of a pool's agents.
func MessagesOf(p *agents.Pool) Messages {
	return struct {
		*mail.Letters
		*mail.Delivery
	}{p.Letters, p.Mail}
}

// mailList lists an agent's inbox: a window of its messages.
type mailList struct {
	*Panel
	of    string // which messages are shown
	win   stretch
	costs map[int64]int // tokens of a message; used only by reads, of which one runs at a time
	undo  []undone
}

// stretch is a window of messages.
type stretch struct {
	window[inbox.Message]
	under map[int64][]inbox.Message // by row: the other messages of its thread
}

type mailView struct{ of, title, empty string }

// The shelves in the order of the key v, with their titles.
var mailViews = [...]mailView{
	{inbox.Waiting, "", "No mail. Results of /push tasks arrive here."},
	{inbox.Snoozed, " · snoozed", "No snoozed messages. v to switch the view."},
	{inbox.Archived, " · archived", "No archived messages. v to switch the view."},
	{inbox.Everything, " · everything", "No messages yet."},
}

// Inbox opens the panel of an agent's inbox.
func Inbox(e Options, agent int64, name string) *Panel {
	box := dialog.NewBoard(e.Theme, e.Now, "", "", slices.Concat(mailVerbs, boardVerbs("f3")), true)
	s := &mailList{Panel: open(e, agent, name, box, mailLanes(nil, true)), costs: map[int64]int{}}
	s.list = s
	s.entitle()
	return s.Panel
}

// entitle sets the board's title and the text of an empty board.
func (s *mailList) entitle() {
	for _, x := range mailViews {
		if x.of == s.of {
			s.box.Entitle("Inbox · "+s.name+x.title, x.empty)
		}
	}
}

func (s *mailList) touched(e event.Event) bool {
	switch e := e.(type) {
	case event.Mailed:
		return e.Agent == s.agent
	case event.Changed: // the agent's state decides when mail enters
		t := s.Tabs.ByID(s.agent)
		return e.ID == s.agent && (t == nil || t.Info.State != e.State || t.Info.Pending != e.Pending)
	}
	return false
}

func (s *mailList) query() query {
	q := s.Panel.query()
	q.of = s.of
	_, q.folds = s.box.Unfolded()
	return q
}

func (s *mailList) read(want query, stale staleness) reading {
	was := s.shown
	was.folds = want.folds
	turn := s.found(want).next(s.box, !s.any || want != was, bool(stale) || want != s.shown)
	if turn == nil {
		return nil
	}
	have, agent, costs, messages := s.win.window, s.agent, s.costs, s.Inbox
	ids, _ := s.box.Unfolded()
	return func(ctx context.Context) (r rows, err error) {
		var win stretch
		if win.window, err = turn(ctx, have); err == nil {
			err = win.unfold(ctx, messages, ids)
		}
		if err != nil {
			return r, err
		}
		counts, err := messages.Lanes(ctx, agent)
		if err != nil {
			return r, err
		}
		lines := win.lines(costs)
		return rows{
			lanes: mailLanes(counts, want.of != inbox.Waiting || want.search != ""),
			lines: lines, above: win.over != 0, below: win.more,
			take: func() {
				if !s.any {
					s.box.Stand(win.firstNeed())
				}
				s.win = win
				for i := range lines {
					lines[i].Fresh = lines[i].Fresh && !s.Looked[lines[i].ID]
				}
			},
		}, nil
	}
}

// found reads the messages that a query selects.
func (s *mailList) found(q query) long[inbox.Message] {
	agent, messages := s.agent, s.Inbox
	lane := inbox.Lane("")
	if q.lane >= 0 {
		lane = inbox.LaneOrder[q.lane]
	}
	return long[inbox.Message]{
		read: func(ctx context.Context, before int64, back bool, n int) ([]inbox.Message, error) {
			return messages.Select(ctx, inbox.Selection{
				Recipient: agent, Lane: lane, Search: q.search, Of: q.of, Before: before, Back: back, Folded: q.search == "" && q.of == inbox.Waiting, Limit: n,
			})
		},
		id: messageID,
	}
}

func messageID(m inbox.Message) int64 { return m.ID }

// unfold reads the other messages of unfolded threads.
func (w *stretch) unfold(ctx context.Context, messages Messages, ids []int64) error {
	w.under = map[int64][]inbox.Message{}
	for _, m := range w.rows {
		if m.Folded == 0 || !slices.Contains(ids, m.ID) {
			continue
		}
		ms, err := messages.Thread(ctx, m.ID)
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

// firstNeed returns the first message that needs the human; 0: none.
func (w *stretch) firstNeed() int64 {
	if i := slices.IndexFunc(w.rows, func(m inbox.Message) bool { return m.Lane() == inbox.Needs }); i >= 0 {
		return w.rows[i].ID
	}
	return 0
}

// message returns a message of the stretch.
func (w *stretch) message(id int64) (inbox.Message, bool) {
	all := w.rows
	for _, ms := range w.under {
		all = slices.Concat(all, ms)
	}
	return find(all, id, messageID)
}

// lines returns the rows. costs caches the tokens of messages, which are slow to count.
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

// mailLanes returns the lanes with their counts. unknown hides counts that do not belong to what is
// shown.
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

// mailLine returns a message's row.
func mailLine(m inbox.Message) dialog.Line {
	l := dialog.Line{
		ID: m.ID, Number: fmt.Sprintf("#%d", m.ID), Who: inbox.Label(m.From), Text: m.Gist(), At: m.Created,
		Faint: !m.Dismissed.IsZero() || m.Muted, Fresh: m.Taken.IsZero(),
	}
	l.Sign, l.Role = format.MailSign(m)
	if words := inbox.Line(m.Body); m.InReplyTo != 0 && words != "" {
		l.Text = words // its subject repeats that of the message it answers
	}
	switch m.Priority {
	case inbox.High:
		l.Flags = "!"
	case inbox.Urgent, inbox.Low:
		l.Flags = string(m.Priority)
	}
	if m.Asks() && m.Taken.IsZero() {
		l.Does = "answer"
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

func (s *mailList) about(id int64) func(ctx context.Context, p *preview) error {
	s.Looked[id] = true
	messages := s.Inbox
	return func(ctx context.Context, p *preview) error {
		m, err := letter(ctx, messages, id)
		if err != nil {
			return err
		}
		why, err := messages.Why(ctx, id)
		if err != nil {
			return err
		}
		p.letter(m, why)
		thread, err := messages.Thread(ctx, id)
		if err != nil {
			return err
		}
		if n := len(thread); n > 1 {
			at := slices.IndexFunc(thread, func(x inbox.Message) bool { return x.ID == id })
			p.add("thread", fmt.Sprintf("%d of %d, started by %s", at+1, n, inbox.Label(thread[0].From)))
		}
		p.of = fmt.Sprintf("#%d", id)
		p.view.Letter(m)
		return nil
	}
}

// letter adds the facts about a message.
func (p *preview) letter(m inbox.Message, why string) {
	_, role := format.MailSign(m)
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
