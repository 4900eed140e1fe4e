package ui

import (
	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/themes"
	"fantail/ui/dialog"
	"fantail/ui/frame"
	"fantail/ui/tabs"
)

// Questions to the human: below the transcript of the agent that asks, over
// whatever shows, or answered by a command. Only keys that the human types answer;
// whose.go says which.

// raised is the question that was opened last: over what showed, or in its place.
type raised struct {
	box    dialog.Box // nil if it did not need to be over anything
	agent  int64
	id     int64 // after it closed too
	stands standing
}

// questionOf is the box of the question that the tab's agent asks. What was typed
// into it stays there while it is put off.
func (a *App) questionOf(t *tabs.Tab) dialog.Question {
	if t.Question == nil || t.About != t.Info.Question.ID {
		t.Question, t.About = a.questionBox(*t.Info.Question), t.Info.Question.ID
	}
	return t.Question
}

// asker is the question that has the keyboard, nil if none has.
func (a *App) asker() dialog.Question {
	if k := &a.asks; k.stands.keyed() && a.stillAsks(k.sight) {
		return a.questionOf(k.sight.asks)
	}
	return nil
}

// inPlace is the question in the box's place, nil if there is none.
func (a *App) inPlace() dialog.Question {
	if a.asks.sight.over {
		return nil
	}
	return a.asker()
}

// questionBox is the dialog for a question.
func (a *App) questionBox(q agents.Question) dialog.Question {
	if q.Asks == nil {
		return dialog.NewQuestion(a.theme, q.Question)
	}
	d := dialog.Asked{ID: q.ID, Name: q.Name, Text: q.Asks.Text, Multiple: q.Asks.Multiple, Outside: q.Outside}
	for _, o := range q.Asks.Options {
		d.Options = append(d.Options, dialog.Offer{Label: o.Label, Why: o.Why})
	}
	return dialog.NewAsk(a.theme, d)
}

// keyPlaced gives a key to the question in the box's place. Esc leaves it open.
func (a *App) keyPlaced(q dialog.Question, k tea.KeyPressMsg) (tea.Cmd, bool) {
	switch d := q.Key(k).(type) {
	case dialog.Answered, dialog.Said:
		return a.act(a.answered(d)), true
	case dialog.Cancelled:
		a.asks.stands = carded
		a.stopsTwice()
	}
	return nil, k.String() != "shift+tab"
}

// stopsTwice reports whether Esc stops the turn: while its agent asks, it must come
// twice.
func (a *App) stopsTwice() bool {
	t := a.tabs.Focus
	return !a.asksOpenly(t) || a.flash.Again("esc", "the question stays open; Esc again stops the turn", func() bool { return a.tabs.Focus == t && a.asksOpenly(t) })
}

// showsQuestion reports whether the tab's agent's question is on the screen by
// itself: what tells of it elsewhere then does not repeat it.
func (a *App) showsQuestion(t *tabs.Tab) bool {
	base := a.layers.Base()
	return a.asksOpenly(t) && (a.asks.sight.over && a.asks.sight.asks == t || t == a.tabs.Focus && base == nil)
}

// cover tells an open inbox which of its messages is the question that shows over it.
func (a *App) cover() {
	if a.panel() == nil {
		return
	}
	id := int64(0)
	if a.asks.sight.over {
		id = a.asks.sight.message
	}
	a.panel().Cover(id)
}

// askCard is the line above the box for the focused agent's question, "" if there
// is none to be shown so.
func (a *App) askCard() string {
	t, s := a.tabs.Focus, a.asks.sight
	if !a.asksOpenly(t) || s.asks == t && a.asks.stands.keyed() {
		return ""
	}
	head, keys := a.theme.Paint(themes.Warn, "⚠ "), " · alt+a or f5"
	if a.w < 50 {
		keys = " · alt+a"
	}
	gist := frame.Cut(frame.CleanLine(frame.Reveal(t.Info.Question.Gist())), max(1, a.w-2-frame.Width(keys)))
	return frame.Fit(head+a.theme.Paint(themes.Warn, gist)+a.theme.Paint(themes.Dim, keys), a.w)
}

// focused is the agent of the focused tab, 0 if there is none.
func (a *App) focused() int64 {
	if t := a.tabs.Focus; t != nil {
		return t.Info.ID
	}
	return 0
}

// unanswered says that an answer did not arrive: its question is open.
type unanswered struct{ question int64 }

// openQuestion goes to an agent's open question: in the place of the focused
// agent's box, else over what shows.
func (a *App) openQuestion(agent int64, how standing) tea.Cmd {
	t := a.tabs.ByID(agent)
	switch {
	case t == nil:
		a.flash.Say("that agent's tab is closed")
		return nil
	case t.Info.Question == nil:
		a.flash.Say(t.Info.Name + " asks nothing now")
		return nil
	}
	base := a.layers.Base()
	if base != nil {
		how = strict
	}
	q := a.questionOf(t)
	q.Strictly(how == strict)
	a.raised = raised{nil, agent, t.Info.Question.ID, how}
	a.dirty = true
	if t != a.tabs.Focus || base != nil {
		a.raised.box = q
		a.layers.Open(q, a.answered)
		return nil
	}
	a.layers.Drop() // another question, if any
	a.asks.sight, a.asks.stands, a.asks.since = a.looks(), how, a.o.Now()
	return nil
}

// lower closes the question that was opened over what shows if its agent no
// longer asks it.
func (a *App) lower(i agents.Info) {
	r := a.raised
	if r.box == nil || i.ID != r.agent || i.Question != nil && i.Question.ID == r.id {
		return
	}
	a.raised.box = nil
	if a.layers.Top() == r.box {
		a.layers.Shut()
		a.flash.Say("the question of " + i.Name + " is not open any more")
	}
}

// nextQuestion goes to the focused agent's question, if that stands above the box;
// else to the oldest that is open, and to the next if the one before was left open.
func (a *App) nextQuestion(how standing) tea.Cmd {
	if a.asks.stands == carded { // its line says which keys go to it
		return a.openQuestion(a.tabs.Focus.Info.ID, how)
	}
	var first, next *agents.Question
	for _, t := range a.tabs.All {
		q := t.Info.Question
		if !a.asksOpenly(t) {
			continue
		}
		if first == nil || q.ID < first.ID {
			first = q
		}
		if q.ID > a.raised.id && (next == nil || q.ID < next.ID) {
			next = q
		}
	}
	if next == nil {
		next = first
	}
	if next == nil {
		a.flash.Say("nobody asks you anything")
		return nil
	}
	return a.openQuestion(next.Agent, how)
}
