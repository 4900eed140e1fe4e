package slash

import (
	"context"
	"errors"
	"strings"

	"fantail/ui/format"
	"fantail/ui/intent"
	"fantail/ui/panel"
	"fantail/ui/tabs"
)

func runAgents(in input) (intent.Intent, error) {
	if in.rest != "" {
		return nil, in.wrong("unexpected %q", in.rest)
	}
	return intent.Overview{}, nil
}

func runTimeline(in input) (intent.Intent, error) {
	if in.rest != "" {
		return nil, in.wrong("%q is not understood", in.rest)
	}
	return intent.Timeline{}, nil
}

func runView(in input) (intent.Intent, error) {
	p, ok := tabs.PaneOf(in.rest)
	if !ok {
		return nil, in.wrong("there is no view %q", in.rest)
	}
	return intent.View{Agent: in.here.Info.ID, Pane: p}, nil
}

func runWhy(in input) (intent.Intent, error) {
	name := in.rest
	if name == "" {
		name = in.here.Info.Name
	}
	if strings.ContainsAny(name, " \t\n") {
		return nil, in.wrong("it needs one agent")
	}
	return in.act(func(ctx context.Context) (string, error) {
		n, err := in.Pool.Does(name)
		return format.Why(n, in.Now()), err
	}), nil
}

func runAudit(in input) (intent.Intent, error) {
	w, err := ReadAudit(in.rest)
	if err != nil {
		return nil, in.wrong("%s", err)
	}
	e := AuditTrail{Audit: in.Pool.Audit, Theme: in.Theme, Here: in.Now().Location()}
	return intent.Do{Agent: in.here.Info.ID, Command: in.text, Long: w.Verify, F: e.Show(w)}, nil
}

func runWrapUp(in input) (intent.Intent, error) {
	name, err := in.oneName(in.rest)
	if err != nil {
		return nil, err
	}
	return in.act(func(ctx context.Context) (string, error) {
		return name + " was asked to wrap up", in.Pool.WrapUp(ctx, name)
	}), nil
}

func runContext(in input) (intent.Intent, error) {
	if in.rest != "" {
		return nil, in.wrong("unexpected %q", in.rest)
	}
	of := in.here.Info
	if of.ID == 0 {
		return nil, panel.ErrOpening
	}
	return in.act(func(ctx context.Context) (string, error) {
		c, err := in.Pool.Records.Context(ctx, of.ID)
		if err != nil || c.Abroad {
			return format.Context(of.Name, c), err
		}
		files, err := in.Pool.Instructions().Report(ctx, of)
		return strings.TrimSuffix(format.Context(of.Name, c)+"\n"+InstructionsSum(files), "\n"), err
	}), nil
}

func runInit(in input) (intent.Intent, error) {
	if in.t.Info.Model == tabs.PlainEngine {
		return nil, errors.New("/init needs a language model, and " + in.t.Info.Name + " has none. /model to choose one")
	}
	name := in.t.Info.Name
	return in.act(func(ctx context.Context) (string, error) {
		return "", in.Pool.Tell(ctx, name, InitText(in.rest))
	}), nil
}
