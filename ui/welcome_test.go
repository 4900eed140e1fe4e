package ui

import (
	"strings"
	"testing"

	"fantail/agents"
	"fantail/themes"
	"fantail/ui/tabs"
)

// TestWelcomeWithoutAModel: the start screen and the status line say in colour that there
// is none, at every usual size and before the workspace is open; with one they don't.
func TestWelcomeWithoutAModel(t *testing.T) {
	for _, size := range [][2]int{{200, 50}, {120, 36}, {80, 24}, {60, 16}, {40, 12}} {
		for _, c := range []struct {
			start, model string // model: main's, once it is known
			none         bool
		}{
			{"builtin — no key found; set ANTHROPIC_API_KEY", "", true},
			{"builtin — no key found; set ANTHROPIC_API_KEY", "builtin", true},
			{"builtin — no key found", "ollama/qwen3", false},
			{"anthropic/sonnet — ANTHROPIC_API_KEY is set", "", false},
			{"anthropic/sonnet — ANTHROPIC_API_KEY is set", "builtin", true},
			{"", "", false},
		} {
			a := screen(t, size[0], size[1])
			a.o.Start = c.start
			if c.model != "" {
				a.with(agents.Info{ID: 1, Name: "main", Kind: agents.Main, State: agents.Idle, Model: c.model})
			}
			lines := a.welcome(size[0], size[1]-4)
			text := strings.Join(strings.Fields(plain(strings.Join(lines, " "))), " ")
			for _, want := range []string{"only plain instructions work", "ANTHROPIC_API_KEY or OPENAI_API_KEY, start Ollama"} {
				if strings.Contains(text, want) != c.none {
					t.Errorf("%v, %q, main's model %q: %q shows: %v\n%s", size, c.start, c.model, want, !c.none, strings.Join(lines, "\n"))
				}
			}
			loud := a.theme.Paint(themes.Warn, "No language")
			loud = loud[:strings.Index(loud, "No language")+len("No language")]
			if strings.Contains(strings.Join(lines, "\n"), loud) != c.none {
				t.Errorf("%v, %q: its colour is not that of a warning", size, c.start)
			}
			if got := strings.Contains(a.statusLine(120), a.theme.Paint(themes.Warn, tabs.PlainEngine)); got != (c.model == tabs.PlainEngine) {
				t.Errorf("%q: the status line warns: %v", c.model, got)
			}
		}
	}
}
