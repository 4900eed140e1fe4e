// Package permit answers one question: may this call run?
//
// Does: describe what a call would do ([Action]), decide it by mode and rules
// ([Gate]), and name the rule that "for this session" would add.
//
// Does not: ask anybody (an agent does), run anything, look at files. Words of a
// command are judged as they are written; where links lead, [Action.Leads] says,
// what git would run, [Action.Git], and how the files are that a rule is bound
// to, [Action.Files], all called outside the gate's lock. What agents did meanwhile their tools note in [Changes].
//
// Imports: tools/permit/bash, tools/permit/filenames, tools/permit/programs.
package permit

import "fmt"

// Mode says how much may happen without a question.
type Mode string

const (
	Ask         Mode = "ask"          // reading in the workspace is free; writing and commands ask
	AcceptEdits Mode = "accept-edits" // writing in the workspace is free too
	Plan        Mode = "plan"         // reading only; the rest is refused
	Yolo        Mode = "yolo"         // everything but the forbidden is free; reading secrets still asks
)

// ParseMode returns the mode of that name; the error lists the names.
func ParseMode(s string) (Mode, error) {
	switch m := Mode(s); m {
	case Ask, AcceptEdits, Plan, Yolo:
		return m, nil
	}
	return "", fmt.Errorf("parse permission mode %q: the modes are ask, accept-edits, plan, yolo", s)
}

// Cycle is what Shift+Tab does: ask, accept-edits, plan, ask; yolo goes to ask.
func (m Mode) Cycle() Mode {
	switch m {
	case Ask:
		return AcceptEdits
	case AcceptEdits:
		return Plan
	}
	return Ask
}

// Tightest is the mode for what no mode may loosen: m if that is tighter than ask.
func (m Mode) Tightest() Mode {
	if m == Plan {
		return Plan
	}
	return Ask
}

// Kind sorts actions by their effect.
type Kind string

const (
	Internal Kind = "internal" // push, run, queue, delegate, send, receive, check, ask_user: always free
	Note     Kind = "note"     // writing a memory document: free but in plan mode, and where no mode loosens
	Read     Kind = "read"
	Write    Kind = "write"
	Command  Kind = "command"
)

// Action is what a call would do, as the tool itself states it before it runs.
type Action struct {
	Tool      string
	Kind      Kind
	Title     string   // one line: "bash go test ./...", "edit main.go"
	Paths     []string // absolute and resolved, for Read and Write
	Outside   bool     // a path lies outside the workspace
	Sensitive string   // why a path is sensitive; "" if none is
	Guarded   bool     // Sensitive, and writing it asks in every mode
	Forbidden string   // why it may never run, whatever the mode; "" if it may
	Mode      Mode     // that it is judged in, and without the rules of the session; "": as the session says
	Strict    bool     // no rule covers it, and no mode is looser on it than ask
	Command   string   // the whole command, for Command
	Dir       string   // where it runs, for Command; the workspace, for Read and Write
	Diff      string   // unified diff, for Write

	// Leads says of a path of a command, or of what a pattern matches, where links
	// lead it if that is another place than it names; "" if nowhere. nil: nobody looks.
	Leads func(path string, pattern bool) string `json:"-"`

	// Git says which program git runs because the workspace's repository names it; ""
	// if none. reads: git only reads, and runs in the environment for that.
	Git func(reads bool) string `json:"-"`

	// Files says how the workspace's files are that a rule for a command is bound to,
	// by their paths from there. nil: nobody looks.
	Files func(wanted func(rel string) bool) map[string]Stamp `json:"-"`
}

// Decision is the gate's answer.
type Decision string

const (
	Allow    Decision = "allow"
	Deny     Decision = "deny"
	AskHuman Decision = "ask"
)

// Verdict is a decision and its reason. Rule is the rule that "for this
// session" would add, shown to the human; "" when no rule can cover the action
// (then only once or no are offered). Changed says why a rule that was given
// does not cover it any more; "" if there is none.
type Verdict struct {
	Decision Decision
	Reason   string
	Rule     Rule
	Changed  string
}

// Question is what the human is asked.
type Question struct {
	ID     int64
	Agent  int64
	Name   string // the agent's name
	Call   string // the call's id
	Action Action
	Rule   Rule   // "" : not offered
	Again  string // why it is asked though a rule was given for it; "" if there is none
}

// Choice is the human's answer.
type Choice string

const (
	Once    Choice = "once"
	Session Choice = "session"
	No      Choice = "no"
)

// Answer answers a question. Reason goes to the model with a No.
type Answer struct {
	Choice Choice
	Reason string
}
