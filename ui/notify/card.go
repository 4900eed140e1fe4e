package notify

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents/event"
	"fantail/inbox"
	"fantail/themes"
	"fantail/ui/cells"
	"fantail/ui/format"
	"fantail/ui/intent"
	"fantail/ui/tabs"
)

// urgent holds the urgent messages that wait for the human, and the card that shows the newest one.
// The card takes no focus and no key that means anything else. It takes no key at all in its first
// moments.
type urgent struct {
	all   []inbox.Message // newest first
	asked bool            // a read is running
	stale bool            // something has changed since the read began
	acted map[int64]bool  // handled by a key, until the pool has carried that out
	known bool            // they were read at least once, so later ones are new

	shown int64     // message on the card; 0: the card is hidden
	since time.Time // since when
	y, h  int       // position and height
	drop  int       // column of its last line from which a click dismisses it
}

// Urgent reads the waiting urgent messages, one request at a time.
func (n *Notifier) Urgent() intent.Intent {
	p := &n.urgent
	if p.asked || n.Pool == nil {
		p.stale = true
		return nil
	}
	p.asked, p.stale = true, false
	pool := n.Pool
	return intent.Run{F: func(ctx context.Context) intent.Intent {
		ms, err := pool.Records.Urgent(ctx)
		return intent.Call(func() intent.Intent { return n.TakeUrgent(ms, err) })
	}}
}

// Changed rereads them if an agent's change may have changed them, and calls the human to mail that calls.
func (n *Notifier) Changed(was, i event.Info) intent.Intent {
	var all intent.All
	if !i.Kind.HasPrompt() {
		return all
	}
	if i.Called > was.Called {
		all = append(all, n.callTo(i.ID, was.Called, i.Called))
	}
	if i.Urgent != was.Urgent || i.Urgent > 0 && i.Came != was.Came {
		all = append(all, n.Urgent())
	}
	return all
}

// TakeUrgent shows the waiting urgent messages, and calls the human to those that came since the
// screen began. A snoozed message that is back counts as new.
func (n *Notifier) TakeUrgent(ms []inbox.Message, err error) intent.Intent {
	p := &n.urgent
	p.asked = false
	if err != nil {
		return intent.Say{Text: format.Sentence(err)}
	}
	before := p.all
	p.all = ms
	for id := range p.acted {
		if !has(p.all, id) {
			delete(p.acted, id)
		}
	}
	var all intent.All
	for _, x := range slices.Backward(p.all) {
		if !has(before, x.ID) && (p.known || !x.Created.Before(n.began)) {
			all = append(all, n.call(urgentCall(x)))
		}
	}
	p.known = true
	if p.stale {
		all = append(all, n.Urgent())
	}
	return all
}

// has reports whether one of the messages has that id.
func has(ms []inbox.Message, id int64) bool {
	return slices.ContainsFunc(ms, func(m inbox.Message) bool { return m.ID == id })
}

// pressing returns the messages of the card; none while quiet is on.
func (n *Notifier) pressing() []inbox.Message {
	if n.quiet.Holds(n.Now()) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(n.urgent.all), func(m inbox.Message) bool { return n.urgent.acted[m.ID] })
}

// grace is how long the card takes no key after a message appeared on it, so that a key meant for
// something else handles nothing.
const grace = 500 * time.Millisecond

// The keys of the card.
const (
	keyHandle  = "alt+u"
	keyDismiss = "alt+x"
)

// MaxCard returns the maximum height of the card on a screen of height h.
func MaxCard(h int) int {
	if h < 12 {
		return 1
	}
	return 2
}

// Card returns the lines of the card, at most `most`; none if nothing is urgent. Its grace begins
// when a message appears on it.
func (n *Notifier) Card(most int) []string {
	p := &n.urgent
	ms := n.pressing()
	if len(ms) == 0 || most < 1 {
		p.shown = 0
		return nil
	}
	m := ms[0]
	if p.shown != m.ID {
		p.shown, p.since = m.ID, n.Now()
	}
	to := ""
	if t := n.Tabs.ByID(m.Recipient); t != nil && t != n.Tabs.Focus {
		to = " to " + cells.CleanLine(t.Info.Name)
	}
	head := "[" + n.Tabs.Sign(tabs.SignNews, tabs.PlainNews) + " URGENT from " + cells.CleanLine(inbox.Label(m.From)) + to
	more := "]"
	if rest := len(ms) - 1; rest > 0 {
		more = fmt.Sprintf("] (+%d more)", rest)
	}
	what := ": " + cells.CleanLine(m.Gist())
	handle, dismiss := "Alt+U handle", "Alt+X dismiss"
	whole := cells.Width(head+what+more) + 3 + cells.Width(handle+dismiss) + 3
	two := whole > n.Width() && most > 1
	if !two && whole > n.Width() {
		handle, dismiss = "Alt+U", "Alt+X"
	}
	keys := handle + " · " + dismiss
	width := n.Width()
	if !two {
		width -= cells.Width(keys) + 2
	}
	if over := cells.Width(head+what+more) - width; over > 0 {
		what = cells.Cut(what, max(0, cells.Width(what)-over))
	}
	text := cells.Cut(head+what+more, width)
	x := n.Width() - cells.Width(keys) - 1
	if two {
		x = max(0, x)
	}
	p.drop = x + cells.Width(handle) + 1
	line := func(s string) string { return n.Theme.Paint(themes.Bad, s) }
	if two {
		return []string{
			cells.Fit(line(text), n.Width()),
			cells.Fit(cells.Spaces(x)+n.Theme.Paint(themes.Dim, keys), n.Width()),
		}
	}
	return []string{cells.Fit(line(text)+cells.Spaces(x-cells.Width(text))+n.Theme.Paint(themes.Dim, keys), n.Width())}
}

// TakesKeys reports whether the card can be answered: it is shown, is not dimmed, and was shown for
// long enough to be seen.
func (n *Notifier) TakesKeys() bool {
	p := &n.urgent
	return p.shown != 0 && n.Now().Sub(p.since) >= grace
}

// Key takes the keys of the card, whatever else is open.
func (n *Notifier) Key(k tea.KeyPressMsg) (intent.Intent, bool) {
	switch s := k.String(); {
	case s != keyHandle && s != keyDismiss || !n.TakesKeys():
		return nil, false
	case s == keyHandle:
		return n.handle(), true
	}
	return n.dismiss(), true
}

// Click takes a click on the card: on the words that dismiss it, or anywhere else to handle it.
func (n *Notifier) Click(x, y int) (intent.Intent, bool) {
	p := &n.urgent
	switch {
	case p.shown == 0 || y < p.y || y >= p.y+p.h:
		return nil, false
	case !n.TakesKeys():
		return nil, true
	case y == p.y+p.h-1 && x >= p.drop:
		return n.dismiss(), true
	}
	return n.handle(), true
}

// act removes the message from the card.
func (p *urgent) act() (inbox.Message, bool) {
	i := slices.IndexFunc(p.all, func(m inbox.Message) bool { return m.ID == p.shown })
	if i < 0 {
		return inbox.Message{}, false
	}
	if p.acted == nil {
		p.acted = map[int64]bool{}
	}
	p.acted[p.shown], p.shown = true, 0
	return p.all[i], true
}

// handle has the message on the card handled.
func (n *Notifier) handle() intent.Intent {
	m, ok := n.urgent.act()
	if !ok {
		return nil
	}
	return intent.Handle{Message: m, Failed: n.unacted(m.ID)}
}

// unacted notes that the action of a key of the card failed.
func (n *Notifier) unacted(id int64) intent.Intent {
	return intent.Call(func() intent.Intent {
		delete(n.urgent.acted, id)
		return nil
	})
}

// dismiss puts the message off: it still waits, and the mark in the status line stays.
func (n *Notifier) dismiss() intent.Intent {
	m, ok := n.urgent.act()
	if !ok {
		return nil
	}
	pool, sign := n.Pool, n.Tabs.Sign(tabs.SignUrgent, tabs.PlainUrgent)
	return intent.Run{F: func(ctx context.Context) intent.Intent {
		if err := pool.Letters.Dismiss(ctx, m.Recipient, m.ID); err != nil {
			return intent.All{n.unacted(m.ID), intent.Say{Text: format.Sentence(err)}}
		}
		return intent.Say{Text: fmt.Sprintf("#%d is in the inbox; %s stays until you handle it", m.ID, sign)}
	}}
}

// Hide notes that the card is hidden or dimmed.
func (n *Notifier) Hide() { n.urgent.shown = 0 }

// At sets the position of the card. If h is 0 the card is hidden.
func (n *Notifier) At(y, h int) {
	if n.urgent.y, n.urgent.h = y, h; h <= 0 {
		n.Hide()
	}
}
