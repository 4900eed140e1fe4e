package agents

import (
	"fmt"
	"strings"

	"fantail/agents/history"
	"fantail/inbox"
)

// message is what stands for a question in an inbox: what is asked in a line,
// and whole. Nothing but its answer takes it.
func (q Question) message(to int64) inbox.Message {
	m := inbox.Message{
		Recipient: to, Sender: q.Agent, Kind: inbox.Approval, Deliver: inbox.Hold, Priority: inbox.High,
		Subject: history.Fit(q.Action.Title, history.MostSubject), Body: history.Fit(q.whole(), inbox.MaxBody),
	}
	if q.Asks != nil {
		m.Kind, m.Subject = inbox.Question, history.Fit(q.Gist(), history.MostSubject)
	}
	if q.Outside {
		m.Tags = []string{"outside"}
	}
	return m
}

// whole is all of a question.
func (q Question) whole() string {
	if q.Asks != nil {
		return q.options()
	}
	act := q.Action
	var parts []string
	if act.Command == "" {
		parts = append(parts, strings.Join(append([]string{act.Title}, act.Paths...), "\n"))
	} else {
		parts = append(parts, act.Command, "in "+act.Dir)
	}
	if act.Outside {
		parts = append(parts, "outside the workspace")
	}
	if act.Sensitive != "" {
		parts = append(parts, "sensitive: "+act.Sensitive)
	}
	if q.Again != "" {
		parts = append(parts, q.Again)
	}
	if act.Diff != "" {
		parts = append(parts, act.Diff)
	}
	if q.Rule != "" {
		parts = append(parts, "for this session: "+string(q.Rule))
	}
	return strings.Join(parts, "\n\n")
}

// Gist is a question in a line that a terminal shows as it is.
func (q Question) Gist() string {
	if q.Asks != nil {
		return inbox.Label(q.Asks.Text)
	}
	return q.Action.Title
}

// options is a question of ask_user with what it offers.
func (q Question) options() string {
	s := q.Asks.Text
	for n, o := range q.Asks.Options {
		if n == 0 {
			s += "\n"
		}
		s += fmt.Sprintf("\n%d. %s", n+1, o.Label)
		if o.Why != "" {
			s += " · " + o.Why
		}
	}
	if q.Asks.Multiple {
		s += "\n\nSeveral may be chosen."
	}
	return s
}
