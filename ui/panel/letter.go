package panel

import (
	"fmt"
	"strings"
	"time"

	"fantail/inbox"
	"fantail/ui/dialog"
	"fantail/ui/transcript"
	"fantail/ui/words"
)

// LetterFacts are what is known of a message beside its text.
func LetterFacts(m inbox.Message, thread []inbox.Message, names map[int64]string, now time.Time) []dialog.Row {
	var rows []dialog.Row
	add := func(label, text string) {
		if strings.TrimSpace(text) != "" {
			rows = append(rows, dialog.Row{Left: label, Right: text})
		}
	}
	add("from", words.From(m))
	add("to", names[m.Recipient])
	add("sent", m.Created.In(now.Location()).Format("Mon 2 Jan 2006 15:04:05")+", "+inbox.Age(now.Sub(m.Created))+" ago")
	add("is", m.Nature())
	add("tags", m.Labels())
	add("about", inbox.Label(m.Subject))
	if m.InReplyTo != 0 {
		add("reply to", fmt.Sprintf("#%d", m.InReplyTo))
	}
	add("thread", threadLine(m.ID, thread))
	for _, f := range []struct {
		is   bool
		word string
	}{{m.Pinned, "pinned"}, {m.Muted, "its thread is muted"}} {
		if f.is {
			add("mark", f.word)
		}
	}
	fate := m.Fate()
	if !m.Taken.IsZero() {
		fate += ", " + inbox.Age(now.Sub(m.Taken)) + " ago"
	}
	add("became", fate)
	add("size", transcript.Size(len(m.Text())))
	return rows
}

// LetterText is all that a message says.
func LetterText(m inbox.Message) string {
	if m.Subject != "" && inbox.Label(m.Subject) != strings.TrimSpace(m.Subject) { // the row shows its beginning
		return "About:\n" + m.Subject + "\n\n" + m.Text()
	}
	return m.Text()
}

// threadLine is `2 of 3 in a thread: #4 #7 #9`; "" for a message that is alone.
func threadLine(id int64, thread []inbox.Message) string {
	if len(thread) < 2 {
		return ""
	}
	ids, at := make([]int64, len(thread)), 0
	for i, m := range thread {
		if ids[i] = m.ID; m.ID == id {
			at = i + 1
		}
	}
	return fmt.Sprintf("%d of %d in a thread: %s", at, len(thread), words.Hashes(ids))
}
