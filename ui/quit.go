package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fantail/agents/event"
	"fantail/ui/dialog"
	"fantail/ui/format"
	"fantail/ui/intent"
	"fantail/ui/notify"
	"fantail/ui/tabs"
)

// quit ends the program at once if no agent works and no human is at another screen. Otherwise it
// asks what to do with them. An agent with an open question loses nothing: it asks again at the
// next start and goes on.
func quit(ts *tabs.Tabs, line *notify.Flash, others int, settled func(ctx context.Context) error) intent.Intent {
	var names, asking []string
	for _, t := range ts.All {
		switch {
		case t.Info.State == event.Asking:
			asking = append(asking, t.Info.Name)
		case atWork(t):
			names = append(names, t.Info.Name)
		}
	}
	if len(names) == 0 && others == 0 {
		return intent.Leave{End: true}
	}
	text := ""
	switch len(names) {
	case 0:
	case 1:
		text = names[0] + " is still at work."
	default:
		text = strings.Join(names, ", ") + " are still at work."
	}
	switch len(asking) {
	case 0:
	case 1:
		text += " " + asking[0] + " has a question. It is kept and asked again at the next start."
	default:
		text += " " + strings.Join(asking, ", ") + " have questions. They are kept and asked again at the next start."
	}
	switch {
	case others == 1:
		text += " Another screen is attached and closes too."
	case others > 1:
		text += fmt.Sprintf(" %d other screens are attached and close too.", others)
	}
	options := []dialog.Option{{Key: "l", Label: "leave; the agents keep working"}}
	if len(names) > 0 {
		options = append(options, dialog.Option{Key: "w", Label: "wait until they are done, then quit"})
	}
	options = append(options,
		dialog.Option{Key: "k", Label: "stop them and quit; their results so far go to the inbox"},
		dialog.Option{Key: "c", Label: "stay here"})
	box := dialog.NewConfirm(ts.Theme, "Quit?", strings.TrimSpace(text), options)
	return intent.Open{Box: box, Decide: func(d dialog.Decision) intent.Intent {
		switch c, _ := d.(dialog.Confirmed); c.Choice {
		case "w":
			line.Until("will quit when all are done", func() bool {
				return slices.ContainsFunc(ts.Open, atWork)
			})
			return intent.Run{F: func(ctx context.Context) intent.Intent {
				if settled(ctx) != nil {
					return nil
				}
				return intent.Leave{End: true}
			}}
		case "k":
			return intent.Leave{End: true}
		case "l":
			return intent.Leave{}
		}
		return nil
	}}
}

// atWork reports whether a tab's agent works or has a prompt to work on.
func atWork(t *tabs.Tab) bool {
	return format.Working(t.Info.State) || slices.ContainsFunc(t.Info.Prompts, func(p event.Prompt) bool { return !p.Held })
}
