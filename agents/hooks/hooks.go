// Package hooks runs the user's programs where something happens to agents.
//
// Does: read hooks out of settings files and what the configuration says, with their places; run those that match, within
// their time, with what happened as JSON on standard input, in the form that Claude Code gives it; understand what they
// answer; run one of a repository only while the user agrees to exactly that; keep what each did last.
//
// Does not: ask anybody, decide what a call may do beyond making it stricter (a user's own hook may also answer what would
// merely ask), wait for a hook under a lock or in a transaction.
//
// Imports: agents/event, agents/history, agents/program, agents/trust, inbox, store, store/config,
// store/config/settings, tools, tools/permit, tools/sandbox.
package hooks

import (
	"fmt"
	"regexp"
	"time"

	"fantail/agents/trust"
)

// Event is what happens.
type Event string

// Those that Claude Code has, by its names.
const (
	PreToolUse       Event = "PreToolUse"       // a call is about to run: may be refused, or asked about
	PostToolUse      Event = "PostToolUse"      // it ran
	UserPromptSubmit Event = "UserPromptSubmit" // the human's prompt is about to enter: may be refused
	SessionStart     Event = "SessionStart"     // the first turn of an agent that the human talks to, in this host
	Stop             Event = "Stop"             // a turn is about to end by itself: may have to go on
	SubagentStop     Event = "SubagentStop"     // the same, of an agent in the background
	PreCompact       Event = "PreCompact"       // a conversation is about to be summarised: may be refused
	Notification     Event = "Notification"     // something waits for the human
)

// Those that are ours. All but TurnStarted run after what they tell of.
const (
	TurnStarted   Event = "TurnStarted"
	TurnEnded     Event = "TurnEnded"
	MailDeposited Event = "MailDeposited"
	MailTaken     Event = "MailTaken"
	TaskFinished  Event = "TaskFinished"
	QuestionAsked Event = "QuestionAsked"
	AgentIdle     Event = "AgentIdle"
)

// Events are all events, in the order in which they are listed.
func Events() []Event {
	return []Event{
		SessionStart, UserPromptSubmit, TurnStarted, PreToolUse, PostToolUse, PreCompact, Stop, SubagentStop, TurnEnded,
		Notification, QuestionAsked, AgentIdle, MailDeposited, MailTaken, TaskFinished,
	}
}

// waits reports whether the agent waits for the hooks of the event.
func (e Event) waits() bool {
	switch e {
	case PreToolUse, PostToolUse, UserPromptSubmit, SessionStart, Stop, SubagentStop, PreCompact, TurnStarted:
		return true
	}
	return false
}

// halts reports whether a hook of the event can stop the turn that it is told in.
func (e Event) halts() bool {
	switch e {
	case PreToolUse, PostToolUse, SessionStart, TurnStarted:
		return true
	}
	return false
}

// Source is where hooks stand.
type Source struct {
	Name string // as people know it: ".claude/settings.json", "~/.claude/settings.json", "config.toml"
	Path string // of a settings file; "": the configuration
	Own  bool   // the user's, which need no agreement; else the repository's
}

// Hook is one program that runs at an event.
type Hook struct {
	Source  Source
	Event   Event
	Matcher string
	Command string
	Timeout time.Duration
	Line    int // of its source; 0: not known

	match *regexp.Regexp // nil: all
}

// lasts is how long a hook that names no time-out may take; longest, how long any may.
const (
	lasts   = time.Minute
	longest = 10 * time.Minute
)

// Place is where the hook stands.
func (h Hook) Place() string {
	if h.Line == 0 {
		return h.Source.Name
	}
	return fmt.Sprintf("%s:%d", h.Source.Name, h.Line)
}

// matches reports whether the hook is for that: a tool, by the name that either program has for it, or another thing
// that its event names.
func (h Hook) matches(names ...string) bool {
	if h.match == nil {
		return true
	}
	for _, n := range names {
		if n != "" && h.match.MatchString(n) {
			return true
		}
	}
	return false
}

// Fault is something in a source that is not used.
type Fault struct {
	Place string // file:line:column
	Text  string
}

func (f Fault) String() string { return f.Place + ": " + f.Text }

// Loaded is what a source holds.
type Loaded struct {
	Hooks   []Hook
	Faults  []Fault // what is wrong in it
	Ignored []Fault // hooks that never run
	Off     bool    // no hooks run, of whatever source: the user's own settings say so
}

// HooksKind is the kind of the parts that hooks are to be trusted in.
const HooksKind trust.Kind = "hooks"

// Parts are the hooks of repositories among these, a part for each source and event.
func Parts(all []Hook) (parts []trust.Part) {
	at := map[string]int{}
	for _, h := range all {
		if h.Source.Own {
			continue
		}
		name := h.Source.Name + " " + string(h.Event)
		n, known := at[name]
		if !known {
			n = len(parts)
			at[name] = n
			parts = append(parts, trust.Part{Kind: HooksKind, Name: name})
		}
		p := &parts[n]
		what := string(h.Event)
		if h.Matcher != "" {
			what += " (" + h.Matcher + ")"
		}
		p.Text += fmt.Sprintf("%s runs: %s\n", what, h.Command)
		if h.Timeout != lasts {
			p.Text += fmt.Sprintf("  for at most %v\n", h.Timeout)
		}
		p.Commands = append(p.Commands, h.Command)
	}
	return parts
}
