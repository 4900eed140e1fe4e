package slash

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"fantail/inbox"
	"fantail/inbox/policy"
	"fantail/ui/composer"
	"fantail/ui/format"
	"fantail/ui/intent"
)

// The commands that set how mail is delivered.

// policyWords are the first words of /messages that set it.
var policyWords = []string{"mode", "from", "quiet", "resume"}

// runPolicy runs /messages mode, from, quiet and resume.
func runPolicy(in input, word string, rest []string) (intent.Intent, error) {
	switch {
	case word == "mode" && len(rest) == 0:
		return in.showPolicy(), nil
	case word == "mode":
		h, err := in.parseHandling(rest)
		if err != nil {
			return nil, err
		}
		if !h.set {
			return nil, in.wrong("put --idle-after after a mode: mode queue %s", rest[0])
		}
		return in.override(func(o *policy.Overrides) {
			o.Mode, o.ModeAfter = h.mode, h.idle
		}), nil
	case word == "from" && len(rest) == 2:
		m, err := modeOf(rest[1])
		if err != nil {
			return nil, err
		}
		if _, err := path.Match(rest[0], ""); err != nil {
			return nil, fmt.Errorf("%q is not a pattern: * matches any characters, ? matches one", rest[0])
		}
		return in.override(func(o *policy.Overrides) {
			if m == "" {
				delete(o.From, rest[0])
				return
			}
			if o.From == nil {
				o.From = map[string]policy.Mode{}
			}
			o.From[rest[0]] = m
		}), nil
	case word == "from":
		return nil, in.wrong("from needs a sender (or a pattern such as testing-*) and a mode")
	case word == "quiet":
		until, err := format.ParseUntil(rest, in.Now())
		if err != nil {
			return nil, in.wrong("%v", err)
		}
		return in.act(func(ctx context.Context) (string, error) {
			if err := in.Pool.Mail.BeQuiet(ctx, until); err != nil {
				return "", err
			}
			text := "Quiet. Mail waits silently. /messages resume to end"
			if !until.IsZero() {
				text = "Quiet until " + inbox.Clock(until, in.Now()) + ". Mail waits silently. /messages resume to end"
			}
			return text, nil
		}), nil
	case word == "resume" && len(rest) == 0:
		return in.act(func(ctx context.Context) (string, error) { return in.Pool.Mail.EndQuiet(ctx) }), nil
	}
	return nil, in.wrong("unexpected %q", in.rest)
}

// modeOf parses a mode. It returns "" for the word default.
func modeOf(word string) (policy.Mode, error) {
	if word == "default" {
		return "", nil
	}
	if m := policy.Mode(word); m.Known() {
		return m, nil
	}
	var modes []string
	for _, m := range policy.Modes {
		modes = append(modes, string(m))
	}
	return "", fmt.Errorf("there is no mode %q for messages: %s or default", word, strings.Join(modes, ", "))
}

// override changes the human's settings for an agent's mail, and shows what is in force.
func (in input) override(change func(o *policy.Overrides)) intent.Intent {
	name := in.t.Info.Name
	return in.act(func(ctx context.Context) (string, error) {
		p, err := in.Pool.Mail.Override(ctx, in.id, change)
		if err != nil {
			return "", err
		}
		return policyText(name, p), nil
	})
}

func (in input) showPolicy() intent.Intent {
	name := in.t.Info.Name
	return in.act(func(ctx context.Context) (string, error) {
		p, err := in.Pool.Mail.Policy(in.id)
		if err != nil {
			return "", err
		}
		return policyText(name, p), nil
	})
}

// policyText says how an agent's mail is delivered.
func policyText(name string, p policy.Policy) string {
	return "Mail rules for " + name + ", first match wins:\n" + p.String()
}

// configAgent runs /agent config message-handling MODE [--idle-after=30s].
func (in input) configAgent(args []string) (intent.Intent, error) {
	if len(args) == 0 {
		return in.showPolicy(), nil
	}
	if args[0] != "message-handling" {
		return nil, in.wrong("config has message-handling only, not %q", args[0])
	}
	if len(args) == 1 {
		return in.showPolicy(), nil
	}
	h, err := in.parseHandling(args[1:])
	if err != nil {
		return nil, err
	}
	return in.override(func(o *policy.Overrides) {
		if h.set {
			o.Default, o.IdleAfter = h.mode, 0
		}
		if h.idle != 0 {
			o.IdleAfter = h.idle
		}
	}), nil
}

// handling is a mode, a pause, or both.
type handling struct {
	mode policy.Mode // "": default
	set  bool        // a mode was given
	idle time.Duration
}

// parseHandling parses MODE [--idle-after=30s].
func (c command) parseHandling(args []string) (h handling, err error) {
	for _, w := range args {
		value, pause := strings.CutPrefix(w, "--idle-after=")
		switch {
		case pause:
			h.idle, err = policy.ParsePause(value)
		case !h.set:
			h.mode, err = modeOf(w)
			h.set = true
		default:
			err = c.wrong("unexpected %q", w)
		}
		if err != nil {
			return handling{}, err
		}
	}
	if h.idle != 0 && h.set && h.mode != policy.Queue {
		return handling{}, errors.New("--idle-after belongs to the mode queue: queue --idle-after=30s")
	}
	return h, nil
}

// modeHelp says what each mode does with arriving mail.
var modeHelp = map[policy.Mode]string{
	policy.Manual:     "it waits until you take it, or does as its sender asked",
	policy.Interrupt:  "it joins at the agent's next step, or starts a turn if the agent is idle",
	policy.Queue:      "it is handled when the agent is idle and you pause",
	policy.Fork:       "a temporary copy of the agent handles it",
	policy.UrgentOnly: "urgent mail interrupts, the rest is queued",
}

// pauseItem is the candidate after the mode queue.
var pauseItem = composer.Item{Insert: "--idle-after=30s", Help: "how long you must pause"}

// modeItems returns the candidates for a mode.
func modeItems() (items []composer.Item) {
	for _, m := range policy.Modes {
		items = append(items, composer.Item{Insert: string(m), Help: modeHelp[m]})
	}
	return append(items, composer.Item{Insert: "default", Help: "follow the other rules"})
}

// messagesArguments completes the arguments of /messages.
func messagesArguments(e Options, before []string, word string) (items []composer.Item) {
	switch {
	case len(before) == 0:
		return []composer.Item{
			{Insert: "next", Help: "start a turn with the most urgent one"},
			{Insert: "wait", Help: "take all, one turn each"},
			{Insert: "show", Help: "list them, or print one"},
			{Insert: "why", Help: "why one is waiting"},
			{Insert: "mute", Help: "mute its thread"},
			{Insert: "mode", Help: "how to handle mail from now on"},
			{Insert: "from", Help: "how to handle a sender's mail"},
			{Insert: "quiet", Help: "hold all mail"},
			{Insert: "resume", Help: "end quiet"},
		}
	case before[0] == "mode" && len(before) == 1, before[0] == "from" && len(before) == 2:
		return modeItems()
	case before[0] == "mode" && len(before) == 2 && before[1] == string(policy.Queue):
		return []composer.Item{pauseItem}
	case before[0] == "from" && len(before) == 1:
		for _, t := range e.Tabs.All {
			items = append(items, composer.Item{Insert: t.Info.Name})
		}
	case before[0] == "quiet" && len(before) == 1:
		return []composer.Item{{Insert: "until", Help: "a time such as 14:00"}, {Insert: "for", Help: "a while such as 2h"}}
	default:
		return actionArguments(e, before, word)
	}
	return items
}
