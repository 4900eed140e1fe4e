package ui

import (
	"context"
	"slices"
	"strings"

	"fantail/agents/event"
	"fantail/ui/dialog"
	"fantail/ui/flash"
	"fantail/ui/intent"
	"fantail/ui/tabs"
	"fantail/ui/words"
)

// quit leaves at once if no agent works; otherwise it asks what to do with those that do. An agent
// with an open question loses nothing: it asks again at the next start, and goes on.
func quit(ts *tabs.Tabs, line *flash.Line, settled func(ctx context.Context) error) intent.Intent {
	var names, asking []string
	for _, t := range ts.All {
		switch {
		case t.Info.State == event.Asking:
			asking = append(asking, t.Info.Name)
		case words.Working(t.Info.State):
			names = append(names, t.Info.Name)
		}
	}
	if len(names) == 0 {
		return intent.Leave{}
	}
	are := " are"
	if len(names) == 1 {
		are = " is"
	}
	text := strings.Join(names, ", ") + are + " still at work."
	switch len(asking) {
	case 0:
	case 1:
		text += " " + asking[0] + " asks you something: whenever you quit, that is kept and asked again at the next start."
	default:
		text += " " + strings.Join(asking, ", ") + " ask you something: whenever you quit, that is kept and asked again at the next start."
	}
	box := dialog.NewConfirm(ts.Theme, "Quit?", text, []dialog.Option{
		{Key: "w", Label: "wait until they are done, then quit"},
		{Key: "k", Label: "stop them and quit; what they have goes into the inbox"},
		{Key: "c", Label: "stay here"},
	})
	return intent.Open{Box: box, Decide: func(d dialog.Decision) intent.Intent {
		switch c, _ := d.(dialog.Confirmed); c.Choice {
		case "w":
			line.Until("quits when all are done", func() bool {
				return slices.ContainsFunc(ts.Open, func(t *tabs.Tab) bool { return words.Working(t.Info.State) })
			})
			return intent.Run{F: func(ctx context.Context) intent.Intent {
				if settled(ctx) != nil {
					return nil
				}
				return intent.Leave{}
			}}
		case "k":
			return intent.Leave{}
		}
		return nil
	}}
}
