package slash

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"fantail/agents/event"
	"fantail/tools/permission"
	"fantail/ui/composer"
	"fantail/ui/format"
	"fantail/ui/intent"
)

// tooSoon is how long a new question refuses an answer that names only the agent: the answer may be
// meant for the question before.
const tooSoon = time.Second

// runAnswer runs /answer: it answers a question, named by its message or its agent, or opens it.
func runAnswer(in input) (intent.Intent, error) {
	who, rest := format.FirstWord(in.rest)
	if who == "" {
		return intent.Question{}, nil
	}
	if n, err := strconv.ParseInt(strings.TrimPrefix(who, "#"), 10, 64); err == nil {
		return in.answerMessage(n, rest)
	}
	t := in.Tabs.ByName(who)
	switch {
	case t == nil:
		return nil, fmt.Errorf("there is no agent %q. /answer to open the oldest question", who)
	case t.Info.Question == nil:
		return nil, fmt.Errorf("%s has no question now", who)
	case rest == "":
		return intent.Question{Agent: t.Info.ID}, nil
	case in.Now().Sub(t.Info.Question.Since) < tooSoon:
		return nil, fmt.Errorf("%s asked this just now: %s; look at it, and answer again", who, t.Info.Question.Gist())
	}
	return in.answerWith(*t.Info.Question, rest)
}

// answerMessage runs /answer with the number of a message.
func (in input) answerMessage(n int64, rest string) (intent.Intent, error) {
	for _, t := range in.Tabs.All {
		if q := t.Info.Question; q != nil && q.Message == n {
			if rest == "" {
				return intent.Question{Agent: t.Info.ID}, nil
			}
			return in.answerWith(*q, rest)
		}
	}
	return in.act(func(ctx context.Context) (string, error) {
		q, err := in.Pool.Asks.Asked(ctx, n)
		if err == nil {
			err = fmt.Errorf("#%d is open, but the tab of %s is closed: /resume %s opens it", n, q.Name, q.Name)
		}
		if errors.Is(err, event.ErrAnswered) {
			return format.Sentence(err), nil
		}
		return "", err
	}), nil
}

// answerWith answers q with the typed text.
func (in input) answerWith(q event.Question, text string) (intent.Intent, error) {
	ans, err := in.answerTo(q, text)
	if err != nil {
		return nil, err
	}
	return in.act(func(ctx context.Context) (string, error) {
		err := in.Pool.Asks.Answer(ctx, q.ID, ans)
		switch {
		case errors.Is(err, event.ErrAnswered):
			return format.Sentence(err), nil
		case err != nil:
			return "", err
		}
		return fmt.Sprintf("Answered %s: %s\n  %s", q.Name, ans, q.Gist()), nil
	}), nil
}

// answerArguments completes the agents that ask, and the possible answers.
func answerArguments(e Options, before []string, _ string) (items []composer.Item) {
	for _, t := range e.Tabs.All {
		q := t.Info.Question
		switch {
		case q == nil:
		case len(before) == 0:
			items = append(items, composer.Item{Insert: t.Info.Name, Help: q.Gist()})
		case len(before) > 1 || before[0] != t.Info.Name && before[0] != strconv.FormatInt(q.Message, 10):
		case q.Asks != nil:
			for n, o := range q.Asks.Options {
				items = append(items, composer.Item{Insert: strconv.Itoa(n + 1), Help: o.Label})
			}
		default:
			items = append(items, composer.Item{Insert: "yes", Help: q.Gist()})
			if q.Rule != "" {
				items = append(items, composer.Item{Insert: "session", Help: string(q.Rule)})
				items = append(items, composer.Item{Insert: "project", Help: string(q.Rule) + ", always"})
			}
			items = append(items, composer.Item{Insert: "no"})
		}
	}
	return items
}

// answerTo parses an answer to q. For a call it is yes, session, project, or no with a reason. For
// other questions it is the numbers of options, or text; quoted text is never a number.
func (c command) answerTo(q event.Question, text string) (event.Answer, error) {
	if q.Asks != nil {
		return c.wordsTo(q, text)
	}
	word, rest := format.FirstWord(text)
	var ans event.Answer
	switch strings.ToLower(word) {
	case "yes", "y", "once":
		ans.Choice = permission.Once
	case "session", "s":
		ans.Choice = permission.Session
	case "project", "always", "p":
		ans.Choice = permission.Project
	case "no", "n":
		return event.Answer{Choice: permission.No, Reason: format.Unquote(rest)}, nil
	}
	switch {
	case ans.Choice == "":
		return ans, c.wrong("%s asks whether a call may run: %q is none of yes, session, project and no", q.Name, word)
	case rest != "":
		return ans, c.wrong("%s takes nothing more; only a no has a reason", word)
	case ans.Choice == permission.Project && q.Rule == "":
		return ans, errors.New("no rule can cover this call for the project: yes lets it run once, no refuses it")
	case ans.Choice == permission.Session && q.Rule == "":
		return ans, errors.New("no rule can cover this call for the session: yes lets it run once, no refuses it")
	}
	return ans, nil
}

func (c command) wordsTo(q event.Question, text string) (event.Answer, error) {
	if said := format.Unquote(text); said != text || len(q.Asks.Options) == 0 {
		if said == "" {
			return event.Answer{}, c.wrong("the answer is empty")
		}
		return event.Answer{Text: said}, nil
	}
	var labels []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.Atoi(word)
		if err != nil {
			return event.Answer{Text: text}, nil
		}
		if n < 1 || n > len(q.Asks.Options) {
			return event.Answer{}, fmt.Errorf("there is no option %d, only 1 to %d. Put your own answer in quotes", n, len(q.Asks.Options))
		}
		labels = append(labels, q.Asks.Options[n-1].Label)
	}
	if len(labels) > 1 && !q.Asks.Multiple {
		return event.Answer{}, errors.New("choose one option only. Put your own answer in quotes")
	}
	return event.Answer{Text: strings.Join(labels, ", ")}, nil
}
