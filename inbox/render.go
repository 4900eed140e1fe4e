package inbox

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Digest renders messages taken automatically at a turn's start, oldest first:
// the header `[System: N background task(s) completed]`, an empty line, the
// items (`**Task**:`/`**Result**:`, `**Task**:`/`**Error**:`, mail as
// `**Message** from NAME:`) separated by `---` lines, then one envelope per message.
func (r Rendering) Digest(ms []Message) string {
	if len(ms) == 0 {
		return ""
	}
	items := make([]string, len(ms))
	for i, m := range ms {
		items[i] = item(m)
	}
	return fmt.Sprintf("[System: %d background task(s) completed]\n\n%s\n\n%s", len(ms), strings.Join(items, "\n---\n"), r.envelopes(ms))
}

func (r Rendering) envelopes(ms []Message) string {
	es := make([]string, len(ms))
	for i, m := range ms {
		es[i] = r.Envelope(m)
	}
	return strings.Join(es, "\n")
}

func item(m Message) string {
	from := quote(m.From)
	switch m.Kind {
	case Result, Failure, Scheduled:
		title, task := "Task", m.Subject
		if m.Kind == Scheduled {
			title = "Scheduled task"
		}
		if task == "" {
			task = m.From
		}
		if m.Kind == Failure || (m.Kind == Scheduled && m.Error != "") {
			return fmt.Sprintf("**%s**: %s\n**Error**: %s", title, quote(task), quote(m.cause()))
		}
		mark := ""
		if m.cut() {
			mark = "[interrupted] "
		}
		return fmt.Sprintf("**%s**: %s\n**Result**: %s%s", title, quote(task), mark, quote(m.Body))
	case Reminder:
		return "**Reminder**: " + quote(m.Body)
	case Question:
		return fmt.Sprintf("**Question** from %s: %s", from, quote(m.Body))
	case Approval:
		return fmt.Sprintf("**Approval** asked by %s: %s", from, quote(m.Body))
	case Notice:
		return "**Notice**: " + quote(m.Body)
	}
	return fmt.Sprintf("**Message** from %s: %s", from, quote(m.Body))
}

// cause is why m failed.
func (m Message) cause() string {
	for _, s := range []string{m.Error, m.Body, m.Outcome} {
		if s != "" {
			return s
		}
	}
	return "unknown"
}

// Fired renders messages taken into one turn: a single result as `Async subagent
// 'NAME' (session: ID) completed:` with its first words below, several under
// `Async subagent results:` with a heading each, then one envelope per message.
// A failure shows its error and the beginning of its output so far.
func (r Rendering) Fired(ms []Message) string {
	var form string
	switch len(ms) {
	case 0:
		return ""
	case 1:
		form = single(ms[0])
	default:
		items := make([]string, len(ms))
		for i, m := range ms {
			items[i] = fmt.Sprintf("## %s [%s] (%s)\n%s", quote(m.From), m.ending(), m.session(), m.said())
		}
		form = "Async subagent results:\n\n" + strings.Join(items, "\n\n")
	}
	return form + "\n\n" + r.envelopes(ms)
}

func single(m Message) string {
	switch m.Kind {
	case Result, Failure:
		return fmt.Sprintf("Async subagent '%s' (%s) %s:\n%s", quote(m.From), m.session(), m.ending(), m.said())
	}
	return fmt.Sprintf("A %s from '%s' (%s):\n%s", m.ending(), quote(m.From), m.session(), m.said())
}

// ending says how the work of m ended, or what m is.
func (m Message) ending() string {
	switch {
	case m.cut():
		return "interrupted"
	case m.Kind == Result:
		return "completed"
	case m.Kind == Failure:
		return "failed"
	case m.Kind == Mail:
		return "message"
	}
	return string(m.Kind)
}

// session is the handle that the dispatch of m's task returned.
func (m Message) session() string {
	if m.Task == 0 {
		return fmt.Sprintf("message: %d", m.ID)
	}
	return fmt.Sprintf("session: %d", m.Task)
}

// said is the beginning of what m says.
func (m Message) said() string {
	switch {
	case m.Kind != Failure && m.Error == "":
		return quote(m.Body)
	case m.Kind != Failure:
		return quote(m.Body) + "\nError: " + quote(m.Error)
	}
	s := "Error: " + quote(m.cause())
	if m.Partial != "" {
		s += "\nPartial output: " + quote(m.Partial)
	}
	return s
}

// quote is the beginning of an untrusted text outside of an envelope.
func quote(s string) string { return escape(Label(s)) }

// Line is `You have a message from NAME. Message #N.`
func Line(m Message) string {
	return fmt.Sprintf("You have a message from %s. Message #%d.", quote(m.From), m.ID)
}

// Object is a failure as the JSON object
// {"from":…,"success":false,"error":…,"partial_output":…}, with "partial":true
// for the result of an interrupted task. `<` is written \u003c in it, so that it
// holds no tag.
func Object(m Message) string {
	soFar := m.Partial
	if m.cut() {
		soFar = m.Body
	}
	b, err := json.Marshal(struct {
		From    string `json:"from"`
		Success bool   `json:"success"`
		Error   string `json:"error"`
		Partial string `json:"partial_output"`
		Cut     bool   `json:"partial,omitempty"`
	}{plain(m.From), m.Success(), plain(m.cause()), plain(soFar), m.cut()})
	if err != nil {
		panic(fmt.Sprintf("inbox: strings can't be written as JSON: %v", err))
	}
	return string(b)
}
