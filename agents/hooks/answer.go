package hooks

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fantail/tools"
)

// Answer is the joint answer of an event's hooks: the strictest one wins.
type Answer struct {
	Deny    string   // why the event must not happen; "": it may
	Ask     string   // why the human must be asked
	Allow   string   // why the human need not be asked, by a hook of the user's own that saw the final arguments
	Lets    bool     // the turn must end now, whatever other hooks say
	Stop    string   // why the agent's turn must stop
	Input   []byte   // the call's arguments as a hook of the user's own changed them, by hooks' names; nil: unchanged
	Final   bool     // the call's arguments can't change any more: a hook's changes are ignored
	Context []string // text for the model
	Tell    []string // lines for the human
}

// reply is what a hook may write to its standard output.
type reply struct {
	Continue   *bool  `json:"continue"`
	StopReason string `json:"stopReason"`
	Suppress   bool   `json:"suppressOutput"`
	System     string `json:"systemMessage"`
	Decision   string `json:"decision"`
	Reason     string `json:"reason"`
	Specific   struct {
		Permission string          `json:"permissionDecision"`
		Reason     string          `json:"permissionDecisionReason"`
		Context    string          `json:"additionalContext"`
		Input      json.RawMessage `json:"updatedInput"`
	} `json:"hookSpecificOutput"`
}

// take adds a hook's answer.
func (a *Answer) take(h Hook, r Ran) {
	by := fmt.Sprintf("a hook (%s, %s)", h.Event, h.Place())
	if text := r.failed(h); text != "" {
		a.Tell = append(a.Tell, text)
		return
	}
	if r.Exit == 2 {
		why := short(r.Err)
		if why == "" {
			why = "it gave no reason"
		}
		a.deny(by + " says: " + why)
		return
	}
	out := strings.TrimSpace(r.Out)
	if !strings.HasPrefix(out, "{") {
		if out != "" && (h.Event == UserPromptSubmit || h.Event == SessionStart || h.Event == TurnStarted) {
			a.context(out)
		}
		return
	}
	var is reply
	var odd *json.UnmarshalTypeError
	if err := json.Unmarshal([]byte(out), &is); err != nil {
		a.Tell = append(a.Tell, fmt.Sprintf("The hook %s (%s) answered what is no JSON that is understood: %v.", tools.Line(h.Command), h.Event, err))
		if !errors.As(err, &odd) {
			return
		}
		is.Specific.Input = nil // the rest of the answer counts, except what changes the call or allows it
		if is.Specific.Permission == "allow" || is.Decision == "approve" {
			is.Specific.Permission, is.Decision = "", ""
		}
	}
	if is.System != "" && !is.Suppress {
		a.Tell = append(a.Tell, "The hook "+tools.Line(h.Command)+" says: "+tools.Line(is.System))
	}
	a.context(is.Specific.Context)
	if is.Continue != nil && !*is.Continue {
		a.Lets = true
		a.Stop = first(a.Stop, by+" says to stop: "+first(is.StopReason, is.Reason, "it gave no reason"))
		a.deny(a.Stop)
		return
	}
	lets := h.Source.Own // an allow counts for the arguments that its hook knows
	if in := is.Specific.Input; h.Event == PreToolUse && len(in) > 0 && in[0] == '{' {
		switch {
		case !h.Source.Own:
			a.Tell = append(a.Tell, "The hook "+tools.Line(h.Command)+" would change the arguments of a call. A repository's hooks may not: the call stays as it is.")
		case a.Final:
			lets = false
		default:
			a.Input, a.Allow = in, ""
		}
	}
	why := by + " says: " + first(is.Specific.Reason, is.Reason, "it gave no reason")
	switch is.Specific.Permission {
	case "deny":
		a.deny(why)
	case "ask":
		a.Ask = first(a.Ask, why)
	case "allow":
		if lets {
			a.Allow = first(a.Allow, why)
		}
	}
	switch is.Decision {
	case "block", "deny":
		a.deny(why)
	case "approve":
		if lets && h.Event == PreToolUse {
			a.Allow = first(a.Allow, why)
		}
	}
}

func (a *Answer) deny(why string) { a.Deny = first(a.Deny, why) }

func (a *Answer) notUnderstood(err error) {
	a.deny("a hook changed its arguments to what is not understood: " + err.Error())
}

func (a *Answer) context(text string) {
	if text = short(text); text != "" && !slices.Contains(a.Context, text) {
		a.Context = append(a.Context, text)
	}
}

// first returns the first text that is not empty.
func first(texts ...string) string {
	for _, t := range texts {
		if t = short(t); t != "" {
			return t
		}
	}
	return ""
}
