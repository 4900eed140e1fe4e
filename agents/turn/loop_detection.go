package turn

import (
	"context"
	"encoding/json"
	"fmt"

	"fantail/agents/approval"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/tools"
)

// many is how many times in a row an agent makes the same call until the human is asked.
const many = 3

// repeats counts how many times in a row an agent makes the same call. The zero value has seen
// none.
type repeats struct {
	last  string
	times int
	asks  map[string]bool // calls of the present reply that reach the limit, by id
	again string
}

// Again has the call with that id, at which a turn was parked, ask once more.
func (r *repeats) Again(call string) { r.again = call }

// Count counts the calls of a reply. Calls that take mail are meant to be repeated, so they reset
// the count.
func (r *repeats) Count(calls []history.Call) {
	r.asks = map[string]bool{}
	for _, c := range calls {
		key := c.Name + " " + canonical(c.Args)
		switch {
		case c.ID == r.again:
			r.again, r.asks[c.ID] = "", true
			continue
		case c.Name == "check" || c.Name == "receive" || c.Name == "ask_user":
			r.last, r.times = "", 0
			continue
		case key != r.last:
			r.last, r.times = key, 0
		}
		if r.times++; r.times == many {
			r.times, r.asks[c.ID] = 0, true
		}
	}
}

// Asks reports whether the human is asked about the call with that id, because it reaches the
// limit.
func (r *repeats) Asks(call string) bool { return r.asks[call] }

// Refused has the next such call ask at once, because this one was refused.
func (r *repeats) Refused() { r.times = many - 1 }

// canonical returns arguments in a form in which equal ones are equal texts.
func canonical(args json.RawMessage) string {
	var v any
	if json.Unmarshal(args, &v) != nil {
		return string(args)
	}
	b, err := json.Marshal(v) // it sorts the keys of an object
	if err != nil {
		return string(args)
	}
	return string(b)
}

// The labels of the human's answers.
const (
	once = "Once"
	stop = "Stop"
)

// repeatQuestion returns the question about a repeated call.
func repeatQuestion(agent string, c history.Call) tools.Question {
	return tools.Question{
		Text: fmt.Sprintf("%s calls %s %d times in a row with the same arguments: %s", agent, c.Name, many, c.Title),
		Options: []tools.Option{
			{Label: once, Why: "it may run this time"},
			{Label: stop, Why: "it is refused, and the agent is told to go on another way"},
		},
	}
}

// another says what the agent should do instead.
const another = "Don't make it again: go on another way, or say what you have found."

// repeatRefusal returns what the agent is told about its call after an answer; "": the call may
// run.
func repeatRefusal(answer string) string {
	switch answer {
	case once:
		return ""
	case stop:
		return fmt.Sprintf("the user stopped it, as it is the same call %d times in a row. %s", many, another)
	}
	return fmt.Sprintf("it is the same call %d times in a row, and the user says: %s", many, answer)
}

// repeatUnasked returns what the agent is told if no human can be asked.
func repeatUnasked() string {
	return fmt.Sprintf("it is the same call %d times in a row, and nobody is here to be asked. %s", many, another)
}

// repeated asks the human about a repeated call. It returns why the call may not run; "": it may.
func (l *Loop) repeated(ctx context.Context, c history.Call) (why string, err error) {
	switch {
	case !l.own.repeats.Asks(c.ID):
		return "", nil
	case l.fixed.unattended || !l.Agent.Kind.Nature().Asks:
		return repeatUnasked(), nil
	}
	ans, err := l.askText(ctx, textQuestion(c.ID+event.Repeating, c.Title, repeatQuestion(l.Agent.Known().Name, c)), approval.Alone)
	if err != nil {
		return "", err
	}
	return repeatRefusal(ans), nil
}
