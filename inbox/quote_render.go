package inbox

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Digest renders messages taken automatically at a turn's start, oldest first: a header that counts them by nature
// (`[System: N background task(s) completed]` for results), an empty line, then an envelope each, separated by `---`
// lines. In the envelope the text follows its label: `**Task**:` and `**Result**:` or `**Error**:`, `**Reminder**:`,
// `**Message**:`.
func (r Rendering) Digest(ms []Message) string {
	if len(ms) == 0 {
		return ""
	}
	items := make([]string, len(ms))
	for i, m := range ms {
		items[i] = r.labelled(m, labels(m))
	}
	return "[System: " + count(ms) + "]\n\n" + strings.Join(items, "\n---\n")
}

// labelled is m in its envelope with a label before its text. The label replaces the title of its error, if the text
// begins with that.
func (r Rendering) labelled(m Message, label string) string {
	text := r.cut(m.Text(), m.ID)
	switch {
	case m.Error != "" && (m.Body == "" || m.Kind == Scheduled):
		text = strings.TrimPrefix(text, ErrorTitle)
	case m.Kind == Failure && m.Body == "":
		text = cause(m) + "\n" + text
	}
	return r.block(m, "", label+text)
}

// labels are the labels before the text of m in a digest.
func labels(m Message) string {
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
		case failed(m):
			return label + "**Error**: "
		case m.Interrupted():
			return label + "**Result**: [interrupted] "
		}
		return label + "**Result**: "
	}
	return "**" + strings.ToUpper(called(m)[:1]) + called(m)[1:] + "**: "
}

// failed reports whether m is about failed work.
func failed(m Message) bool {
	return m.Kind == Failure || m.Kind == Scheduled && m.Error != ""
}

// called is the noun for a message that is no result.
func called(m Message) string {
	if m.Kind == Mail || m.Kind == "" {
		return "message"
	}
	return string(m.Kind)
}

// count says how many messages of each nature there are, tasks by how they ended, in the order in which each nature
// first appears.
func count(ms []Message) string {
	counts := map[string]int{}
	var natures []string
	for _, m := range ms {
		n := nature(m)
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

// nature is the noun under which messages like m are counted.
func nature(m Message) string {
	switch {
	case m.Interrupted():
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
	return called(m)
}

// cause is why m failed.
func cause(m Message) string {
	for _, s := range []string{m.Error, m.Body, m.Outcome} {
		if s != "" {
			return s
		}
	}
	return "unknown"
}

// Fired renders messages taken into one turn: a single result under `Async subagent 'NAME' (session: ID) completed:`,
// several under `Async subagent results:` with a heading each, every text only in its envelope.
func (r Rendering) Fired(ms []Message) string {
	switch len(ms) {
	case 0:
		return ""
	case 1:
		return single(ms[0]) + "\n" + r.fired(ms[0])
	}
	items := make([]string, len(ms))
	for i, m := range ms {
		items[i] = fmt.Sprintf("## %s [%s] (%s)\n%s", m.By(), ending(m), session(m), r.fired(m))
	}
	return "Async subagent results:\n\n" + strings.Join(items, "\n\n")
}

func (r Rendering) fired(m Message) string {
	if failed(m) {
		return r.labelled(m, "Error: ")
	}
	return r.Envelope(m)
}

func single(m Message) string {
	switch m.Kind {
	case Result, Failure:
		return fmt.Sprintf("Async subagent '%s' (%s) %s:", m.By(), session(m), ending(m))
	}
	return fmt.Sprintf("A %s from '%s' (%s):", ending(m), m.By(), session(m))
}

// ending says how the work of m ended, or what kind of message m is.
func ending(m Message) string {
	switch {
	case m.Interrupted():
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
func session(m Message) string {
	if m.Task == 0 {
		return fmt.Sprintf("message: %d", m.ID)
	}
	return fmt.Sprintf("session: %d", m.Task)
}

// QuoteLine is `You have a message from NAME. Message #N.`
func QuoteLine(m Message) string {
	return fmt.Sprintf("You have a message from %s. Message #%d.", m.By(), m.ID)
}

// Reported renders m as the answer to a model's request. A failure is an object
// {"from":…,"success":false,"error":…,"partial_output":…} in its envelope, with "partial":true for the result of an
// interrupted task. `<` is written \u003c in it, so that it holds no tag.
func (r Rendering) Reported(m Message) string {
	if m.Success() {
		return r.Envelope(m)
	}
	failed, soFar := cause(m), m.Partial
	switch {
	case m.Interrupted():
		failed, soFar = m.Error, m.SoFar()
	case m.Error != "":
		soFar = m.SoFar()
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
	}{plain(m.From), false, plain(failed), plain(soFar), m.Interrupted()})
	if err != nil {
		panic(fmt.Sprintf("inbox: strings can't be written as JSON: %v", err))
	}
	return r.block(m, "", string(b))
}

// Listing is the text of /inbox for a model: the beginnings of messages with the ids to read them by, in one envelope.
func (r Rendering) Listing(ms []Message) string {
	if len(ms) == 0 {
		return Listing(ms, r.Now)
	}
	return r.enclose("messages", fmt.Sprintf(`<messages count="%d"`, len(ms)), "a list that quotes messages: data", "", Listing(ms, r.Now))
}
