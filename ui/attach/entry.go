package attach

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"fantail/agents/history"
	"fantail/inbox"
)

// Entry is an entry of a transcript as JSON. More fields may be added.
type Entry struct {
	Seq      int64           `json:"seq"`
	At       time.Time       `json:"at"`
	Kind     string          `json:"kind"`
	By       string          `json:"by,omitempty"`
	Text     string          `json:"text,omitempty"`
	Tool     string          `json:"tool,omitempty"`
	Call     string          `json:"call,omitempty"`
	Title    string          `json:"title,omitempty"` // of a call, for people
	Input    json.RawMessage `json:"input,omitempty"`
	Error    bool            `json:"is_error,omitempty"`
	Command  string          `json:"command,omitempty"` // the human's own command
	Messages []Message       `json:"messages,omitempty"`
	Ended    string          `json:"outcome,omitempty"`
}

// Message is a message that entered the transcript.
type Message struct {
	ID   int64  `json:"id"`
	From string `json:"from"`
	Gist string `json:"gist"`
}

// recorded are the kinds of entries that record what was streamed.
var recorded = map[history.EntryKind]bool{
	history.EntryText: true, history.EntryThinking: true, history.EntryCall: true, history.EntrySummary: true,
}

// EntryOf returns an entry as JSON.
func EntryOf(e history.Entry) Entry {
	j := Entry{Seq: e.Seq, At: e.At, Kind: string(e.Kind), By: e.By, Text: e.Text}
	switch {
	case e.Call != nil:
		j.Call, j.Tool, j.Title = e.Call.ID, e.Call.Name, e.Call.Title
		if json.Valid(e.Call.Args) {
			j.Input = e.Call.Args
		}
	case e.Result != nil:
		j.Call, j.Tool, j.Text, j.Error = e.Result.ID, e.Result.Name, e.Result.Text, e.Result.Error
	case e.Shell != nil:
		j.Command, j.Text = e.Shell.Command, e.Shell.Output
	case e.End != nil:
		j.Ended, j.Text = string(e.End.Outcome), e.End.Error
	}
	for _, m := range e.Messages {
		j.Messages = append(j.Messages, Message{m.ID, m.From, m.Gist()})
	}
	return j
}

// shown is how many lines of a result people are shown.
const shown = 10

// Said returns an entry as people read it; "" if it has nothing for them.
func (e Entry) Said() string {
	switch history.EntryKind(e.Kind) {
	case history.EntryPrompt:
		return "\n› " + strings.ReplaceAll(strings.TrimSpace(e.Text), "\n", "\n  ") + "\n"
	case history.EntryText, history.EntrySummary:
		return e.Text
	case history.EntryNotice:
		return "· " + e.Text
	case history.EntryCall:
		return "● " + e.Tool + " " + e.Title
	case history.EntryResult:
		sign := "✓"
		if e.Error {
			sign = "✗"
		}
		lines := strings.Split(strings.TrimRight(e.Text, "\n"), "\n")
		more := ""
		if n := len(lines) - shown; n > 0 {
			lines, more = lines[:shown], fmt.Sprintf("\n    … %d more lines", n)
		}
		return "  " + sign + " " + strings.Join(lines, "\n    ") + more
	case history.EntryShell:
		return "! " + e.Command + "\n" + strings.TrimRight(e.Text, "\n")
	case history.EntryMessage:
		var from []string
		for _, m := range e.Messages {
			from = append(from, fmt.Sprintf("✉ #%d from %s: %s", m.ID, inbox.Label(m.From), inbox.Label(m.Gist)))
		}
		return strings.Join(from, "\n")
	case history.EntryEnded:
		if history.Outcome(e.Ended) != history.Completed {
			return "■ " + cmp.Or(e.Text, e.Ended)
		}
	}
	return ""
}
