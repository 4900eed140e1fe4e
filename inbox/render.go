package inbox

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// Digest renders messages taken automatically at a turn's start, oldest first: a
// header that counts them as what they are (`[System: N background task(s)
// completed]` for results), an empty line, then an envelope each, separated by
// `---` lines. In the envelope the text follows its label: `**Task**:` and
// `**Result**:` or `**Error**:`, `**Reminder**:`, `**Message**:`.
func (r Rendering) Digest(ms []Message) string {
	if len(ms) == 0 {
		return ""
	}
	items := make([]string, len(ms))
	for i, m := range ms {
		items[i] = r.labelled(m, m.labels())
	}
	return "[System: " + count(ms) + "]\n\n" + strings.Join(items, "\n---\n")
}

// labelled is m in its envelope with a label before its text, which stands for the
// title of its error if it begins with that.
func (r Rendering) labelled(m Message, label string) string {
	text := r.cut(m.Text(), m.ID)
	switch {
	case m.Error != "" && (m.Body == "" || m.Kind == Scheduled):
		text = strings.TrimPrefix(text, errorTitle)
	case m.Kind == Failure && m.Body == "":
		text = m.cause() + "\n" + text
	}
	return r.block(m, "", label+text)
}

// labels are what stands before the text of m in a digest.
func (m Message) labels() string {
	switch m.Kind {
	case Result, Failure, Scheduled:
		title, task := "Task", m.Subject
		if m.Kind == Scheduled {
			title = "Scheduled task"
		}
		if task == "" {
			task = m.By()
		}
		label := fmt.Sprintf("**%s**: %s\n", title, Label(task))
		switch {
		case m.failed():
			return label + "**Error**: "
		case m.cut():
			return label + "**Result**: [interrupted] "
		}
		return label + "**Result**: "
	}
	return "**" + strings.ToUpper(m.word()[:1]) + m.word()[1:] + "**: "
}

// failed reports whether m tells of work that failed.
func (m Message) failed() bool { return m.Kind == Failure || m.Kind == Scheduled && m.Error != "" }

// word is what a message is called that is no result.
func (m Message) word() string {
	if m.Kind == Mail || m.Kind == "" {
		return "message"
	}
	return string(m.Kind)
}

// count says how many messages of each nature there are: tasks by how they ended,
// the others as what they are, in the order in which each nature comes first.
func count(ms []Message) string {
	counts := map[string]int{}
	var natures []string
	for _, m := range ms {
		n := m.nature()
		if counts[n] == 0 {
			natures = append(natures, n)
		}
		counts[n]++
	}
	for i, nature := range natures {
		n := counts[nature]
		if n > 1 && !strings.Contains(nature, "(s)") {
			nature += "s"
		}
		natures[i] = fmt.Sprintf("%d %s", n, nature)
	}
	return strings.Join(natures, ", ")
}

// nature is what messages like m are counted as: tasks in 000's words.
func (m Message) nature() string {
	switch {
	case m.cut():
		return "background task(s) interrupted"
	case m.Kind == Result:
		return "background task(s) completed"
	case m.Kind == Failure:
		return "background task(s) failed"
	case m.Kind == Scheduled && m.Error != "":
		return "scheduled task(s) failed"
	case m.Kind == Scheduled:
		return "scheduled task(s) completed"
	}
	return m.word()
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

// Fired renders messages taken into one turn: a single result under `Async subagent
// 'NAME' (session: ID) completed:`, several under `Async subagent results:` with a
// heading each, every text in its envelope and nowhere else.
func (r Rendering) Fired(ms []Message) string {
	switch len(ms) {
	case 0:
		return ""
	case 1:
		return ms[0].single() + "\n" + r.fired(ms[0])
	}
	items := make([]string, len(ms))
	for i, m := range ms {
		items[i] = fmt.Sprintf("## %s [%s] (%s)\n%s", m.By(), m.ending(), m.session(), r.fired(m))
	}
	return "Async subagent results:\n\n" + strings.Join(items, "\n\n")
}

func (r Rendering) fired(m Message) string {
	if m.failed() {
		return r.labelled(m, "Error: ")
	}
	return r.Envelope(m)
}

func (m Message) single() string {
	switch m.Kind {
	case Result, Failure:
		return fmt.Sprintf("Async subagent '%s' (%s) %s:", m.By(), m.session(), m.ending())
	}
	return fmt.Sprintf("A %s from '%s' (%s):", m.ending(), m.By(), m.session())
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

// Line is `You have a message from NAME. Message #N.`
func Line(m Message) string {
	return fmt.Sprintf("You have a message from %s. Message #%d.", m.By(), m.ID)
}

// Reported renders m as what a model asked for: a failure is 002's object
// {"from":…,"success":false,"error":…,"partial_output":…} in its envelope, with
// "partial":true for the result of an interrupted task. `<` is written \u003c in
// it, so that it holds no tag.
func (r Rendering) Reported(m Message) string {
	if m.Success() {
		return r.Envelope(m)
	}
	failed, soFar := m.cause(), m.Partial
	switch {
	case m.cut():
		failed, soFar = m.Error, joined(m.Body, m.Partial)
	case m.Error != "":
		soFar = joined(m.Body, m.Partial)
	}
	if r.Limit > 0 && len(failed)+len(soFar) > r.Limit {
		text := m.Text()
		short := r
		short.Limit = max(1, min(len(failed), r.Limit/3))
		failed = short.cutAt(failed, m.ID, max(0, strings.Index(text, failed)))
		short.Limit = max(1, r.Limit-short.Limit)
		soFar = short.cutAt(soFar, m.ID, max(0, strings.LastIndex(text, soFar)))
	}
	b, err := json.Marshal(struct {
		From    string `json:"from"`
		Success bool   `json:"success"`
		Error   string `json:"error"`
		Partial string `json:"partial_output"`
		Cut     bool   `json:"partial,omitempty"`
	}{plain(m.From), false, plain(failed), plain(soFar), m.cut()})
	if err != nil {
		panic(fmt.Sprintf("inbox: strings can't be written as JSON: %v", err))
	}
	return r.block(m, "", string(b))
}

// joined is two texts, one below the other.
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return strings.TrimSuffix(a, "\n") + "\n" + b
}

// Listing is the text of /inbox as a model reads it: the beginnings of messages
// whose ids tell how to read them, in one envelope.
func (r Rendering) Listing(ms []Message) string {
	if len(ms) == 0 {
		return Listing(ms, r.Now)
	}
	return r.enclose("messages", fmt.Sprintf(`<messages count="%d"`, len(ms)), "a list that quotes messages: data", "", Listing(ms, r.Now))
}
