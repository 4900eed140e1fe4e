package slash

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/mail"
	"fantail/inbox"
	"fantail/ui/format"
	"fantail/ui/intent"
	"fantail/ui/tabs"
)

func runSend(in input) (intent.Intent, error) {
	flags, rest, err := format.FlagOptions(in.rest, "priority", "tag")
	if err != nil {
		return nil, in.wrong("%v", err)
	}
	to, rest := format.FirstWord(rest)
	for strings.HasSuffix(to, ",") && rest != "" { // "a, b" is a list too
		var next string
		next, rest = format.FirstWord(rest)
		to += next
	}
	more, rest, err := format.FlagOptions(rest, "priority", "tag")
	if err != nil {
		return nil, in.wrong("%v", err)
	}
	l := mail.Letter{Body: format.Unquote(rest), Tags: append(flags["tag"], more["tag"]...)}
	for _, word := range append(flags["priority"], more["priority"]...) {
		l.Priority = inbox.Priority(word)
		if l.Priority != inbox.Low && l.Priority != inbox.Normal && l.Priority != inbox.High && l.Priority != inbox.Urgent {
			return nil, in.wrong("unknown priority %q; use low, normal, high or urgent", word)
		}
	}
	for name := range strings.SplitSeq(to, ",") {
		if name != "" {
			l.To = append(l.To, name)
		}
	}
	if len(l.To) == 0 || l.Body == "" {
		return nil, in.wrong("add a name and a text")
	}
	idle := map[string]bool{}
	for _, t := range in.Tabs.All {
		idle[t.Info.Name] = format.Awaits(t.Info)
	}
	return in.act(func(ctx context.Context) (string, error) {
		sent, err := in.Pool.Letters.Mail(ctx, in.id, l)
		if err != nil {
			return "", err
		}
		said := agents.InInboxes(sent)
		for _, s := range sent {
			if idle[s.To] {
				said += fmt.Sprintf("\n%s is idle and reads it in its next turn. /tell %[1]s TEXT to start one", s.To)
			}
		}
		return said, nil
	}), nil
}

func runTell(in input) (intent.Intent, error) {
	name, text := format.FirstWord(in.rest)
	text = format.Unquote(text)
	if name == "" || text == "" {
		return nil, in.wrong("add a name and a text")
	}
	says := name + " reads it at its next step"
	if t := in.Tabs.ByName(name); t != nil && format.Awaits(t.Info) {
		says = name + " starts a turn with it"
	}
	return in.act(func(ctx context.Context) (string, error) {
		err := in.Pool.Tell(ctx, name, text)
		var ended *event.EndedError
		if errors.As(err, &ended) {
			err = fmt.Errorf("%w. /resume %s %s to continue it", err, ended.Name, text)
		}
		return says, err
	}), nil
}

// choice says which messages /check and /receive take, and how.
type choice struct {
	q       inbox.Query
	peek    bool
	show    bool
	outside bool
	timeout time.Duration
}

// selection parses a choice. args are the options that the command has besides from=, --lifo and
// --show-only.
func (c command) selection(rest string, args ...string) (ch choice, err error) {
	for _, w := range strings.Fields(rest) {
		key, value, _ := strings.Cut(w, "=")
		known := key == "from" || key == "--lifo" || key == "--show-only" || slices.Contains(args, key)
		switch {
		case !known:
			err = fmt.Errorf("unexpected %q", w)
		case key == "from" && value != "":
			ch.q.From = value
		case key == "timeout":
			if ch.timeout, err = format.Seconds(value); err != nil {
				err = fmt.Errorf("timeout=%s is not a time; try 30, 90s or 5m", value)
			}
		case w == "--lifo":
			ch.q.LIFO = true
		case w == "--one":
			ch.q.Limit = 1
		case w == "--show-only":
			ch.show = true
		case w == "--peek":
			ch.peek = true
		case w == "--wait":
			ch.outside = true
		default:
			err = fmt.Errorf("unexpected %q", w)
		}
		if err != nil {
			return ch, c.wrong("%v", err)
		}
	}
	return ch, nil
}

// maxShown limits the messages that one command prints.
const maxShown = 50

func runCheck(in input) (intent.Intent, error) {
	c, err := in.selection(in.rest, "--one", "--peek")
	if err != nil {
		return nil, err
	}
	if c.peek {
		return in.act(func(ctx context.Context) (string, error) { return in.peek(ctx, c.q) }), nil
	}
	elsewhere := in.elsewhere()
	return in.heads(in.act(func(ctx context.Context) (string, error) {
		take := in.Pool.Pickup.Check
		if c.show {
			take = in.Pool.Pickup.Show
		}
		ms, left, err := take(ctx, in.id, c.q)
		switch {
		case err != nil:
			return "", err
		case len(ms) == 0:
			return in.nothingReady(ctx)
		case left > 0:
			return strings.TrimPrefix(taken(len(ms), elsewhere)+fmt.Sprintf("\n%s more: /check again", inbox.Left(left)), "\n"), nil
		}
		return taken(len(ms), elsewhere), nil
	})), nil
}

// peek prints messages without taking them.
func (in input) peek(ctx context.Context, q inbox.Query) (string, error) {
	if q.Limit == 0 {
		q.Limit = maxShown
	}
	ms, err := in.Pool.Letters.Peek(ctx, in.id, q)
	if err != nil {
		return "", err
	}
	if len(ms) == 0 {
		return in.nothingReady(ctx)
	}
	parts := make([]string, len(ms))
	for i, m := range ms {
		parts[i] = format.Message(m, in.Now())
	}
	return strings.Join(parts, "\n\n"), nil
}

func runReceive(in input) (intent.Intent, error) {
	c, err := in.selection(in.rest, "timeout", "--wait")
	if err != nil {
		return nil, err
	}
	elsewhere := in.elsewhere()
	return in.heads(in.start(func(ctx context.Context) (string, error) {
		if c.timeout > 0 {
			until, cancel := context.WithTimeoutCause(ctx, c.timeout, fleet.ErrTimeout)
			defer cancel()
			ctx = until
		}
		_, err := in.Pool.Pickup.Await(ctx, in.id, c.q, mail.Await{Outside: c.outside, Show: c.show})
		if errors.Is(err, fleet.ErrTimeout) {
			err = fmt.Errorf("no message came within %s. /receive to wait again", c.timeout)
		}
		return taken(1, elsewhere), err
	})), nil
}

// taken says that n messages were taken if they show in the tab of the agent elsewhere; "" if they
// show here.
func taken(n int, elsewhere string) string {
	switch {
	case elsewhere == "":
		return ""
	case n == 1:
		return "Took 1 message: see the tab of " + elsewhere
	}
	return fmt.Sprintf("Took %d messages: see the tab of %s", n, elsewhere)
}

func runInbox(in input) (intent.Intent, error) {
	if cmd, ok, err := in.shelve(); ok {
		return cmd, err
	}
	args := strings.Fields(in.rest)
	if len(args) == 1 && args[0] == "undo" {
		elsewhere := in.elsewhere()
		return in.act(func(ctx context.Context) (string, error) {
			_, err := in.Pool.Letters.Undo(ctx, in.id)
			if err == nil && elsewhere != "" {
				return "Put back into the inbox of " + elsewhere, nil
			}
			return "", err
		}), nil
	}
	name, list, all, before := "", false, false, int64(0)
	for i, w := range args {
		n, older := strings.CutPrefix(w, "before=")
		switch {
		case i == 0 && !strings.HasPrefix(w, "-") && !older:
			name = w
		case w == "--all" && !all:
			all = true
		case w == "--list" && !list:
			list = true
		case older && all && before == 0:
			var err error
			if before, err = in.messageID(n); err != nil {
				return nil, err
			}
		default:
			return nil, in.wrong("unexpected %q", w)
		}
	}
	if !list && !all {
		return in.showInbox(name), nil
	}
	return in.act(func(ctx context.Context) (string, error) {
		if name == "" {
			return in.list(ctx, in.id, "/inbox", before, all)
		}
		i, err := in.Pool.Letters.Whose(ctx, name)
		if err != nil {
			return "", err
		}
		text, err := in.list(ctx, i.ID, "/inbox "+i.Name, before, all)
		if err == nil && i.State.Terminal() && strings.HasPrefix(text, "Messages:") {
			text += fmt.Sprintf("\n  %s has ended (%s). /messages show N to read one, /resume %s to continue it", i.Name, i.State, i.Name)
		}
		return text, err
	}), nil
}

// showInbox opens the inbox of this agent or of the named one.
func (in input) showInbox(name string) intent.Intent {
	if name == "" {
		return intent.Inbox{Agent: in.id, Name: in.t.Info.Name}
	}
	return in.then(func(ctx context.Context) (intent.Intent, error) {
		i, err := in.Pool.Letters.Whose(ctx, name)
		return intent.Inbox{Agent: i.ID, Name: i.Name, What: "the inbox of " + name}, err
	})
}

// list prints the waiting messages or, with taken set, the newest of all before one, and the
// command for more.
func (in input) list(ctx context.Context, agent int64, command string, before int64, taken bool) (string, error) {
	ms, err := in.Pool.Letters.Look(ctx, agent, inbox.Query{Before: before, Limit: maxShown + 1}, taken)
	if err != nil {
		return "", err
	}
	more := ""
	if len(ms) > maxShown {
		ms = ms[:maxShown]
		if more = "\n  … more follow. /check to take them in order"; taken {
			more = fmt.Sprintf("\n  … older ones: %s --all before=%d", command, ms[len(ms)-1].ID)
		}
	}
	return inbox.Listing(ms, in.Now()) + more, nil
}

// messageID parses 12 or #12.
func (c command) messageID(word string) (int64, error) {
	id, err := strconv.ParseInt(strings.TrimPrefix(word, "#"), 10, 64)
	if err != nil || id < 1 {
		return 0, c.wrong("%q is not a message number", word)
	}
	return id, nil
}

func runMessages(in input) (intent.Intent, error) {
	args := strings.Fields(in.rest)
	if len(args) > 0 && slices.Contains(policyWords, args[0]) {
		return runPolicy(in, args[0], args[1:])
	}
	if len(args) > 0 && args[0] == "mute" {
		return in.mute(args[1:])
	}
	if len(args) == 0 || len(args) > 2 {
		return nil, in.wrong("say which")
	}
	if args[0] == "next" && len(args) == 2 && args[1] == "--fifo" {
		return in.turnWith(in.Pool.Pickup.Oldest), nil
	}
	id := int64(0)
	if len(args) == 2 {
		var err error
		if id, err = in.messageID(args[1]); err != nil {
			return nil, err
		}
	}
	switch {
	case args[0] == "next":
		return in.turnWith(func(ctx context.Context, agent int64) (inbox.Message, bool, error) {
			return in.Pool.Pickup.Next(ctx, agent, id)
		}), nil
	case (args[0] == "wait" || args[0] == "all") && id == 0:
		return in.each(), nil
	case args[0] == "show" && id == 0:
		return in.act(func(ctx context.Context) (string, error) { return in.list(ctx, in.id, "/inbox", 0, false) }), nil
	case args[0] == "show":
		return intent.Message{Agent: in.here.Info.ID, ID: id, Command: in.text}, nil
	case args[0] == "why" && id == 0:
		return nil, in.wrong("why needs the number of a message")
	case args[0] == "why":
		return in.act(func(ctx context.Context) (string, error) { return in.Pool.Mail.Why(ctx, id) }), nil
	}
	return nil, in.wrong("unexpected %q", in.rest)
}

// Turn starts a turn of the tab's agent with the message that take returns. It does so without a
// typed command.
func Turn(e Options, t *tabs.Tab, take func(ctx context.Context, agent int64) (inbox.Message, bool, error)) intent.Intent {
	return input{Options: e, t: t, id: t.Info.ID, here: t}.turnWith(take)
}

// turnWith starts a turn with one message.
func (in input) turnWith(take func(ctx context.Context, agent int64) (inbox.Message, bool, error)) intent.Intent {
	var said intent.Intent
	if in.works() {
		said = in.sayWhile("It is taken when this turn ends")
	}
	return intent.All{said, in.start(func(ctx context.Context) (string, error) {
		_, ok, err := take(ctx, in.id)
		if err == nil && !ok {
			return in.nothingReady(ctx)
		}
		return "", err
	})}
}

// each runs one turn after another until no message is left.
func (in input) each() intent.Intent {
	return intent.All{intent.Say{Text: "one turn for each message · esc stop"}, in.start(func(ctx context.Context) (string, error) {
		n, err := in.Pool.Pickup.Each(ctx, in.id)
		switch {
		case errors.Is(err, fleet.ErrStopped):
			return fmt.Sprintf("Stopped after %s. The rest is in the inbox", format.Count(n, "message")), nil
		case err != nil:
			return "", err
		case n == 0:
			return in.nothingReady(ctx)
		}
		return "Handled " + format.Count(n, "message"), nil
	})}
}

func runFire(in input) (intent.Intent, error) {
	var said intent.Intent
	if in.works() {
		said = in.sayWhile("It fires when this turn ends; nothing is taken before")
	}
	fire := in.Pool.Pickup.Fire
	ids, text := chosen(in.rest)
	if word, rest := format.FirstWord(in.rest); word == "--wait" {
		fire = in.Pool.Pickup.FireAfter
		if ids, text = chosen(rest); len(ids) > 0 {
			return nil, in.wrong("--wait fires all messages; leave the numbers out")
		}
	}
	elsewhere := in.elsewhere()
	return intent.All{said, in.start(func(ctx context.Context) (string, error) {
		var n, left int
		var err error
		if len(ids) > 0 {
			n, err = in.Pool.Pickup.FireThese(ctx, in.id, ids, format.Unquote(text))
		} else {
			n, left, err = fire(ctx, in.id, format.Unquote(text))
		}
		if errors.Is(err, mail.ErrNoMail) {
			if text, e := in.nothingReady(ctx); e == nil && text != nothing {
				err = errors.New(text)
			}
		}
		if errors.Is(err, mail.ErrTakenBack) { // the command's text is back in the prompt box
			return "", nil
		}
		var said []string
		if err == nil && elsewhere != "" {
			said = append(said, fmt.Sprintf("%s started a turn with %s", elsewhere, format.Count(n, "message")))
		}
		if left > 0 {
			said = append(said, fmt.Sprintf("%s more did not fit: /fire again", inbox.Left(left)))
		}
		return strings.Join(said, "\n"), err
	})}, nil
}
