package slash

import (
	"fantail/ui/intent"
	"fantail/ui/slash/signing"
	"fantail/ui/slash/trusting"
)

// runMCP opens the panel of the MCP servers, unless something is said about them.
func runMCP(in input) (intent.Intent, error) {
	if in.rest == "" {
		return intent.Servers{Agent: in.id, Name: in.t.Info.Name}, nil
	}
	if name, is := signing.Wanted(in.rest); is {
		return signing.Env{Desk: in.Pool.Servers, Theme: in.Theme}.Login(name, signing.Tells(in.here.Info.ID, in.text)), nil
	}
	do, ok := in.Pool.Servers.Run(in.rest)
	if !ok {
		return nil, in.wrong("%q is not understood", in.rest)
	}
	return in.start(do), nil
}

func runTrust(in input) (intent.Intent, error) {
	do, ok := trusting.Env{Room: in.Pool.Brings, Theme: in.Theme}.Trust(in.rest)
	if !ok {
		return nil, in.wrong("%q is not understood", in.rest)
	}
	return in.then(do), nil
}

func runHooks(in input) (intent.Intent, error) {
	if in.rest != "" {
		return nil, in.wrong("%q is not understood", in.rest)
	}
	return in.then(trusting.Env{Lists: in.Pool.Hooks, Theme: in.Theme}.Hooks), nil
}
