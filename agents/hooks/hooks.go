// Package hooks runs the hooks that people configure. A hook from a repository runs only after the user agreed to it.
package hooks

import (
	"fmt"
	"regexp"
	"time"
)

// Event is the name of an event.
type Event string

// Claude Code's events, by their names there.
const (
	PreToolUse       Event = "PreToolUse"       // a call is about to run: hooks may refuse it, or make it ask
	PostToolUse      Event = "PostToolUse"      // it ran
	UserPromptSubmit Event = "UserPromptSubmit" // the human's prompt is about to enter: hooks may refuse it
	SessionStart     Event = "SessionStart"     // the first turn of an agent that the human talks to, in this host
	Stop             Event = "Stop"             // a turn is about to end by itself: hooks may make it go on
	SubagentStop     Event = "SubagentStop"     // the same, of an agent in the background
	PreCompact       Event = "PreCompact"       // a conversation is about to be summarised: hooks may refuse that
	Notification     Event = "Notification"     // something waits for the human
)

// Events that other programs do not have. All but TurnStarted run after what they report.
const (
	TurnStarted   Event = "TurnStarted"
	TurnEnded     Event = "TurnEnded"
	MailDeposited Event = "MailDeposited"
	MailTaken     Event = "MailTaken"
	TaskFinished  Event = "TaskFinished"
	QuestionAsked Event = "QuestionAsked"
	AgentIdle     Event = "AgentIdle"
)

// Events returns all events, in the order in which they are listed.
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

// halts reports whether a hook of the event can stop the turn that it happens in.
func (e Event) halts() bool {
	switch e {
	case PreToolUse, PostToolUse, SessionStart, TurnStarted:
		return true
	}
	return false
}

// Source is where hooks are configured.
type Source struct {
	Name string // as people know it: ".claude/settings.json", "~/.claude/settings.json", "config.toml"
	Path string // of a settings file; "": the configuration
	Own  bool   // the user's, which need no agreement; otherwise the repository's
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

// lasts is the time-out of a hook that sets none; longest is the largest time-out.
const (
	lasts   = time.Minute
	longest = 10 * time.Minute
)

// Place returns where the hook is configured.
func (h Hook) Place() string {
	if h.Line == 0 {
		return h.Source.Name
	}
	return fmt.Sprintf("%s:%d", h.Source.Name, h.Line)
}

// matches reports whether the hook is for one of those names: a tool, by its name in either program, or another name
// that the event matches by.
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
	Place  string // file:line:column
	Text   string
	Guards bool // the unreadable part may hold a hook that refuses calls
}

func (f Fault) String() string { return f.Place + ": " + f.Text }

// Loaded is what a source holds.
type Loaded struct {
	Hooks   []Hook
	Faults  []Fault // mistakes in it
	Ignored []Fault // hooks that never run
	Off     bool    // no hooks run, from any source: the user's own settings say so
}

// HooksKind is the kind of parts that consist of hooks.
const HooksKind TrustKind = "hooks"

// Parts returns the hooks of repositories among these, as one part for each source and event.
func Parts(all []Hook) (parts []TrustPart) {
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
			parts = append(parts, TrustPart{Kind: HooksKind, Name: name})
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
