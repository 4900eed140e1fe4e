// Package permission decides whether a tool call may run: by mode, by people's rules, and by this session's approvals.
//
// It asks no questions and touches no file. It also reads rules in the form that several tools share, such as Bash(git
// push *).
package permission

import (
	"fmt"
	"strings"
)

// Mode says which actions need no question.
type Mode string

const (
	Ask         Mode = "ask"          // reading in the workspace is free; writing and commands ask
	AcceptEdits Mode = "accept-edits" // writing in the workspace is free too
	Auto        Mode = "auto"         // and commands are free that run in the sandbox and name no secret
	Plan        Mode = "plan"         // reading only; the rest is refused
	Yolo        Mode = "yolo"         // all but forbidden actions are free, outside the sandbox; reading secrets asks
)

// Modes are all modes, in the order of lists for people.
func Modes() []Mode { return []Mode{Ask, AcceptEdits, Auto, Plan, Yolo} }

// Sandbox says what the sandbox for commands is worth.
type Sandbox int

const (
	NoSandbox Sandbox = iota // there is none
	Detects                  // some forbidden changes are only seen afterwards
	Prevents                 // a command can't
)

// ParseMode returns the mode of that name; the error lists the names.
func ParseMode(s string) (Mode, error) {
	var names []string
	for _, m := range Modes() {
		if string(m) == s {
			return m, nil
		}
		names = append(names, string(m))
	}
	return "", fmt.Errorf("parse permission mode %q: the modes are %s", s, strings.Join(names, ", "))
}

// Cycle returns the next mode for Shift+Tab: ask, accept-edits, auto over a sandbox that prevents, plan, ask; yolo goes
// to ask.
func (m Mode) Cycle(w Sandbox) Mode {
	switch {
	case m == Ask:
		return AcceptEdits
	case m == AcceptEdits && w == Prevents:
		return Auto
	case m == AcceptEdits, m == Auto:
		return Plan
	}
	return Ask
}

// Tighter is the mode that allows less of the two.
func (m Mode) Tighter(o Mode) Mode {
	for _, tight := range []Mode{Plan, Ask, AcceptEdits, Auto} {
		if m == tight || o == tight {
			return tight
		}
	}
	return m
}

// Tightest is the mode for calls that no mode may loosen: m if it is tighter than ask, else ask.
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
	Abroad   Kind = "abroad"   // handing work to an agent of another vendor
	Read     Kind = "read"
	Write    Kind = "write"
	Command  Kind = "command"
	Tamper   Kind = "tamper"  // keeping a command's changes of protected files
	Foreign  Kind = "foreign" // calling a tool that another program serves
	Widen    Kind = "widen"   // running a command again with more rights than its sandbox
)

// Action is what a call would do, as the tool itself states before it runs.
type Action struct {
	Tool      string
	Kind      Kind
	Title     string   // one line: "bash go test ./...", "edit main.go"
	Paths     []string // absolute and resolved, for Read and Write
	Outside   bool     // a path lies outside the workspace
	Sensitive string   // why a path is sensitive; "" if none is
	Guarded   bool     // Sensitive, and writing it asks in every mode
	Forbidden string   // why it may never run, whatever the mode; "" if it may
	Mode      Mode     // the mode to judge it in, without the session's rules; "": the session's
	Strict    bool     // no rule covers it, and no mode is looser on it than ask
	Command   string   // the whole command, for Command
	Dir       string   // where it runs, for Command; the workspace, for Read and Write
	Diff      string   // unified diff, for Write
	Boxed     bool     `json:"-"` // the command would run in a sandbox, if one works here
	Wants     Rule     // the rule that would widen its sandbox, for Widen
	Server    string   `json:",omitempty"` // for Foreign: the program, as the user calls it
	Calls     string   `json:",omitempty"` // for Foreign: its tool, as the program calls it
	Reads     bool     `json:",omitempty"` // for Foreign: a trusted program says that it only reads
	Input     string   `json:",omitempty"` // for Foreign: the whole arguments, as people read them
	Vendor    string   `json:",omitempty"` // whose agent gets the work, for Abroad
	About     string   `json:",omitempty"` // the agent in a file that gets the work, or the skill that is used

	// Leads says where links lead a path of a command, or a match of a pattern, if it is another place than the path
	// names; else "". nil: no check.
	Leads func(path string, pattern bool) string `json:"-"`

	// Git says which program git runs because the workspace's repository names it; "" if none. reads: git only reads,
	// and runs in the environment for that.
	Git func(reads bool) string `json:"-"`

	// Secrets says which secret a path of a command leads to, or holds, as [Reach] says; "" if none. Doubt counts as
	// one. nil: no check.
	Secrets func(path string, how Reach) string `json:"-"`

	// Listed is the first file with a secret's name among those that a git command of these words lists, as from
	// Secrets. nil: no check.
	Listed func(words []string) string `json:"-"`

	// Strays says why a program is not the system's or the user's: the first of its name is in the workspace; else "".
	// nil: no check.
	Strays func(program string) string `json:"-"`

	// Runs says why the file at a path of a command runs by itself; "" if it does not. nil: no check.
	Runs func(path string) string `json:"-"`

	// Writing returns the action of a tool that writes the file at a path of a command. nil: no check.
	Writing func(path string) (Action, error) `json:"-"`

	// Files returns the state of the workspace's files that a rule for a command is bound to, by their paths from
	// there. nil: no check.
	Files func(wanted func(rel string) bool) map[string]Stamp `json:"-"`
}

// Reach says which files of a path to check. Links are followed.
type Reach struct {
	Pattern bool                   // the path is a pattern: each file that it matches
	Below   bool                   // and everything below it, without following links there
	Hidden  bool                   // also hidden files there, and those that git ignores
	Only    func(name string) bool // of those, the files with such names; nil: all
	Dir     string                 // that the command runs in; "": the workspace
	Boxed   bool                   // in its sandbox, which has its own temporary directory
}

// Decision is the gate's answer.
type Decision string

const (
	Allow    Decision = "allow"
	Deny     Decision = "deny"
	AskHuman Decision = "ask"
)

// Verdict is a decision and its reason. Rule is the rule that "for this session" would add, shown to the human; "" when
// no rule can cover the action (then only once or no are offered). Changed says why an existing rule does not cover it
// any more; "" if there is none. Secret is the one that a command may read by its words; "" if none. Free: the command
// runs outside the sandbox.
type Verdict struct {
	Decision Decision
	Reason   string
	Rule     Rule
	Secret   string
	Changed  string
	Free     bool
	Asked    bool   // for AskHuman: an ask rule of a file applies, whatever else allows it
	Guarded  bool   // for AskHuman: the command names a file that runs by itself, and may change it
	Auto     bool   // for AskHuman: mode auto, which the human may choose here, would allow it
	Edits    bool   // for AskHuman: mode accept-edits would allow it
	Vendor   string // for AskHuman: whose agent gets the work, or ""
}

// Question is a question to the human.
type Question struct {
	ID     int64
	Agent  int64
	Name   string // the agent's name
	Call   string // the call's id
	Action Action
	Rule   Rule   // "" : not offered
	Auto   bool   // mode auto is offered: it would allow this and similar commands
	Edits  bool   // mode accept-edits is offered: it would allow this and similar edits
	Again  string // why it is asked in spite of a rule; "" if there is none

	Editable bool   // the human may change the command
	Was      string // the command that the agent asked for, if the human changed it; "": they did not
	Draft    string // the human's change that may not run, as Again says; "": there is none
}

// Choice is the human's answer.
type Choice string

const (
	Once    Choice = "once"
	Session Choice = "session"
	Project Choice = "project" // for this session and all later ones of the workspace
	No      Choice = "no"
	Freely  Choice = "freely" // this one, and similar ones, in the sandbox: mode auto
	Edits   Choice = "edits"  // this one, and all edits in the workspace: mode accept-edits
	Edited  Choice = "edited" // not this command but another one, which is judged and asked about in its place
)

// Answer answers a question. Reason goes to the model with a No. Command is the other one of an Edited.
type Answer struct {
	Choice  Choice
	Reason  string
	Command string
}
