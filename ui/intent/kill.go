package intent

import (
	"strings"

	"fantail/themes"
	"fantail/ui/dialog"
)

// Kill asks whether to end an agent and, if others live below it, whether to end those too; end does it.
func Kill(theme *themes.Theme, name string, below []string, end func(cascade bool) Intent) Intent {
	text := "Its results so far go to the inbox of the agent that started it."
	options := []dialog.Option{{Key: "x", Label: "end it"}, {Key: "c", Label: "let it work"}}
	if n := len(below); n > 0 {
		live := " live"
		if n == 1 {
			live = " lives"
		}
		text = strings.Join(below, ", ") + live + " below it."
		options = []dialog.Option{
			{Key: "o", Label: "end only " + name + "; the others then report to the next agent above"},
			{Key: "a", Label: "end all of them"},
			{Key: "c", Label: "end none"},
		}
	}
	return Open{Box: dialog.NewConfirm(theme, "End "+name+"?", text, options), Decide: func(d dialog.Decision) Intent {
		switch c, _ := d.(dialog.Confirmed); c.Choice {
		case "x", "o":
			return end(false)
		case "a":
			return end(true)
		}
		return nil
	}}
}
