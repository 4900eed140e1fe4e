package ui

import (
	"fantail/agents/event"
	"fantail/ui/tabs"
)

// What the screen says of an agent's mail: how much waits, whether something came
// since its tab was last looked at, and whether something urgent waits. Coming to a
// tab is looking at it, and so is sending something from it; that its mail was
// taken before somebody's eyes leaves nothing new, nor does what comes into an inbox
// that is open.

// arrived notes what a change of an agent says of its mail.
func (a *App) arrived(t *tabs.Tab, i event.Info) {
	t.News = t.News || i.Came > t.Info.Came && (a.notice.Away() || !a.boards.reads(i.ID))
	if i.Pending == 0 && t == a.tabs.Focus && !a.notice.Away() {
		t.News = false
	}
}

// visited notes that the focused tab shows: at the moment somebody comes to it,
// nothing in it is new.
func (a *App) visited() {
	if t := a.tabs.Focus; t != a.drawn.focus {
		a.drawn.focus = t
		if t != nil {
			t.News = false
		}
	}
}
