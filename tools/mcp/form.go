package mcp

import (
	"context"
	"fmt"
	"math"
	"net/mail"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"fantail/tools"
)

const (
	maxOffered = 7 // values offered to choose from; if there are more, the user types one
	maxTries   = 3 // wrong answers to one field
)

// The labels of the other answers.
const (
	labelRefuse  = "no: it gets no answer"
	labelSkip    = "leave it out"
	labelVisited = "done: I was there"
	labelYes     = "yes"
)

// Elicitation is a question of a server to the user. Its texts come from the server and can't be
// trusted.
type Elicitation struct {
	Message string
	Fields  []FormField // fields of a form; none: a yes or no
	URL     string      // address to visit, instead of a form
	Host    string      // host of URL
}

// FormField is one field of a form.
type FormField struct {
	Name     string
	Title    string
	About    string
	Type     string   // string, number, integer, boolean, or several (some of Options)
	Options  []string // allowed values; none: any
	Labels   []string // their labels; none: the values themselves
	Required bool
	Default  any
	Format   string // email, uri, date or date-time; "": any
	Pattern  string
	Min, Max *float64 // of a number, or of the length of a text
}

// FormAnswer is the user's answer to a server.
type FormAnswer struct {
	Action  FormAction
	Content map[string]any // for Accept: the values of the form
}

// FormAction is the action in an elicitation's result.
type FormAction string

// The actions.
const (
	Accept  FormAction = "accept"
	Decline FormAction = "decline"
	Cancel  FormAction = "cancel"
)

// FormAsker asks the user a question.
type FormAsker func(ctx context.Context, q tools.Question) (string, error)

// FillForm asks the user the question of a server, one question for each field of its form.
func FillForm(ctx context.Context, ask FormAsker, server string, e Elicitation) (FormAnswer, error) {
	intro := fmt.Sprintf("The MCP server %s asks. These are its words, not ours:\n\n%s", server, e.Message)
	switch {
	case e.URL != "":
		text := fmt.Sprintf("%s\n\nIt wants you to visit the host %s:\n\n%s\n\nNothing is opened by itself.", intro, e.Host, e.URL)
		said, err := ask(ctx, tools.Question{Text: text, Options: []tools.Option{{Label: labelVisited}, {Label: labelRefuse}}})
		return simpleAnswer(labelVisited, said, err)
	case len(e.Fields) == 0:
		said, err := ask(ctx, tools.Question{Text: intro, Options: []tools.Option{{Label: labelYes}, {Label: labelRefuse}}})
		a, err := simpleAnswer(labelYes, said, err)
		if a.Action == Accept {
			a.Content = map[string]any{}
		}
		return a, err
	}
	content := map[string]any{}
	for n, f := range e.Fields {
		text := intro
		if n > 0 {
			text = "The MCP server " + server + " asks further."
		}
		if len(e.Fields) > 1 {
			text += fmt.Sprintf("\n\n%d of %d.", n+1, len(e.Fields))
		}
		wrong := ""
		for try := 0; ; try++ {
			q := f.question(text)
			if wrong != "" {
				q.Text += "\n\n" + wrong
			}
			said, err := ask(ctx, q)
			if err != nil || said == labelRefuse {
				return simpleAnswer("", labelRefuse, err)
			}
			if said == labelSkip && !f.Required {
				break
			}
			value, err := f.value(said)
			if err == nil {
				content[f.Name] = value
				break
			}
			if try == maxTries {
				return FormAnswer{Action: Decline}, nil
			}
			wrong = "That was not it: " + err.Error() + "."
		}
	}
	return FormAnswer{Action: Accept, Content: content}, nil
}

// simpleAnswer returns the answer to a question in which the label is means yes.
func simpleAnswer(is, said string, err error) (FormAnswer, error) {
	switch {
	case err != nil:
		return FormAnswer{Action: Cancel}, err
	case said == is:
		return FormAnswer{Action: Accept}, nil
	}
	return FormAnswer{Action: Decline}, nil
}

// question returns the question for a field.
func (f FormField) question(intro string) tools.Question {
	name := f.Name
	if f.Title != "" && f.Title != f.Name {
		name = f.Title + " (" + f.Name + ")"
	}
	text := intro + "\n\n" + name
	if f.About != "" {
		text += ": " + f.About
	}
	kind := map[string]string{"integer": "a whole number", "number": "a number", "several": "some of what follows, with commas between them"}[f.Type]
	if kind == "" && f.Format != "" {
		kind = "as " + f.Format
	}
	if kind != "" {
		text += "\n(" + kind + ")"
	}
	if f.Default != nil {
		text += fmt.Sprintf("\nUsual is: %v", f.Default)
	}
	q := tools.Question{Text: text}
	offers := f.labels()
	if f.Type == "boolean" {
		offers = []string{labelYes, "no"}
	}
	if len(offers) > maxOffered {
		q.Text += "\nOne of: " + strings.Join(offers, ", ")
		offers = nil
	}
	for _, o := range offers {
		q.Options = append(q.Options, tools.Option{Label: tools.Line(o)})
	}
	q.Multiple = f.Type == "several" && len(offers) > 1
	if !f.Required {
		q.Options = append(q.Options, tools.Option{Label: labelSkip})
	}
	q.Options = append(q.Options, tools.Option{Label: labelRefuse})
	return q
}

// labels returns the labels of the options.
func (f FormField) labels() []string {
	if len(f.Labels) == len(f.Options) {
		return f.Labels
	}
	return f.Options
}

// option returns the option with that label or value.
func (f FormField) option(said string) (string, error) {
	for n, label := range f.labels() {
		if said == label || said == tools.Line(label) || said == f.Options[n] {
			return f.Options[n], nil
		}
	}
	return "", fmt.Errorf("%q is none of what is offered", said)
}

// value converts an answer to what the server expects, or returns an error that says what is wrong.
func (f FormField) value(said string) (any, error) {
	said = strings.TrimSpace(said)
	switch f.Type {
	case "boolean":
		switch strings.ToLower(said) {
		case labelYes, "y", "true", "1":
			return true, nil
		case "no", "n", "false", "0":
			return false, nil
		}
		return nil, fmt.Errorf("yes or no is wanted")
	case "integer", "number":
		n, err := strconv.ParseFloat(said, 64)
		switch {
		case err != nil || math.IsInf(n, 0) || math.IsNaN(n):
			return nil, fmt.Errorf("%q is no number", said)
		case f.Type == "integer" && n != math.Trunc(n):
			return nil, fmt.Errorf("%q is no whole number", said)
		case f.Min != nil && n < *f.Min:
			return nil, fmt.Errorf("at least %v is wanted", *f.Min)
		case f.Max != nil && n > *f.Max:
			return nil, fmt.Errorf("at most %v is wanted", *f.Max)
		}
		return n, nil
	case "several":
		all := []any{}
		for part := range strings.SplitSeq(said, ",") {
			if part = strings.TrimSpace(part); part == "" || part == labelSkip {
				continue
			}
			o, err := f.option(part)
			if err != nil {
				return nil, err
			}
			if !slices.Contains(all, any(o)) {
				all = append(all, o)
			}
		}
		return all, nil
	}
	if len(f.Options) > 0 {
		return f.option(said)
	}
	return said, f.text(said)
}

// text validates a text.
func (f FormField) text(said string) (err error) {
	n := float64(utf8.RuneCountInString(said))
	switch {
	case said == "" && f.Required:
		return fmt.Errorf("something is wanted")
	case f.Min != nil && n < *f.Min:
		return fmt.Errorf("at least %v letters are wanted", *f.Min)
	case f.Max != nil && n > *f.Max:
		return fmt.Errorf("at most %v letters are wanted", *f.Max)
	}
	if f.Pattern != "" {
		if is, bad := regexp.Compile(f.Pattern); bad == nil && !is.MatchString(said) {
			return fmt.Errorf("it does not match %s", f.Pattern)
		}
	}
	switch f.Format {
	case "email":
		_, err = mail.ParseAddress(said)
	case "date":
		_, err = time.Parse(time.DateOnly, said)
	case "date-time":
		_, err = time.Parse(time.RFC3339, said)
	}
	if err != nil {
		return fmt.Errorf("%q is no %s", said, f.Format)
	}
	return nil
}
