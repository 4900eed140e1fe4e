// Package history is transcripts: what an agent was told, said and did, in the order
// of its entries.
//
// Does: say what an entry is, append entries in a transaction (with the memory
// documents they name and without keys), read them, make the messages of a
// request from them, estimate tokens, say what an agent said last.
//
// Does not: decide what enters a conversation or when, know agents in memory, show
// anything.
//
// Imports: agents/llm, agents/memory, inbox, store, tools/secret.
package history

import (
	"encoding/json"
	"time"

	"fantail/inbox"
)

// Outcome is how a turn or a task ended.
type Outcome string

const (
	Completed   Outcome = "completed"
	Interrupted Outcome = "interrupted"
	OutFailed   Outcome = "failed"
	TimedOut    Outcome = "timed_out"
	OutKilled   Outcome = "killed"
	OutCrashed  Outcome = "crashed"
)

// EntryKind sorts the entries of a transcript.
type EntryKind string

const (
	EntryPrompt    EntryKind = "prompt"    // Text: what the human typed, or a sub-agent's task
	EntryMessage   EntryKind = "message"   // Messages, taken at a seam or by the human; Text: as the model reads them, "": it does not; By
	EntryThinking  EntryKind = "thinking"  // Text, Opaque, Model
	EntryText      EntryKind = "text"      // Text: the model's answer, markdown; Model
	EntryCall      EntryKind = "call"      // Call
	EntryStarted   EntryKind = "started"   // Call.ID, Output, Group: a command runs
	EntryDelegated EntryKind = "delegated" // Call.ID, Task: the call waits for that task's end
	EntryResult    EntryKind = "result"    // Result; Messages if the tool took mail
	EntryShell     EntryKind = "shell"     // Shell: the human's own `!` command and its output
	EntrySnapshot  EntryKind = "snapshot"  // Text: the program to a fork's model, what its parent did last
	EntryMemory    EntryKind = "memory"    // Memory, Text: a document that the entry Behind names, or that there is none
	EntryHost      EntryKind = "host"      // Text: the program to the model, for instance that a reply was cut
	EntryNotice    EntryKind = "notice"    // Text: the program to the human; not sent to the model
	EntryEnded     EntryKind = "ended"     // End: a turn ended
	EntryCleared   EntryKind = "cleared"   // what stands before is no longer sent
	EntrySummary   EntryKind = "summary"   // Text, Summary, Model: sent in place of what stands before

	// EntryWithdrawn says that the messages of the entry Withdraws went back
	// into the inbox: neither is sent, and neither shows its messages. Text.
	EntryWithdrawn EntryKind = "withdrawn"
)

// Entry is one item of a transcript. The fields its Kind names are set.
type Entry struct {
	Seq       int64           `json:"-"`
	Agent     int64           `json:"-"`
	Turn      int64           `json:"-"` // 0: appended at rest
	At        time.Time       `json:"-"`
	Kind      EntryKind       `json:"-"`
	Text      string          `json:"text,omitempty"`
	Opaque    string          `json:"opaque,omitempty"`
	Model     string          `json:"model,omitempty"`
	By        string          `json:"by,omitempty"` // who took messages: check receive show next fire turn start delegate fork cli mcp; who outside asked for a task: cli mcp; of a prompt that came while a sub-agent worked: user
	Call      *Call           `json:"call,omitempty"`
	Result    *Result         `json:"result,omitempty"`
	Messages  []inbox.Message `json:"messages,omitempty"`
	Tokens    int             `json:"tokens,omitempty"` // what Messages cost the context, estimated
	Withdraws int64           `json:"withdraws,omitempty"`
	Memory    *Recall         `json:"memory,omitempty"`
	Behind    int64           `json:"behind,omitempty"` // the entry it belongs to and goes with
	Shell     *Shell          `json:"shell,omitempty"`
	End       *End            `json:"end,omitempty"`
	Summary   *Summary        `json:"summary,omitempty"`
	Output    string          `json:"output,omitempty"` // file
	PGID      int             `json:"pgid,omitempty"`
	PStart    int64           `json:"pstart,omitempty"`
	Task      int64           `json:"task,omitempty"`

	Words *Words `json:"-"` // where Text comes from, while it is being recorded
}

// Call is a model's tool call.
type Call struct {
	ID    string          `json:"id"` // the provider's; unique within the agent
	Name  string          `json:"name"`
	Args  json.RawMessage `json:"args"`
	Title string          `json:"title"` // one line for people
}

// Result answers the call with that ID.
type Result struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Text   string `json:"text"`
	Error  bool   `json:"error,omitempty"`
	Diff   string `json:"diff,omitempty"`
	File   string `json:"file,omitempty"` // the whole output
	Exit   *int   `json:"exit,omitempty"`
	Millis int64  `json:"ms"` // how long it ran
}

// Shell is a command of the human's own.
type Shell struct {
	Command string `json:"command"`
	Output  string `json:"output"`
	Exit    int    `json:"exit"`
	Millis  int64  `json:"ms"`
	File    string `json:"file,omitempty"`
}

// End tells how a turn ended.
type End struct {
	Outcome Outcome `json:"outcome"`
	Error   string  `json:"error,omitempty"`
	Millis  int64   `json:"ms"`
	Steps   int     `json:"steps"`
	Tokens  int     `json:"tokens"`
}

// Summary is what an EntrySummary has beside its Text, the model's words.
type Summary struct {
	UpTo   int64  `json:"up_to"`            // the last entry it stands for
	State  string `json:"state"`            // what ran, was queued and unread then, as the program knows it
	Prompt string `json:"prompt,omitempty"` // of the turn that goes on, word for word
	Before int    `json:"before"`           // tokens of a request before and after, about
	After  int    `json:"after"`
	Auto   bool   `json:"auto,omitempty"` // nobody asked for it
}
