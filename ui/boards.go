package ui

import (
	tea "charm.land/bubbletea/v2"

	"fantail/ui/panel"
	"fantail/ui/slash"
	"fantail/ui/tabs"
	"fantail/ui/words"
)

// inboxPanel opens the panel of an agent's inbox, queuePanel that of its queue.
func (a *App) inboxPanel(agent int64, name string) tea.Cmd {
	if a.pool == nil || agent == 0 {
		a.flash.While(words.Sentence(slash.ErrOpening), func() bool { return a.pool == nil })
		return nil
	}
	if t := a.tabs.ByID(agent); t != nil {
		t.News = false // reading its inbox is looking at it
	}
	a.layers.Show(panel.Inbox(a.panelEnv(), agent, name))
	return nil
}

func (a *App) queuePanel(agent int64, name string) tea.Cmd {
	if a.pool == nil || agent == 0 {
		a.flash.While(words.Sentence(slash.ErrOpening), func() bool { return a.pool == nil })
		return nil
	}
	a.layers.Show(panel.Queue(a.panelEnv(), agent, name))
	return nil
}

func (a *App) panelEnv() panel.Env {
	return panel.Env{
		Pool: a.pool.panel,
		Tabs: &a.tabs, Theme: a.theme, Now: a.now, Doubt: a.o.Doubt, Looked: a.looked,
	}
}

// overview opens the list of all agents.
func (a *App) overview() {
	e := panel.Env{Tabs: &a.tabs, Theme: a.theme, Now: a.now}
	if a.pool != nil {
		e.Pool = a.pool.panel
	}
	a.layers.Show(panel.Overview(e, a.asks.OnScreen))
	a.dirty = true
}

// panel is the inbox or the queue that is open, fleet the overview; nil: it is not.
func (a *App) panel() *panel.Panel {
	p, _ := a.layers.Board().(*panel.Panel)
	return p
}

func (a *App) fleet() *panel.Fleet {
	f, _ := a.layers.Board().(*panel.Fleet)
	return f
}

// tailed is the tab whose last lines show on a board; nil: none.
func (a *App) tailed() *tabs.Tab {
	if b := a.layers.Board(); b != nil && b.Tail() != 0 {
		return a.tabs.ByID(b.Tail())
	}
	return nil
}

// restock asks for what the open board lacks: last lines, and what a panel lists.
func (a *App) restock() tea.Cmd {
	var cmd tea.Cmd
	if t := a.tailed(); t != nil && !t.Asked {
		cmd = a.reader.transcript(t)
	}
	if p := a.panel(); p != nil && a.pool != nil {
		cmd = tea.Batch(cmd, a.act(p.Wants()))
	}
	return cmd
}
