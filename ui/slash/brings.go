package slash

import (
	"context"

	"fantail/ui/format"
	"fantail/ui/intent"
	"fantail/ui/panel"
)

// runMCP opens the panel of MCP servers, or carries out the arguments.
func runMCP(in input) (intent.Intent, error) {
	if in.rest == "" {
		return intent.Servers{Agent: in.id, Name: in.t.Info.Name}, nil
	}
	if name, is := panel.LoginWanted(in.rest); is {
		return panel.ServerLogin{Servers: format.ServersOf(in.Pool.Brought().Served), Theme: in.Theme}.Login(name, panel.LoginTells(in.here.Info.ID, in.text)), nil
	}
	do, ok := format.ServersOf(in.Pool.Brought().Served).Run(in.rest)
	if !ok {
		return nil, in.wrong("unexpected %q", in.rest)
	}
	return in.start(do), nil
}

func runTrust(in input) (intent.Intent, error) {
	do, ok := panel.Trust{Store: in.Pool.Brought().Trust, Theme: in.Theme}.Trust(in.rest)
	if !ok {
		return nil, in.wrong("unexpected %q", in.rest)
	}
	return in.then(do), nil
}

func runHooks(in input) (intent.Intent, error) {
	if in.rest != "" {
		return nil, in.wrong("unexpected %q", in.rest)
	}
	return in.then(func(context.Context) (intent.Intent, error) {
		lines, faults, ignored := in.Pool.Hooks.List()
		return panel.Hooks(in.Theme, lines, faults, ignored), nil
	}), nil
}
