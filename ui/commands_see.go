package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"fantail/ui/tabs"
	"fantail/ui/words"
)

func runAgents(a *App, in input) (tea.Cmd, error) {
	if in.rest != "" {
		return nil, in.wrong("%q is not understood", in.rest)
	}
	return a.overview(), nil
}

func runView(a *App, in input) (tea.Cmd, error) {
	p, ok := tabs.PaneOf(in.rest)
	if !ok {
		return nil, in.wrong("%q is no view", in.rest)
	}
	return a.showPane(in.here, p), nil
}

func runWhy(a *App, in input) (tea.Cmd, error) {
	name := in.rest
	if name == "" {
		name = in.here.Info.Name
	}
	if strings.ContainsAny(name, " \t\n") {
		return nil, in.wrong("it is about one agent")
	}
	return a.act(in.here, in.text, func() (string, error) {
		n, err := a.pool.Does(name)
		return words.Why(n, a.o.Now()), err
	}), nil
}

func runWrapUp(a *App, in input) (tea.Cmd, error) {
	name, err := in.oneName(in.rest)
	if err != nil {
		return nil, err
	}
	return a.act(in.here, in.text, func() (string, error) {
		return name + " was asked to wrap up", a.pool.WrapUp(a.ctx, name)
	}), nil
}
