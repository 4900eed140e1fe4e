package panel

import (
	"fmt"
	"strings"
	"time"

	"fantail/agents/event"
	"fantail/inbox"
	"fantail/themes"
	"fantail/ui/cells"
	"fantail/ui/format"
	"fantail/ui/tabs"
)

// railed is how many messages and queued tasks the rail shows.
const railed = 3

// Rail returns exactly h painted lines of at most w cells about all agents but main, and what waits.
// turns is how long they stay true without an event; 0: they do.
func Rail(o Options, waiting *Waiting, w, h int) (lines []string, turns time.Duration) {
	below := waiting.rail(o, w)
	room := h - len(below)
	if room < 4 {
		below, room = nil, h
	}
	lines, turns = railAgents(o, w, room)
	lines = append(lines, below...)
	for i, l := range lines {
		lines[i] = cells.Cut(l, w)
	}
	for len(lines) < h {
		lines = append(lines, "")
	}
	return lines[:h], turns
}

// railAgents returns at most h lines about the agents: those that ask, then those that work, then
// the others, the newest of them first.
func railAgents(o Options, w, h int) (lines []string, turns time.Duration) {
	now, paint := o.Now(), o.Theme.Paint
	groups, n, cost, priced := [3][]*tabs.Tab{}, 0, int64(0), false
	for _, t := range o.Tabs.All {
		cost, priced = cost+t.Info.Cost, priced || t.Info.Priced
		if t.Info.Kind.Nature().Stays {
			continue
		}
		n++
		switch {
		case t.Info.Question != nil:
			groups[0] = append(groups[0], t)
		case format.Working(t.Info.State):
			groups[1] = append(groups[1], t)
		}
	}
	for i := len(o.Tabs.All) - 1; i >= 0 && len(groups[2]) < h; i-- {
		if t := o.Tabs.All[i]; !t.Info.Kind.Nature().Stays && t.Info.Question == nil && !format.Working(t.Info.State) {
			groups[2] = append(groups[2], t)
		}
	}
	head := format.Count(n, "agent")
	if priced {
		head += fmt.Sprintf(" · $%.2f", float64(cost)/1e6)
	}
	lines = append(lines, paint(themes.Heading, "Fan")+paint(themes.Dim, "  "+head), "")
	shown := 0
	for _, group := range groups {
		for _, t := range group {
			ls := railAgent(o, t, now, w)
			if len(lines)+len(ls) >= h { // the last line counts those left out
				return append(lines, paint(themes.Dim, fmt.Sprintf("… %d more · f2", n-shown))), turns
			}
			lines = append(lines, ls...)
			if d := format.Turns(t.Info, t.Active, now); d > 0 && (turns == 0 || d < turns) {
				turns = d
			}
			shown++
		}
	}
	return append(lines, ""), turns
}

// railAgent returns the lines about an agent: its state and for how long, and while it works what it
// does.
func railAgent(o Options, t *tabs.Tab, now time.Time, w int) []string {
	i, paint := t.Info, o.Theme.Paint
	sign, role := format.Glyph(i)
	if _, stalled := i.Stalled(t.Active, now); stalled {
		sign, role = "◌", themes.Warn
	}
	who, word, does := themes.Text, themes.Dim, themes.Text
	if t == o.Tabs.Focus {
		who = themes.Accent
	}
	if i.Question != nil {
		word, does = themes.Warn, themes.Warn
	}
	name := cells.CutMiddle(cells.CleanLine(i.Name), max(6, w/2))
	head := paint(role, sign) + " " + paint(who, name) + "  " + paint(word, stateText(t, now))
	if pulse := t.Pulse(); pulse != "" {
		head += " " + paint(themes.Accent, pulse)
	}
	if mail := tabs.MailMark(t, t.News); mail != "" {
		head += " " + paint(themes.Message, mail)
	}
	switch {
	case i.Question != nil:
		return []string{head, "  " + paint(does, cells.Cut(cells.CleanLine(cells.Reveal(i.Question.Gist())), w-2))}
	case format.Working(i.State):
		return []string{head, "  " + paint(does, cells.Cut(cells.CleanLine(t.StateText(false)), w-2))}
	case i.State == event.Failed || i.State == event.Crashed:
		why, _, _ := strings.Cut(i.Why, "\n")
		head += " " + paint(themes.Bad, cells.Cut(cells.CleanLine(why), max(1, w-cells.Width(head)-1)))
	}
	return []string{head}
}

// rail returns the lines about mail, the queue and the next schedule. There are none about what is
// empty.
func (x *Waiting) rail(o Options, w int) (lines []string) {
	paint := o.Theme.Paint
	section := func(role themes.Role, name, count string) {
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, paint(role, name)+paint(themes.Dim, "  "+count))
	}
	row := func(role themes.Role, sign, name, text string) {
		name, text = cells.CutMiddle(cells.CleanLine(name), 16), cells.CleanLine(text)
		lines = append(lines, paint(role, sign)+" "+paint(themes.Text, name)+" "+paint(themes.Dim, cells.Cut(text, max(1, w-3-cells.Width(name)))))
	}
	if n := o.Tabs.Acting().Info.Pending; n > 0 {
		section(themes.Message, "Mail", fmt.Sprintf("%d pending · f3", n))
		for _, l := range x.mail[:min(len(x.mail), railed)] {
			row(l.Role, l.Sign, l.Who, l.Text)
		}
	}
	if n := len(x.tally.Names); n > 0 {
		section(themes.Text, "Queue", fmt.Sprintf("%d · f4", n))
		for _, q := range x.queued[:min(len(x.queued), railed)] {
			row(themes.Dim, "○", q.name, q.why)
		}
	}
	if x.next.ID != 0 && x.tally.Scheduled > 0 {
		section(themes.Text, "Next", inbox.Clock(x.next.Due, o.Now())+" · f6")
		row(themes.Dim, "↻", x.next.Name, format.ScheduleSays(x.next))
	}
	return lines
}
