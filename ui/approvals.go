package ui

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents/event"
	"fantail/themes"
	"fantail/tools/permission"
	"fantail/ui/cells"
	"fantail/ui/dialog"
	"fantail/ui/format"
	"fantail/ui/intent"
	"fantail/ui/notify"
	"fantail/ui/tabs"
	"fantail/ui/transcript"
)

// ApprovalOptions is what the questions share with the rest of the screen.
type ApprovalOptions struct {
	Tabs   *tabs.Tabs
	Layers *Stack
	Flash  *notify.Flash
	Drafts *Drafts
	Seen   func() bool // whether what is drawn can be seen; nil: it can
}

// Approvals is the question in sight, and what is known of the human's typing.
type Approvals struct {
	ApprovalOptions
	Answer func(ctx context.Context, question int64, a event.Answer) error // nil until there is a pool; no agent asks before
	Free   func(ctx context.Context) error                                 // lets commands run unasked in their sandboxes

	typed, closed, since time.Time
	pressed              time.Time // when a key last fell
	chose                time.Time // when a key last chose an answer in the box's place
	choseIn              *tabs.Tab // and there
	sight                sight
	stands               QuestionState
	next                 bool  // it came right after the answer to the one before
	sent                 bool  // what was in a box was sent, and since then the human went to no question and answered none
	given                int64 // answered on this screen: it no longer shows, though the event is still on its way
	held                 held
	maybe                maybe
	raised               raised
}

// NewApprovals makes approvals with no question.
func NewApprovals(e ApprovalOptions) *Approvals { return &Approvals{ApprovalOptions: e} }

// raised is the question opened last: over everything, or in the box's place.
type raised struct {
	box    dialog.Box // nil if it opened in the box's place
	agent  int64
	id     int64 // kept after it closed
	stands QuestionState
}

// box is the box of the question that the tab's agent asks. It keeps what was typed into it while
// the question is put off.
func (a *Approvals) box(t *tabs.Tab) dialog.Question {
	if t.Question == nil || t.About != t.Info.Question.ID {
		t.Question, t.About = a.questionBox(*t.Info.Question), t.Info.Question.ID
		t.Opened, t.PutOff = false, false
	}
	return t.Question
}

// Asker is the question that has the keyboard, nil if none has.
func (a *Approvals) Asker() dialog.Question {
	if a.stands.keyed() && a.stillAsks(a.sight) {
		return a.box(a.sight.asks)
	}
	return nil
}

// InPlace is the question in the box's place, nil if there is none.
func (a *Approvals) InPlace() dialog.Question {
	if a.sight.over {
		return nil
	}
	return a.Asker()
}

// questionBox is the dialog for a question.
func (a *Approvals) questionBox(q event.Question) dialog.Question {
	if q.Asks == nil {
		return dialog.NewQuestion(a.Tabs.Theme, q.Question)
	}
	d := dialog.Asked{ID: q.ID, Name: q.Name, Text: q.Asks.Text, Multiple: q.Asks.Multiple, Outside: q.Outside}
	for _, o := range q.Asks.Options {
		d.Options = append(d.Options, dialog.Offer{Label: o.Label, Why: o.Why})
	}
	return dialog.NewAsk(a.Tabs.Theme, d)
}

// answer gives a key to the question that has the keyboard. Esc leaves it open. What chooses an answer is not typing.
func (a *Approvals) answer(q dialog.Question, k tea.KeyPressMsg) (intent.Intent, bool) {
	was, now := q.Typed(), a.Tabs.Now()
	d := q.Key(k)
	switch d.(type) {
	case dialog.Answered, dialog.Said:
		a.chose, a.choseIn, a.sent = now, a.sight.asks, false
		if a.sight.over {
			a.choseIn = nil
		}
	default:
		if q.Typed() != was {
			a.Typed(now)
		}
	}
	if a.sight.over {
		if d == nil {
			return nil, true
		}
		return a.Layers.Decided(d), true
	}
	switch d.(type) {
	case dialog.Answered, dialog.Said:
		return a.answered(d), true
	case dialog.Cancelled:
		a.stands, a.sight.asks.PutOff = carded, true
		a.StopsTwice()
	}
	return nil, k.String() != "shift+tab"
}

// StopsTwice reports whether Esc stops the turn: while its agent asks, it must be pressed twice.
func (a *Approvals) StopsTwice() bool {
	t := a.Tabs.Focus
	return !a.Openly(t) || a.Flash.Again("esc", "the question stays open; Esc again stops the turn", func() bool { return a.Tabs.Focus == t && a.Openly(t) })
}

// OnScreen reports whether the question of the tab's agent shows already, so that other places need
// not repeat it.
func (a *Approvals) OnScreen(t *tabs.Tab) bool {
	base := a.Layers.Base()
	return a.Openly(t) && (a.sight.over && a.sight.asks == t || t == a.Tabs.Focus && base == nil)
}

// Over reports whether a question shows over what else is open, and returns its message in an inbox
// and the task of the agent that asks; 0: none.
func (a *Approvals) Over() (message, task int64, ok bool) {
	s := a.sight
	if !s.over {
		return 0, 0, false
	}
	if s.asks != nil {
		task = s.asks.Info.Task
	}
	return s.message, task, true
}

// Card is the line above the box that announces the focused agent's question; "": none.
func (a *Approvals) Card(w int) string {
	t, s := a.Tabs.Focus, a.sight
	if !a.Openly(t) || s.asks == t && a.stands.keyed() {
		return ""
	}
	head, keys := a.Tabs.Theme.Paint(themes.Warn, "⚠ "), " · alt+a or f5"
	switch tab := a.tabGoes(); {
	case tab && w < 50:
		keys = " · alt+a, tab"
	case tab:
		keys = " · alt+a, f5 or tab"
	case w < 50:
		keys = " · alt+a"
	}
	gist := cells.Cut(cells.CleanLine(cells.Reveal(t.Info.Question.Gist())), max(1, w-2-cells.Width(keys)))
	return cells.Fit(head+a.Tabs.Theme.Paint(themes.Warn, gist)+a.Tabs.Theme.Paint(themes.Dim, keys), w)
}

// Open goes to an agent's open question: in place of the box if the agent is focused, else over
// everything.
func (a *Approvals) Open(agent int64, how QuestionState) {
	t := a.Tabs.ByID(agent)
	switch {
	case t == nil:
		a.Flash.Say("that agent's tab is closed")
		return
	case t.Info.Question == nil:
		a.Flash.Say(t.Info.Name + " asks nothing now")
		return
	}
	base := a.Layers.Base()
	if base != nil {
		how = Strict
	}
	a.sent = false
	q := a.box(t)
	a.takes(q, how)
	a.raised = raised{nil, agent, t.Info.Question.ID, how}
	if t != a.Tabs.Focus || base != nil || how == Strict && a.pages() { // there digits are the question's
		a.raised.box = q
		a.Layers.Open(q, a.answered)
		return
	}
	a.Layers.Drop() // another question, if any
	a.sight, a.stands, a.since, a.next = a.inSight(), how, a.Tabs.Now(), false
}

// takes says which keys answer a question here.
func (a *Approvals) takes(q dialog.Question, how QuestionState) {
	switch {
	case how == Strict:
		q.Strictly()
	case a.pages():
		q.Lettered()
	default:
		q.Freely()
	}
}

// pages reports whether digits go from view to view in the focused tab.
func (a *Approvals) pages() bool {
	t := a.Tabs.Focus
	return t != nil && t.Box == nil && t.Line == nil
}

// tabGoes reports whether Tab goes to the question above the box.
func (a *Approvals) tabGoes() bool {
	m := a.moment()
	return m.stands == carded && m.boxed && !m.draft
}

// Sent notes that the human sent what was in a box.
func (a *Approvals) Sent() { a.sent = true }

// Lower closes the question opened over everything once its agent no longer asks it.
func (a *Approvals) Lower(i event.Info) {
	r := a.raised
	if r.box == nil || i.ID != r.agent || i.Question != nil && i.Question.ID == r.id {
		return
	}
	a.raised.box = nil
	if a.Layers.Top() == r.box {
		a.Layers.Shut()
		a.Flash.Say("the question of " + i.Name + " is not open any more")
	}
}

// Next goes to the focused agent's question if it is announced above the box; else to the oldest
// open one, or to the one after the question just left open.
func (a *Approvals) Next(how QuestionState) {
	if a.stands == carded { // the line names the keys that go to it
		a.Open(a.Tabs.Focus.Info.ID, how)
		return
	}
	var first, next *event.Question
	for _, t := range a.Tabs.All {
		q := t.Info.Question
		if !a.Openly(t) {
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
		a.Flash.Say("nobody asks you anything")
		return
	}
	a.Open(next.Agent, how)
}

// Give gives back what was typed into a question of the tab's agent that is gone. If the question
// had the keyboard, typing goes on after it.
func (a *Approvals) Give(t *tabs.Tab) {
	if t.Question == nil {
		return
	}
	text, on := t.Question.Typed(), a.sight.asks == t && a.sight.question == t.About && a.stands.keyed()
	t.Question, t.About = nil, 0
	if on {
		a.Drafts.Lead(t, text)
		return
	}
	a.Drafts.Give(t, text)
}

// answered has the decision of a question's dialog carried out. What was typed for an answer that
// does not arrive is given back.
func (a *Approvals) answered(d dialog.Decision) intent.Intent {
	var id, agent, of int64
	var ans event.Answer
	switch d := d.(type) {
	case dialog.Answered:
		id, ans = d.Question, event.Answer{Choice: d.Answer.Choice, Reason: d.Answer.Reason}
	case dialog.Said:
		id, ans = d.Question, event.Answer{Text: d.Text}
	default:
		return nil
	}
	a.given = id
	freely := ans.Choice == permission.Freely
	if freely { // the mode is for what comes after it
		ans.Choice = permission.Once
	}
	typed := ""
	for _, t := range a.Tabs.All {
		if t.Question != nil && t.About == id {
			of, typed = t.Info.ID, t.Question.Typed()
			t.Question, t.About = nil, 0
		}
	}
	if t := a.Tabs.Focus; t != nil {
		agent = t.Info.ID
	}
	back := intent.Call(func() intent.Intent {
		a.Drafts.Give(a.Tabs.ByID(of), typed)
		return nil
	})
	open := intent.Call(func() intent.Intent { // the question is
		if a.given == id {
			a.given = 0
		}
		return back
	})
	return intent.Do{Agent: agent, Long: true, F: func(ctx context.Context) (intent.Intent, error) {
		err := a.Answer(ctx, id, ans)
		if err == nil && freely {
			if err := a.Free(ctx); err != nil {
				return intent.Tell{Agent: agent, Text: format.Sentence(err), Tone: transcript.Bad}, nil
			}
		}
		switch {
		case errors.Is(err, event.ErrAnswered):
			return intent.All{back, intent.Tell{Agent: agent, Text: format.Sentence(err)}}, nil
		case err != nil:
			return intent.All{open, intent.Tell{Agent: agent, Text: format.Sentence(err), Tone: transcript.Bad}}, nil
		}
		return nil, nil
	}}
}

// Given is the question answered last on this screen; 0: none, or the answer did not arrive.
func (a *Approvals) Given() int64 { return a.given }
