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
	Seen   func() bool // reports whether the human can see what is drawn; nil: they can
}

// Approvals tracks the question in sight and the human's typing.
type Approvals struct {
	ApprovalOptions
	Answer func(ctx context.Context, question int64, a event.Answer) error // nil until there is a pool; no agent asks before
	// SetMode changes the permission mode of all agents.
	SetMode func(ctx context.Context, m permission.Mode) error

	typed, closed, since time.Time
	pressed              time.Time // time of the last key press
	chose                time.Time // time of the last key that chose an answer in the box's place
	choseIn              *tabs.Tab // tab in which it did
	sight                sight
	stands               QuestionState
	next                 bool  // it came right after the answer to the previous one
	sent                 bool  // a box was sent, and since then the human neither went to a question nor answered one
	given                int64 // answered on this screen: no longer shown, although the event is still on its way
	held                 held
	maybe                maybe
	raised               raised
	follows              *tabs.Tab // its question stands in the place of the one answered before; nil: none does
	followsIn            *tabs.Tab // the tab that was focused then
}

// NewApprovals returns an Approvals without a question.
func NewApprovals(e ApprovalOptions) *Approvals { return &Approvals{ApprovalOptions: e} }

// raised is the question opened last: over everything or in the box's place.
type raised struct {
	box    dialog.Box // nil if it opened in the box's place
	agent  int64
	id     int64 // kept after it closed
	stands QuestionState
	whole  bool // on the whole screen
}

// box returns the dialog of the question that the tab's agent asks. The dialog keeps what was typed
// into it while the question is put off.
func (a *Approvals) box(t *tabs.Tab) dialog.Question {
	if t.Question == nil || t.About != t.Info.Question.ID {
		t.Question, t.About = a.questionBox(*t.Info.Question), t.Info.Question.ID
		t.Opened, t.PutOff = false, false
	}
	return t.Question
}

// Asker returns the question that has the keyboard; nil: none.
func (a *Approvals) Asker() dialog.Question {
	if a.stands.keyed() && a.stillAsks(a.sight) {
		return a.box(a.sight.asks)
	}
	return nil
}

// InPlace returns the question in the box's place; nil: none.
func (a *Approvals) InPlace() dialog.Question {
	if a.sight.over {
		return nil
	}
	return a.Asker()
}

// questionBox returns the dialog for a question.
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

// answer passes a key to the question that has the keyboard. Esc leaves the question open. A key
// that chooses an answer does not count as typing.
func (a *Approvals) answer(q dialog.Question, k tea.KeyPressMsg) (intent.Intent, bool) {
	was, now := q.Typed(), a.Tabs.Now()
	d := q.Key(k)
	switch d.(type) {
	case dialog.Whole:
		t := a.sight.asks
		a.raised = raised{q, t.Info.ID, a.sight.question, Sought, true}
		a.since = now
		a.Layers.Open(q, a.answered)
		return nil, true
	case dialog.Answered, dialog.Said:
		a.chose, a.choseIn, a.sent, a.typed = now, a.sight.asks, false, time.Time{} // what was typed for the answer is sent
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
		i := a.Layers.Decided(d)
		if _, back := d.(dialog.Cancelled); back && a.raised.whole && a.Layers.Top() == nil {
			a.takes(q, Sought)
			a.sight, a.stands, a.since, a.next = a.inSight(), Sought, now, false
		}
		return i, true
	}
	switch d.(type) {
	case dialog.Answered, dialog.Said:
		i := a.answered(d)
		a.goOn()
		return i, true
	case dialog.Cancelled:
		a.stands, a.sight.asks.PutOff = carded, true
		a.StopsTwice()
	}
	return nil, k.String() != "shift+tab"
}

// goOn has another agent's oldest open question take the place of the one just answered, unless the focused agent asks
// something itself. A question that wants words does not: it would take what the human types for the focused agent.
func (a *Approvals) goOn() {
	a.follows, a.followsIn = nil, a.Tabs.Focus
	if a.Openly(a.Tabs.Focus) {
		return
	}
	for _, t := range a.Tabs.All {
		if a.Openly(t) && t.Info.Question.Asks == nil && !t.PutOff && (a.follows == nil || t.Info.Question.ID < a.follows.Info.Question.ID) {
			a.follows = t
		}
	}
}

// following returns the tab whose question took the place of the one answered before; nil: none, or the human writes
// or left it for later.
func (a *Approvals) following() *tabs.Tab {
	t := a.follows
	if t == nil || a.Tabs.Focus != a.followsIn || a.Tabs.ByID(t.Info.ID) != t || !a.Openly(t) || t.PutOff || a.sight.asks == t && a.stands == carded {
		return nil
	}
	return t
}

// Whole returns the question on the whole screen; nil: none.
func (a *Approvals) Whole() dialog.Question {
	if !a.sight.over || !a.raised.whole {
		return nil
	}
	return a.Asker()
}

// StopsTwice reports whether Esc stops the turn. While the turn's agent asks, Esc must be pressed
// twice.
func (a *Approvals) StopsTwice() bool {
	t := a.Tabs.Focus
	return !a.Openly(t) || a.Flash.Again("esc", "Still waiting for your answer. Esc again stops "+t.Info.Name+".", func() bool { return a.Tabs.Focus == t && a.Openly(t) })
}

// OnScreen reports whether the question of the tab's agent is shown already, so that other places
// need not repeat it.
func (a *Approvals) OnScreen(t *tabs.Tab) bool {
	base := a.Layers.Base()
	return a.Openly(t) && (a.sight.over && a.sight.asks == t || t == a.Tabs.Focus && base == nil)
}

// Over reports whether a question is shown over an open board. It returns the question's message in
// an inbox and the task of the asking agent; 0: none.
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

// Card returns the line above the box that announces the focused agent's question; "": none.
func (a *Approvals) Card(w int) string {
	t, s := a.Tabs.Focus, a.sight
	if !a.Openly(t) || s.asks == t && a.stands.keyed() {
		return ""
	}
	keys := "   alt+a or f5 to answer"
	switch tab := a.tabGoes(); {
	case tab && w < 50:
		keys = "   tab"
	case tab:
		keys = "   tab to answer"
	case w < 50:
		keys = "   f5"
	}
	gist := t.Info.Name + " has a question: " + cells.Reveal(t.Info.Question.Gist())
	if t.Info.Question.Asks == nil {
		gist = dialog.Wants(t.Info.Question.Question)
	}
	gist = cells.Cut("▌ "+cells.CleanLine(gist), max(1, w-cells.Width(keys)))
	return cells.Fit(a.Tabs.Theme.Paint(themes.Warn, gist)+a.Tabs.Theme.Paint(themes.Dim, keys), w)
}

// Open goes to an agent's open question: in the box's place if the agent is focused, else over
// everything.
func (a *Approvals) Open(agent int64, how QuestionState) {
	t := a.Tabs.ByID(agent)
	switch {
	case t == nil:
		a.Flash.Say("that agent's tab is closed")
		return
	case t.Info.Question == nil:
		a.Flash.Say(t.Info.Name + " has no question now")
		return
	}
	base := a.Layers.Base()
	if base != nil && a.sheet() == nil {
		how = Strict
	}
	a.sent = false
	q := a.box(t)
	a.takes(q, how)
	a.raised = raised{nil, agent, t.Info.Question.ID, how, false}
	if t != a.Tabs.Focus || base != nil || how == Strict && a.pages() { // in these places the question takes the digits
		a.raised.box = q
		a.Layers.Open(q, a.answered)
		return
	}
	a.Layers.Drop() // close another question, if any
	a.follows = nil
	a.sight, a.stands, a.since, a.next = a.inSight(), how, a.Tabs.Now(), false
}

// takes sets which keys answer a question here.
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

// pages reports whether digits switch views in the focused tab.
func (a *Approvals) pages() bool {
	t := a.Tabs.Focus
	return t != nil && t.Box == nil && t.Line == nil
}

// tabGoes reports whether Tab goes to the question above the box.
func (a *Approvals) tabGoes() bool {
	m := a.moment()
	return m.stands == carded && m.boxed && !m.draft
}

// Sent notes that the human sent the text in a box.
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
		a.Flash.Say("the question of " + i.Name + " is closed now")
	}
}

// Next goes to the focused agent's question if it is announced above the box. Else it goes to the
// oldest open question, or to the one after the question left open last.
func (a *Approvals) Next(how QuestionState) {
	if f := a.Tabs.Focus; a.stands == carded || a.following() != nil && a.Openly(f) && !a.sight.over { // the announcement names these keys
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
		a.Flash.Say("No open questions")
		return
	}
	a.Open(next.Agent, how)
}

// Give returns what was typed into a question of the tab's agent that is gone. If the question had
// the keyboard, typing goes on after that text.
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

// answered has the decision of a question's dialog carried out. If the answer does not arrive, it
// gives back what was typed for it.
func (a *Approvals) answered(d dialog.Decision) intent.Intent {
	var id, agent, of int64
	var ans event.Answer
	switch d := d.(type) {
	case dialog.Answered:
		id, ans = d.Question, event.Answer{Choice: d.Answer.Choice, Reason: d.Answer.Reason, Command: d.Answer.Command}
	case dialog.Said:
		id, ans = d.Question, event.Answer{Text: d.Text}
	default:
		return nil
	}
	a.given = id
	mode, loosens := map[permission.Choice]permission.Mode{permission.Freely: permission.Auto, permission.Edits: permission.AcceptEdits}[ans.Choice]
	if loosens { // the mode applies to later calls
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
	open := intent.Call(func() intent.Intent { // the question is still open
		if a.given == id {
			a.given = 0
		}
		return back
	})
	return intent.Do{Agent: agent, Long: true, F: func(ctx context.Context) (intent.Intent, error) {
		err := a.Answer(ctx, id, ans)
		if err == nil && loosens {
			if err := a.SetMode(ctx, mode); err != nil {
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

// Given returns the question answered last on this screen; 0: none, or the answer did not arrive.
func (a *Approvals) Given() int64 { return a.given }
