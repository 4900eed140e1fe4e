package ui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/themes"
	"fantail/ui/dialog"
	"fantail/ui/words"
)

// fleet is the overview while it is open.
type fleet struct {
	box  *dialog.Fleet
	seen int // the version of the tabs its lines stand for
}

// overview opens the list of all agents; the bar is on the focused one.
func (a *App) overview() tea.Cmd {
	f := &fleet{seen: -1}
	at := int64(0)
	if t := a.tabs.focus; t != nil {
		at = t.info.ID
	}
	f.box = dialog.NewFleet(a.theme, at, a.glance, a.lastLines)
	a.fleet = f
	a.open(f.box, a.enterFleet)
	return nil
}

// muster tells the overview who there is, if that changed.
func (a *App) muster() {
	f := a.fleet
	if f == nil || f.seen == a.tabs.version {
		return
	}
	f.seen = a.tabs.version
	ms := make([]dialog.Member, len(a.tabs.all))
	for i, t := range a.tabs.all {
		ms[i] = dialog.Member{ID: t.info.ID, Parent: t.info.Parent, Name: t.info.Name, State: string(t.info.State)}
	}
	f.box.Members(ms)
}

// glance is an agent's line in the overview.
func (a *App) glance(id int64) dialog.Glance {
	t := a.tabs.byID(id)
	if t == nil {
		return dialog.Glance{}
	}
	i, now := t.info, a.o.Now()
	g := dialog.Glance{State: a.stateText(t), Mail: mailMark(t, t.news), Age: words.Age(now.Sub(i.Created)), Moves: words.Working(i.State)}
	g.Sign, g.Role = words.Glyph(i)
	if _, ok := i.Stalled(t.active, now); ok {
		g.Sign, g.Role = "◌", themes.Warn
	}
	switch {
	case !i.Ended.IsZero():
		g.Seen = words.Age(now.Sub(i.Ended))
	case !t.active.IsZero():
		g.Seen = words.Age(now.Sub(t.active))
	}
	if i.Priced {
		g.Cost = fmt.Sprintf("$%.2f", float64(i.Cost)/1e6)
	}
	return g
}

// lastLines is the end of an agent's transcript.
func (a *App) lastLines(id int64, w, h int) []string {
	if t := a.tabs.byID(id); t != nil && h > 0 {
		return t.view.Tail(w, h)
	}
	return nil
}

// tailed is the tab whose last lines show in the overview or in a panel; nil: none.
func (a *App) tailed() *tab {
	id := int64(0)
	switch {
	case a.fleet != nil:
		id = a.fleet.box.Peeked()
	case a.panel != nil && a.panel.preview != nil:
		id = a.panel.preview.tail
	}
	if id == 0 {
		return nil
	}
	return a.tabs.byID(id)
}

// peeked makes sure that those last lines are there.
func (a *App) peeked() tea.Cmd {
	if t := a.tailed(); t != nil && !t.asked {
		return a.load(t)
	}
	return nil
}

// enterFleet goes to the tab that was chosen.
func (a *App) enterFleet(d dialog.Decision) tea.Cmd {
	if o, ok := d.(dialog.Opened); ok {
		if t := a.tabs.byID(o.Agent); t != nil {
			a.tabs.to(t)
			return a.shown()
		}
	}
	return nil
}

// doInFleet does what the human wants done with an agent of the overview.
func (a *App) doInFleet(w dialog.Wanted) tea.Cmd {
	t := a.tabs.byID(w.Agent)
	if t == nil {
		return nil
	}
	name := t.info.Name
	switch w.Verb {
	case "kill":
		a.askKill(t)
	case "wrap":
		return a.wrapUp(name)
	case "close":
		return a.quick(func() (string, error) { return name + " is closed", a.pool.CloseTab(a.ctx, name) })
	}
	return nil
}

// askKill asks before an agent is ended.
func (a *App) askKill(t *tab) {
	name := t.info.Name
	switch {
	case t.info.Kind.HasPrompt():
		a.say(name + " can't be killed; Esc in its tab stops its turn")
		return
	case t.info.State.Terminal():
		a.say(name + " has ended already")
		return
	}
	a.killDialog(name, a.liveBelow(name), func(cascade bool) tea.Cmd {
		return a.quick(func() (string, error) { return name + " was killed", a.pool.Kill(a.ctx, name, cascade) })
	})
}

// quick runs f in a command; the status line says what became of it.
func (a *App) quick(f func() (string, error)) tea.Cmd {
	return func() tea.Msg {
		text, err := f()
		if err != nil {
			text = words.Sentence(err)
		}
		return noted{text}
	}
}

// wrapUp asks an agent to finish with what it has.
func (a *App) wrapUp(name string) tea.Cmd {
	return a.quick(func() (string, error) {
		return name + " was asked to wrap up", a.pool.WrapUp(a.ctx, name)
	})
}

// stateText is what an agent does now, in a few words.
func (a *App) stateText(t *tab) string {
	if i := t.info; i.Handles != 0 && !i.State.Terminal() {
		return fmt.Sprintf("handles #%d · %s", i.Handles, a.stands(t))
	}
	return a.stands(t)
}

// stands is stateText without what a fork is there for.
func (a *App) stands(t *tab) string {
	i := t.info
	if mark := a.stallMark(t); mark != "" {
		return mark
	}
	switch i.State {
	case agents.Running:
		if i.Retry != nil {
			return fmt.Sprintf("tries again (%d of %d)", i.Retry.Attempt, i.Retry.Of)
		}
		return words.Doing(i)
	case agents.Waiting:
		if i.Why != "" {
			return i.Why
		}
	case agents.Asking:
		if i.Question != nil && !a.showsQuestion(t) {
			return "asks: " + i.Question.Gist()
		}
	case agents.Done:
		if i.Gist != "" {
			return string(i.State) + ": " + i.Gist
		}
	case agents.Failed, agents.Crashed, agents.Killed:
		if why, _, _ := strings.Cut(strings.TrimSpace(i.Why), "\n"); why != "" && why != string(i.State) {
			return string(i.State) + ": " + why
		}
	}
	return string(i.State)
}

// stallMark says for how long an agent gave no sign of life and what it waits
// for; "": it does.
func (a *App) stallMark(t *tab) string {
	quiet, ok := t.info.Stalled(t.active, a.o.Now())
	if !ok {
		return ""
	}
	return "stalled " + words.Silence(quiet) + " · " + words.Doing(t.info)
}
