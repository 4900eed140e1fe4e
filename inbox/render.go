package inbox

import "time"

// Envelope renders m for a model: a block built by the host from the row (id,
// sender, kind, age, outcome), saying that the body is data, with the body
// escaped so that it cannot close the envelope. now gives the age. limit is the largest body in bytes
// (0: none); a longer body is cut to head and tail with a line that says how many bytes are left out and the id to read the rest with.
func Envelope(m Message, now time.Time, limit int) string { panic("contract") }

// Digest renders messages taken automatically at a turn's start, oldest first:
// the header `[System: N background task(s) completed]`, an empty line, the
// items (`**Task**:`/`**Result**:`, `**Task**:`/`**Error**:`, mail as `**Message** from NAME:`) separated by `---` lines, then one
// envelope per message. limit as in Envelope.
func Digest(ms []Message, now time.Time, limit int) string { panic("contract") }

// Line is `You have a message from NAME. Message #N.`
func Line(m Message) string { panic("contract") }

// Object is a failure as the JSON object
// {"from":…,"success":false,"error":…,"partial_output":…}.
func Object(m Message) string { panic("contract") }

// Listing is the text of `/inbox`: `Messages:` and a line
// `  - from: NAME (received 30s ago)` each; `No messages.` when there is none.
func Listing(ms []Message, now time.Time) string { panic("contract") }

// Age is a short age: 12s, 3m, 2h, 4d.
func Age(d time.Duration) string { panic("contract") }

// Label is the first 100 runes of s on one line.
func Label(s string) string { panic("contract") }
