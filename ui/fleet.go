package ui

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"fantail/themes"
	"fantail/ui/dialog"
	"fantail/ui/intent"
	"fantail/ui/tabs"
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
	if t := a.tabs.Focus; t != nil {
		at = t.Info.ID
	}
	f.box = dialog.NewFleet(a.theme, at, a.glance, a.tabs.LastLines)
	a.fleet = f
	a.open(f.box, a.enterFleet)
	return nil
}

// muster tells the overview who there is, if that changed.
func (a *App) muster() {
	f := a.fleet
	if f == nil || f.seen == a.tabs.Version {
		return
	}
	f.seen = a.tabs.Version
	ms := make([]dialog.Member, len(a.tabs.All))
	for i, t := range a.tabs.All {
		ms[i] = dialog.Member{ID: t.Info.ID, Parent: t.Info.Parent, Name: t.Info.Name, State: string(t.Info.State)}
	}
	f.box.Members(ms)
}

// glance is an agent's line in the overview.
func (a *App) glance(id int64) dialog.Glance {
	t := a.tabs.ByID(id)
	if t == nil {
		return dialog.Glance{}
	}
	i, now := t.Info, a.o.Now()
	g := dialog.Glance{State: t.StateText(a.showsQuestion(t)), Mail: tabs.MailMark(t, t.News), Age: words.Age(now.Sub(i.Created)), Moves: words.Working(i.State)}
	g.Sign, g.Role = words.Glyph(i)
	if _, ok := i.Stalled(t.Active, now); ok {
		g.Sign, g.Role = "◌", themes.Warn
	}
	switch {
	case !i.Ended.IsZero():
		g.Seen = words.Age(now.Sub(i.Ended))
	case !t.Active.IsZero():
		g.Seen = words.Age(now.Sub(t.Active))
	}
	if i.Priced {
		g.Cost = fmt.Sprintf("$%.2f", float64(i.Cost)/1e6)
	}
	return g
}

// tailed is the tab whose last lines show in the overview or in a panel; nil: none.
func (a *App) tailed() *tabs.Tab {
	id := int64(0)
	switch {
	case a.fleet != nil:
		id = a.fleet.box.Peeked()
	case a.panel != nil:
		id = a.panel.Tail()
	}
	if id == 0 {
		return nil
	}
	return a.tabs.ByID(id)
}

// peeked makes sure that those last lines are there.
func (a *App) peeked() tea.Cmd {
	if t := a.tailed(); t != nil && !t.Asked {
		return a.load(t)
	}
	return nil
}

// enterFleet goes to the tab that was chosen.
func (a *App) enterFleet(d dialog.Decision) tea.Cmd {
	if o, ok := d.(dialog.Opened); ok {
		if t := a.tabs.ByID(o.Agent); t != nil {
			a.tabs.To(t)
			return a.shown()
		}
	}
	return nil
}

// doInFleet does what the human wants done with an agent of the overview.
func (a *App) doInFleet(w dialog.Wanted) tea.Cmd {
	t := a.tabs.ByID(w.Agent)
	if t == nil {
		return nil
	}
	name := t.Info.Name
	switch w.Verb {
	case "kill":
		return a.askKill(t)
	case "wrap":
		return a.wrapUp(name)
	case "close":
		return a.act(a.quick(func(ctx context.Context) (string, error) { return name + " is closed", a.pool.CloseTab(ctx, name) }))
	}
	return nil
}

// askKill asks before an agent is ended.
func (a *App) askKill(t *tabs.Tab) tea.Cmd {
	name := t.Info.Name
	switch {
	case t.Info.Kind.HasPrompt():
		a.say(name + " can't be killed; Esc in its tab stops its turn")
		return nil
	case t.Info.State.Terminal():
		a.say(name + " has ended already")
		return nil
	}
	return a.act(intent.Kill(a.theme, name, a.tabs.LiveBelow(name), func(cascade bool) intent.Intent {
		return a.quick(func(ctx context.Context) (string, error) {
			return name + " was killed", a.pool.Kill(ctx, name, cascade)
		})
	}))
}

// wrapUp asks an agent to finish with what it has.
func (a *App) wrapUp(name string) tea.Cmd {
	return a.act(a.quick(func(ctx context.Context) (string, error) {
		return name + " was asked to wrap up", a.pool.WrapUp(ctx, name)
	}))
}
