package ui

import (
	tea "charm.land/bubbletea/v2"

	"fantail/ui/dialog"
	"fantail/ui/panel"
	"fantail/ui/slash"
	"fantail/ui/words"
)

// inboxPanel opens the panel of an agent's inbox, queuePanel that of its queue.
func (a *App) inboxPanel(agent int64, name string) tea.Cmd {
	if a.pool == nil || agent == 0 {
		a.sayWhile(words.Sentence(slash.ErrOpening), func() bool { return a.pool == nil })
		return nil
	}
	if t := a.tabs.ByID(agent); t != nil {
		t.News = false // reading its inbox is looking at it
	}
	a.openPanel(panel.Inbox(a.panelEnv(), agent, name))
	return nil
}

func (a *App) queuePanel(agent int64, name string) tea.Cmd {
	if a.pool == nil || agent == 0 {
		a.sayWhile(words.Sentence(slash.ErrOpening), func() bool { return a.pool == nil })
		return nil
	}
	a.openPanel(panel.Queue(a.panelEnv(), agent, name))
	return nil
}

func (a *App) panelEnv() panel.Env {
	return panel.Env{
		Pool: a.pool.panel,
		Tabs: &a.tabs, Theme: a.theme, Now: a.now, Doubt: a.o.Doubt, Looked: a.looked,
	}
}

// openPanel shows a panel over everything.
func (a *App) openPanel(p *panel.Panel) {
	a.fleet = nil
	a.closePanel()
	a.panel = p
	a.open(p.Box(), nil)
}

// leavePanel closes the panel and what is open over it.
func (a *App) leavePanel() {
	a.dialog, a.decide, a.dirty = nil, nil, true
	a.closePanel()
}

func (a *App) closePanel() {
	if a.panel != nil {
		a.panel.Close()
		a.panel = nil
	}
}

// restock asks for what the open panel lacks.
func (a *App) restock() tea.Cmd {
	if a.panel == nil || a.pool == nil {
		return nil
	}
	return a.act(a.panel.Wants())
}

// base is what fills the screen below the dialog on top, if it is no tab, and
// what acts on what is decided there.
func (a *App) base() (dialog.Box, func(dialog.Decision) tea.Cmd) {
	switch {
	case a.panel != nil:
		return a.panel.Box(), nil
	case a.fleet != nil:
		return a.fleet.box, a.enterFleet
	}
	return nil, nil
}

// wishInPanel does what the human wants done from the panel.
func (a *App) wishInPanel(w dialog.Wish) tea.Cmd {
	if a.panel == nil {
		return nil
	}
	return a.act(a.panel.Do(w))
}
