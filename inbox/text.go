package inbox

import (
	"regexp"
	"strings"
)

// ownName is the form of an agent's name, with what the program adds to it when the
// name is used again or the agent forks.
var ownName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._·-]{0,79}$`)

// The names of senders outside that the program gave them itself.
var outsiders = map[string]bool{"outside": true, "outside-mcp": true}

// By names m's sender in the host's own words to a model: an agent by its name, and
// nobody by what somebody outside says of himself.
func (m Message) By() string {
	switch {
	case m.Outside() && !outsiders[m.From]:
		return "outside"
	case !ownName.MatchString(m.From):
		return "an unnamed sender"
	}
	return m.From
}

// ErrorTitle is the line above an error in a [Message.Text].
const ErrorTitle = "Error:\n"

// Text is all that m says: its body, its error and its output so far.
func (m Message) Text() string {
	var b strings.Builder
	body, soFar := m.Body, m.Partial
	if m.Kind == Scheduled && m.Error != "" { // what it had found
		body, soFar = "", m.SoFar()
	}
	for _, part := range []struct{ title, text string }{{"", body}, {ErrorTitle, m.Error}, {"Output so far:\n", soFar}} {
		if part.text == "" {
			continue
		}
		if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteString("\n")
		}
		b.WriteString(part.title + part.text)
	}
	return b.String()
}

// SoFar is what m's work had when it ended: its body and its output so far, one below
// the other.
func (m Message) SoFar() string {
	if m.Body == "" || m.Partial == "" {
		return m.Body + m.Partial
	}
	return strings.TrimSuffix(m.Body, "\n") + "\n" + m.Partial
}
