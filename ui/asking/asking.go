// Package asking has the questions of agents to the human.
//
// Does: show an agent's question below its transcript, over everything, or as a line; decide whose
// each key is meanwhile (whose.go), so that only a key meant as an answer is one; keep what was
// typed for it; pass the answer on.
//
// Does not: draw the frame around it, take the keys of what is open over the tabs, know what an
// answer does.
//
// Imports: agents/event, themes, tools/permit, ui/dialog, ui/drafts, ui/flash, ui/frame, ui/intent, ui/layers,
// ui/tabs, ui/transcript, ui/words.
package asking

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents/event"
	"fantail/themes"
	"fantail/tools/permit"
	"fantail/ui/dialog"
	"fantail/ui/drafts"
	"fantail/ui/flash"
	"fantail/ui/frame"
	"fantail/ui/intent"
	"fantail/ui/layers"
	"fantail/ui/tabs"
	"fantail/ui/transcript"
	"fantail/ui/words"
)

// Env is what the questions share with the rest of the screen.
type Env struct {
	Tabs   *tabs.Tabs
	Layers *layers.Stack
	Flash  *flash.Line
	Drafts *drafts.Drafts
}

// Pool takes the answers.
type Pool interface {
	Answer(ctx context.Context, question int64, a event.Answer) error
}

// Asking is the question in sight, and what is known of the human's typing.
type Asking struct {
	Env
	Pool Pool                            // nil until there is one; no agent asks before
	Free func(ctx context.Context) error // lets commands run unasked in their sandboxes

	typed, closed, since time.Time
	sight                sight
	stands               Standing
	given                int64             // answered on this screen: it no longer shows, though the event is still on its way
	held                 []tea.KeyPressMsg // in the order they were typed
	raised               raised
}

// New makes an Asking with no question.
func New(e Env) *Asking { return &Asking{Env: e} }

// raised is the question opened last: over everything, or in the box's place.
type raised struct {
	box    dialog.Box // nil if it opened in the box's place
	agent  int64
	id     int64 // kept after it closed
	stands Standing
}

// box is the box of the question that the tab's agent asks. It keeps what was typed into it while
// the question is put off.
func (a *Asking) box(t *tabs.Tab) dialog.Question {
	if t.Question == nil || t.About != t.Info.Question.ID {
		t.Question, t.About = a.questionBox(*t.Info.Question), t.Info.Question.ID
	}
	return t.Question
}

// Asker is the question that has the keyboard, nil if none has.
func (a *Asking) Asker() dialog.Question {
	if a.stands.keyed() && a.stillAsks(a.sight) {
		return a.box(a.sight.asks)
	}
	return nil
}

// InPlace is the question in the box's place, nil if there is none.
func (a *Asking) InPlace() dialog.Question {
	if a.sight.over {
		return nil
	}
	return a.Asker()
}

// questionBox is the dialog for a question.
func (a *Asking) questionBox(q event.Question) dialog.Question {
	if q.Asks == nil {
		return dialog.NewQuestion(a.Tabs.Theme, q.Question)
	}
	d := dialog.Asked{ID: q.ID, Name: q.Name, Text: q.Asks.Text, Multiple: q.Asks.Multiple, Outside: q.Outside}
	for _, o := range q.Asks.Options {
		d.Options = append(d.Options, dialog.Offer{Label: o.Label, Why: o.Why})
	}
	return dialog.NewAsk(a.Tabs.Theme, d)
}

// keyPlaced gives a key to the question in the box's place. Esc leaves it open.
func (a *Asking) keyPlaced(q dialog.Question, k tea.KeyPressMsg) (intent.Intent, bool) {
	switch d := q.Key(k).(type) {
	case dialog.Answered, dialog.Said:
		return a.answered(d), true
	case dialog.Cancelled:
		a.stands = carded
		a.StopsTwice()
	}
	return nil, k.String() != "shift+tab"
}

// StopsTwice reports whether Esc stops the turn: while its agent asks, it must be pressed twice.
func (a *Asking) StopsTwice() bool {
	t := a.Tabs.Focus
	return !a.Openly(t) || a.Flash.Again("esc", "the question stays open; Esc again stops the turn", func() bool { return a.Tabs.Focus == t && a.Openly(t) })
}

// OnScreen reports whether the question of the tab's agent shows already, so that other places need
// not repeat it.
func (a *Asking) OnScreen(t *tabs.Tab) bool {
	base := a.Layers.Base()
	return a.Openly(t) && (a.sight.over && a.sight.asks == t || t == a.Tabs.Focus && base == nil)
}

// Over reports whether a question shows over what else is open, and returns its message in an inbox
// and the task of the agent that asks; 0: none.
func (a *Asking) Over() (message, task int64, ok bool) {
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
func (a *Asking) Card(w int) string {
	t, s := a.Tabs.Focus, a.sight
	if !a.Openly(t) || s.asks == t && a.stands.keyed() {
		return ""
	}
	head, keys := a.Tabs.Theme.Paint(themes.Warn, "⚠ "), " · alt+a or f5"
	if w < 50 {
		keys = " · alt+a"
	}
	gist := frame.Cut(frame.CleanLine(frame.Reveal(t.Info.Question.Gist())), max(1, w-2-frame.Width(keys)))
	return frame.Fit(head+a.Tabs.Theme.Paint(themes.Warn, gist)+a.Tabs.Theme.Paint(themes.Dim, keys), w)
}

// Open goes to an agent's open question: in place of the box if the agent is focused, else over
// everything.
func (a *Asking) Open(agent int64, how Standing) {
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
	q := a.box(t)
	if how == Strict {
		q.Strictly()
	} else {
		q.Freely()
	}
	a.raised = raised{nil, agent, t.Info.Question.ID, how}
	if t != a.Tabs.Focus || base != nil {
		a.raised.box = q
		a.Layers.Open(q, a.answered)
		return
	}
	a.Layers.Drop() // another question, if any
	a.sight, a.stands, a.since = a.inSight(), how, a.Tabs.Now()
}

// Lower closes the question opened over everything once its agent no longer asks it.
func (a *Asking) Lower(i event.Info) {
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
func (a *Asking) Next(how Standing) {
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
func (a *Asking) Give(t *tabs.Tab) {
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
func (a *Asking) answered(d dialog.Decision) intent.Intent {
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
		var err error
		if ans.Choice == permit.Freely { // the mode answers it
			err = a.Free(ctx)
		} else {
			err = a.Pool.Answer(ctx, id, ans)
		}
		switch {
		case errors.Is(err, event.ErrAnswered):
			return intent.All{back, intent.Tell{Agent: agent, Text: words.Sentence(err)}}, nil
		case err != nil:
			return intent.All{open, intent.Tell{Agent: agent, Text: words.Sentence(err), Tone: transcript.Bad}}, nil
		}
		return nil, nil
	}}
}

// Given is the question answered last on this screen; 0: none, or the answer did not arrive.
func (a *Asking) Given() int64 { return a.given }
