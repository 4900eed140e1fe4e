package ui

import (
	"fmt"
	"strings"
	"testing"

	"fantail/agents/event"
)

// TestLineOfKeys: the line of keys shows on a high screen, and on a usual one for the first prompts. It is blank where
// something open names its own keys.
func TestLineOfKeys(t *testing.T) {
	shows := func(a *App) bool {
		a.draw()
		return strings.Contains(plain(a.drawn.view.Content), "F3 inbox")
	}
	main := event.Info{ID: 1, Name: "main", Kind: event.Main, State: event.Idle}
	for _, c := range []struct {
		h, texts int
		want     bool
	}{{19, 0, false}, {24, 0, true}, {24, 18, true}, {24, 20, false}, {29, 20, false}, {30, 500, true}} {
		a := screen(t, 80, c.h).with(main)
		d := a.drafts
		d.past.path, d.past.read = "history", false
		if shows(a) != (c.h >= 30) {
			t.Errorf("%d rows: before the history is read, the line shows: %t", c.h, c.h < 30)
		}
		var texts []string
		for i := range c.texts {
			texts = append(texts, fmt.Sprint("prompt ", i))
		}
		d.loaded(texts, nil)
		if shows(a) != c.want {
			t.Errorf("%d rows, %d texts: the line shows: %t", c.h, c.texts, !c.want)
		}
		d.Remember(a.tabs.Main().Box, "one more")
		if c.texts == 18 && !shows(a) {
			t.Error("with 19 texts it does not show")
		}
		d.Remember(a.tabs.Main().Box, "and another")
		if c.texts == 18 && shows(a) {
			t.Error("with 20 texts it still shows")
		}
	}

	a := screen(t, 80, 30).with(main)
	body := func() int { a.draw(); return a.drawn.r.body.h }
	high := body()
	a.tabs.Main().Box.Set("a draft")
	if a.draw(); shows(a) || !strings.Contains(plain(a.drawn.view.Content), "enter send") {
		t.Error("the keys of typing do not show")
	}
	a.tabs.Main().Box.Clear()
	a.sheet()
	if shows(a) || body() != high {
		t.Errorf("under a dialog it shows, or the transcript has %d rows and not %d", body(), high)
	}
}
