// Package inbox is what waits for whom, taken exactly once.
//
// Does: write messages durably (deposit), mark them taken in the transaction
// that appends them to a transcript (take), keep the counts, ring the bell
// after the commit, and render messages for people and for models.
//
// Does not: start turns, know a screen, decide what an agent does with a
// message, or ever delete one.
//
// Imports: store.
package inbox

import "time"

// Kind says what a message is.
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

// Deliver is what the dispatcher asked for.
type Deliver string

const (
	Hold Deliver = "hold" // waits until somebody takes it
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

// MaxBody is the largest body in bytes; a larger one is refused.
const MaxBody = 1 << 20

// Message is one item of an inbox. On deposit ID, Created, Taken, TakenBy and
// Entry are ignored; empty Deliver, Priority and Kind mean Next, Normal, Mail.
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
	InReplyTo int64
	Key       string // the same key from the same sender to the same recipient is the same message
	Created   time.Time
	Taken     time.Time // zero: pending
	TakenBy   string
	Entry     int64 // the entry in which it entered a transcript
}

// Success reports whether a result or mail went well; false for failures.
func (m Message) Success() bool { return m.Kind != Failure }
