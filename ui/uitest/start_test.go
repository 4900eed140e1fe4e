package uitest_test

import (
	"fmt"
	"testing"

	"fantail/ui"
	"fantail/ui/uitest"
)

// ways are those of a machine that has them all.
var ways = []ui.Way{
	{Says: "use the server that answers at 127.0.0.1:1234", Type: "/model lmstudio/qwen3"},
	{Says: "use Claude Code's plan", Type: "/agent new claude agent=claude"},
}

// The start screen without a model shows the ways to one that exist, and lines to try. Few rows show the most important.
func TestStart_frames(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{40, 12}, {80, 24}, {120, 36}, {200, 50}} {
		play(t, uitest.Options{W: size[0], H: size[1], Ways: ways}, func(s *uitest.Session) {
			s.See("No model connected", "connect a model", "ANTHROPIC_API_KEY or OPENAI_API_KEY", "/model lmstudio/qwen3", "agent=claude", "grep TODO")
			s.Golden(fmt.Sprintf("start-%d", size[0]))
		})
	}
	play(t, uitest.Options{Environ: []string{"LANG=C", "NO_COLOR=1"}}, func(s *uitest.Session) {
		s.See("No model connected", "/srv/me/.config/fantail/config.toml")
		s.NotSee("lmstudio", "claude")
		s.GoldenStyles("start-plain")
	})
}

// Enter on an empty box opens the first way, Tab puts a line to try into the box, and each of them works.
func TestStart_keys(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Ways: ways}, func(s *uitest.Session) {
		s.Press("enter")
		s.See("Connect a model ", "export ANTHROPIC_API_KEY=", "/srv/me/.config/fantail/config.toml", "/model lmstudio/qwen3", "agent=claude")
		s.Press("esc")
		s.See("No model connected")
		s.Press("tab")
		s.See("› grep TODO")
		s.Press("tab")
		s.See("› /push name=todos grep TODO")
		s.Press("tab")
		s.See("› remind me in 1m: stretch")
		s.Press("tab")
		s.See("› grep TODO")
		s.Press("enter")
		s.See("2 steps")
		s.Gone("No model connected")
		s.Press("tab")
		s.NotSee("› grep TODO", "Connect a model")
		s.Enter("/push name=todos grep TODO")
		s.See("Queued todos")
		s.Enter("/run")
		s.See("todos ✓")
		s.Enter("remind me in 1m: stretch")
		s.See("reminder-1")
	})
	play(t, uitest.Options{Ways: ways}, func(s *uitest.Session) { // what is being typed stays
		s.Type("look")
		s.Press("tab")
		s.See("› look")
		s.NotSee("› grep")
	})
}

// What is no instruction is answered in three lines, and is no failure.
func TestStart_hello(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{}, func(s *uitest.Session) {
		s.Enter("hello")
		s.See("hello is not one of the instructions", "help lists all instructions", "For a model set ANTHROPIC_API_KEY")
		s.NotSee("failed", "Failed", "✗", "recall NAME")
		s.Golden("start-hello")
		s.Enter("help")
		s.See("recall NAME")
	})
}
