package ui

import (
	"context"
	"testing"

	"fantail/agents/event"
	"fantail/agents/history"

	tea "charm.land/bubbletea/v2"
)

// heard is a pool that notes the prompts it is given.
type heard struct {
	talk
	read
	prompts []string
	to      []int64
}

func (h *heard) Prompt(_ context.Context, agent int64, text string) error {
	h.prompts, h.to = append(h.prompts, text), append(h.to, agent)
	return nil
}

func (h *heard) Page(context.Context, int64, int64, int) ([]history.Entry, error) { return nil, nil }

func (h *heard) pool() *pool { return &pool{talk: h, read: h} }

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
	a, says := screen(t, 80, 24).acting(), &heard{}
	box := a.tabs.Main().Box
	box.Set("one")
	a.play(a.act(a.sender.submit(a.tabs.Main())))
	a.use(says.pool())
	box.Set("two")
	a.play(a.act(a.sender.submit(a.tabs.Main())))
	if len(says.prompts) != 0 || !box.Empty() {
		t.Fatalf("sent %q to %d, in the box is %q", says.prompts, says.to, box.Value())
	}
	a.play(a.change(event.Info{ID: 7, Name: "main", Kind: event.Main}))
	if len(says.prompts) != 2 || says.prompts[0] != "one" || says.prompts[1] != "two" || says.to[0] != 7 || says.to[1] != 7 {
		t.Errorf("sent %q to %d", says.prompts, says.to)
	}
	a.play(a.change(event.Info{ID: 7, Name: "main", Kind: event.Main, State: event.Running}))
	if len(says.prompts) != 2 {
		t.Errorf("sent again: %q", says.prompts)
	}
}
