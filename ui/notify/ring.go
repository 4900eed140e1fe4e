package notify

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/inbox/policy"
	"fantail/ui/cells"
	"fantail/ui/format"
	"fantail/ui/intent"
)

// gather is how long calls are gathered, so that several at once become one.
const gather = 750 * time.Millisecond

// call is one reason to call a human who looks elsewhere.
type call struct {
	sort string // one of the below
	name string // which agent or sender it is about
	text string // in a few words
}

// calls gathers calls. Its timer runs only while there are any.
type calls struct {
	all   []call
	open  bool
	quiet time.Time // when quiet was last turned on, as far as the screen knows
}

const (
	callUrgent = "urgent"
	callFailed = "failed"
	callNeeds  = "needs you"
	callMail   = "message"
)

// urgentCall returns the call for an urgent message. The text of mail from outside is left out,
// because others may read a notification.
func urgentCall(m inbox.Message) call {
	from := inbox.Label(m.From)
	if m.Outside() {
		text := "urgent mail from outside"
		if from != tasks.OutsideName {
			text += ", from " + from
		}
		return call{callUrgent, from, text}
	}
	return call{callUrgent, from, "urgent from " + from + ": " + m.Gist()}
}

// callTo calls the human to an agent's messages after `after`, up to upTo, that call by how they were sent.
func (n *Notifier) callTo(agent, after, upTo int64) intent.Intent {
	if !n.calling() || n.Pool == nil {
		return nil
	}
	pool := n.Pool
	return intent.Run{F: func(ctx context.Context) intent.Intent {
		ms, err := pool.Records.Calling(ctx, agent, after, upTo)
		if err != nil {
			return intent.Say{Text: format.Sentence(err)}
		}
		return intent.Call(func() intent.Intent {
			var all intent.All
			for _, m := range ms {
				if !m.Created.Before(n.began) {
					all = append(all, n.call(mailCall(m)))
				}
			}
			return all
		})
	}}
}

// mailCall returns the call for a message that calls by how it was sent.
func mailCall(m inbox.Message) call {
	from, text := inbox.Label(m.From), m.Gist()
	switch m.Kind {
	case inbox.Reminder:
		return call{callMail, from, "reminder: " + text}
	case inbox.Result, inbox.Scheduled: // its subject is the task
		text = cmp.Or(inbox.Line(m.Error), inbox.Line(m.Body), text)
	}
	return call{callMail, from, "mail from " + from + ": " + text}
}

// CallFor calls the human to an agent that has failed or asks, according to its change. Agents
// dispatched by background agents report to those, not to the human.
func (n *Notifier) CallFor(was, i event.Info) intent.Intent {
	if i.Unattended { // whoever started it hears of it
		return nil
	}
	failed := (i.State == event.Failed || i.State == event.Crashed) && (was.State != i.State || was.Attempt != i.Attempt)
	if i.Kind.HasPrompt() {
		failed = i.Outcome == history.OutFailed && format.Working(was.State) && i.State == event.Idle
	} else if t := n.Tabs.ByID(i.Parent); t != nil && !t.Info.Kind.HasPrompt() {
		failed = false
	}
	name := inbox.Label(i.Name)
	switch {
	case i.Question != nil && (was.Question == nil || was.Question.ID != i.Question.ID):
		return n.call(needsCall(i))
	case failed:
		text := name + " failed"
		if i.Why != "" {
			text += ": " + inbox.Label(i.Why)
		}
		return n.call(call{callFailed, name, text})
	}
	return nil
}

// callAfterQuiet calls to the urgent messages and questions that came while quiet was on. Failures
// are in the pool's summary.
func (n *Notifier) callAfterQuiet(was policy.Quiet) intent.Intent {
	var all intent.All
	for _, m := range slices.Backward(n.urgent.all) {
		if m.ID > was.Since {
			all = append(all, n.call(urgentCall(m)))
		}
	}
	for _, t := range n.Tabs.All {
		if q := t.Info.Question; q != nil && !q.Since.Before(n.calls.quiet) {
			all = append(all, n.call(needsCall(t.Info)))
		}
	}
	return all
}

// needsCall returns the call for an agent that asks.
func needsCall(i event.Info) call {
	name := inbox.Label(i.Name)
	return call{callNeeds, name, name + " asks: " + inbox.Label(i.Question.Gist())}
}

// calling reports whether the human is away and wants to be called.
func (n *Notifier) calling() bool {
	return n.bell.how != notifyOff && n.Away() && !n.quiet.Holds(n.Now())
}

// call adds a call, if the human is away and wants to be called.
func (n *Notifier) call(c call) intent.Intent {
	if !n.calling() {
		return nil
	}
	n.calls.all = append(n.calls.all, c)
	if n.calls.open {
		return nil
	}
	n.calls.open = true
	return later(gather, n.ring)
}

// ring makes the gathered calls, unless the human came back or quiet was turned on meanwhile.
func (n *Notifier) ring() intent.Intent {
	all := n.calls.all
	n.calls.all, n.calls.open = nil, false
	if len(all) == 0 || !n.Away() || n.quiet.Holds(n.Now()) {
		return nil
	}
	return n.bell.send("fantail · "+cells.CleanLine(filepath.Base(n.Root)), callText(all), n.Environ)
}

// callText joins several calls into one text.
func callText(all []call) string {
	if len(all) == 1 {
		return all[0].text
	}
	var parts, names []string
	for _, sort := range []string{callUrgent, callNeeds, callFailed, callMail} {
		num, of := 0, []string(nil)
		for _, c := range all {
			if c.sort == sort {
				num, of = num+1, append(of, c.name)
			}
		}
		slices.Sort(of)
		for _, name := range of {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		switch {
		case num == 0:
		case sort == callNeeds && num > 1:
			parts = append(parts, fmt.Sprintf("%d need you", num))
		case sort == callMail:
			parts = append(parts, format.Count(num, sort))
		default:
			parts = append(parts, fmt.Sprintf("%d %s", num, sort))
		}
	}
	return strings.Join(parts, ", ") + ": " + format.Some(names)
}
