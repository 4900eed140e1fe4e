package slash

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fantail/ui/dialog"
	"fantail/ui/format"
	"fantail/ui/intent"
	"fantail/ui/tabs"
	"fantail/ui/transcript"
)

// Palette opens the list of all commands, those of files too, of the keys that work at a place, and of the other agents. A
// command runs in the tab here if it needs no more than its name.
func Palette(e Options, at Here, here *tabs.Tab) intent.Intent {
	var items []dialog.Item
	var does []func() intent.Intent
	add := func(label, name string, f func() intent.Intent) {
		items = append(items, dialog.Item{Value: strconv.Itoa(len(does)), Label: label, Help: name})
		does = append(does, f)
	}
	command := func(name, args, help, same string) {
		add(help, "/"+name+same, func() intent.Intent {
			if !bare(args) {
				return intent.Type{Agent: here.Info.ID, Text: "/" + name + " "}
			}
			i, err := Run(e, here, "/"+name)
			if err != nil {
				return intent.Tell{Agent: here.Info.ID, Command: "/" + name, Text: format.Sentence(err), Tone: transcript.Bad}
			}
			return i
		})
	}
	same := map[string]string{}
	for _, k := range keys {
		same[k.runs] = " · " + k.name()
	}
	for _, c := range commands() {
		command(c.name, c.args, c.help, same[c.name])
	}
	for _, c := range e.Custom.Candidates() {
		command(c.Insert, c.Args, c.Help, "")
	}
	for _, k := range keys {
		if k.press != (tea.KeyPressMsg{}) && k.runs == "" && k.needs&^(at|rare) == 0 {
			add(k.does, k.name(), func() intent.Intent { return intent.Press{Key: k.press} })
		}
	}
	for _, t := range e.Tabs.All {
		if t != here {
			add("go to "+t.Info.Name, string(t.Info.State), func() intent.Intent { return intent.Go{Agent: t.Info.ID} })
		}
	}
	return picked(dialog.NewPalette(e.Theme, "Commands and keys", items), func(value string) intent.Intent {
		n, err := strconv.Atoi(value)
		if err != nil {
			return nil
		}
		return does[n]()
	})
}

// bare reports whether a command with these arguments can do without any: one of the forms has brackets around all.
func bare(args string) bool {
	depth, form := 0, ""
	for _, r := range args + "|" {
		switch {
		case r == '[':
			depth++
		case r == ']':
			depth--
		case depth > 0:
		case r == '|':
			if strings.TrimSpace(form) == "" {
				return true
			}
			form = ""
		default:
			form += string(r)
		}
	}
	return false
}
