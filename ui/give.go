package ui

import (
	"context"
	"errors"
	"strings"

	"fantail/agents"
	"fantail/ui/composer"
	"fantail/ui/dialog"
	"fantail/ui/intent"
	"fantail/ui/tabs"
	"fantail/ui/words"
)

// What was typed is not thrown away because its ground went: the question was answered
// elsewhere, the agent ended, the tab was closed, the panel too. It becomes a draft.

// given is text to give back to an agent's tab.
type given struct {
	agent int64
	text  string
}

// give puts what was typed for t's agent before the draft in its box, or into a line to
// it; where that can't be, it puts it into main's box. It says so where that is out of sight.
func (a *App) give(t *tabs.Tab, text string) { a.hand(t, text, (*composer.Box).Prepend) }

func (a *App) hand(t *tabs.Tab, text string, put func(b *composer.Box, text string)) {
	if strings.TrimSpace(text) == "" {
		return
	}
	a.dirty = true
	mail := !strings.HasPrefix(text, "/")
	if t == nil || a.tabs.ByID(t.Info.ID) != t || !takes(t, mail) {
		t = a.tabs.Main()
	}
	if t != a.tabs.Focus {
		a.flash.While("what you typed is in "+t.Info.Name+"'s box now", func() bool { return a.tabs.Focus != t })
	}
	if t.Typing() == nil {
		a.openLine(t, mail)
	}
	if box := t.Typing(); box.Value() == "/" {
		box.Set(text)
	} else {
		put(box, text)
	}
}

// takes reports whether a tab has a box, or can have a line, for mail or a command.
func takes(t *tabs.Tab, mail bool) bool {
	switch {
	case t.Box != nil:
		return true
	case t.Line != nil:
		return t.Line.Mail == mail || t.Line.Box.Value() == "/"
	}
	return !mail || !t.Info.State.Terminal()
}

// giveQuestion gives back what was typed into a question of the tab's agent that is gone.
// If it had the keyboard, the human types on behind it.
func (a *App) giveQuestion(t *tabs.Tab) {
	if t.Question == nil {
		return
	}
	text, on := t.Question.Typed(), a.asks.sight.asks == t && a.asks.sight.question == t.About && a.asks.stands.keyed()
	t.Question, t.About = nil, 0
	put := (*composer.Box).Prepend
	if on {
		put = (*composer.Box).Lead
	}
	a.hand(t, text, put)
}

// giveTab gives back what was typed in a tab that was closed.
func (a *App) giveTab(t *tabs.Tab) {
	if t.Box != nil {
		a.give(t, t.Box.Value())
	}
	if t.Line != nil && t.Line.Box.Value() != "/" {
		a.give(t, t.Line.Box.Value())
	}
	a.giveQuestion(t)
}

// answered carries out what a question's dialog decided. What was typed for an answer that
// does not arrive is given back.
func (a *App) answered(d dialog.Decision) intent.Intent {
	var id int64
	var ans agents.Answer
	switch d := d.(type) {
	case dialog.Answered:
		id, ans = d.Question, agents.Answer{Choice: d.Answer.Choice, Reason: d.Answer.Reason}
	case dialog.Said:
		id, ans = d.Question, agents.Answer{Text: d.Text}
	default:
		return nil
	}
	a.asks.answered = id
	back := given{}
	for _, t := range a.tabs.All {
		if t.Question != nil && t.About == id {
			back = given{t.Info.ID, t.Question.Typed()}
			t.Question, t.About = nil, 0
		}
	}
	return intent.Do{Agent: a.focused(), Long: true, F: func(ctx context.Context) (intent.Intent, error) {
		err := a.pool.slash.Questions.Answer(ctx, id, ans)
		switch {
		case errors.Is(err, agents.ErrAnswered):
			a.afterwards(back)
			return intent.Said{Text: words.Sentence(err)}, nil
		case err != nil:
			a.afterwards(unanswered{id})
			a.afterwards(back)
		}
		return nil, err
	}}
}
