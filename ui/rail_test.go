package ui

import (
	"context"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/tools/permission"
	"fantail/ui/cells"
)

// TestRail: from 140 columns on the agents and what waits show beside the conversation, those that ask first. Alt+R hides
// them and shows them again, and what was chosen is stored. A rail of agents at rest wakes nothing.
func TestRail(t *testing.T) {
	main := event.Info{ID: 1, Name: "main", Kind: event.Main, State: event.Idle}
	a := screen(t, 140, 36).with(main)
	draw := func() string {
		a.draw()
		for i, l := range strings.Split(a.drawn.view.Content, "\n") {
			if w := cells.Width(l); w > a.w {
				t.Errorf("at %d columns line %d has %d", a.w, i, w)
			}
		}
		return plain(a.drawn.view.Content)
	}
	if got := draw(); strings.Contains(got, "Fan ") {
		t.Errorf("with main alone there is a rail:\n%s", got)
	}
	asking := sub(4, "vet", event.Asking)
	asking.Question = &event.Question{Question: permission.Question{ID: 9, Agent: 4, Name: "vet", Action: permission.Action{Title: "bash make"}}}
	a.with(sub(2, "todo", event.Done), sub(3, "docs", event.Running), asking)
	a.apply(event.Tally{Queued: 1, Names: []string{"release"}, Scheduled: 1})
	at, got := -1, draw()
	for _, want := range []string{"│ Fan  3 agents", "│ ● vet  asks", "│   bash make", "│ ● docs", "│ ✓ todo", "│ Queue  1"} {
		if is := strings.Index(got, want); is <= at {
			t.Errorf("%q is not, or not in its order, in\n%s", want, got)
		} else {
			at = is
		}
	}
	if a.w = 139; strings.Contains(draw(), "Fan ") {
		t.Error("at 139 columns there is a rail")
	}
	a.w = 200
	draw()

	var stored []string
	a.o.Remember = func(_ context.Context, c agents.Choice, name string) error {
		stored = append(stored, string(c)+" "+name)
		return nil
	}
	altR := tea.KeyPressMsg{Code: 'r', Mod: tea.ModAlt}
	for _, want := range []string{"", "Fan  3 agents"} {
		cmd, _ := a.keyTabs(altR)
		cmd()
		if got := draw(); strings.Contains(got, "Fan  3 agents") != (want != "") {
			t.Errorf("after alt+r, want %q, there is\n%s", want, got)
		}
	}
	if want := []string{"chosen rail hidden", "chosen rail "}; !slices.Equal(stored, want) {
		t.Errorf("stored is %q, want %q", stored, want)
	}
	if a.takeOpening(Opening{Rail: agents.Hidden}); strings.Contains(draw(), "Fan ") {
		t.Error("it shows although it was hidden at the last start")
	}

	a = screen(t, 200, 36).with(main, sub(2, "todo", event.Done))
	if draw(); a.rail.turns != 0 {
		t.Errorf("at rest it is drawn again every %s", a.rail.turns)
	}
}
