package ui

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/tools/permit"
	"fantail/ui/composer"
	"fantail/ui/dialog"
)

// Questions to the human: below the transcript of the agent that asks, over
// whatever shows, or answered by a command. Only keys that the human types answer.

// raised is the question that was opened over what showed.
type raised struct {
	box   dialog.Box
	agent int64
	id    int64 // the last one that was opened, after it closed too
}

// question is the focused agent's open question, made when it is first shown:
// its grace begins then.
func (a *App) question() dialog.Box {
	t := a.tabs.focus
	if t == nil || t.info.Question == nil {
		return nil
	}
	if t.question == nil || t.about != t.info.Question.ID {
		t.question, t.about = a.questionBox(*t.info.Question), t.info.Question.ID
		if box := a.boxOf(t); box != nil && !box.Empty() {
			t.typed = a.o.Now()
		}
	}
	return t.question
}

// questionBox is the dialog for a question.
func (a *App) questionBox(q agents.Question) dialog.Box {
	if q.Asks == nil {
		return dialog.NewQuestion(a.theme, q.Question, a.o.Now)
	}
	d := dialog.Asked{ID: q.ID, Name: q.Name, Text: q.Asks.Text, Multiple: q.Asks.Multiple, Outside: q.Outside}
	for _, o := range q.Asks.Options {
		d.Options = append(d.Options, dialog.Offer{Label: o.Label, Why: o.Why})
	}
	return dialog.NewAsk(a.theme, d, a.o.Now)
}

// reasoning reports whether the focused agent's question has its line for words
// open.
func (a *App) reasoning() bool {
	_, _, open := a.question().Cursor()
	return open
}

// answered carries out what a question's dialog decided.
func (a *App) answered(d dialog.Decision) tea.Cmd {
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
	return a.start(a.tabs.focus, "", func() (string, error) {
		err := a.pool.Answer(a.ctx, id, ans)
		if errors.Is(err, agents.ErrAnswered) {
			return sentence(err), nil
		}
		return "", err
	})
}

// openQuestion shows an agent's open question over whatever shows.
func (a *App) openQuestion(agent int64) tea.Cmd {
	t := a.tabs.byID(agent)
	switch {
	case t == nil:
		a.say("that agent's tab is closed")
		return nil
	case t.info.Question == nil:
		a.say(t.info.Name + " asks nothing now")
		return nil
	}
	a.raised = raised{a.questionBox(*t.info.Question), agent, t.info.Question.ID}
	a.open(a.raised.box, a.answered)
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
	if a.dialog == r.box {
		a.shut()
		a.say("the question of " + i.Name + " is not open any more")
	}
}

// nextQuestion opens the oldest open question over whatever shows, and the next
// one if the one before was left open.
func (a *App) nextQuestion() tea.Cmd {
	var first, next *agents.Question
	for _, t := range a.tabs.all {
		q := t.info.Question
		if q == nil {
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
		a.say("nobody asks you anything")
		return nil
	}
	return a.openQuestion(next.Agent)
}

// runAnswer is /answer: it answers the question a message stands for, or an
// agent's, or opens it.
func runAnswer(a *App, in input) (tea.Cmd, error) {
	who, rest := firstWord(in.rest)
	if who == "" {
		return a.nextQuestion(), nil
	}
	if n, err := strconv.ParseInt(strings.TrimPrefix(who, "#"), 10, 64); err == nil {
		return a.answerMessage(in, n, rest)
	}
	t := a.tabs.byName(who)
	switch {
	case t == nil:
		return nil, fmt.Errorf("there is no agent %q; /answer alone opens the oldest question", who)
	case t.info.Question == nil:
		return nil, fmt.Errorf("%s asks nothing now", who)
	case rest == "":
		return a.openQuestion(t.info.ID), nil
	case a.o.Now().Sub(t.info.Question.Since) < dialog.Grace:
		return nil, fmt.Errorf("%s asked this just now: %s; look at it, and answer again", who, t.info.Question.Gist())
	}
	return a.answerWith(in, *t.info.Question, rest)
}

// answerMessage is /answer with a message's number.
func (a *App) answerMessage(in input, n int64, rest string) (tea.Cmd, error) {
	for _, t := range a.tabs.all {
		if q := t.info.Question; q != nil && q.Message == n {
			if rest == "" {
				return a.openQuestion(t.info.ID), nil
			}
			return a.answerWith(in, *q, rest)
		}
	}
	return a.act(in.here, in.text, func() (string, error) {
		q, err := a.pool.Asked(a.ctx, n)
		if err == nil {
			err = fmt.Errorf("#%d is open, but the tab of %s is closed: /resume %s opens it", n, q.Name, q.Name)
		}
		if errors.Is(err, agents.ErrAnswered) {
			return sentence(err), nil
		}
		return "", err
	}), nil
}

// answerWith answers q with what was typed.
func (a *App) answerWith(in input, q agents.Question, text string) (tea.Cmd, error) {
	ans, err := answerTo(q, text)
	if err != nil {
		return nil, err
	}
	return a.act(in.here, in.text, func() (string, error) {
		err := a.pool.Answer(a.ctx, q.ID, ans)
		switch {
		case errors.Is(err, agents.ErrAnswered):
			return sentence(err), nil
		case err != nil:
			return "", err
		}
		return fmt.Sprintf("Answered %s: %s\n  %s", q.Name, ans, q.Gist()), nil
	}), nil
}

// answerArguments complete who asks, and what can be answered.
func (a *App) answerArguments(before []string) (items []composer.Item) {
	for _, t := range a.tabs.all {
		q := t.info.Question
		switch {
		case q == nil:
		case len(before) == 0:
			items = append(items, composer.Item{Insert: t.info.Name, Help: q.Gist()})
		case len(before) > 1 || before[0] != t.info.Name && before[0] != strconv.FormatInt(q.Message, 10):
		case q.Asks != nil:
			for n, o := range q.Asks.Options {
				items = append(items, composer.Item{Insert: strconv.Itoa(n + 1), Help: o.Label})
			}
		default:
			items = append(items, composer.Item{Insert: "yes", Help: q.Gist()})
			if q.Rule != "" {
				items = append(items, composer.Item{Insert: "session", Help: string(q.Rule)})
			}
			items = append(items, composer.Item{Insert: "no"})
		}
	}
	return items
}

// answerTo reads an answer to q: yes, session or no with a reason for a call;
// for another question the numbers of its options, or text, which in quotes is
// never a number.
func answerTo(q agents.Question, text string) (agents.Answer, error) {
	if q.Asks != nil {
		return wordsTo(q, text)
	}
	word, rest := firstWord(text)
	var ans agents.Answer
	switch strings.ToLower(word) {
	case "yes", "y", "once":
		ans.Choice = permit.Once
	case "session", "s":
		ans.Choice = permit.Session
	case "no", "n":
		return agents.Answer{Choice: permit.No, Reason: unquote(rest)}, nil
	}
	switch {
	case ans.Choice == "":
		return ans, wrong("answer", "%s asks whether a call may run: %q is none of yes, session and no", q.Name, word)
	case rest != "":
		return ans, wrong("answer", "%s takes nothing more; only a no has a reason", word)
	case ans.Choice == permit.Session && q.Rule == "":
		return ans, errors.New("no rule can cover this call for the session: yes lets it run once, no refuses it")
	}
	return ans, nil
}

func wordsTo(q agents.Question, text string) (agents.Answer, error) {
	if said := unquote(text); said != text || len(q.Asks.Options) == 0 {
		if said == "" {
			return agents.Answer{}, wrong("answer", "the answer is empty")
		}
		return agents.Answer{Text: said}, nil
	}
	var labels []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.Atoi(word)
		if err != nil {
			return agents.Answer{Text: text}, nil
		}
		if n < 1 || n > len(q.Asks.Options) {
			return agents.Answer{}, fmt.Errorf("there is no option %d, only 1 to %d; in quotes it is an answer of your own", n, len(q.Asks.Options))
		}
		labels = append(labels, q.Asks.Options[n-1].Label)
	}
	if len(labels) > 1 && !q.Asks.Multiple {
		return agents.Answer{}, errors.New("only one option can be chosen; in quotes it is an answer of your own")
	}
	return agents.Answer{Text: strings.Join(labels, ", ")}, nil
}
