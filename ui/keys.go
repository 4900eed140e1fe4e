package ui

import (
	"fantail/ui/dialog"
	"fantail/ui/format"
	"fantail/ui/slash"
)

// here returns what decides which keys work now.
func (a *App) here() (h slash.Here) {
	add := func(ok bool, f slash.Here) {
		if ok {
			h |= f
		}
	}
	if t := a.tabs.Focus; t != nil {
		ended := t.Info.State.Terminal()
		add(t.Typing() != nil, slash.Types)
		add(t.Box != nil, slash.InBox)
		add(t.Box == nil && t.Line == nil, slash.InTab)
		add(!ended, slash.Lives)
		add(!t.Info.Kind.Fleeting(), slash.Tells)
		add(format.Working(t.Info.State), slash.Works)
		add(t.Info.Delegated > 0, slash.Waits)
	}
	add(len(a.tabs.All) > 1, slash.Many)
	add(a.tally.Asking > 0, slash.Asks)
	add(a.asks.tabGoes(), slash.AskAbove)
	add(a.tabs.Pending > 0, slash.Mail)
	add(a.notice.TakesKeys(), slash.Urgent)
	add(a.w >= railFrom && a.rail.came, slash.Wide)
	add(len(a.reader.documents) > 0, slash.Noted)
	return h
}

// sheet opens the sheet of the keys that work here.
func (a *App) sheet() {
	a.layers.Open(dialog.NewKeys(a.tabs.Theme, "Keys", slash.Sheet(a.here())), nil)
}
