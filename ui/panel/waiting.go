package panel

import (
	"context"
	"slices"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/schedule"
	"fantail/inbox"
	"fantail/themes"
	"fantail/ui/cells"
	"fantail/ui/dialog"
	"fantail/ui/format"
	"fantail/ui/intent"
)

// Waiting is what waits for the human besides questions: an agent's newest messages, the queued
// tasks, and the next schedule.
type Waiting struct {
	agent   int64 // whose messages they are
	mail    []dialog.Line
	queued  []queuedTask
	next    schedule.Schedule // its ID is 0 if there is none
	tally   event.Tally
	reads   int
	fresh   bool // all that was read is up to date
	reading bool
}

// queuedTask is a task that has not started, and why.
type queuedTask struct{ name, why string }

// maxWaiting limits the messages and the tasks that are read.
const maxWaiting = 8

// Note applies an event.
func (x *Waiting) Note(e event.Event) {
	switch e := e.(type) {
	case event.Mailed:
		x.fresh = x.fresh && e.Agent != x.agent
	case event.Tally:
		was := x.tally
		x.tally = e
		x.fresh = x.fresh && slices.Equal(was.Names, e.Names) && was.Running == e.Running && was.Scheduled == e.Scheduled && was.Due.Equal(e.Due)
	}
}

// Reads returns how often it was read.
func (x *Waiting) Reads() int { return x.reads }

// Wants returns the read that brings it up to date for an agent; nil: it is, or is being read.
func (x *Waiting) Wants(o Options, agent int64) intent.Intent {
	if x.reading || o.Pool == nil || agent == 0 || x.fresh && x.agent == agent {
		return nil
	}
	x.reading, x.fresh, x.agent = true, true, agent
	tally := x.tally
	return intent.Run{F: func(ctx context.Context) intent.Intent {
		read, err := readWaiting(ctx, o, agent, tally)
		return intent.Call(func() intent.Intent {
			x.reading = false
			if err != nil {
				return intent.Say{Text: format.Sentence(err)}
			}
			x.reads++
			x.mail, x.queued, x.next = read.mail, read.queued, read.next
			return nil
		})
	}}
}

func readWaiting(ctx context.Context, o Options, agent int64, tally event.Tally) (x Waiting, err error) {
	ms, err := o.Inbox.Select(ctx, inbox.Selection{Recipient: agent, Folded: true, Limit: maxWaiting})
	if err != nil {
		return x, err
	}
	for _, m := range ms {
		if m.Asks() { // the agent that asks shows it
			continue
		}
		l := mailLine(m)
		for _, text := range []string{m.Error, m.Body} {
			if words := inbox.Line(text); words != "" && m.Kind != inbox.Mail { // its subject is the task's prompt
				l.Text = words
			}
		}
		l.Cost = history.MessageTokens(m)
		x.mail = append(x.mail, l)
	}
	for _, name := range tally.Names[:min(len(tally.Names), maxWaiting)] {
		if n, err := o.Pool.Does(name); err == nil && n.Queued != "" {
			x.queued = append(x.queued, queuedTask{name, n.Queued})
		}
	}
	if tally.Scheduled == 0 {
		return x, nil
	}
	ss, err := o.Pool.Schedule.All(ctx, 0)
	for _, s := range ss {
		if s.State == schedule.Active && (x.next.ID == 0 || s.Due.Before(x.next.Due)) {
			x.next = s
		}
	}
	return x, err
}

// Lines returns at most h painted lines of at most w cells. pending is how many messages wait in
// all.
func (x *Waiting) Lines(t *themes.Theme, now time.Time, pending, w, h int) []string {
	queue := len(x.tally.Names)
	if h < 3 { // the counts alone
		text := format.Count(pending, "message")
		if queue > 0 {
			text += " · " + format.Count(queue, "task") + " queued"
		}
		if pending+queue == 0 || h == 0 {
			return nil
		}
		return []string{" " + t.Paint(themes.Message, "✉ ") + t.Paint(themes.Dim, cells.Cut(text, w-4))}
	}
	tasks := min(len(x.queued), max(1, (h-3)/3))
	if queue == 0 {
		tasks = 0
	}
	left := h - 1
	if tasks > 0 {
		left -= 2 + tasks
	}
	out := []string{" " + t.Paint(themes.Message, "✉ Mail")}
	if pending > 0 {
		out[0] += t.Paint(themes.Dim, " "+format.Count(pending, "message"))
	} else {
		out[0] += t.Paint(themes.Dim, "  Results of tasks arrive here")
	}
	for _, l := range x.mail[:min(len(x.mail), max(0, left))] {
		out = append(out, mailRow(t, l, now, w))
	}
	if tasks == 0 {
		return out
	}
	out = append(out, "", " "+t.Paint(themes.Text, "Queue")+t.Paint(themes.Dim, " "+format.Count(queue, "task")))
	for _, q := range x.queued[:tasks] {
		out = append(out, "   "+t.Paint(themes.Dim, "○ ")+t.Paint(themes.Text, cells.Fit(cells.CleanLine(q.name), 14))+" "+
			t.Paint(themes.Dim, cells.Cut(cells.CleanLine(q.why), max(1, w-21))))
	}
	return out
}

// mailRow returns a message as one line: its sign, its sender, its first words, its age and cost.
func mailRow(t *themes.Theme, l dialog.Line, now time.Time, w int) string {
	right := format.Age(now.Sub(l.At))
	if l.Cost > 0 && w >= 70 {
		right += "   ~" + format.Amount(l.Cost) + " tokens"
	}
	text := max(1, w-5-15-cells.Width(right)-2)
	return "   " + t.Paint(l.Role, cells.Fit(cells.CleanLine(l.Sign), 2)) + t.Paint(themes.Text, cells.Fit(cells.CleanLine(l.Who), 14)) + " " +
		t.Paint(themes.Text, cells.Fit(cells.CleanLine(l.Text), text)) + t.Paint(themes.Dim, " "+right)
}
