package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/inbox"
	"fantail/ui/words"
)

func runSend(a *App, in input) (tea.Cmd, error) {
	flags, rest, err := leadingFlags(in.rest, "priority", "tag")
	if err != nil {
		return nil, in.wrong("%v", err)
	}
	to, rest := firstWord(rest)
	for strings.HasSuffix(to, ",") && rest != "" { // a, b is a list too
		var next string
		next, rest = firstWord(rest)
		to += next
	}
	more, rest, err := leadingFlags(rest, "priority", "tag")
	if err != nil {
		return nil, in.wrong("%v", err)
	}
	l := agents.Letter{Body: unquote(rest), Tags: append(flags["tag"], more["tag"]...)}
	for _, word := range append(flags["priority"], more["priority"]...) {
		l.Priority = inbox.Priority(word)
		if l.Priority != inbox.Low && l.Priority != inbox.Normal && l.Priority != inbox.High && l.Priority != inbox.Urgent {
			return nil, in.wrong("the priority %q is none of low, normal, high and urgent", word)
		}
	}
	for name := range strings.SplitSeq(to, ",") {
		if name != "" {
			l.To = append(l.To, name)
		}
	}
	if len(l.To) == 0 || l.Body == "" {
		return nil, in.wrong("a name and a text are needed")
	}
	return a.act(in.here, in.text, func() (string, error) {
		sent, err := a.pool.Mail(a.ctx, in.id, l)
		if err != nil {
			return "", err
		}
		return agents.InInboxes(sent), nil
	}), nil
}

// choice is what /check and /receive take, and how.
type choice struct {
	q       inbox.Query
	peek    bool
	show    bool
	outside bool
	timeout time.Duration
}

// selection reads it; words are those the command knows beside from=, --lifo and
// --show-only.
func (c command) selection(rest string, words ...string) (ch choice, err error) {
	for _, w := range strings.Fields(rest) {
		key, value, _ := strings.Cut(w, "=")
		known := key == "from" || key == "--lifo" || key == "--show-only" || contains(words, key)
		switch {
		case !known:
			err = fmt.Errorf("%q is not understood", w)
		case key == "from" && value != "":
			ch.q.From = value
		case key == "timeout":
			if ch.timeout, err = seconds(value); err != nil {
				err = fmt.Errorf("timeout=%s is no time; say 30, 90s or 5m", value)
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
			err = fmt.Errorf("%q is not understood", w)
		}
		if err != nil {
			return ch, c.wrong("%v", err)
		}
	}
	return ch, nil
}

// mostShown bounds how many messages one command prints.
const mostShown = 50

func runCheck(a *App, in input) (tea.Cmd, error) {
	c, err := in.selection(in.rest, "--one", "--peek")
	if err != nil {
		return nil, err
	}
	if c.peek {
		return a.act(in.here, in.text, func() (string, error) { return a.peek(in.id, c.q) }), nil
	}
	elsewhere := in.elsewhere()
	return a.act(in.here, a.heads(in), func() (string, error) {
		take := a.pool.Check
		if c.show {
			take = a.pool.Show
		}
		ms, left, err := take(a.ctx, in.id, c.q)
		switch {
		case err != nil:
			return "", err
		case len(ms) == 0:
			return a.nothingReady(in.id)
		case left > 0:
			return strings.TrimPrefix(taken(len(ms), elsewhere)+fmt.Sprintf("\n%d more: /check again", left), "\n"), nil
		}
		return taken(len(ms), elsewhere), nil
	}), nil
}

// peek prints messages without taking them.
func (a *App) peek(agent int64, q inbox.Query) (string, error) {
	if q.Limit == 0 {
		q.Limit = mostShown
	}
	ms, err := a.pool.Peek(a.ctx, agent, q)
	if err != nil {
		return "", err
	}
	if len(ms) == 0 {
		return a.nothingReady(agent)
	}
	parts := make([]string, len(ms))
	for i, m := range ms {
		parts[i] = words.Message(m, a.o.Now())
	}
	return strings.Join(parts, "\n\n"), nil
}

func runReceive(a *App, in input) (tea.Cmd, error) {
	c, err := in.selection(in.rest, "timeout", "--wait")
	if err != nil {
		return nil, err
	}
	elsewhere := in.elsewhere()
	return a.start(in.here, a.heads(in), func() (string, error) {
		ctx := a.ctx
		if c.timeout > 0 {
			until, cancel := context.WithTimeoutCause(ctx, c.timeout, agents.ErrTimeout)
			defer cancel()
			ctx = until
		}
		_, err := a.pool.Await(ctx, in.id, c.q, agents.Await{Outside: c.outside, Show: c.show})
		if errors.Is(err, agents.ErrTimeout) {
			err = fmt.Errorf("no message came within %s; /receive waits again", c.timeout)
		}
		return taken(1, elsewhere), err
	}), nil
}

// works reports whether the agent that the command is for is at work.
func (in input) works() bool { return words.Working(in.t.Info.State) }

// elsewhere names the agent whose tab shows what the command brings, if that is
// not the tab it was typed in.
func (in input) elsewhere() string {
	if in.here == in.t {
		return ""
	}
	return in.t.Info.Name
}

// taken says that n messages were taken, if only the tab of the named agent
// shows them.
func taken(n int, elsewhere string) string {
	switch {
	case elsewhere == "":
		return ""
	case n == 1:
		return "1 message taken; the tab of " + elsewhere + " shows it"
	}
	return fmt.Sprintf("%d messages taken; the tab of %s shows them", n, elsewhere)
}

func runInbox(a *App, in input) (tea.Cmd, error) {
	if cmd, ok, err := a.shelve(in); ok {
		return cmd, err
	}
	words := strings.Fields(in.rest)
	if len(words) == 1 && words[0] == "undo" {
		elsewhere := in.elsewhere()
		return a.act(in.here, in.text, func() (string, error) {
			_, err := a.pool.Undo(a.ctx, in.id)
			if err == nil && elsewhere != "" {
				return "Put back into the inbox of " + elsewhere, nil
			}
			return "", err
		}), nil
	}
	name, list, all, before := "", false, false, int64(0)
	for i, w := range words {
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
			return nil, in.wrong("%q is not understood", w)
		}
	}
	if !list && !all {
		return a.showInbox(in, name), nil
	}
	return a.act(in.here, in.text, func() (string, error) {
		if name == "" {
			return a.list(in.id, "/inbox", before, all)
		}
		i, err := a.pool.Whose(a.ctx, name)
		if err != nil {
			return "", err
		}
		text, err := a.list(i.ID, "/inbox "+i.Name, before, all)
		if err == nil && i.State.Terminal() && strings.HasPrefix(text, "Messages:") {
			text += fmt.Sprintf("\n  %s has ended (%s): /messages show N prints one, /resume %s lets it go on", i.Name, i.State, i.Name)
		}
		return text, err
	}), nil
}

// showInbox opens the panel of this agent's inbox, or of the one of that name.
func (a *App) showInbox(in input, name string) tea.Cmd {
	if name == "" {
		return a.inboxPanel(in.id, in.t.Info.Name)
	}
	return a.then(in.here, in.text, func() (tea.Msg, error) {
		i, err := a.pool.Whose(a.ctx, name)
		return offered{"the inbox of " + name, func() { a.inboxPanel(i.ID, i.Name) }}, err
	})
}

// list prints the messages that wait, or with taken the newest of all below one, and
// how the command goes on.
func (a *App) list(agent int64, command string, before int64, taken bool) (string, error) {
	ms, err := a.pool.Look(a.ctx, agent, inbox.Query{Before: before, Limit: mostShown + 1}, taken)
	if err != nil {
		return "", err
	}
	more := ""
	if len(ms) > mostShown {
		ms = ms[:mostShown]
		if more = "\n  … more wait behind these; /check takes them in order"; taken {
			more = fmt.Sprintf("\n  … older ones: %s --all before=%d", command, ms[len(ms)-1].ID)
		}
	}
	return inbox.Listing(ms, a.o.Now()) + more, nil
}

// messageID reads 12 or #12.
func (c command) messageID(word string) (int64, error) {
	id, err := strconv.ParseInt(strings.TrimPrefix(word, "#"), 10, 64)
	if err != nil || id < 1 {
		return 0, c.wrong("%q is no number of a message", word)
	}
	return id, nil
}

func runMessages(a *App, in input) (tea.Cmd, error) {
	words := strings.Fields(in.rest)
	if len(words) > 0 && slices.Contains(policyWords, words[0]) {
		return runPolicy(a, in, words[0], words[1:])
	}
	if len(words) > 0 && words[0] == "mute" {
		return a.mute(in, words[1:])
	}
	if len(words) == 0 || len(words) > 2 {
		return nil, in.wrong("say which")
	}
	if words[0] == "next" && len(words) == 2 && words[1] == "--fifo" {
		return a.turnWith(in, a.pool.Oldest), nil
	}
	id := int64(0)
	if len(words) == 2 {
		var err error
		if id, err = in.messageID(words[1]); err != nil {
			return nil, err
		}
	}
	switch {
	case words[0] == "next":
		return a.turnWith(in, func(ctx context.Context, agent int64) (inbox.Message, bool, error) {
			return a.pool.Next(ctx, agent, id)
		}), nil
	case (words[0] == "wait" || words[0] == "all") && id == 0:
		return a.each(in), nil
	case words[0] == "show" && id == 0:
		return a.act(in.here, in.text, func() (string, error) { return a.list(in.id, "/inbox", 0, false) }), nil
	case words[0] == "show":
		return a.openMessage(in.here, id, in.text), nil
	case words[0] == "why" && id == 0:
		return nil, in.wrong("why needs the number of a message")
	case words[0] == "why":
		return a.act(in.here, in.text, func() (string, error) { return a.pool.Why(a.ctx, id) }), nil
	}
	return nil, in.wrong("%q is not understood", in.rest)
}

// turnWith starts a turn with one message.
func (a *App) turnWith(in input, take func(ctx context.Context, agent int64) (inbox.Message, bool, error)) tea.Cmd {
	if words.Working(in.t.Info.State) {
		a.sayWhile("it is taken when this turn ends", in.works)
	}
	return a.start(in.here, in.text, func() (string, error) {
		_, ok, err := take(a.ctx, in.id)
		if err == nil && !ok {
			return a.nothingReady(in.id)
		}
		return "", err
	})
}

// each starts one turn after another, until no message is left.
func (a *App) each(in input) tea.Cmd {
	a.say("one turn for each message; Esc stops them")
	return a.start(in.here, in.text, func() (string, error) {
		n, err := a.pool.Each(a.ctx, in.id)
		switch {
		case errors.Is(err, agents.ErrStopped):
			return fmt.Sprintf("Stopped after %s; what waits is in the inbox", words.Count(n, "message")), nil
		case err != nil:
			return "", err
		case n == 0:
			return a.nothingReady(in.id)
		}
		return "Handled " + words.Count(n, "message"), nil
	})
}

func runFire(a *App, in input) (tea.Cmd, error) {
	if words.Working(in.t.Info.State) {
		a.sayWhile("it fires when this turn ends; nothing is taken before", in.works)
	}
	elsewhere := in.elsewhere()
	return a.start(in.here, in.text, func() (string, error) {
		var n, left int
		var err error
		if ids, text := chosen(in.rest); len(ids) > 0 {
			n, err = a.pool.FireThese(a.ctx, in.id, ids, unquote(text))
		} else {
			n, left, err = a.pool.Fire(a.ctx, in.id, unquote(text))
		}
		if errors.Is(err, agents.ErrNoMail) {
			if text, e := a.nothingReady(in.id); e == nil && text != nothing {
				err = errors.New(text)
			}
		}
		if errors.Is(err, agents.ErrTakenBack) { // it is in the box again
			return "", nil
		}
		var said []string
		if err == nil && elsewhere != "" {
			said = append(said, fmt.Sprintf("A turn of %s began with %s", elsewhere, words.Count(n, "message")))
		}
		if left > 0 {
			said = append(said, fmt.Sprintf("%d more did not fit: /fire again", left))
		}
		return strings.Join(said, "\n"), err
	}), nil
}
