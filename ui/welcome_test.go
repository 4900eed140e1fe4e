package ui

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"fantail/agents/event"
	"fantail/themes"
	"fantail/ui/tabs"
)

// start is the start screen over the tabs of those agents.
func start(t *testing.T, e WelcomeOptions, model string, infos ...event.Info) *Welcome {
	t.Helper()
	theme, err := themes.Load("dark", false)
	if err != nil {
		t.Fatal(err)
	}
	e.Tabs = &tabs.Tabs{Look: tabs.Look{Theme: theme, Now: time.Now}}
	for _, i := range infos {
		e.Tabs.Add(e.Tabs.Make(i))
	}
	return NewWelcome(e, model)
}

// said is what lines say, in one line and without colours.
func said(lines []string) string {
	return strings.Join(strings.Fields(ansi.Strip(strings.Join(lines, " "))), " ")
}

// TestWelcomeWithoutAModel: the start screen says in colour that there is none, at every
// usual size and before the workspace is open; with one it doesn't.
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
			s := start(t, WelcomeOptions{}, c.start, event.Info{ID: 1, Name: "main", Kind: event.Main, State: event.Idle, Model: c.model})
			lines := s.Lines(s.Tabs.Main(), size[0], size[1]-4)
			text := said(lines)
			for _, want := range []string{"No model connected", "connect a model", "ANTHROPIC_API_KEY or OPENAI_API_KEY", tries[0][0]} {
				if strings.Contains(text, want) != c.none {
					t.Errorf("%v, %q, main's model %q: %q shows: %v\n%s", size, c.start, c.model, want, !c.none, strings.Join(lines, "\n"))
				}
			}
			loud := s.Tabs.Theme.Paint(themes.Warn, "No model")
			loud = loud[:strings.Index(loud, "No model")+len("No model")]
			if strings.Contains(strings.Join(lines, "\n"), loud) != c.none {
				t.Errorf("%v, %q: its colour is not that of a warning", size, c.start)
			}
		}
	}
}

// TestWelcomeOfAHelper: the start screen of a helper speaks of it, that of main of the
// workspace; both fill the lines they are given.
func TestWelcomeOfAHelper(t *testing.T) {
	s := start(t, WelcomeOptions{Root: "/src/shop"}, "test/one — chosen",
		event.Info{ID: 1, Name: "main", Kind: event.Main}, event.Info{ID: 2, Name: "aide", Kind: event.Helper})
	for name, want := range map[string]string{"main": "/src/shop", "aide": "aide alone"} {
		for _, h := range []int{3, 40} {
			lines := s.Lines(s.Tabs.ByName(name), 100, h)
			if len(lines) != h {
				t.Errorf("%s: %d lines of %d", name, len(lines), h)
			}
			if h == 40 && !strings.Contains(said(lines), want) {
				t.Errorf("%s: nothing of %q in\n%s", name, want, strings.Join(lines, "\n"))
			}
		}
	}
}

// TestSandbox: what the sandbox lacks stands on the start screen and in a transcript that is there; else nothing speaks
// of one.
func TestSandbox(t *testing.T) {
	const lacks = "No sandbox works here"
	for _, text := range []string{lacks, ""} {
		s := start(t, WelcomeOptions{Root: "/src/shop"}, "test/one — chosen", event.Info{ID: 1, Name: "main", Kind: event.Main})
		s.Open(Opening{Sandbox: text})
		main := s.Tabs.Main()
		if got := said(s.Lines(main, 80, 24)); strings.Contains(got, lacks) != (text != "") || !strings.Contains(got, "/src/shop") {
			t.Errorf("%q: %s", text, got)
		}
		main.Loaded, main.Newest = true, 7
		s.Tell()
		if got := said(main.View.Lines(100, 30)); got != text {
			t.Errorf("%q: its transcript says %q", text, got)
		}
	}
	for _, loaded := range []bool{false, true} { // what is known later is said as what was there at once
		s := start(t, WelcomeOptions{Root: "/src/shop"}, "test/one — chosen", event.Info{ID: 1, Name: "main", Kind: event.Main})
		s.Open(Opening{})
		main := s.Tabs.Main()
		if loaded {
			main.Loaded, main.Newest = true, 7
			s.Tell()
		}
		s.Lacks(lacks)
		if got := said(s.Lines(main, 80, 24)); !loaded && !strings.Contains(got, lacks) {
			t.Errorf("later: %s", got)
		}
		main.Loaded, main.Newest = true, 7
		s.Tell()
		if got := said(main.View.Lines(100, 30)); got != lacks {
			t.Errorf("later, with a transcript %v: it says %q", loaded, got)
		}
	}
}

// TestTell: where main goes on with a transcript, what steers it is said there, once for
// each opening and not before the transcript is loaded.
func TestTell(t *testing.T) {
	s := start(t, WelcomeOptions{ReadOnly: errors.New("another program has it"), News: "the key A is used"}, "", event.Info{ID: 1, Name: "main", Kind: event.Main})
	main := s.Tabs.Main()
	s.Open(Opening{Instructions: "AGENTS.md", Trouble: "the key is gone"})
	text := func() string { return said(main.View.Lines(100, 30)) }
	s.Tell()
	if got := text(); strings.Contains(got, "AGENTS.md") {
		t.Errorf("before its transcript is loaded main is told %q", got)
	}
	main.Loaded, main.Newest = true, 7
	s.Tell()
	s.Tell()
	for _, want := range []string{"Using AGENTS.md", "the key is gone", "Read-only: another program has it"} {
		if n := strings.Count(text(), want); n != 1 {
			t.Errorf("%q is said %d times in %q", want, n, text())
		}
	}
	s.Open(Opening{Policy: ".agents/main.yml", Trouble: "the key is gone"})
	s.Tell()
	for _, once := range []string{"the key A is used", "the key is gone", "Read-only: another program has it"} {
		if n := strings.Count(text(), once); n != 1 {
			t.Errorf("after the second opening %q is said %d times in %q", once, n, text())
		}
	}
	if !strings.Contains(text(), "Using the mail policy of .agents/main.yml") {
		t.Errorf("of the second opening nothing is said in %q", text())
	}
}

// What of the repository does not run is said at every usual size.
func TestWelcomeBrings(t *testing.T) {
	for _, size := range [][2]int{{200, 50}, {80, 24}, {40, 16}} {
		s := start(t, WelcomeOptions{}, "ollama/qwen3", event.Info{ID: 1, Name: "main", Kind: event.Main, State: event.Idle, Model: "ollama/qwen3"})
		if text := said(s.Lines(s.Tabs.Main(), size[0], size[1])); strings.Contains(text, "/trust") {
			t.Errorf("%v: it is said of nothing: %s", size, text)
		}
		s.Open(Opening{Brings: "This repository brings programs: /trust shows them"})
		if text := said(s.Lines(s.Tabs.Main(), size[0], size[1])); !strings.Contains(text, "brings programs: /trust shows them") {
			t.Errorf("%v: %s", size, text)
		}
	}
}
