package ui

import (
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/inbox"
	"fantail/ui/composer"
	"fantail/ui/words"
)

// What a human does with the messages of an inbox by name.

// shelfVerbs are the words behind /inbox that do something, and what they are given.
var shelfVerbs = [...]composer.Item{
	{Insert: "archive", Label: "archive N…", Help: "put messages away; no conversation gets them"},
	{Insert: "snooze", Label: "snooze N WHEN", Help: "put one away until 30m, 14:00, tomorrow, monday 10:00"},
	{Insert: "restore", Label: "restore N…", Help: "bring back what was archived or snoozed"},
	{Insert: "pin", Label: "pin N [off]", Help: "keep one on top"},
	{Insert: "archived", Label: "archived", Help: "list what was archived"},
	{Insert: "snoozed", Label: "snoozed", Help: "list what is snoozed"},
	{Insert: "search", Label: "search WORDS", Help: "find messages, those that were taken too"},
	{Insert: "undo", Label: "undo", Help: "put back those taken last"},
}

// shelve carries out /inbox with one of those words; ok is false if it is none.
func (a *App) shelve(in input) (cmd tea.Cmd, ok bool, err error) {
	verb, rest := firstWord(in.rest)
	words := strings.Fields(rest)
	switch verb {
	case "archive", "restore":
		cmd, err = a.putAside(in, verb, words)
	case "snooze":
		cmd, err = a.snooze(in, words)
	case "pin":
		cmd, err = a.pin(in, words)
	case "archived", "snoozed":
		s := inbox.Shelf{Recipient: in.id, Of: map[string]string{"archived": inbox.Archived, "snoozed": inbox.Snoozed}[verb]}
		if words, s.Before, err = in.pageBefore(words); err == nil && len(words) > 0 {
			err = in.wrong("%q is not understood", strings.Join(words, " "))
		}
		cmd = a.shelf(in, s, "/inbox "+verb, "No message is "+verb+".")
	case "search":
		s := inbox.Shelf{Recipient: in.id, Of: inbox.Everything}
		if words, s.Before, err = in.pageBefore(words); err == nil && len(words) == 0 {
			err = in.wrong("search for which words?")
		}
		s.Search = strings.Join(words, " ")
		cmd = a.shelf(in, s, "/inbox search "+s.Search, "No message of this inbox has these words: "+s.Search)
	default:
		return nil, false, nil
	}
	if err != nil {
		cmd = nil
	}
	return cmd, true, err
}

// pageBefore takes before=N from the end of words.
func (c command) pageBefore(words []string) (rest []string, before int64, err error) {
	if n := len(words); n > 0 {
		if id, ok := strings.CutPrefix(words[n-1], "before="); ok {
			before, err = c.messageID(id)
			words = words[:n-1]
		}
	}
	return words, before, err
}

// messageIDs reads several.
func (c command) messageIDs(words []string) (ids []int64, err error) {
	for _, w := range words {
		id, err := c.messageID(strings.TrimSuffix(w, ","))
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func (a *App) putAside(in input, verb string, args []string) (tea.Cmd, error) {
	ids, err := in.messageIDs(args)
	if err == nil && len(ids) == 0 {
		err = in.wrong("%s which messages? Say their numbers", verb)
	}
	if err != nil {
		return nil, err
	}
	return a.act(in.here, in.text, func() (string, error) {
		do, done := a.pool.Archive, "Archived "+words.Hashes(ids)+"; /inbox restore brings back what /inbox archived lists"
		if verb == "restore" {
			do, done = a.pool.Restore, "Back in the inbox: "+words.Hashes(ids)
		}
		_, err := do(a.ctx, in.id, ids)
		return done, err
	}), nil
}

func (a *App) snooze(in input, words []string) (tea.Cmd, error) {
	if len(words) < 2 {
		return nil, in.wrong("snooze needs a number and a time: /inbox snooze 12 30m")
	}
	id, err := in.messageID(words[0])
	if err != nil {
		return nil, err
	}
	until, err := when(strings.Join(words[1:], " "), a.o.Now())
	if err != nil {
		return nil, err
	}
	return a.act(in.here, in.text, func() (string, error) {
		err := a.pool.Snooze(a.ctx, in.id, []int64{id}, until)
		return fmt.Sprintf("Message #%d is snoozed until %s", id, inbox.Clock(until, a.o.Now())), err
	}), nil
}

func (a *App) pin(in input, words []string) (tea.Cmd, error) {
	id, on, err := in.numberOff("pin", words)
	if err != nil {
		return nil, err
	}
	return a.act(in.here, in.text, func() (string, error) {
		if err := a.pool.Pin(a.ctx, in.id, id, on); err != nil || on {
			return fmt.Sprintf("Message #%d is pinned: it stays on top until it is taken; /inbox pin %d off ends that", id, id), err
		}
		return fmt.Sprintf("Message #%d is not pinned any more", id), nil
	}), nil
}

func (a *App) mute(in input, args []string) (tea.Cmd, error) {
	id, on, err := in.numberOff("mute", args)
	if err != nil {
		return nil, err
	}
	return a.act(in.here, in.text, func() (string, error) {
		n, err := a.pool.Mute(a.ctx, in.id, id, on)
		switch {
		case err != nil:
			return "", err
		case on:
			return fmt.Sprintf("The thread of #%d is muted. Held silently: %s, and all that will come; /messages mute %d off ends that", id, words.Count(n, "message"), id), nil
		}
		return fmt.Sprintf("The thread of #%d is not muted any more: %s", id, words.Count(n, "message")), nil
	}), nil
}

// numberOff reads `N [off]`.
func (c command) numberOff(verb string, words []string) (id int64, on bool, err error) {
	if on = true; len(words) == 2 && words[1] == "off" {
		on, words = false, words[:1]
	}
	if len(words) != 1 {
		return 0, false, c.wrong("%s needs the number of a message, and off to end it", verb)
	}
	id, err = c.messageID(words[0])
	return id, on, err
}

// shelf prints a page of a shelf, and how the command goes on.
func (a *App) shelf(in input, s inbox.Shelf, command, none string) tea.Cmd {
	s.Limit = mostShown + 1
	return a.act(in.here, in.text, func() (string, error) {
		ms, err := a.pool.Shelf(a.ctx, s)
		if err != nil {
			return "", err
		}
		if len(ms) == 0 {
			return none, nil
		}
		more := ""
		if len(ms) > mostShown {
			ms = ms[:mostShown]
			more = fmt.Sprintf("\n  … older ones: %s before=%d", command, ms[len(ms)-1].ID)
		}
		return inbox.Listing(ms, a.o.Now()) + more, nil
	})
}

// threadLine is `2 of 3 in a thread: #4 #7 #9`; "" for a message that is alone.
func threadLine(id int64, thread []inbox.Message) string {
	if len(thread) < 2 {
		return ""
	}
	ids, at := make([]int64, len(thread)), 0
	for i, m := range thread {
		if ids[i] = m.ID; m.ID == id {
			at = i + 1
		}
	}
	return fmt.Sprintf("%d of %d in a thread: %s", at, len(thread), words.Hashes(ids))
}

func runReply(a *App, in input) (tea.Cmd, error) {
	word, rest := firstWord(in.rest)
	text := unquote(rest)
	if word == "" || text == "" {
		return nil, in.wrong("the number of a message and a text are needed")
	}
	id, err := in.messageID(word)
	if err != nil {
		return nil, err
	}
	return a.act(in.here, in.text, func() (string, error) {
		sent, err := a.pool.Reply(a.ctx, in.id, id, text)
		if err != nil {
			return "", err
		}
		return agents.InInboxes([]agents.Sent{sent}) + fmt.Sprintf(", in reply to #%d", id), nil
	}), nil
}

// nothing is what is said where no message can be taken.
const nothing = "No messages ready."

// nothingReady says that no message can be taken, and what waits for the human.
func (a *App) nothingReady(agent int64) (string, error) {
	qs, err := a.pool.Questions(a.ctx, agent)
	switch {
	case err != nil:
		return "", err
	case len(qs) == 0:
		return nothing, nil
	case len(qs) == 1:
		return fmt.Sprintf("1 question waits for your answer: /answer %d", qs[0].ID), nil
	}
	return fmt.Sprintf("%d questions wait for your answers; the first: /answer %d", len(qs), qs[0].ID), nil
}

// chosen takes the numbers of messages from the front of what is fired: #4 #7 TEXT.
func chosen(rest string) (ids []int64, text string) {
	for text = strings.TrimSpace(rest); ; {
		word, behind := firstWord(text)
		n, hash := strings.CutPrefix(word, "#")
		id, err := strconv.ParseInt(n, 10, 64)
		if !hash || err != nil || id < 1 {
			return ids, text
		}
		ids, text = append(ids, id), behind
	}
}

// shelfArguments are candidates behind /inbox VERB and /messages mute.
func shelfArguments(words []string) (items []composer.Item) {
	add := func(inserts ...string) {
		for _, s := range inserts {
			items = append(items, composer.Item{Insert: s})
		}
	}
	switch {
	case len(words) == 2 && (words[0] == "pin" || words[0] == "mute"):
		add("off")
	case len(words) == 2 && words[0] == "snooze":
		add("30m", "2h", "tomorrow", "monday", strconv.Itoa(morning)+":00", "14:00")
	}
	return items
}
