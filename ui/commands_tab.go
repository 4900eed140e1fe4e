package ui

import (
	"errors"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/themes"
	"fantail/tools/permit"
	"fantail/ui/dialog"
	"fantail/ui/transcript"
	"fantail/ui/words"
)

func runClose(a *App, in input) (tea.Cmd, error) {
	names := []string{in.rest}
	switch in.rest {
	case "":
		names[0] = in.here.Info.Name
	case "--finished", "--all":
		names = nil
		for _, t := range a.tabs.All {
			if t.Info.State.Terminal() {
				names = append(names, t.Info.Name)
			}
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("no agent has ended")
		}
	}
	return a.act(in.t, in.text, func() (string, error) {
		for _, name := range names {
			if err := a.pool.CloseTab(a.ctx, name); err != nil {
				return "", err
			}
		}
		return "", nil
	}), nil
}

func runModel(a *App, in input) (tea.Cmd, error) {
	set := func(name string) tea.Cmd {
		main := in.id == a.tabs.Main().Info.ID // whose model new agents get: a helper's is its own
		return a.act(in.here, in.text, func() (string, error) {
			err := a.pool.SetModel(a.ctx, in.id, name)
			if err == nil && main {
				err = a.keepChoice(agents.ModelChoice, name)
			}
			return "The model is " + name, err
		})
	}
	if in.rest != "" {
		return set(in.rest), nil
	}
	var items []dialog.Item
	if a.o.Models != nil {
		for _, m := range a.o.Models() {
			items = append(items, dialog.Item{Value: m, Label: m, Chosen: m == in.t.Info.Model})
		}
	}
	if len(items) == 0 {
		a.answer(in.here, in.text, "The model is "+in.t.Info.Model, transcript.Plain)
		return nil, nil
	}
	a.open(dialog.NewPicker(a.theme, "Model (now "+in.t.Info.Model+")", items, true), func(d dialog.Decision) tea.Cmd {
		if p, ok := d.(dialog.Picked); ok {
			return set(p.Value)
		}
		return nil
	})
	return nil, nil
}

func runMode(a *App, in input) (tea.Cmd, error) {
	if in.rest == "" {
		var items []dialog.Item
		for _, m := range modes {
			items = append(items, dialog.Item{Value: string(m.mode), Label: string(m.mode), Help: m.help, Chosen: m.mode == a.tally.Mode})
		}
		a.open(dialog.NewPicker(a.theme, "Mode (now "+string(a.tally.Mode)+")", items, false), func(d dialog.Decision) tea.Cmd {
			if p, ok := d.(dialog.Picked); ok {
				return a.setMode(permit.Mode(p.Value))
			}
			return nil
		})
		return nil, nil
	}
	m, err := permit.ParseMode(in.rest)
	if err != nil {
		return nil, err
	}
	return a.setMode(m), nil
}

func runTheme(a *App, in input) (tea.Cmd, error) {
	set := func(name string) (tea.Cmd, error) {
		t, err := themes.Load(name, a.look.noColor)
		if err != nil {
			return nil, err
		}
		a.chosen = true
		a.setTheme(t)
		if a.pool == nil {
			return nil, nil // nobody is there yet to remember it
		}
		return a.act(in.here, in.text, func() (string, error) { return "The theme is " + name, a.keepChoice(agents.ThemeChoice, name) }), nil
	}
	if in.rest != "" {
		return set(in.rest)
	}
	var items []dialog.Item
	for _, n := range themes.Names() {
		items = append(items, dialog.Item{Value: n, Label: n, Chosen: n == a.theme.Name})
	}
	a.open(dialog.NewPicker(a.theme, "Theme (now "+a.theme.Name+")", items, false), func(d dialog.Decision) tea.Cmd {
		if p, ok := d.(dialog.Picked); ok {
			cmd, err := set(p.Value)
			if err != nil {
				a.say(words.Sentence(err))
			}
			return cmd
		}
		return nil
	})
	return nil, nil
}

func runNew(a *App, in input) (tea.Cmd, error) {
	return a.start(in.here, in.text, func() (string, error) { return "", a.pool.Clear(a.ctx, in.id) }), nil
}

func runCompact(a *App, in input) (tea.Cmd, error) {
	if words.Working(in.t.Info.State) {
		a.sayWhile("it is compacted when this turn ends", in.works)
	}
	return a.start(in.here, in.text, func() (string, error) {
		err := a.pool.Compact(a.ctx, in.id, in.rest)
		if errors.Is(err, agents.ErrStopped) { // who stopped it does not want the command back
			return "Compacting was stopped; nothing has changed", nil
		}
		return "", err
	}), nil
}

func runCopy(a *App, in input) (tea.Cmd, error) { return a.copy(in.here.Copied()), nil }

func runHelp(a *App, _ input) (tea.Cmd, error) {
	a.help()
	return nil, nil
}

func runQuit(a *App, _ input) (tea.Cmd, error) { return a.quit(), nil }
