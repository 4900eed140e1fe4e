package notify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/inbox"
	"fantail/ui/cells"
	"fantail/ui/format"
	"fantail/ui/intent"
	"fantail/ui/tabs"
	"fantail/ui/transcript"
)

// Digest reads what happened since that time; zero: since the human was last there. The human
// counts as there from now on.
func (n *Notifier) Digest(since time.Time) intent.Intent {
	now := n.Now()
	n.seen.stored = now
	pool := n.Pool
	return intent.Run{F: func(ctx context.Context) intent.Intent {
		var t agents.Timeline
		d, err := pool.Records.Digest(ctx, since)
		if away := now.Sub(d.Since); err == nil && !d.Since.IsZero() && away >= leastBarred {
			t, err = pool.Records.Timeline(ctx, d.Since, away/barCols, barCols, now)
		}
		if e := pool.Records.Seen(ctx, now); err == nil && !errors.Is(e, event.ErrReadOnly) {
			err = e
		}
		return intent.Call(func() intent.Intent { return n.takeDigest(d, t, err) })
	}}
}

// The width of the bar of the time that the human was away, how long that must have been for one, and how many agents
// have one.
const (
	barCols     = 24
	leastBarred = time.Minute
	mostBars    = 6
)

// takeDigest shows a digest in main's tab, and says so if the human looks at another tab. Mail that
// arrived meanwhile counts as new.
func (n *Notifier) takeDigest(d agents.Digest, t agents.Timeline, err error) intent.Intent {
	main := n.Tabs.Main()
	for id := range d.Fresh {
		if t := n.Tabs.ByID(id); t != nil && t.Info.Pending > 0 {
			t.News = true
		}
	}
	switch {
	case err != nil:
		return intent.Say{Text: format.Sentence(err)}
	case d.Since.IsZero() || main == nil || d.Empty() && !n.askedSince(d.Since) && !n.idleSince(d.Since):
		return nil
	}
	text, bars := n.digestText(d), n.bars(t)
	switch {
	case t.Waited >= time.Second:
		text += "\n" + fmt.Sprintf("  %-11s for you %s of %s · /timeline to see when", "waited", format.Lasted(t.Waited), format.Lasted(t.Busy))
	case t.Busy >= time.Second:
		text += "\n" + fmt.Sprintf("  %-11s %s · /timeline to see when", "ran", format.Lasted(t.Busy))
	}
	main.View.Bars(text, bars)
	if n.Tabs.Focus == main {
		return nil
	}
	return intent.Say{
		Text:  "go to main's tab to see what happened while you were away",
		While: func() bool { return n.Tabs.Focus != main },
	}
}

// bars says what the agents did while the human was away, those that ran longest first.
func (n *Notifier) bars(t agents.Timeline) (bars []transcript.Bar) {
	ids := slices.SortedFunc(maps.Keys(t.Rows), func(a, b int64) int {
		return cmp.Or(cmp.Compare(t.Rows[b].Ran, t.Rows[a].Ran), cmp.Compare(a, b))
	})
	for _, id := range ids {
		x, r := n.Tabs.ByID(id), t.Rows[id]
		if x == nil || r.Ran < time.Second || len(bars) == mostBars {
			continue
		}
		text := format.Lasted(r.Ran)
		if r.Waited >= time.Second {
			text += ", waited " + format.Lasted(r.Waited)
		}
		bars = append(bars, transcript.Bar{Name: x.Info.Name, Acts: r.Acts, Text: text})
	}
	return bars
}

// asking returns the tabs of asking agents that the human talks to. Questions of other agents are
// in an inbox.
func (n *Notifier) asking() []*tabs.Tab {
	return slices.DeleteFunc(slices.Clone(n.Tabs.All), func(t *tabs.Tab) bool {
		return !t.Info.Kind.HasPrompt() || t.Info.Question == nil
	})
}

// askedSince reports whether one of them began to ask at that time or later.
func (n *Notifier) askedSince(at time.Time) bool {
	return slices.ContainsFunc(n.asking(), func(t *tabs.Tab) bool { return !t.Info.Question.Since.Before(at) })
}

// idle returns the names of the agents that await input.
func (n *Notifier) idle() (names []string) {
	for _, t := range n.Tabs.Open {
		if format.Awaits(t.Info) {
			names = append(names, t.Info.Name)
		}
	}
	return names
}

// idleSince reports whether one of them began to do so at that time or later.
func (n *Notifier) idleSince(at time.Time) bool {
	return slices.ContainsFunc(n.Tabs.Open, func(t *tabs.Tab) bool { return format.Awaits(t.Info) && !t.Active.Before(at) })
}

// digestText formats a digest for people: what happened to which agent, and the command to go on
// with.
func (n *Notifier) digestText(d agents.Digest) string {
	ls := []string{fmt.Sprintf("While you were away (%s):", format.Age(n.Now().Sub(d.Since)))}
	add := func(what, whom, next string) {
		if whom == "" {
			return
		}
		if next != "" { // the command stays on this line unless the screen is narrow
			if width := n.Width() - len("    interrupted ") - len(" - ") - cells.Width(next); width >= leastTold {
				whom = cells.Cut(whom, width)
			}
			whom += " · " + next
		}
		ls = append(ls, fmt.Sprintf("  %-11s %s", what, whom))
	}
	mail := ""
	if n.Tabs.Main().Info.Pending > 0 && n.work(d.Finished) != "" {
		mail = "/check to collect the results"
	}
	add("finished", format.Some(d.Finished), mail)
	failed := "see its tab"
	if name := n.work(d.Failed); name != "" {
		failed = "/inbox to see why, /retry " + name + " to try again"
	}
	add("failed", format.Some(d.Failed), failed)
	for _, t := range n.asking() {
		add("needs you", t.Info.Name+" asks: "+inbox.Label(t.Info.Question.Gist()), "/answer "+t.Info.Name)
	}
	for i, m := range d.Needs {
		if i == format.MaxListed {
			add("", fmt.Sprintf("and %d more", len(d.Needs)-i), "/inbox")
			break
		}
		add("needs you", needText(m), n.needCommand(m))
	}
	for i, m := range d.Due {
		if i == format.MaxListed {
			add("", fmt.Sprintf("and %d more", len(d.Due)-i), "/inbox")
			break
		}
		add(dueText(m))
	}
	if d.Silent > 0 {
		add("scheduled", format.Count(d.Silent, "run")+" without news", "/schedule to list them")
	}
	if names := n.idle(); len(names) > 0 {
		add("idle", format.Some(names), "/tell "+names[0]+" TEXT to continue, /end "+names[0]+" to end it")
	}
	if d.Letters > 0 {
		add("mail", format.Count(d.Letters, "message")+" from "+format.Some(d.Mail), "/inbox to list them")
	}
	cut := "nothing is repeated unless you ask"
	if name := n.work(d.Cut); name != "" {
		cut = "/resume " + name + " to continue"
	}
	add("interrupted", format.Some(d.Cut), cut)
	switch {
	case d.Cost > 0:
		add("spent", fmt.Sprintf("$%.2f", float64(d.Cost)/1e6), "")
	case d.Tokens > 0:
		add("spent", format.Amount(d.Tokens)+" tokens", "")
	}
	return strings.Join(ls, "\n")
}

// dueText describes a message of a schedule.
func dueText(m inbox.Message) (what, text, next string) {
	if m.Kind == inbox.Reminder {
		return "reminder", inbox.Line(m.Body), ""
	}
	says := inbox.Label(m.From) + ": " + inbox.Line(m.Subject)
	if m.Error != "" {
		says += ": " + inbox.Line(m.Error)
	}
	return "scheduled", says, fmt.Sprintf("/messages show %d", m.ID)
}

const (
	leastTold = 40 // columns for what happened; with fewer it wraps
)

// work returns the first name that does not belong to an agent with a prompt box, so that it is a
// task's; "": none.
func (n *Notifier) work(names []string) string {
	i := slices.IndexFunc(names, func(name string) bool {
		t := n.Tabs.ByName(name)
		return t == nil || !t.Info.Kind.HasPrompt()
	})
	if i < 0 {
		return ""
	}
	return names[i]
}

// needText says in a few words what needs the human.
func needText(m inbox.Message) string {
	from := inbox.Label(m.From)
	if m.Asks() {
		return from + " asks: " + m.Gist()
	}
	return "urgent from " + from + ": " + m.Gist()
}

// needCommand returns the command to deal with it.
func (n *Notifier) needCommand(m inbox.Message) string {
	if m.Asks() {
		return fmt.Sprintf("/answer %d", m.ID)
	}
	command := fmt.Sprintf("/messages next %d", m.ID)
	if t := n.Tabs.ByID(m.Recipient); t != nil && !t.Info.Kind.Nature().Stays {
		command += " in the tab of " + t.Info.Name
	}
	return command
}
