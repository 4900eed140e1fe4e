package ui

import (
	"fantail/agents/event"
	"fantail/ui/tabs"
)

// The marks of an agent's mail: how much waits, whether something came since its tab was last
// looked at, and whether something urgent waits. Coming to a tab counts as looking at it, and so
// does sending something from it. Mail that was taken while somebody looked is not new, nor is mail
// that comes into an open inbox.

// arrived notes what a change of an agent says about its mail.
func (a *App) arrived(t *tabs.Tab, i event.Info) {
	t.News = t.News || i.Came > t.Info.Came && (a.notice.Away() || !a.boards.reads(i.ID))
	if i.Pending == 0 && t == a.tabs.Focus && !a.notice.Away() {
		t.News = false
	}
}

// visited notes which tab shows: nothing is new in a tab the human has just come to.
func (a *App) visited() {
	if t := a.tabs.Focus; t != a.drawn.focus {
		a.drawn.focus = t
		if t != nil {
			t.News = false
		}
	}
}
