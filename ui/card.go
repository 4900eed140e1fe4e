package ui

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/inbox"
	"fantail/themes"
	"fantail/ui/frame"
	"fantail/ui/slash"
	"fantail/ui/tabs"
	"fantail/ui/words"
)

// pressing is the urgent messages that wait for the human, and the card that
// stands for the newest of them. The card takes no focus and no key that means
// anything else, and none at all in its first moments.
type pressing struct {
	all   []inbox.Message // newest first
	asked bool            // they are on their way
	stale bool            // something changed since they were asked for
	acted map[int64]bool  // a key dealt with them; they leave all when the pool took it
	known bool            // all was read, once at least: what was not in it is new

	shown int64     // the message the card stands for; 0: it does not show
	since time.Time // since when
	at    rect      // where
	drop  tabs.Span // the columns of its last line that dismiss it
}

// urged are the urgent messages that wait.
type urged struct {
	ms  []inbox.Message
	err error
}

// unacted says that what a key of the card asked for did not happen.
type unacted struct{ id int64 }

// askUrgent asks which urgent messages wait, one answer at a time.
func (a *App) askUrgent() tea.Cmd {
	p := &a.pressing
	if p.asked || a.pool == nil {
		p.stale = true
		return nil
	}
	p.asked, p.stale = true, false
	pool := a.pool
	return func() tea.Msg {
		ms, err := pool.Urgent(a.ctx)
		return urged{ms, err}
	}
}

// pressed asks anew if a change of an agent may have changed what is urgent.
func (a *App) pressed(was, i agents.Info) tea.Cmd {
	if !i.Kind.HasPrompt() || i.Urgent == was.Urgent && (i.Urgent == 0 || i.Came == was.Came) {
		return nil
	}
	return a.askUrgent()
}

// takeUrgent shows what waits and calls the human to what came since the screen
// began, what was snoozed and is back too.
func (a *App) takeUrgent(m urged) tea.Cmd {
	p := &a.pressing
	p.asked, a.dirty = false, true
	if m.err != nil {
		a.say(words.Sentence(m.err))
		return nil
	}
	before := p.all
	p.all = m.ms
	for id := range p.acted {
		if !waits(p.all, id) {
			delete(p.acted, id)
		}
	}
	var cmds []tea.Cmd
	for _, x := range slices.Backward(p.all) {
		if !waits(before, x.ID) && (p.known || !x.Created.Before(a.began)) {
			cmds = append(cmds, a.call(urgentCall(x)))
		}
	}
	p.known = true
	if p.stale {
		cmds = append(cmds, a.askUrgent())
	}
	return tea.Batch(cmds...)
}

// waits reports whether the message of that number is one of them.
func waits(ms []inbox.Message, id int64) bool {
	return slices.ContainsFunc(ms, func(m inbox.Message) bool { return m.ID == id })
}

// pressingNow are the messages the card stands for; none while it is quiet.
func (a *App) pressingNow() []inbox.Message {
	if a.tally.Quiet.Holds(a.o.Now()) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(a.pressing.all), func(m inbox.Message) bool { return a.pressing.acted[m.ID] })
}

// The keys of the card.
const (
	keyHandle  = "alt+u"
	keyDismiss = "alt+x"
)

// cardMost is how many lines the card may take on a screen that high.
func cardMost(h int) int {
	if h < 12 {
		return 1
	}
	return 2
}

// card is the card's lines, at most that many; none if nothing is urgent. Its
// grace begins when a message comes into it.
func (a *App) card(most int) []string {
	p := &a.pressing
	ms := a.pressingNow()
	if len(ms) == 0 || most < 1 {
		p.shown = 0
		return nil
	}
	m := ms[0]
	if p.shown != m.ID {
		p.shown, p.since = m.ID, a.o.Now()
	}
	to := ""
	if t := a.tabs.ByID(m.Recipient); t != nil && t != a.tabs.Focus {
		to = " to " + frame.CleanLine(t.Info.Name)
	}
	head := "[" + a.tabs.Sign(tabs.SignNews, tabs.PlainNews) + " URGENT from " + frame.CleanLine(inbox.Label(m.From)) + to
	more := "]"
	if n := len(ms) - 1; n > 0 {
		more = fmt.Sprintf("] (+%d more)", n)
	}
	what := ": " + frame.CleanLine(m.Gist())
	handle, dismiss := "Alt+U handles", "Alt+X dismisses"
	whole := frame.Width(head+what+more) + 3 + frame.Width(handle+dismiss) + 3
	two := whole > a.w && most > 1
	if !two && whole > a.w {
		handle, dismiss = "Alt+U", "Alt+X"
	}
	keys := handle + " · " + dismiss
	room := a.w
	if !two {
		room -= frame.Width(keys) + 2
	}
	if over := frame.Width(head+what+more) - room; over > 0 {
		what = frame.Cut(what, max(0, frame.Width(what)-over))
	}
	text := frame.Cut(head+what+more, room)
	x := a.w - frame.Width(keys) - 1
	if two {
		x = max(0, x)
	}
	p.drop = tabs.Span{From: x + frame.Width(handle) + 1, To: a.w}
	line := func(s string) string { return a.theme.Paint(themes.Warn, s) }
	if two {
		return []string{
			frame.Fit(line(text), a.w),
			frame.Fit(frame.Spaces(x)+a.theme.Paint(themes.Dim, keys), a.w),
		}
	}
	return []string{frame.Fit(line(text)+frame.Spaces(x-frame.Width(text))+a.theme.Paint(themes.Dim, keys), a.w)}
}

// takesKeys reports whether the card may be answered: it shows, undimmed, and has
// shown for long enough to be seen.
func (a *App) takesKeys() bool {
	p := &a.pressing
	return p.shown != 0 && a.o.Now().Sub(p.since) >= firstHalf
}

// keyCard are the keys of the card, whatever else shows.
func (a *App) keyCard(k tea.KeyPressMsg) (tea.Cmd, bool) {
	switch s := k.String(); {
	case s != keyHandle && s != keyDismiss || !a.takesKeys():
		return nil, false
	case s == keyHandle:
		return a.handleUrgent(), true
	}
	return a.dismissUrgent(), true
}

// clickCard is a click on the card: on the words that dismiss, or to handle it.
func (a *App) clickCard(x, y int) (tea.Cmd, bool) {
	p := &a.pressing
	switch {
	case p.shown == 0 || y < p.at.y || y >= p.at.y+p.at.h:
		return nil, false
	case !a.takesKeys():
		return nil, true
	case y == p.at.y+p.at.h-1 && x >= p.drop.From:
		return a.dismissUrgent(), true
	}
	return a.handleUrgent(), true
}

// act takes the message off the card.
func (p *pressing) act() (inbox.Message, bool) {
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

// handleUrgent goes to the agent the message waits for and starts a turn with it,
// as /messages next does.
func (a *App) handleUrgent() tea.Cmd {
	a.dirty = true
	m, ok := a.pressing.act()
	t := a.tabs.ByID(m.Recipient)
	if !ok || t == nil {
		return nil
	}
	for a.dialog != nil { // what fills the screen
		a.shut()
	}
	a.tabs.To(t)
	t.News = false // handling its mail is looking at it
	return tea.Batch(a.shown(), a.act(slash.Turn(a.env(), t, func(ctx context.Context, agent int64) (inbox.Message, bool, error) {
		got, ok, err := a.pool.Next(ctx, agent, m.ID)
		if err != nil {
			a.afterwards(unacted{m.ID})
		}
		return got, ok, err
	})))
}

// dismissUrgent puts the message off: it waits, and the mark in the status line
// stays.
func (a *App) dismissUrgent() tea.Cmd {
	a.dirty = true
	m, ok := a.pressing.act()
	if !ok {
		return nil
	}
	pool := a.pool
	return func() tea.Msg {
		if err := pool.Dismiss(a.ctx, m.Recipient, m.ID); err != nil {
			a.afterwards(unacted{m.ID})
			return noted{words.Sentence(err)}
		}
		return noted{fmt.Sprintf("#%d waits in the inbox; %s stays until it is handled", m.ID, a.tabs.Sign(tabs.SignUrgent, tabs.PlainUrgent))}
	}
}
