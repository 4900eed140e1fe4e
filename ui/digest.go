package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/inbox"
	"fantail/ui/frame"
	"fantail/ui/tabs"
	"fantail/ui/transcript"
	"fantail/ui/words"
)

// digested is what happened while the human was away.
type digested struct {
	digest agents.Digest
	err    error
}

// askDigest asks what happened since that time; zero: since the human was last
// there. From now on they are.
func (a *App) askDigest(since time.Time) tea.Cmd {
	now := a.o.Now()
	a.seen.kept = now
	pool := a.pool
	return func() tea.Msg {
		d, err := pool.Digest(a.ctx, since)
		if err == nil {
			err = pool.Seen(a.ctx, now)
		}
		return digested{d, err}
	}
}

// takeDigest shows a digest in main's tab. Whoever looks at another is told of it.
// The mail that came meanwhile is new.
func (a *App) takeDigest(m digested) {
	main := a.tabs.Main()
	for id := range m.digest.Fresh {
		if t := a.tabs.ByID(id); t != nil && t.Info.Pending > 0 {
			t.News, a.dirty = true, true
		}
	}
	switch {
	case m.err != nil:
		a.say(words.Sentence(m.err))
	case m.digest.Since.IsZero() || main == nil || m.digest.Empty() && !a.askedSince(m.digest.Since):
	default:
		main.View.Local(a.digestText(m.digest), transcript.Plain)
		a.dirty = true
		if a.tabs.Focus != main {
			a.sayWhile("main's tab tells what happened while you were away", func() bool { return a.tabs.Focus != main })
		}
	}
}

// asking are the tabs of agents the human talks to that ask something; what others
// ask stands in an inbox.
func (a *App) asking() []*tabs.Tab {
	return slices.DeleteFunc(slices.Clone(a.tabs.All), func(t *tabs.Tab) bool {
		return !t.Info.Kind.HasPrompt() || t.Info.Question == nil
	})
}

// askedSince reports whether one of them began to ask at that time or later.
func (a *App) askedSince(at time.Time) bool {
	return slices.ContainsFunc(a.asking(), func(t *tabs.Tab) bool { return !t.Info.Question.Since.Before(at) })
}

// digestText is a digest for people: what happened, to whom, and the command that
// goes on from there.
func (a *App) digestText(d agents.Digest) string {
	ls := []string{fmt.Sprintf("Since you were last here, %s ago:", words.Age(a.o.Now().Sub(d.Since)))}
	add := func(what, whom, next string) {
		if whom == "" {
			return
		}
		if next != "" { // the command stays on the line, but for a narrow screen
			if room := a.w - len("    interrupted ") - len(" - ") - frame.Width(next); room >= leastTold {
				whom = frame.Cut(whom, room)
			}
			whom += " · " + next
		}
		ls = append(ls, fmt.Sprintf("  %-11s %s", what, whom))
	}
	mail := ""
	if a.tabs.Main().Info.Pending > 0 && a.work(d.Finished) != "" {
		mail = "/check takes what they reported"
	}
	add("finished", words.Some(d.Finished), mail)
	failed := "its tab says why"
	if name := a.work(d.Failed); name != "" {
		failed = "/inbox says why, /retry " + name + " tries again"
	}
	add("failed", words.Some(d.Failed), failed)
	for _, t := range a.asking() {
		add("needs you", t.Info.Name+" asks: "+inbox.Label(t.Info.Question.Gist()), "/answer "+t.Info.Name)
	}
	for i, m := range d.Needs {
		if i == words.MostListed {
			add("", fmt.Sprintf("and %d more", len(d.Needs)-i), "/inbox")
			break
		}
		add("needs you", needText(m), a.needCommand(m))
	}
	if d.Letters > 0 {
		add("mail", words.Count(d.Letters, "message")+" from "+words.Some(d.Mail), "/inbox lists what waits")
	}
	cut := "nothing is done again by itself"
	if name := a.work(d.Cut); name != "" {
		cut = "/resume " + name + " goes on"
	}
	add("interrupted", words.Some(d.Cut), cut)
	switch {
	case d.Cost > 0:
		add("spent", fmt.Sprintf("$%.2f", float64(d.Cost)/1e6), "")
	case d.Tokens > 0:
		add("spent", words.Amount(d.Tokens)+" tokens", "")
	}
	return strings.Join(ls, "\n")
}

const (
	leastTold = 40 // columns of what happened; where fewer are left it is wrapped
)

// work is the first of the names that no agent with a prompt box has: it was
// given a task. "": none.
func (a *App) work(names []string) string {
	i := slices.IndexFunc(names, func(name string) bool {
		t := a.tabs.ByName(name)
		return t == nil || !t.Info.Kind.HasPrompt()
	})
	if i < 0 {
		return ""
	}
	return names[i]
}

// needText is what needs the human, in a few words.
func needText(m inbox.Message) string {
	from := inbox.Label(m.From)
	if m.Asks() {
		return from + " asks: " + m.Gist()
	}
	return "urgent from " + from + ": " + m.Gist()
}

// needCommand goes on with what needs the human.
func (a *App) needCommand(m inbox.Message) string {
	if m.Asks() {
		return fmt.Sprintf("/answer %d", m.ID)
	}
	command := fmt.Sprintf("/messages next %d", m.ID)
	if t := a.tabs.ByID(m.Recipient); t != nil && t.Info.Kind != agents.Main {
		command += " in the tab of " + t.Info.Name
	}
	return command
}
