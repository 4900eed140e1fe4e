package ui

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/inbox"
	"fantail/ui/frame"
	"fantail/ui/words"
)

// gather is how long what calls the human is gathered: several at once are one.
const gather = 750 * time.Millisecond

// call is one thing the human is called to while they look elsewhere.
type call struct {
	sort string // urgent, failed or needs you
	name string // who it is about
	text string // in a few words
}

// calls gathers them. A timer runs only while there are some.
type calls struct {
	all   []call
	open  bool
	quiet time.Time // when it became quiet last, as far as the screen knows
}

// gathered says that the calls are to be made now.
type gathered struct{}

const (
	callUrgent = "urgent"
	callFailed = "failed"
	callNeeds  = "needs you"
)

// urgentCall calls to an urgent message. What somebody outside wrote stays in the
// inbox: a notification may be read by others.
func urgentCall(m inbox.Message) call {
	from := inbox.Label(m.From)
	if m.Outside() {
		text := "urgent mail from outside"
		if from != agents.Outside {
			text += ", from " + from
		}
		return call{callUrgent, from, text}
	}
	return call{callUrgent, from, "urgent from " + from + ": " + m.Gist()}
}

// callFor calls to an agent that failed, or that asks, as a change tells it. What
// agents dispatched below those the human talks to report to them, not to the human.
func (a *App) callFor(was, i agents.Info) tea.Cmd {
	failed := (i.State == agents.Failed || i.State == agents.Crashed) && (was.State != i.State || was.Attempt != i.Attempt)
	if i.Kind.HasPrompt() {
		failed = i.Outcome == agents.OutFailed && words.Working(was.State) && i.State == agents.Idle
	} else if t := a.tabs.ByID(i.Parent); t != nil && !t.Info.Kind.HasPrompt() {
		failed = false
	}
	name := inbox.Label(i.Name)
	switch {
	case i.Question != nil && (was.Question == nil || was.Question.ID != i.Question.ID):
		return a.call(needsCall(i))
	case failed:
		text := name + " failed"
		if i.Why != "" {
			text += ": " + inbox.Label(i.Why)
		}
		return a.call(call{callFailed, name, text})
	}
	return nil
}

// callAfterQuiet calls to what is urgent and to who asks, if that came while it was
// quiet: nobody was called to it then. What failed stands in the pool's summary.
func (a *App) callAfterQuiet(was inbox.Quiet) tea.Cmd {
	var cmds []tea.Cmd
	for _, m := range slices.Backward(a.pressing.all) {
		if m.ID > was.Since {
			cmds = append(cmds, a.call(urgentCall(m)))
		}
	}
	for _, t := range a.tabs.All {
		if q := t.Info.Question; q != nil && !q.Since.Before(a.calls.quiet) {
			cmds = append(cmds, a.call(needsCall(t.Info)))
		}
	}
	return tea.Batch(cmds...)
}

// needsCall calls to an agent that asks.
func needsCall(i agents.Info) call {
	name := inbox.Label(i.Name)
	return call{callNeeds, name, name + " asks: " + inbox.Label(i.Question.Gist())}
}

// call notes what calls the human, if they are elsewhere and want to be called.
func (a *App) call(c call) tea.Cmd {
	if a.bell.how == notifyOff || !a.away() || a.tally.Quiet.Holds(a.o.Now()) {
		return nil
	}
	a.calls.all = append(a.calls.all, c)
	if a.calls.open {
		return nil
	}
	a.calls.open = true
	return tea.Tick(gather, func(time.Time) tea.Msg { return gathered{} })
}

// ring makes the calls that were gathered, unless the human came or it became
// quiet meanwhile.
func (a *App) ring() tea.Cmd {
	all := a.calls.all
	a.calls.all, a.calls.open = nil, false
	if len(all) == 0 || !a.away() || a.tally.Quiet.Holds(a.o.Now()) {
		return nil
	}
	return a.bell.send("fantail · "+frame.CleanLine(filepath.Base(a.o.Root)), callText(all), a.o.Environ)
}

// callText is several calls in one.
func callText(all []call) string {
	if len(all) == 1 {
		return all[0].text
	}
	var parts, names []string
	for _, sort := range []string{callUrgent, callNeeds, callFailed} {
		n, of := 0, []string(nil)
		for _, c := range all {
			if c.sort == sort {
				n, of = n+1, append(of, c.name)
			}
		}
		slices.Sort(of)
		for _, name := range of {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		switch {
		case n == 0:
		case sort == callNeeds && n > 1:
			parts = append(parts, fmt.Sprintf("%d need you", n))
		default:
			parts = append(parts, fmt.Sprintf("%d %s", n, sort))
		}
	}
	return strings.Join(parts, ", ") + ": " + words.Some(names)
}
