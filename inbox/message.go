package inbox

import (
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"
)

// Kind is the kind of a message.
type Kind string

const (
	Result    Kind = "result"  // a task's final output
	Failure   Kind = "failure" // a task that did not complete
	Mail      Kind = "mail"    // written by an agent, a human or a script
	Reminder  Kind = "reminder"
	Scheduled Kind = "scheduled"
	Question  Kind = "question"
	Approval  Kind = "approval"
	Notice    Kind = "notice"
)

// Deliver is what the sender asked for.
type Deliver string

const (
	Hold Deliver = "hold" // waits until it is taken
	Next Deliver = "next" // at the start of the recipient's next turn
	Wake Deliver = "wake" // like Next, and an idle recipient starts a turn
)

// Priority orders `/messages next`.
type Priority string

const (
	Low    Priority = "low"
	Normal Priority = "normal"
	High   Priority = "high"
	Urgent Priority = "urgent"
)

// MaxBody is the largest body in bytes, and the largest of any other text of a
// message; a larger one is refused.
const MaxBody = 1 << 20

// MaxHops is how many messages agents may write in reply to each other, one after another, before the next is held
// until the human releases it: two that answer everything would never end.
const MaxHops = 8

// Message is one item of an inbox. On deposit ID, Created, Taken, TakenBy and Entry are ignored; empty Deliver,
// Priority and Kind mean Next, Normal, Mail. Its JSON form keeps every byte of its texts.
type Message struct {
	ID        int64
	Recipient int64
	Sender    int64  // 0: from outside
	From      string // the sender's name as it was then
	Kind      Kind
	Deliver   Deliver
	Priority  Priority
	Tags      []string
	Subject   string // a task's prompt, for results and failures
	Body      string // byte-exact; may be empty only for a failure
	Outcome   string // of a result or failure: completed failed killed …
	Error     string
	Partial   string // a failure's output so far
	Task      int64
	Turn      int64 // the turn of a result or failure; 0: none. Not part of its JSON form
	InReplyTo int64
	Thread    int64  // the first message of the thread it belongs to, itself if it began one
	Hops      int    // the messages in a row that agents wrote because of each other, itself the last; 0: it began with no agent's mail
	Key       string // the same key from the same sender to the same recipient is the same message
	Created   time.Time
	Taken     time.Time // zero: pending
	TakenBy   string
	Entry     int64 // the transcript's entry

	Size   int // bytes of its subject, body, error and partial output; set when it is read
	Folded int // how many older messages of its thread are folded into it; only in a folded list

	// The human's marks while it waited; not part of its JSON form.
	Muted     bool      // its thread is muted
	Pinned    bool      // it is pinned
	Dismissed time.Time // zero: never
	Snoozed   time.Time // when it is pending again; zero: it is not snoozed
	ByFork    bool      // a fork wrote it: no fork handles it
}

// Success reports whether a result or mail went well. It is false for failures, and for the result of an interrupted
// task, whose body is only partial.
func (m Message) Success() bool { return m.Kind != Failure && !m.Interrupted() }

// Endless reports whether m exceeds MaxHops, and so is held.
func (m Message) Endless() bool { return m.Hops > MaxHops }

// Interrupted reports whether a result is only the partial output of an interrupted task.
func (m Message) Interrupted() bool { return m.Kind == Result && m.Outcome == "interrupted" }

// Outside reports whether m was written outside of the program's agents: by a
// script, another program or a person in a shell.
func (m Message) Outside() bool { return m.Sender == 0 && m.Kind == Mail }

// written is a Message as JSON: times in milliseconds, no empty fields, and texts that are not UTF-8, which JSON can't
// hold, as base64 under raw.
type written struct {
	ID        int64             `json:"id,omitempty"`
	Recipient int64             `json:"recipient,omitempty"`
	Sender    int64             `json:"sender,omitempty"`
	From      string            `json:"from,omitempty"`
	Kind      Kind              `json:"kind,omitempty"`
	Deliver   Deliver           `json:"deliver,omitempty"`
	Priority  Priority          `json:"priority,omitempty"`
	Tags      []string          `json:"tags,omitempty"`
	Subject   string            `json:"subject,omitempty"`
	Body      string            `json:"body,omitempty"`
	Outcome   string            `json:"outcome,omitempty"`
	Error     string            `json:"error,omitempty"`
	Partial   string            `json:"partial,omitempty"`
	Task      int64             `json:"task,omitempty"`
	InReplyTo int64             `json:"in_reply_to,omitempty"`
	Thread    int64             `json:"thread,omitempty"`
	Hops      int               `json:"hops,omitempty"`
	Key       string            `json:"key,omitempty"`
	Created   int64             `json:"created,omitempty"`
	Taken     int64             `json:"taken,omitempty"`
	TakenBy   string            `json:"taken_by,omitempty"`
	Entry     int64             `json:"entry,omitempty"`
	Raw       map[string][]byte `json:"raw,omitempty"`
}

// texts are the fields of w that may hold any bytes, by their names in raw.
func (w *written) texts() map[string]*string {
	return map[string]*string{
		"from": &w.From, "subject": &w.Subject, "body": &w.Body, "error": &w.Error, "partial": &w.Partial, "key": &w.Key,
	}
}

// MarshalJSON writes m.
func (m Message) MarshalJSON() ([]byte, error) {
	w := written{
		ID: m.ID, Recipient: m.Recipient, Sender: m.Sender, From: m.From, Kind: m.Kind, Deliver: m.Deliver, Priority: m.Priority,
		Tags: m.Tags, Subject: m.Subject, Body: m.Body, Outcome: m.Outcome, Error: m.Error, Partial: m.Partial, Task: m.Task,
		InReplyTo: m.InReplyTo, Thread: m.Thread, Hops: m.Hops, Key: m.Key, Created: millis(m.Created), Taken: millis(m.Taken), TakenBy: m.TakenBy, Entry: m.Entry,
	}
	for name, text := range w.texts() {
		if !utf8.ValidString(*text) {
			if w.Raw == nil {
				w.Raw = make(map[string][]byte)
			}
			w.Raw[name], *text = []byte(*text), ""
		}
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads the output of MarshalJSON.
func (m *Message) UnmarshalJSON(b []byte) error {
	var w written
	if err := json.Unmarshal(b, &w); err != nil {
		return fmt.Errorf("read message: %w", err)
	}
	texts := w.texts()
	for name, raw := range w.Raw {
		if text := texts[name]; text != nil {
			*text = string(raw)
		}
	}
	*m = Message{
		ID: w.ID, Recipient: w.Recipient, Sender: w.Sender, From: w.From, Kind: w.Kind, Deliver: w.Deliver, Priority: w.Priority,
		Tags: w.Tags, Subject: w.Subject, Body: w.Body, Outcome: w.Outcome, Error: w.Error, Partial: w.Partial, Task: w.Task,
		InReplyTo: w.InReplyTo, Thread: w.Thread, Hops: w.Hops, Key: w.Key, Created: moment(w.Created), Taken: moment(w.Taken), TakenBy: w.TakenBy, Entry: w.Entry,
	}
	return nil
}

// millis is t in milliseconds; 0 for the zero time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
