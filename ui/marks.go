package ui

import (
	"fantail/agents/event"
	"fantail/ui/tabs"
)

// The marks of an agent's mail: how many messages wait, whether one came since the human last
// looked at the tab, and whether one is urgent. Going to a tab counts as looking at it, and so does
// sending something from it. Mail that was taken while the human looked is not new, nor is mail
// that arrives in an open inbox.

// arrived notes what a change of an agent says about its mail.
func (a *App) arrived(t *tabs.Tab, i event.Info) {
	t.News = t.News || i.Came > t.Info.Came && (a.notice.Away() || !a.boards.reads(i.ID))
	if i.Pending == 0 && t == a.tabs.Focus && !a.notice.Away() {
		t.News = false
	}
}

// visited notes which tab is shown. In a tab that the human has just come to, nothing is new.
func (a *App) visited() {
	if t := a.tabs.Focus; t != a.drawn.focus {
		a.drawn.focus = t
		if t != nil {
			t.News = false
		}
	}
}
