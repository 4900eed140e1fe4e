package slash

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"fantail/agents"
	"fantail/agents/fleet"
	"fantail/themes"
	"fantail/tools/permission"
	"fantail/ui/dialog"
	"fantail/ui/format"
	"fantail/ui/intent"
	"fantail/ui/panel"
	"fantail/ui/transcript"
)

func runClose(in input) (intent.Intent, error) {
	names := []string{in.rest}
	switch in.rest {
	case "":
		names[0] = in.here.Info.Name
	case "--finished", "--all":
		names = nil
		for _, t := range in.Tabs.All {
			if t.Info.State.Terminal() {
				names = append(names, t.Info.Name)
			}
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("no agent has ended yet")
		}
	}
	return intent.Do{Agent: in.t.Info.ID, Command: in.text, F: said(func(ctx context.Context) (string, error) {
		for _, name := range names {
			if err := in.Pool.CloseTab(ctx, name); err != nil {
				return "", err
			}
		}
		return "", nil
	})}, nil
}

func runModel(in input) (intent.Intent, error) {
	if in.rest != "" {
		return in.setModel(in.rest), nil
	}
	items := in.models()
	if len(items) == 0 {
		return in.tell("Model: " + in.t.Info.Model), nil
	}
	box := dialog.NewPalette(in.Theme, "Model (now "+in.t.Info.Model+")", items)
	open := picked(box, in.setModel)
	if in.Models.Ask == nil {
		return open, nil
	}
	return intent.All{open, intent.Run{F: func(ctx context.Context) intent.Intent {
		in.Models.Ask(ctx)
		return intent.Call(func() intent.Intent {
			dialog.Refill(box, in.models())
			return nil
		})
	}}}, nil
}

// models are the models that are known now, to pick from.
func (in input) models() (items []dialog.Item) {
	for _, m := range in.Models.names() {
		var facts []string
		if m == in.t.Info.Model {
			facts = append(facts, "in use")
		}
		if in.Models.Facts != nil {
			if says := in.Models.Facts(m); says != "" {
				facts = append(facts, says)
			}
		}
		items = append(items, dialog.Item{Value: m, Label: m, Help: strings.Join(facts, " · "), Chosen: m == in.t.Info.Model})
	}
	return items
}

// setModel changes the agent's model. It warns of one that its provider may not have; nothing waits for that.
func (in input) setModel(name string) intent.Intent {
	main := in.id == in.Tabs.Main().Info.ID // new agents get main's model; a helper's is its own
	here, unlisted := in.here.Info.ID, in.Models.Unlisted
	return in.then(func(ctx context.Context) (intent.Intent, error) {
		if err := in.Pool.SetModel(ctx, in.id, name); err != nil {
			return nil, err
		}
		is := name
		for _, i := range in.Pool.Infos() {
			if i.ID == in.id {
				is = i.Model
			}
		}
		says := intent.Said{Text: "Model: " + is}
		if main {
			if err := in.remember(ctx, agents.Model, is); err != nil {
				return says, err
			}
		}
		if unlisted == nil {
			return says, nil
		}
		return intent.All{says, intent.Run{F: func(ctx context.Context) intent.Intent {
			doubt := unlisted(ctx, is)
			if doubt == "" {
				return nil
			}
			return intent.Tell{Agent: here, Text: doubt, Tone: transcript.Bad}
		}}}, nil
	})
}

func runMode(in input) (intent.Intent, error) {
	if in.rest == "" {
		now := cmp.Or(in.Tally.Coming, in.Tally.Mode)
		var items []dialog.Item
		for _, m := range in.offered() {
			items = append(items, dialog.Item{Value: string(m.mode), Label: string(m.mode), Help: m.help, Chosen: m.mode == now})
		}
		box := dialog.NewPicker(in.Theme, "Mode (now "+string(now)+")", items)
		return picked(box, func(name string) intent.Intent { return intent.Mode{Mode: permission.Mode(name)} }), nil
	}
	m, err := permission.ParseMode(in.rest)
	if err != nil {
		return nil, err
	}
	return intent.Mode{Mode: m}, nil
}

func runSandbox(in input) (intent.Intent, error) {
	switch verb, rule, _ := strings.Cut(in.rest, " "); {
	case verb == "revoke" && rule != "":
		return in.act(func(ctx context.Context) (string, error) {
			return "Removed: " + rule, in.Pool.Asks.Revoke(ctx, permission.Rule(strings.TrimSpace(rule)))
		}), nil
	case in.rest != "":
		return nil, in.wrong("unexpected %q", in.rest)
	case in.Sandbox == nil:
		return nil, errors.New("the sandbox is unknown here")
	}
	mode := in.Tally.Mode
	return in.start(func(context.Context) (string, error) {
		text := in.Sandbox(mode)
		for _, g := range in.Pool.Asks.Granted() {
			text += "\n  added " + g.Lasts + ": " + string(g.Rule)
		}
		return text, nil
	}), nil
}

// runPermissions opens the panel of rules, or carries out the arguments.
func runPermissions(in input) (intent.Intent, error) {
	if in.rest == "" {
		return intent.Permissions{Agent: in.id, Name: in.t.Info.Name}, nil
	}
	do, understood := panel.ReadPermissions(in.rest)
	if !understood {
		return nil, in.wrong("unexpected %q", in.rest)
	}
	return in.start(func(ctx context.Context) (string, error) { return do(ctx, in.Pool.Permissions) }), nil
}

func runChecks(in input) (intent.Intent, error) {
	do, understood, err := ReadCheck(in.rest)
	switch {
	case !understood:
		return nil, in.wrong("unexpected %q", in.rest)
	case err != nil:
		return nil, err
	}
	return in.start(func(ctx context.Context) (string, error) { return do(ctx, in.Pool.Observe.Checks()) }), nil
}

func runTheme(in input) (intent.Intent, error) {
	set := func(name string) (intent.Intent, error) {
		t, err := themes.Load(name, in.NoColor)
		if err != nil {
			return nil, err
		}
		if in.Pool == nil {
			return intent.Theme{Theme: t}, nil // there is no workspace yet to remember it
		}
		return intent.All{intent.Theme{Theme: t}, in.act(func(ctx context.Context) (string, error) {
			return "Theme: " + name, in.remember(ctx, agents.Theme, name)
		})}, nil
	}
	if in.rest != "" {
		return set(in.rest)
	}
	var items []dialog.Item
	for _, n := range themes.Names() {
		items = append(items, dialog.Item{Value: n, Label: n, Chosen: n == in.Theme.Name})
	}
	box := dialog.NewPicker(in.Theme, "Theme (now "+in.Theme.Name+")", items)
	return picked(box, func(name string) intent.Intent {
		i, err := set(name)
		if err != nil {
			return intent.Say{Text: format.Sentence(err)}
		}
		return i
	}), nil
}

func runNew(in input) (intent.Intent, error) {
	return in.start(func(ctx context.Context) (string, error) { return "", in.Pool.Clear(ctx, in.id) }), nil
}

func runCompact(in input) (intent.Intent, error) {
	var said intent.Intent
	if in.works() {
		said = in.sayWhile("Fantail compacts it when this turn ends")
	}
	return intent.All{said, in.start(func(ctx context.Context) (string, error) {
		err := in.Pool.Compact(ctx, in.id, in.rest)
		if errors.Is(err, fleet.ErrStopped) { // the human stopped it and does not want the command back
			return "Compacting stopped. Nothing changed", nil
		}
		return "", err
	})}, nil
}

func runCopy(in input) (intent.Intent, error) { return intent.Copy{Text: in.here.Copied()}, nil }

func runHelp(in input) (intent.Intent, error) {
	return intent.Help{Page: in.rest, Command: in.text}, nil
}

func runDetach(input) (intent.Intent, error) { return intent.Leave{}, nil }

func runReload(in input) (intent.Intent, error) {
	if in.Reload == nil {
		return nil, errors.New("no configuration to read here")
	}
	return in.start(func(ctx context.Context) (string, error) {
		text, err := in.Reload(ctx)
		if text == "" && err == nil {
			text = "the configuration has not changed"
		}
		return text, err
	}), nil
}

func runRestart(in input) (intent.Intent, error) {
	if in.Restart == nil {
		return nil, errors.New("this program has no host: quit and start it again")
	}
	return intent.All{
		intent.Say{Text: "Fantail restarts when idle"},
		in.start(func(ctx context.Context) (string, error) { return "", in.Restart(ctx) }),
	}, nil
}

func runQuit(input) (intent.Intent, error) { return intent.Quit{}, nil }
