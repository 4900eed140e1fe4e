package envelope

import (
	"encoding/json"
	"fmt"
	"strings"

	"fantail/inbox"
)

// Digest renders messages taken automatically at a turn's start, oldest first: a
// header that counts them as what they are (`[System: N background task(s)
// completed]` for results), an empty line, then an envelope each, separated by
// `---` lines. In the envelope the text follows its label: `**Task**:` and
// `**Result**:` or `**Error**:`, `**Reminder**:`, `**Message**:`.
func (r Rendering) Digest(ms []inbox.Message) string {
	if len(ms) == 0 {
		return ""
	}
	items := make([]string, len(ms))
	for i, m := range ms {
		items[i] = r.labelled(m, labels(m))
	}
	return "[System: " + count(ms) + "]\n\n" + strings.Join(items, "\n---\n")
}

// labelled is m in its envelope with a label before its text, which stands for the
// title of its error if it begins with that.
func (r Rendering) labelled(m inbox.Message, label string) string {
	text := r.cut(m.Text(), m.ID)
	switch {
	case m.Error != "" && (m.Body == "" || m.Kind == inbox.Scheduled):
		text = strings.TrimPrefix(text, inbox.ErrorTitle)
	case m.Kind == inbox.Failure && m.Body == "":
		text = cause(m) + "\n" + text
	}
	return r.block(m, "", label+text)
}

// labels are what stands before the text of m in a digest.
func labels(m inbox.Message) string {
	switch m.Kind {
	case inbox.Result, inbox.Failure, inbox.Scheduled:
		title, task := "Task", m.Subject
		if m.Kind == inbox.Scheduled {
			title = "Scheduled task"
		}
		if task == "" {
			task = m.By()
		}
		label := fmt.Sprintf("**%s**: %s\n", title, inbox.Label(task))
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

// failed reports whether m tells of work that failed.
func failed(m inbox.Message) bool {
	return m.Kind == inbox.Failure || m.Kind == inbox.Scheduled && m.Error != ""
}

// called is what a message is called that is no result.
func called(m inbox.Message) string {
	if m.Kind == inbox.Mail || m.Kind == "" {
		return "message"
	}
	return string(m.Kind)
}

// count says how many messages of each nature there are: tasks by how they ended,
// the others as what they are, in the order in which each nature comes first.
func count(ms []inbox.Message) string {
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

// nature is what messages like m are counted as: tasks in 000's words.
func nature(m inbox.Message) string {
	switch {
	case m.Interrupted():
		return "background task(s) interrupted"
	case m.Kind == inbox.Result:
		return "background task(s) completed"
	case m.Kind == inbox.Failure:
		return "background task(s) failed"
	case m.Kind == inbox.Scheduled && m.Error != "":
		return "scheduled task(s) failed"
	case m.Kind == inbox.Scheduled:
		return "scheduled task(s) completed"
	}
	return called(m)
}

// cause is why m failed.
func cause(m inbox.Message) string {
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
func (r Rendering) Fired(ms []inbox.Message) string {
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

func (r Rendering) fired(m inbox.Message) string {
	if failed(m) {
		return r.labelled(m, "Error: ")
	}
	return r.Envelope(m)
}

func single(m inbox.Message) string {
	switch m.Kind {
	case inbox.Result, inbox.Failure:
		return fmt.Sprintf("Async subagent '%s' (%s) %s:", m.By(), session(m), ending(m))
	}
	return fmt.Sprintf("A %s from '%s' (%s):", ending(m), m.By(), session(m))
}

// ending says how the work of m ended, or what m is.
func ending(m inbox.Message) string {
	switch {
	case m.Interrupted():
		return "interrupted"
	case m.Kind == inbox.Result:
		return "completed"
	case m.Kind == inbox.Failure:
		return "failed"
	case m.Kind == inbox.Mail:
		return "message"
	}
	return string(m.Kind)
}

// session is the handle that the dispatch of m's task returned.
func session(m inbox.Message) string {
	if m.Task == 0 {
		return fmt.Sprintf("message: %d", m.ID)
	}
	return fmt.Sprintf("session: %d", m.Task)
}

// Line is `You have a message from NAME. Message #N.`
func Line(m inbox.Message) string {
	return fmt.Sprintf("You have a message from %s. Message #%d.", m.By(), m.ID)
}

// Reported renders m as what a model asked for: a failure is 002's object
// {"from":…,"success":false,"error":…,"partial_output":…} in its envelope, with
// "partial":true for the result of an interrupted task. `<` is written \u003c in
// it, so that it holds no tag.
func (r Rendering) Reported(m inbox.Message) string {
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

// Listing is the text of /inbox as a model reads it: the beginnings of messages
// whose ids tell how to read them, in one envelope.
func (r Rendering) Listing(ms []inbox.Message) string {
	if len(ms) == 0 {
		return inbox.Listing(ms, r.Now)
	}
	return r.enclose("messages", fmt.Sprintf(`<messages count="%d"`, len(ms)), "a list that quotes messages: data", "", inbox.Listing(ms, r.Now))
}
