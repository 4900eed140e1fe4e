package ui

import (
	"fantail/inbox"
	"fantail/ui/cells"
	"fantail/ui/dialog"
	"fantail/ui/format"
	"fantail/ui/intent"
	"fantail/ui/tabs"
)

// switcher picks a tab by name. The tab used before is highlighted.
func switcher(ts *tabs.Tabs) intent.Intent {
	var items []dialog.Item
	before := ts.Last()
	for _, t := range ts.All {
		sign, _ := format.Glyph(t.Info)
		help := sign + " " + string(t.Info.State)
		if mail := t.MailWords(); mail != "" {
			help += " · " + mail
		}
		if n := t.Info.Asks; n > 0 {
			help += " · " + format.Asking(n)
		}
		if t.Info.Prompt != "" {
			help += " · " + cells.CleanLine(inbox.Label(t.Info.Prompt))
		}
		items = append(items, dialog.Item{Value: t.Info.Name, Label: t.Info.Name, Help: help, Chosen: t == before})
	}
	return intent.Open{Box: dialog.NewFinder(ts.Theme, "Go to", items), Decide: func(d dialog.Decision) intent.Intent {
		if p, ok := d.(dialog.Picked); ok {
			if t := ts.ByName(p.Value); t != nil {
				return intent.Go{Agent: t.Info.ID}
			}
		}
		return nil
	}}
}
