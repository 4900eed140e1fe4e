package history

import (
	"encoding/json"
	"time"

	"fantail/inbox"
	"fantail/tools/files"
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
	OutBudget   Outcome = "budget" // a budget is used up
)

// EntryKind is the kind of an entry of a transcript.
type EntryKind string

const (
	EntryPrompt    EntryKind = "prompt"    // Text: what the human typed, or a sub-agent's task
	EntryMessage   EntryKind = "message"   // Messages, taken at a seam or by the human; Text: for the model; By
	EntryThinking  EntryKind = "thinking"  // Text, Opaque, Model
	EntryText      EntryKind = "text"      // Text: the model's answer, markdown; Model
	EntryCall      EntryKind = "call"      // Call
	EntryStarted   EntryKind = "started"   // Call.ID, Output, PGID, PStart: a command runs
	EntryDelegated EntryKind = "delegated" // Call.ID, Task: the call waits for that task to end
	EntryResult    EntryKind = "result"    // Result; Messages if the tool took mail
	EntryShell     EntryKind = "shell"     // Shell: a `!` command of the human's, and its output
	EntrySnapshot  EntryKind = "snapshot"  // Text: tells a fork's model what its parent did last
	EntryMemory    EntryKind = "memory"    // Memory, Text: a document that the entry Behind names
	EntryBriefed   EntryKind = "briefed"   // Briefs, Text: instruction files, when they enter or change
	EntryHost      EntryKind = "host"      // Text: the program to the model, for example that a reply was cut
	EntryNotice    EntryKind = "notice"    // Text: the program to the human; not sent to the model
	EntryEnded     EntryKind = "ended"     // End: a turn ended
	EntryCleared   EntryKind = "cleared"   // everything before it is no longer sent
	EntrySummary   EntryKind = "summary"   // Text, Summary, Model: sent in place of what it summarises

	// EntryWithdrawn says that the messages of the entry Withdraws were put back into the inbox: neither entry is
	// sent, and neither shows its messages. Text.
	EntryWithdrawn EntryKind = "withdrawn"
)

// Entry is one item of a transcript. Its Kind says which fields are set.
type Entry struct {
	Seq    int64     `json:"-"`
	Agent  int64     `json:"-"`
	Turn   int64     `json:"-"` // 0: appended between turns
	At     time.Time `json:"-"`
	Kind   EntryKind `json:"-"`
	Text   string    `json:"text,omitempty"`
	Opaque string    `json:"opaque,omitempty"`
	Model  string    `json:"model,omitempty"`
	// By says how messages were taken: check receive show next fire turn start delegate fork cli mcp; who asked for a
	// task from outside: cli mcp; of a prompt that came while a sub-agent worked: user. If an engine took them: tool.
	By        string          `json:"by,omitempty"`
	Call      *Call           `json:"call,omitempty"`
	Result    *Result         `json:"result,omitempty"`
	Messages  []inbox.Message `json:"messages,omitempty"`
	Tokens    int             `json:"tokens,omitempty"` // tokens of Messages in the context, estimated
	Spent     []Spent         `json:"spent,omitempty"`  // on each of several Messages; empty: nothing is known of any
	Withdraws int64           `json:"withdraws,omitempty"`
	Memory    *Recall         `json:"memory,omitempty"`
	Briefs    []Brief         `json:"briefs,omitempty"`
	Behind    int64           `json:"behind,omitempty"` // the entry it belongs to and is withdrawn with
	Shell     *Shell          `json:"shell,omitempty"`
	End       *End            `json:"end,omitempty"`
	Summary   *Summary        `json:"summary,omitempty"`
	Output    string          `json:"output,omitempty"` // file
	PGID      int             `json:"pgid,omitempty"`
	PStart    int64           `json:"pstart,omitempty"`
	Task      int64           `json:"task,omitempty"`

	Words *BlockText `json:"-"` // where Text comes from, while it is being recorded
}

// Spent is what the turn cost that a message reports.
type Spent struct {
	Millis int64 `json:"ms,omitempty"`
	Cost   int64 `json:"cost,omitempty"` // in millionths of a dollar; 0: unknown
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
	Title  string `json:"title,omitempty"` // what ran, if it is not what the model asked for
	Lacks  string `json:"lacks,omitempty"` // what its sandbox kept from a command that ended with exit code 0
	Diff   string `json:"diff,omitempty"`
	File   string `json:"file,omitempty"` // the whole output
	Exit   *int   `json:"exit,omitempty"`
	Millis int64  `json:"ms"`               // how long it ran
	Denied bool   `json:"denied,omitempty"` // the gate did not let it run, without asking

	Shows []files.Picture `json:"shows,omitempty"` // pictures, whose bytes are in files
}

// Shell is a command the human typed.
type Shell struct {
	Command string `json:"command"`
	Output  string `json:"output"`
	Exit    int    `json:"exit"`
	Millis  int64  `json:"ms"`
	File    string `json:"file,omitempty"`
	By      string `json:"by,omitempty"` // the name of the human who typed it, as in the audit; "": unknown
}

// End says how a turn ended.
type End struct {
	Outcome Outcome `json:"outcome"`
	Error   string  `json:"error,omitempty"`
	Millis  int64   `json:"ms"`
	Steps   int     `json:"steps"`
	Tokens  int     `json:"tokens"`
	Cost    int64   `json:"cost,omitempty"` // in millionths of a dollar; 0: unknown
}

// Summary is what an EntrySummary holds besides its Text, which the model wrote.
type Summary struct {
	UpTo   int64  `json:"up_to"`            // the last entry it replaces
	State  string `json:"state"`            // the running and queued tasks and unread messages at that time, from the program
	Prompt string `json:"prompt,omitempty"` // of the current turn, word for word
	Before int    `json:"before"`           // tokens of a request before and after, estimated
	After  int    `json:"after"`
	Auto   bool   `json:"auto,omitempty"` // it was made automatically
}
