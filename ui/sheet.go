package ui

import (
	"slices"

	"fantail/ui/dialog"
	"fantail/ui/intent"
)

// answerSheet is the board with all open questions.
type answerSheet struct {
	asks *Approvals
	box  *dialog.Sheet
	ids  []int64 // of the questions that box was given last
}

func (s *answerSheet) Box() dialog.Box { return s.box }
func (s *answerSheet) Tails() []int64  { return nil }
func (s *answerSheet) Close()          {}

// Do answers the questions of a row, or opens one over the sheet.
func (s *answerSheet) Do(d dialog.Decision) intent.Intent {
	switch d := d.(type) {
	case dialog.SheetOpen:
		s.asks.Open(d.Agent, Sought)
	case dialog.SheetAnswer:
		var all intent.All
		for _, id := range d.Questions {
			all = append(all, s.asks.answered(dialog.Answered{Question: id, Answer: d.Answer}))
		}
		return all
	}
	return nil
}

// sheet returns the open answer sheet; nil: it is closed.
func (a *Approvals) sheet() *answerSheet {
	s, _ := a.Layers.Board().(*answerSheet)
	return s
}

// All opens the answer sheet if more than one question is open. Else it goes to the one there is.
func (a *Approvals) All() {
	items := a.items()
	if len(items) < 2 {
		a.Next(Sought)
		return
	}
	box := dialog.NewSheet(a.Tabs.Theme, a.Tabs.Now)
	a.Layers.Show(&answerSheet{asks: a, box: box})
	a.follow()
}

// items returns the open questions, as the sheet shows them.
func (a *Approvals) items() (all []dialog.SheetItem) {
	for _, t := range a.Tabs.All {
		if !a.Openly(t) {
			continue
		}
		q := t.Info.Question
		it := dialog.SheetItem{Question: q.Question, Outside: q.Outside, Since: q.Since}
		if q.Asks != nil {
			it.Text = q.Asks.Text
		}
		it.Agent = t.Info.ID
		all = append(all, it)
	}
	return all
}

// follow keeps the answer sheet up to date, and closes it after the last question.
func (a *Approvals) follow() {
	s := a.sheet()
	if s == nil {
		return
	}
	if a.Seen != nil && !a.Seen() {
		s.box.Guard()
	}
	var ids []int64
	items := a.items()
	for _, it := range items {
		ids = append(ids, it.ID)
	}
	if !slices.Equal(ids, s.ids) {
		s.box.Show(items)
		s.ids = ids
	}
	if s.box.Empty() && a.Layers.Bare() {
		a.Layers.Shut()
		a.closed = a.Tabs.Now() // the next key may be meant for the sheet
	}
}
