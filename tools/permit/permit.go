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
// Imports: tools/permit/bash, tools/permit/filenames, tools/permit/programs, tools/permit/toolrule.
package permit

import (
	"fmt"
	"strings"
)

// Mode says how much may happen without a question.
type Mode string

const (
	Ask         Mode = "ask"          // reading in the workspace is free; writing and commands ask
	AcceptEdits Mode = "accept-edits" // writing in the workspace is free too
	Auto        Mode = "auto"         // and commands are free that run in the sandbox and name no secret
	Plan        Mode = "plan"         // reading only; the rest is refused
	Yolo        Mode = "yolo"         // everything but the forbidden is free, outside the sandbox; reading secrets still asks
)

// Modes are all modes, as lists for people name them.
func Modes() []Mode { return []Mode{Ask, AcceptEdits, Auto, Plan, Yolo} }

// Wall says what a sandbox under commands is worth.
type Wall int

const (
	NoWall   Wall = iota // there is none
	Detects              // some of what a command may not change is only seen afterwards
	Prevents             // a command can't
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

// Cycle is what Shift+Tab does: ask, accept-edits, auto over a sandbox that prevents, plan, ask;
// yolo goes to ask.
func (m Mode) Cycle(w Wall) Mode {
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
	Abroad   Kind = "abroad"   // handing work to an agent of another vendor
	Read     Kind = "read"
	Write    Kind = "write"
	Command  Kind = "command"
	Tamper   Kind = "tamper"  // leaving as it is what a command changed of what is protected
	Foreign  Kind = "foreign" // calling a tool that another program serves
	Widen    Kind = "widen"   // running a command once more with more than its sandbox lets it do
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
	Boxed     bool     `json:"-"` // the command would run inside the sandbox, if one works here
	Wants     Rule     // what would be added to its sandbox, for Widen
	Reads     bool     `json:",omitempty"` // for Foreign: it only reads, says a program that the user trusts to say so
	Input     string   `json:",omitempty"` // for Foreign: the whole arguments, as people read them
	Vendor    string   `json:",omitempty"` // whose agent gets the work, for Abroad
	About     string   `json:",omitempty"` // the agent in a file that gets the work, or the skill that is used

	// Leads says of a path of a command, or of what a pattern matches, where links
	// lead it if that is another place than it names; "" if nowhere. nil: nobody looks.
	Leads func(path string, pattern bool) string `json:"-"`

	// Git says which program git runs because the workspace's repository names it; ""
	// if none. reads: git only reads, and runs in the environment for that.
	Git func(reads bool) string `json:"-"`

	// Secrets says which secret a path of a command leads to, or what it finds there, as
	// [Reach] says; "" if none. What can't be told counts as one. nil: nobody looks.
	Secrets func(path string, how Reach) string `json:"-"`

	// Listed is the first file with a secret's name among those that a git of these words
	// lists, as Secrets'. nil: nobody looks.
	Listed func(words []string) string `json:"-"`

	// Strays says why a program is not the system's or the user's: the first of its name
	// stands in the workspace; "" if it is. nil: nobody looks.
	Strays func(program string) string `json:"-"`

	// Runs says of a path of a command which of what runs by itself stands there; "" if nothing does. nil: nobody looks.
	Runs func(path string) string `json:"-"`

	// Files says how the workspace's files are that a rule for a command is bound to,
	// by their paths from there. nil: nobody looks.
	Files func(wanted func(rel string) bool) map[string]Stamp `json:"-"`
}

// Reach is what is looked at of a path: what stands there, wherever links lead.
type Reach struct {
	Pattern bool                   // the path is a pattern: each file that it matches
	Below   bool                   // and all below it, without following links there
	Hidden  bool                   // of that, also what is hidden or what git ignores
	Only    func(name string) bool // of that, the files of such names; nil: all
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
// does not cover it any more; "" if there is none. Secret says which one a command
// may read by its words; "" if none. Free: the command runs outside the sandbox.
type Verdict struct {
	Decision Decision
	Reason   string
	Rule     Rule
	Secret   string
	Changed  string
	Free     bool
	Asked    bool   // for AskHuman: a rule of a file has it asked, whatever else allows it
	Guarded  bool   // for AskHuman: the command names what runs by itself, and may change it
	Auto     bool   // for AskHuman: mode auto, which the human may choose here, would allow it
	Vendor   string // for AskHuman: whose agent gets the work; "": nobody's
}

// Question is what the human is asked.
type Question struct {
	ID     int64
	Agent  int64
	Name   string // the agent's name
	Call   string // the call's id
	Action Action
	Rule   Rule   // "" : not offered
	Auto   bool   // mode auto is offered: it would allow this and what is like it
	Again  string // why it is asked though a rule was given for it; "" if there is none
}

// Choice is the human's answer.
type Choice string

const (
	Once    Choice = "once"
	Session Choice = "session"
	Project Choice = "project" // for this session and all later ones of the workspace
	No      Choice = "no"
	Freely  Choice = "freely" // this one, and all like it, in the sandbox: mode auto
)

// Answer answers a question. Reason goes to the model with a No.
type Answer struct {
	Choice Choice
	Reason string
}
