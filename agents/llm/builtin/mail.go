package builtin

import (
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"strings"
)

// message is a message in the envelope that the host wrote. The host escapes bodies, so a text that
// looks like an envelope is one.
type message struct {
	id, from, kind, outcome string
	body                    []string
}

var (
	envelopeStart = regexp.MustCompile(`^<message id="(\d+)" from="([^"]*)"([^>]*)>$`)
	attribute     = regexp.MustCompile(` ([a-z]+)="([^"]*)"`)
)

// parseEnvelopes parses the envelopes in a text.
func parseEnvelopes(text string) []message {
	var ls []message
	inside, notice, end := false, false, ""
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		switch m := envelopeStart.FindStringSubmatch(line); {
		case m != nil:
			l := message{id: m[1], from: html.UnescapeString(m[2])}
			end = "</message>"
			for _, a := range attribute.FindAllStringSubmatch(m[3], -1) {
				switch a[1] {
				case "mark":
					end = `</message mark="` + a[2] + `">`
				case "kind":
					l.kind = html.UnescapeString(a[2])
				case "outcome":
					l.outcome = html.UnescapeString(a[2])
				}
			}
			ls = append(ls, l)
			inside, notice = true, true
		case !inside:
		case line == end:
			inside = false
		case notice: // the host's own line, which says that the body is data
			notice = false
		default:
			l := &ls[len(ls)-1]
			l.body = append(l.body, line)
		}
	}
	for i := range ls {
		ls[i].body = unlabelled(ls[i].body)
	}
	return ls
}

var (
	task  = regexp.MustCompile(`^\*\*(?:Task|Scheduled task)\*\*: `)
	label = regexp.MustCompile(`^(?:\*\*[A-Z][a-z]+\*\*|Error): `)
)

// unlabelled returns the text of an envelope without what the host wrote around it: labels, or the
// object of a failure.
func unlabelled(body []string) []string {
	if len(body) == 0 {
		return body
	}
	var o struct {
		Error   string `json:"error"`
		Partial string `json:"partial_output"`
	}
	if len(body) == 1 && strings.HasPrefix(body[0], `{"from":`) && json.Unmarshal([]byte(body[0]), &o) == nil {
		body = strings.Split(o.Error, "\n")
		if o.Partial != "" {
			body = append(append(body, "Output so far:"), strings.Split(o.Partial, "\n")...)
		}
		return body
	}
	if task.MatchString(body[0]) && len(body) > 1 {
		body = body[1:]
	}
	if l := label.FindString(body[0]); l != "" {
		body = append([]string{strings.TrimPrefix(body[0], l)}, body[1:]...)
	}
	return body
}

// head says who wrote the message, and its kind.
func (l message) head() string {
	s := fmt.Sprintf("#%s from %s", l.id, code(clip(l.from)))
	for _, word := range []string{l.kind, l.outcome} {
		if word != "" {
			s += " · " + word
		}
	}
	return s
}

// line returns one line about a message: its head and its first words.
func (l message) line() string {
	for _, text := range l.body {
		if text = oneLine(text); text != "" && text != "Error:" { // the title of a part says nothing
			return l.head() + ": " + code(clip(text))
		}
	}
	return l.head()
}

// messageList lists the messages that arrived by themselves. They are data: nothing in them is
// carried out.
func messageList(texts []string) string {
	var lines []string
	for _, text := range texts {
		ls := parseEnvelopes(text)
		for _, l := range ls {
			lines = append(lines, "- "+l.line())
		}
		if len(ls) == 0 {
			lines = append(lines, "- "+code(clip(oneLine(text))))
		}
	}
	if len(lines) == 1 {
		return "A message came:\n\n" + lines[0]
	}
	return fmt.Sprintf("%d messages came:\n\n%s", len(lines), strings.Join(lines, "\n"))
}

// messageBodies shows the messages that an instruction took, with the beginning of each.
func messageBodies(text string) string {
	var parts []string
	for _, l := range parseEnvelopes(text) {
		s := l.line()
		if body := strings.TrimSpace(strings.Join(l.body, "\n")); strings.Contains(body, "\n") {
			s = l.head() + "\n\n" + quote(head(body))
		}
		parts = append(parts, s)
	}
	if _, more, ok := strings.Cut(text[strings.LastIndex(text, "</message")+1:], ">"); ok {
		if more = strings.TrimSpace(more); more != "" {
			parts = append(parts, code(clip(oneLine(more))))
		}
	}
	return strings.Join(parts, "\n\n")
}

// memoryStart matches the first line of a memory document.
var memoryStart = regexp.MustCompile(`^<memory name="[^"]*"[^>]* mark="([^"]*)">$`)

// memoryDocument shows a memory document and the host's words after it; "" if the text has none.
func memoryDocument(text string) string {
	first, rest, _ := strings.Cut(text, "\n")
	m := memoryStart.FindStringSubmatch(first)
	if m == nil {
		return ""
	}
	_, rest, _ = strings.Cut(rest, "\n") // the host's own line, which says that it is data
	doc, more, _ := strings.Cut(rest, "\n</memory mark=\""+m[1]+"\">")
	doc = quote(head(doc))
	if more = strings.TrimSpace(more); more != "" {
		doc += "\n\n" + code(clip(oneLine(more)))
	}
	return doc
}

// quote marks a text as a quotation.
func quote(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight("> "+l, " ")
	}
	return strings.Join(lines, "\n")
}
