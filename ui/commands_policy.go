package ui

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/inbox"
	"fantail/ui/composer"
)

// Commands that say how mail is delivered.

// policyWords are the first words of /messages that do.
var policyWords = []string{"mode", "from", "quiet", "resume"}

// runPolicy is /messages mode, from, quiet and resume.
func runPolicy(a *App, in input, word string, rest []string) (tea.Cmd, error) {
	switch {
	case word == "mode" && len(rest) == 0:
		return a.showPolicy(in), nil
	case word == "mode":
		h, err := in.parseHandling(rest)
		if err != nil {
			return nil, err
		}
		if !h.set {
			return nil, in.wrong("--idle-after stands behind a mode: mode queue %s", rest[0])
		}
		return a.override(in, func(o *inbox.Overrides) {
			o.Mode, o.ModeAfter = h.mode, h.idle
		}), nil
	case word == "from" && len(rest) == 2:
		m, err := modeOf(rest[1])
		if err != nil {
			return nil, err
		}
		if _, err := path.Match(rest[0], ""); err != nil {
			return nil, fmt.Errorf("%q is no pattern: * stands for any characters, ? for one", rest[0])
		}
		return a.override(in, func(o *inbox.Overrides) {
			if m == "" {
				delete(o.From, rest[0])
				return
			}
			if o.From == nil {
				o.From = map[string]inbox.Mode{}
			}
			o.From[rest[0]] = m
		}), nil
	case word == "from":
		return nil, in.wrong("from needs a sender (or a pattern such as testing-*) and a mode")
	case word == "quiet":
		until, err := parseUntil(rest, a.o.Now())
		if err != nil {
			return nil, in.wrong("%v", err)
		}
		return a.act(in.here, in.text, func() (string, error) {
			if err := a.pool.BeQuiet(a.ctx, until); err != nil {
				return "", err
			}
			text := "Quiet: mail is held, nothing rings and no message starts a turn, until /messages resume"
			if !until.IsZero() {
				text = "Quiet until " + inbox.Clock(until, a.o.Now()) + ": mail is held, nothing rings and no message starts a turn; /messages resume ends it sooner"
			}
			return text, nil
		}), nil
	case word == "resume" && len(rest) == 0:
		return a.act(in.here, in.text, func() (string, error) { return a.pool.EndQuiet(a.ctx) }), nil
	}
	return nil, in.wrong("%q is not understood", in.rest)
}

// modeOf reads a mode; "" for default.
func modeOf(word string) (inbox.Mode, error) {
	if word == "default" {
		return "", nil
	}
	if m := inbox.Mode(word); m.Known() {
		return m, nil
	}
	var modes []string
	for _, m := range inbox.Modes {
		modes = append(modes, string(m))
	}
	return "", fmt.Errorf("there is no mode %q for messages: %s or default", word, strings.Join(modes, ", "))
}

// override changes what the human said about an agent's mail, and shows what holds.
func (a *App) override(in input, change func(o *inbox.Overrides)) tea.Cmd {
	name := in.t.Info.Name
	return a.act(in.here, in.text, func() (string, error) {
		p, err := a.pool.Override(a.ctx, in.id, change)
		if err != nil {
			return "", err
		}
		return policyText(name, p), nil
	})
}

func (a *App) showPolicy(in input) tea.Cmd {
	name := in.t.Info.Name
	return a.act(in.here, in.text, func() (string, error) {
		p, err := a.pool.Policy(in.id)
		if err != nil {
			return "", err
		}
		return policyText(name, p), nil
	})
}

// policyText says how an agent's mail is delivered.
func policyText(name string, p inbox.Policy) string {
	return "Mail of " + name + ", the first that fits decides:\n" + p.String()
}

// configAgent is /agent config message-handling MODE [--idle-after=30s].
func (a *App) configAgent(in input, words []string) (tea.Cmd, error) {
	if len(words) == 0 {
		return a.showPolicy(in), nil
	}
	if words[0] != "message-handling" {
		return nil, in.wrong("config knows message-handling only, not %q", words[0])
	}
	if len(words) == 1 {
		return a.showPolicy(in), nil
	}
	h, err := in.parseHandling(words[1:])
	if err != nil {
		return nil, err
	}
	return a.override(in, func(o *inbox.Overrides) {
		if h.set {
			o.Default, o.IdleAfter = h.mode, 0
		}
		if h.idle != 0 {
			o.IdleAfter = h.idle
		}
	}), nil
}

// handling is a mode, how long a pause has to be, or both.
type handling struct {
	mode inbox.Mode // "": default
	set  bool       // a mode was given
	idle time.Duration
}

// parseHandling reads `MODE [--idle-after=30s]` of a command.
func (c command) parseHandling(words []string) (h handling, err error) {
	for _, w := range words {
		value, pause := strings.CutPrefix(w, "--idle-after=")
		switch {
		case pause:
			h.idle, err = inbox.ParsePause(value)
		case !h.set:
			h.mode, err = modeOf(w)
			h.set = true
		default:
			err = c.wrong("%q is not understood", w)
		}
		if err != nil {
			return handling{}, err
		}
	}
	if h.idle != 0 && h.set && h.mode != inbox.Queue {
		return handling{}, errors.New("--idle-after belongs to the mode queue: queue --idle-after=30s")
	}
	return h, nil
}

// parseUntil reads `until 14:00`, `for 2h`, and both without their first word, as a
// time to come; nothing is the zero time.
func parseUntil(words []string, now time.Time) (time.Time, error) {
	switch {
	case len(words) == 0:
		return time.Time{}, nil
	case len(words) == 1 && (words[0] == "until" || words[0] == "for"):
		return time.Time{}, errors.New("until when? It is written until 14:00 or for 2h")
	}
	return when(strings.Join(words, " "), now)
}

// modeHelp says what the modes do with mail that arrives.
var modeHelp = map[inbox.Mode]string{
	inbox.Manual:     "waits until you take it, or as its sender asked",
	inbox.Interrupt:  "enters at the agent's next step; starts a turn if it is idle",
	inbox.Queue:      "is handled once the agent is idle and you pause",
	inbox.Fork:       "a temporary copy of the agent handles it",
	inbox.UrgentOnly: "urgent mail interrupts, the rest is queued",
}

// pauseItem is the candidate behind the mode queue.
var pauseItem = composer.Item{Insert: "--idle-after=30s", Help: "how long no key must have come"}

// modeItems are candidates for a mode.
func modeItems() (items []composer.Item) {
	for _, m := range inbox.Modes {
		items = append(items, composer.Item{Insert: string(m), Help: modeHelp[m]})
	}
	return append(items, composer.Item{Insert: "default", Help: "as the rest of the policy says"})
}

// messagesArguments are candidates for the words of /messages.
func (a *App) messagesArguments(before []string) (items []composer.Item) {
	switch {
	case len(before) == 0:
		return []composer.Item{
			{Insert: "next", Help: "a turn with the most urgent one"},
			{Insert: "wait", Help: "one turn each with all"},
			{Insert: "show", Help: "list them, or print one"},
			{Insert: "why", Help: "what decides about one, and when it enters"},
			{Insert: "mute", Help: "hold the thread of one silently"},
			{Insert: "mode", Help: "how mail is handled from now on"},
			{Insert: "from", Help: "how a sender's mail is handled"},
			{Insert: "quiet", Help: "hold all mail"},
			{Insert: "resume", Help: "end quiet"},
		}
	case before[0] == "mode" && len(before) == 1, before[0] == "from" && len(before) == 2:
		return modeItems()
	case before[0] == "mode" && len(before) == 2 && before[1] == string(inbox.Queue):
		return []composer.Item{pauseItem}
	case before[0] == "from" && len(before) == 1:
		for _, t := range a.tabs.All {
			items = append(items, composer.Item{Insert: t.Info.Name})
		}
	case before[0] == "quiet" && len(before) == 1:
		return []composer.Item{{Insert: "until", Help: "a time such as 14:00"}, {Insert: "for", Help: "a while such as 2h"}}
	default:
		return shelfArguments(before)
	}
	return items
}
