package ui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/inbox"
)

func runSend(a *App, in input) (tea.Cmd, error) {
	to, rest := firstWord(in.rest)
	pr := inbox.Normal
	if p, ok := strings.CutPrefix(rest, "--priority="); ok {
		word, text := firstWord(p)
		pr, rest = inbox.Priority(word), text
		if pr != inbox.Low && pr != inbox.Normal && pr != inbox.High && pr != inbox.Urgent {
			return nil, wrong("send", "the priority %q is unknown", word)
		}
	}
	if to == "" || rest == "" {
		return nil, wrong("send", "a name and a text are needed")
	}
	return a.act(in.here, in.text, func() (string, error) {
		id, err := a.pool.Send(a.ctx, in.id, to, unquote(rest), pr)
		return fmt.Sprintf("Message #%d is in the inbox of %s", id, to), err
	}), nil
}

// selection reads what /check and /receive take.
func selection(name, rest string) (inbox.Query, error) {
	var q inbox.Query
	for _, w := range strings.Fields(rest) {
		from, ok := strings.CutPrefix(w, "from=")
		switch {
		case ok && from != "":
			q.From = from
		case w == "--lifo":
			q.LIFO = true
		default:
			return q, wrong(name, "%q is not understood", w)
		}
	}
	return q, nil
}

func runCheck(a *App, in input) (tea.Cmd, error) {
	q, err := selection("check", in.rest)
	if err != nil {
		return nil, err
	}
	elsewhere := in.elsewhere()
	return a.act(in.here, in.text, func() (string, error) {
		ms, left, err := a.pool.Check(a.ctx, in.id, q)
		switch {
		case err != nil:
			return "", err
		case len(ms) == 0:
			return "No messages ready.", nil
		case left > 0:
			return strings.TrimPrefix(taken(len(ms), elsewhere)+fmt.Sprintf("\n%d more: /check again", left), "\n"), nil
		}
		return taken(len(ms), elsewhere), nil
	}), nil
}

func runReceive(a *App, in input) (tea.Cmd, error) {
	q, err := selection("receive", in.rest)
	if err != nil {
		return nil, err
	}
	elsewhere := in.elsewhere()
	return a.start(in.here, "", func() (string, error) {
		_, err := a.pool.Receive(a.ctx, in.id, q)
		return taken(1, elsewhere), err
	}), nil
}

// elsewhere names the agent whose tab shows what the command brings, if that is
// not the tab it was typed in.
func (in input) elsewhere() string {
	if in.here == in.t {
		return ""
	}
	return in.t.info.Name
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
	if in.rest != "" {
		return nil, wrong("inbox", "%q is not understood", in.rest)
	}
	return a.act(in.here, in.text, func() (string, error) {
		ms, err := a.pool.Inbox(a.ctx, in.id)
		return inbox.Listing(ms, a.o.Now()), err
	}), nil
}

func runMessages(a *App, in input) (tea.Cmd, error) {
	words := strings.Fields(in.rest)
	if len(words) == 0 || len(words) > 2 {
		return nil, wrong("messages", "say which")
	}
	id := int64(0)
	if len(words) == 2 {
		var err error
		if id, err = strconv.ParseInt(strings.TrimPrefix(words[1], "#"), 10, 64); err != nil || id < 1 {
			return nil, wrong("messages", "%q is no number of a message", words[1])
		}
	}
	agent := in.id
	switch words[0] {
	case "next":
		if working(in.t.info.State) {
			a.say("it is taken when this turn ends")
		}
		return a.start(in.here, in.text, func() (string, error) {
			_, ok, err := a.pool.Next(a.ctx, agent, id)
			if err == nil && !ok {
				return "No messages ready.", nil
			}
			return "", err
		}), nil
	case "show":
		return a.act(in.here, in.text, func() (string, error) {
			if id == 0 {
				ms, err := a.pool.Inbox(a.ctx, agent)
				return inbox.Listing(ms, a.o.Now()), err
			}
			m, ok, err := a.pool.Message(a.ctx, id)
			if err == nil && !ok {
				err = fmt.Errorf("there is no message #%d", id)
			}
			return messageText(m, a.o.Now()), err
		}), nil
	}
	return nil, wrong("messages", "%q is not understood", words[0])
}

// messageText is a message as /messages show prints it, whole.
func messageText(m inbox.Message, now time.Time) string {
	state := "pending"
	if !m.Taken.IsZero() {
		state = "taken by " + m.TakenBy
	}
	s := fmt.Sprintf("Message #%d from %s, %s ago, %s, %s", m.ID, m.From, inbox.Age(now.Sub(m.Created)), m.Kind, state)
	if m.Outcome != "" {
		s += ", " + m.Outcome
	}
	for _, part := range []string{m.Subject, m.Error, m.Body, m.Partial} {
		if part != "" {
			s += "\n\n" + part
		}
	}
	return s
}
