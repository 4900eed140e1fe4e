package ui

import (
	tea "charm.land/bubbletea/v2"

	"fantail/ui/words"
)

func runContext(a *App, in input) (tea.Cmd, error) {
	if in.rest != "" {
		return nil, in.wrong("%q is not understood", in.rest)
	}
	of := in.here.Info
	if of.ID == 0 {
		return nil, errOpening
	}
	return a.act(in.here, in.text, func() (string, error) {
		c, err := a.pool.Context(a.ctx, of.ID)
		return words.Context(of.Name, c), err
	}), nil
}
