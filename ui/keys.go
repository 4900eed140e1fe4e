package ui

import (
	"fantail/themes"
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
		box := t.Typing()
		add(box != nil, slash.Types)
		add(box != nil && (t.Line != nil || !box.Empty()), slash.Typed)
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

// The line of keys shows from keysFrom rows on, and from keysEarly as long as the history has fewer than keysTexts texts.
const (
	keysFrom  = 30
	keysEarly = 20
	keysTexts = 20
)

// keyRows returns how many rows the line of keys takes.
func (a *App) keyRows() int {
	if a.h >= keysFrom || a.h >= keysEarly && a.drafts.past.below(keysTexts) {
		return 1
	}
	return 0
}

// keyLine returns the line of keys; "" where something open names its own.
func (a *App) keyLine() string {
	if box := a.tabs.Typing(); a.layers.Top() != nil || box != nil && box.Finds() {
		return ""
	}
	return a.tabs.Theme.Paint(themes.Dim, "  "+slash.Line(a.here(), a.w-3))
}

// sheet opens the sheet of the keys that work here.
func (a *App) sheet() {
	a.layers.Open(dialog.NewKeys(a.tabs.Theme, "Keys", slash.Sheet(a.here())), nil)
}
