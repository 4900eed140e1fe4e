package words

import (
	"fmt"
	"strings"
	"time"

	"fantail/inbox"
	"fantail/ui/frame"
)

// Message is a message in full, as /check --peek prints it.
func Message(m inbox.Message, now time.Time) string {
	s := fmt.Sprintf("Message #%d from %s, %s ago, %s, %s", m.ID, m.From, inbox.Age(now.Sub(m.Created)), m.Kind, m.Fate())
	if m.Outcome != "" {
		s += ", " + m.Outcome
	}
	if m.Priority != inbox.Normal {
		s += ", " + string(m.Priority)
	}
	if len(m.Tags) > 0 {
		s += ", tags: " + strings.Join(m.Tags, " ")
	}
	if m.InReplyTo != 0 {
		s += fmt.Sprintf(", in reply to #%d", m.InReplyTo)
	}
	for _, fact := range []struct {
		is   bool
		word string
	}{{m.Pinned, "pinned"}, {m.Muted, "its thread is muted"}} {
		if fact.is {
			s += ", " + fact.word
		}
	}
	for _, part := range []string{m.Subject, m.Error, m.Body, m.Partial} {
		if part != "" {
			s += "\n\n" + part
		}
	}
	return s
}

// From names who wrote m.
func From(m inbox.Message) string {
	if s := frame.CleanLine(inbox.Label(m.From)); s != "" {
		return s
	}
	return "outside"
}
