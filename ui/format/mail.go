package format

import (
	"fmt"
	"strings"
	"time"

	"fantail/inbox"
	"fantail/themes"
	"fantail/ui/cells"
)

// Message returns a message in full, as /check --peek prints it.
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
	for _, mark := range Marks(m) {
		s += ", " + mark
	}
	for _, part := range []string{m.Subject, m.Error, m.Body, m.Partial} {
		if part != "" {
			s += "\n\n" + part
		}
	}
	return s
}

// Marks returns the human's marks of a message.
func Marks(m inbox.Message) (all []string) {
	if m.Pinned {
		all = append(all, "pinned")
	}
	if m.Muted {
		all = append(all, "its thread is muted")
	}
	return all
}

// From names the sender of m.
func From(m inbox.Message) string {
	if s := cells.CleanLine(inbox.Label(m.From)); s != "" {
		return s
	}
	return "outside"
}

// MailSign returns the sign of a kind of message.
func MailSign(m inbox.Message) (sign string, role themes.Role) {
	switch m.Kind {
	case inbox.Result:
		if m.Success() {
			return "✓", themes.Good
		}
		return "✗", themes.Bad
	case inbox.Failure:
		return "✗", themes.Bad
	case inbox.Question, inbox.Approval:
		return "?", themes.Warn
	case inbox.Reminder, inbox.Scheduled:
		return "↻", themes.Message
	case inbox.Notice:
		return "·", themes.Dim
	}
	if m.Loud() {
		return "✉", themes.Bad
	}
	return "✉", themes.Message
}
