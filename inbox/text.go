package inbox

import (
	"regexp"
	"strings"
)

// ownName matches an agent's name, with the suffix that the program adds when the name is reused or the agent forks.
var ownName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._·-]{0,79}$`)

// The names of senders outside that the program gave them itself.
var outsiders = map[string]bool{"outside": true, "outside-mcp": true}

// By names m's sender to a model in the host's own words: an agent by its name. It never uses the name that a sender
// from outside claims.
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

// Text is the whole text of m: its body, its error and its output so far.
func (m Message) Text() string {
	var b strings.Builder
	body, soFar := m.Body, m.Partial
	if m.Kind == Scheduled && m.Error != "" { // its partial output
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

// SoFar is the partial output of m's work when it ended: its body, then its output so far.
func (m Message) SoFar() string {
	if m.Body == "" || m.Partial == "" {
		return m.Body + m.Partial
	}
	return strings.TrimSuffix(m.Body, "\n") + "\n" + m.Partial
}
