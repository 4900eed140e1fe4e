package panel

import (
	"context"
	"fmt"
	"strings"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/themes"
	"fantail/ui/dialog"
	"fantail/ui/format"
	"fantail/ui/intent"
	"fantail/ui/tabs"
)

// Fleet is the overview of all agents.
type Fleet struct {
	Options

	box  *dialog.Fleet
	seen int // version of the tabs that it lists
	over func(*tabs.Tab) bool
}

// Overview lists all agents, with the bar on the focused one. over reports whether the question of
// a tab's agent is shown already.
func Overview(e Options, over func(*tabs.Tab) bool) *Fleet {
	f := &Fleet{Options: e, seen: -1, over: over}
	at := int64(0)
	if t := e.Tabs.Focus; t != nil {
		at = t.Info.ID
	}
	f.box = dialog.NewFleet(e.Theme, at, f.glance, e.Tabs.LastLines)
	return f
}

// Box returns the list itself.
func (f *Fleet) Box() dialog.Box { return f.box }

// Close does nothing: the overview reads nothing.
func (f *Fleet) Close() {}

// Tails returns the agent whose last lines are shown, if any.
func (f *Fleet) Tails() []int64 {
	if at := f.box.Peeked(); at != 0 {
		return []int64{at}
	}
	return nil
}

// Moves reports whether the list changes without an event.
func (f *Fleet) Moves() bool { return f.box.Moves() }

// Muster updates the list if the agents have changed.
func (f *Fleet) Muster() {
	if f.seen == f.Tabs.Version {
		return
	}
	f.seen = f.Tabs.Version
	ms := make([]dialog.Member, len(f.Tabs.All))
	for i, t := range f.Tabs.All {
		ms[i] = dialog.Member{ID: t.Info.ID, Parent: t.Info.Parent, Name: t.Info.Name, State: string(t.Info.State)}
	}
	f.box.Members(ms)
}

// glance returns an agent's line.
func (f *Fleet) glance(id int64) dialog.Glance {
	t := f.Tabs.ByID(id)
	if t == nil {
		return dialog.Glance{}
	}
	i, now := t.Info, f.Now()
	g := dialog.Glance{State: t.StateText(f.over(t)), Mail: t.WithAsks(tabs.MailMark(t, t.News)), Age: format.Age(now.Sub(i.Created)), Moves: format.Working(i.State) || format.Turns(i, t.Active, now) > 0}
	g.Sign, g.Role = format.Glyph(i)
	g.Keys = keys(i)
	if format.Awaits(i) {
		g.Short = format.IdleShort(i, now)
	}
	if _, ok := i.Stalled(t.Active, now); ok {
		g.Sign, g.Role = "◌", themes.Warn
	}
	switch {
	case !i.Ended.IsZero():
		g.Seen = format.Age(now.Sub(i.Ended))
	case !t.Active.IsZero():
		g.Seen = format.Age(now.Sub(t.Active))
	}
	if i.Priced {
		g.Cost = fmt.Sprintf("$%.2f", float64(i.Cost)/1e6)
	}
	if i.Budget != nil {
		used := i.Budget.Amount.Percent(i.Budget.Used)
		g.Cost = fmt.Sprintf("%d%%/%s", used, i.Budget.Amount)
		if used >= 80 && format.Working(i.State) {
			g.Role = themes.Warn
		}
	}
	return g
}

// keys returns the keys that act on an agent, except the one that opens it.
func keys(i event.Info) (ks []string) {
	fleeting, talks := i.Kind.Fleeting(), i.Kind.HasPrompt()
	switch {
	case i.State.Terminal() && fleeting:
		return []string{"x close"}
	case i.State.Terminal():
		return []string{"m continue", "r run again", "x close"}
	case !fleeting && !talks && !strings.HasPrefix(i.Prompt, "!"): // a command reads no prompts
		ks = append(ks, "m message")
	}
	if i.Await != nil {
		ks = append(ks, "e finish")
	}
	if !talks {
		ks = append(ks, "x end")
	}
	if format.Working(i.State) {
		ks = append(ks, "w wrap up")
	}
	return ks
}

// Do goes to the chosen agent, or carries out an action on one.
func (f *Fleet) Do(d dialog.Decision) intent.Intent {
	switch d := d.(type) {
	case dialog.Opened:
		if f.Tabs.ByID(d.Agent) != nil {
			return intent.Go{Agent: d.Agent}
		}
	case dialog.Wanted:
		if t := f.Tabs.ByID(d.Agent); t != nil {
			return f.wanted(t, d.Verb)
		}
	}
	return nil
}

func (f *Fleet) wanted(t *tabs.Tab, verb string) intent.Intent {
	name := t.Info.Name
	if verb == "fan" {
		return intent.Fan{}
	}
	if f.Pool == nil && verb != "tell" {
		return intent.Say{Text: format.Sentence(ErrOpening)}
	}
	if verb == "remove" && t.Info.State.Terminal() {
		verb = "close"
	}
	switch verb {
	case "remove":
		return f.kill(t)
	case "wrap":
		return WrapUp(f.Pool, name)
	case "tell":
		return intent.All{intent.Close{}, intent.Go{Agent: t.Info.ID}, intent.Talk{Agent: t.Info.ID}}
	case "end":
		known := t.Info
		return intent.Quick(func(ctx context.Context) (string, error) {
			return format.Ends(name, known), f.Pool.End(ctx, name)
		})
	case "respawn":
		return f.respawn(name)
	case "close":
		return intent.Quick(func(ctx context.Context) (string, error) {
			return name + " is closed", f.Pool.CloseTab(ctx, name)
		})
	}
	return nil
}

// respawn starts the task of an ended agent again, in the queue of the agent that commands act for.
func (f *Fleet) respawn(name string) intent.Intent {
	by := f.Tabs.Acting().Info.ID
	return intent.Quick(func(ctx context.Context) (string, error) {
		t, err := f.Pool.Tasks.Respawn(ctx, by, name)
		if err != nil {
			return "", err
		}
		return f.Doubt.WhenRespawned(t), nil
	})
}

// kill asks, then ends an agent.
func (f *Fleet) kill(t *tabs.Tab) intent.Intent {
	name := t.Info.Name
	if err := t.Info.Killable(); err != nil {
		return intent.Say{Text: err.Error()}
	}
	return intent.Kill(f.Theme, name, f.Tabs.LiveBelow(name), func(cascade bool) intent.Intent {
		return intent.Quick(func(ctx context.Context) (string, error) {
			return name + " was killed", f.Pool.Kill(ctx, name, cascade)
		})
	})
}

// WrapUp asks an agent to finish with what it has.
func WrapUp(pool *agents.Pool, name string) intent.Intent {
	return intent.Quick(func(ctx context.Context) (string, error) {
		return name + " was asked to wrap up", pool.WrapUp(ctx, name)
	})
}
