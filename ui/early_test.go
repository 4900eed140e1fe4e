package ui

import (
	"context"
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"

	"fantail/agents/agentstest"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
)

// play runs a command and those it is made of, in order, once what it waits for has begun.
func (a *App) play(c tea.Cmd) {
	a.actions.begin()
	if c == nil {
		return
	}
	if cs, ok := c().(tea.BatchMsg); ok {
		for _, c := range cs {
			a.play(c)
		}
	}
}

// TestPromptBeforeMainIsKnown: between the pool and its first event main has no
// number yet; what is sent then waits for it like what was sent before.
func TestPromptBeforeMainIsKnown(t *testing.T) {
	w := agentstest.Open(t, &agentstest.Model{Reply: func(context.Context, *llm.Request) ([]llm.Part, error) { return agentstest.Text("ok"), nil }}, agentstest.Setting{})
	sent := func() (texts []string) {
		w.Settle()
		for _, e := range w.Entries("main") {
			if e.Kind == history.EntryPrompt {
				texts = append(texts, e.Text)
			}
		}
		return texts
	}
	a := screen(t, 80, 24).acting()
	box := a.tabs.Main().Box
	box.Set("one")
	a.play(a.act(a.sender.submit(a.tabs.Main())))
	a.use(w.Pool)
	box.Set("two")
	a.play(a.act(a.sender.submit(a.tabs.Main())))
	if got := sent(); got != nil || !box.Empty() {
		t.Fatalf("sent %q, in the box is %q", got, box.Value())
	}
	a.play(a.change(event.Info{ID: w.Main(), Name: "main", Kind: event.Main}))
	if got := sent(); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("sent %q", got)
	}
	a.play(a.change(event.Info{ID: w.Main(), Name: "main", Kind: event.Main, State: event.Running}))
	if got := sent(); len(got) != 2 {
		t.Errorf("sent again: %q", got)
	}
}
