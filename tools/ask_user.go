package tools

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"fantail/tools/permission"
)

//go:embed ask_user.md
var askUserText string

// Question is a question of ask_user to the human.
type Question struct {
	Text     string   `json:"text"`
	Options  []Option `json:"options,omitempty"`
	Multiple bool     `json:"multiple,omitempty"` // several options may be chosen
}

// Option is an answer that is offered.
type Option struct {
	Label string `json:"label"`
	Why   string `json:"why,omitempty"` // one line
}

// UnmarshalJSON reads an option, or a string that is only its label.
func (o *Option) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &o.Label) == nil {
		return nil
	}
	var v struct {
		Label, Why  string
		Explanation string
		Description string
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return errors.New("an option is a string, or an object with label and why")
	}
	*o = Option{v.Label, v.Why}
	for _, s := range []string{v.Explanation, v.Description} {
		if o.Why == "" {
			o.Why = s
		}
	}
	return nil
}

// Limits of a question: its size in bytes, and the number of its options, each of which has a digit.
const (
	maxQuestion = 16 << 10
	maxOptions  = 9
)

func askUser() tool {
	return tool{
		name: "ask_user", text: askUserText, spelt: map[string]string{"text": "question", "prompt": "question", "choices": "options"},
		schema: `{"type":"object","properties":{` +
			`"question":{"type":"string","description":"The whole question"},` +
			`"options":{"type":"array","maxItems":9,"items":{"type":"object","properties":{` +
			`"label":{"type":"string","description":"The answer, in a few words"},` +
			`"why":{"type":"string","description":"One line that explains it; default none"}},"required":["label"],"additionalProperties":false},` +
			`"description":"The answers you expect; default none"},` +
			`"multiple":{"type":"boolean","description":"Several options may be chosen; default false"}},` +
			`"required":["question"],"additionalProperties":false}`,
		parse: func(c call) (*Call, error) {
			a, err := decode[struct {
				Question string   `json:"question"`
				Options  []Option `json:"options"`
				Multiple bool     `json:"multiple"`
			}](c)
			q := Question{Text: strings.TrimSpace(a.Question), Options: a.Options, Multiple: a.Multiple && len(a.Options) > 1}
			if err == nil {
				err = need("question", q.Text)
			}
			if err = errors.Join(err, q.check()); err != nil {
				return nil, err
			}
			return &Call{Action: c.action(permission.Internal), Asks: &q}, nil
		},
		title: func(a loose) string { return "ask " + a.word("question") },
	}
}

// check returns an error for a question with options that can't be shown.
func (q Question) check() error {
	size, seen := len(q.Text), map[string]bool{}
	for i, o := range q.Options {
		q.Options[i] = Option{strings.TrimSpace(o.Label), strings.TrimSpace(o.Why)}
		o = q.Options[i]
		switch {
		case o.Label == "":
			return fmt.Errorf("option %d has no label", i+1)
		case strings.Contains(o.Label+o.Why, "\n"):
			return fmt.Errorf("option %d has more than one line; what is long belongs into the question", i+1)
		case seen[o.Label]:
			return fmt.Errorf("the option %q is there twice", o.Label)
		}
		seen[o.Label] = true
		size += len(o.Label) + len(o.Why)
	}
	switch {
	case len(q.Options) > maxOptions:
		return fmt.Errorf("at most %d options can be offered, not %d", maxOptions, len(q.Options))
	case size > maxQuestion:
		return fmt.Errorf("the question has %d bytes, at most %d can be asked; write what is long into a file and name it", size, maxQuestion)
	}
	return nil
}
