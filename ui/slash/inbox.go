package slash

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"fantail/agents"
	"fantail/agents/mail"
	"fantail/inbox"
	"fantail/ui/composer"
	"fantail/ui/format"
	"fantail/ui/intent"
)

// The actions of a human on the messages of an inbox.

// inboxVerbs are the verbs of /inbox and their arguments.
var inboxVerbs = [...]composer.Item{
	{Insert: "archive", Label: "archive N…", Help: "put messages away; no conversation gets them"},
	{Insert: "snooze", Label: "snooze N WHEN", Help: "put one away until 30m, 14:00, tomorrow, monday 10:00"},
	{Insert: "restore", Label: "restore N…", Help: "bring back archived or snoozed messages"},
	{Insert: "pin", Label: "pin N [off]", Help: "keep one on top"},
	{Insert: "archived", Label: "archived", Help: "list archived messages"},
	{Insert: "snoozed", Label: "snoozed", Help: "list snoozed messages"},
	{Insert: "search", Label: "search WORDS", Help: "find messages, those that were taken too"},
	{Insert: "undo", Label: "undo", Help: "put back those taken last"},
}

// shelve carries out one of those verbs. ok is false if the word is none of them.
func (in input) shelve() (cmd intent.Intent, ok bool, err error) {
	verb, rest := format.FirstWord(in.rest)
	args := strings.Fields(rest)
	switch verb {
	case "archive", "restore":
		cmd, err = in.putAside(verb, args)
	case "snooze":
		cmd, err = in.snooze(args)
	case "pin":
		cmd, err = in.pin(args)
	case "archived", "snoozed":
		s := inbox.Selection{Recipient: in.id, Of: map[string]string{"archived": inbox.Archived, "snoozed": inbox.Snoozed}[verb]}
		if args, s.Before, err = in.pageBefore(args); err == nil && len(args) > 0 {
			err = in.wrong("unexpected %q", strings.Join(args, " "))
		}
		cmd = in.page(s, "/inbox "+verb, "No message is "+verb+".")
	case "search":
		s := inbox.Selection{Recipient: in.id, Of: inbox.Everything}
		if args, s.Before, err = in.pageBefore(args); err == nil && len(args) == 0 {
			err = in.wrong("type the words to find")
		}
		s.Search = strings.Join(args, " ")
		cmd = in.page(s, "/inbox search "+s.Search, "No message matches "+s.Search)
	default:
		return nil, false, nil
	}
	if err != nil {
		cmd = nil
	}
	return cmd, true, err
}

// pageBefore removes before=N from the end of the arguments.
func (c command) pageBefore(args []string) (rest []string, before int64, err error) {
	if n := len(args); n > 0 {
		if id, ok := strings.CutPrefix(args[n-1], "before="); ok {
			before, err = c.messageID(id)
			args = args[:n-1]
		}
	}
	return args, before, err
}

// messageIDs parses several message numbers.
func (c command) messageIDs(args []string) (ids []int64, err error) {
	for _, w := range args {
		id, err := c.messageID(strings.TrimSuffix(w, ","))
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func (in input) putAside(verb string, args []string) (intent.Intent, error) {
	ids, err := in.messageIDs(args)
	if err == nil && len(ids) == 0 {
		err = in.wrong("%s needs message numbers", verb)
	}
	if err != nil {
		return nil, err
	}
	return in.act(func(ctx context.Context) (string, error) {
		do, done := in.Pool.Letters.Archive, "Archived "+format.Hashes(ids)+". /inbox restore to bring them back"
		if verb == "restore" {
			do, done = in.Pool.Letters.Restore, "Back in the inbox: "+format.Hashes(ids)
		}
		_, err := do(ctx, in.id, ids)
		return done, err
	}), nil
}

func (in input) snooze(args []string) (intent.Intent, error) {
	if len(args) < 2 {
		return nil, in.wrong("snooze needs a number and a time: /inbox snooze 12 30m")
	}
	id, err := in.messageID(args[0])
	if err != nil {
		return nil, err
	}
	until, err := format.ParseWhen(strings.Join(args[1:], " "), in.Now())
	if err != nil {
		return nil, err
	}
	return in.act(func(ctx context.Context) (string, error) {
		err := in.Pool.Letters.Snooze(ctx, in.id, []int64{id}, until)
		return fmt.Sprintf("Snoozed #%d until %s", id, inbox.Clock(until, in.Now())), err
	}), nil
}

func (in input) pin(args []string) (intent.Intent, error) {
	id, on, err := in.numberOff("pin", args)
	if err != nil {
		return nil, err
	}
	return in.act(func(ctx context.Context) (string, error) {
		if err := in.Pool.Letters.Pin(ctx, in.id, id, on); err != nil || on {
			return fmt.Sprintf("Pinned #%d. /inbox pin %d off to unpin", id, id), err
		}
		return fmt.Sprintf("Unpinned #%d", id), nil
	}), nil
}

func (in input) mute(args []string) (intent.Intent, error) {
	id, on, err := in.numberOff("mute", args)
	if err != nil {
		return nil, err
	}
	return in.act(func(ctx context.Context) (string, error) {
		n, err := in.Pool.Letters.Mute(ctx, in.id, id, on)
		switch {
		case err != nil:
			return "", err
		case on:
			return fmt.Sprintf("Muted the thread of #%d (%s). /messages mute %d off to unmute", id, format.Count(n, "message"), id), nil
		}
		return fmt.Sprintf("Unmuted the thread of #%d (%s)", id, format.Count(n, "message")), nil
	}), nil
}

// numberOff parses `N [off]`.
func (c command) numberOff(verb string, args []string) (id int64, on bool, err error) {
	if on = true; len(args) == 2 && args[1] == "off" {
		on, args = false, args[:1]
	}
	if len(args) != 1 {
		return 0, false, c.wrong("%s needs the number of a message, and off to end it", verb)
	}
	id, err = c.messageID(args[0])
	return id, on, err
}

// page prints a page of messages, and the command for the next page.
func (in input) page(s inbox.Selection, command, none string) intent.Intent {
	s.Limit = maxShown + 1
	return in.act(func(ctx context.Context) (string, error) {
		ms, err := in.Pool.Letters.Select(ctx, s)
		if err != nil {
			return "", err
		}
		if len(ms) == 0 {
			return none, nil
		}
		more := ""
		if len(ms) > maxShown {
			ms = ms[:maxShown]
			more = fmt.Sprintf("\n  … older ones: %s before=%d", command, ms[len(ms)-1].ID)
		}
		return inbox.Listing(ms, in.Now()) + more, nil
	})
}

func runReply(in input) (intent.Intent, error) {
	word, rest := format.FirstWord(in.rest)
	text := format.Unquote(rest)
	if word == "" || text == "" {
		return nil, in.wrong("add a message number and a text")
	}
	id, err := in.messageID(word)
	if err != nil {
		return nil, err
	}
	return in.act(func(ctx context.Context) (string, error) {
		sent, err := in.Pool.Letters.Reply(ctx, in.id, id, text)
		if err != nil {
			return "", err
		}
		return agents.InInboxes([]mail.Sent{sent}) + fmt.Sprintf(", in reply to #%d", id), nil
	}), nil
}

// nothing is printed if there is no message to take.
const nothing = "No messages ready."

// nothingReady says that there is no message to take, and which questions wait for the human.
func (in input) nothingReady(ctx context.Context) (string, error) {
	qs, err := in.Pool.Letters.Questions(ctx, in.id)
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

// chosen parses message numbers at the front of the arguments of /fire: #4 #7 TEXT.
func chosen(rest string) (ids []int64, text string) {
	for text = strings.TrimSpace(rest); ; {
		word, behind := format.FirstWord(text)
		n, hash := strings.CutPrefix(word, "#")
		id, err := strconv.ParseInt(n, 10, 64)
		if !hash || err != nil || id < 1 {
			return ids, text
		}
		ids, text = append(ids, id), behind
	}
}

// actionArguments completes the arguments of /inbox VERB and /messages mute.
func actionArguments(_ Options, before []string, _ string) []composer.Item {
	switch {
	case len(before) == 2 && (before[0] == "pin" || before[0] == "mute"):
		return items("off")
	case len(before) == 2 && before[0] == "snooze":
		return items("30m", "2h", "tomorrow", "monday", strconv.Itoa(format.Morning)+":00", "14:00")
	}
	return nil
}
