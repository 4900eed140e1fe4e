package uitest_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"fantail/agents/llm"
	"fantail/ui/uitest"
)

// What was half typed when the screen went is offered to the next one, in the next host too: each
// agent's in its box, a paste as it was pasted, byte for byte.
func TestDrafts_overARestart(t *testing.T) {
	t.Parallel()
	var sent string
	actor := func(_ context.Context, req *llm.Request, say func(llm.Part) bool) error {
		sent, _ = uitest.Prompt(req)
		say(llm.Text{Text: "thanks"})
		return nil
	}
	paste := strings.Repeat("tab\t, \"quotes\", überall \r\n", 300)
	synctest.Test(t, func(t *testing.T) {
		s := uitest.Start(t, uitest.Options{Provider: uitest.Script(actor)})
		s.Enter("/agent new oauth")
		s.See("[Agent: oauth]")
		s.Type("read this: ")
		s.Paste(paste)
		s.See("read this: [Pasted #1, 300 lines]")
		s.Type(" carefully")
		s.Press("alt+1")
		s.See("[Agent: main]")
		s.Type("half\na thought")
		s.See("a thought")
		home := s.Home
		s.Stop()

		s = uitest.Start(t, uitest.Options{Home: home, Provider: uitest.Script(actor)})
		s.See("› half", "a thought", "your draft of 00:00 is back; your draft of 00:00 is back in oauth's box")
		s.Press("enter")
		s.See("thanks")
		if sent != "half\na thought" {
			t.Errorf("main got %q", sent)
		}
		s.Press("alt+2")
		s.See("read this: [Pasted #1, 300 lines] carefully")
		s.Press("enter")
		s.See("1 step")
		if want := "read this: " + paste + " carefully"; sent != want {
			t.Errorf("oauth got %d bytes, not %d: %.60q", len(sent), len(want), sent)
		}
		s.Stop()

		s = uitest.Start(t, uitest.Options{Home: home, Provider: uitest.Script(actor)})
		s.NotSee("is back", "half a")
		s.Press("alt+2")
		s.NotSee("Pasted")
	})
}

// Of several screens the one that comes next gets a draft, and no other; the draft of one that goes
// later takes its place, and it is in the history then.
func TestDrafts_ofSeveralScreens(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{H: 24}, func(s *uitest.Session) {
		one, two := s.Beside(), s.Beside()
		one.Type("from the first")
		one.See("› from the first")
		two.Type("from the second")
		two.See("› from the second")
		one.Kill()
		s.NotSee("is back", "from the first")

		three, four := s.Beside(), s.Beside()
		three.See("› from the first", "your draft of 00:00 is back")
		four.NotSee("from the first")
		three.Kill()
		two.Kill()
		five := s.Beside()
		five.See("› from the second", "your draft of 00:00 is back")
		five.Press("ctrl+c")
		five.Gone("from the second")
		five.Press("up")
		five.See("› from the first")
		s.NotSee("from the")
	})
}

// A box that is not empty is not touched: the draft is in the history.
func TestDrafts_intoABoxThatHoldsSomething(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := uitest.Start(t, uitest.Options{})
		s.Type("older thought")
		s.See("› older thought")
		home := s.Home
		s.Stop()
		s = uitest.Start(t, uitest.Options{Home: home, Late: true})
		s.Type("newer")
		s.See("› newer")
		s.Attach()
		s.See("› newer", "your draft of 00:00 is in the history of main (Up)")
		s.Press("up")
		s.See("› older thought")
		s.Press("down")
		s.See("› newer")
		s.Stop()
		s = uitest.Start(t, uitest.Options{Home: home})
		s.See("› newer")
		s.Press("up")
		s.See("› older thought")
	})
}

// A line to an agent without a prompt box is opened again with what it held. A half-typed answer
// becomes a draft, as it does when its question goes away.
func TestDrafts_ofLines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := uitest.Start(t, uitest.Options{})
		for _, name := range []string{"one", "two"} {
			s.Enter("/push name=" + name + " ask Which port of " + name + "?")
			s.See("Queued " + name)
		}
		s.Enter("/run 2")
		s.See("one ● asks", "two ● asks")
		s.Press("alt+2")
		s.See("one has a question")
		s.Wait(firstSecond)
		s.Press("esc")
		s.Gone("╭─ one has a question")
		s.Press("m")
		s.See("tell one›")
		s.Type("wait for")
		s.See("tell one› wait for")
		s.Press("alt+3")
		s.See("two has a question")
		s.Wait(firstSecond)
		s.Type("80")
		s.See("› 80")
		home := s.Home
		s.Stop()
		s = uitest.Start(t, uitest.Options{Home: home})
		s.See("your draft of 00:00 is back in one's box; your draft of 00:00 is back in two's box")
		s.Press("alt+2")
		s.See("tell one› wait for")
		s.Press("alt+3")
		s.See("▌ two has a question: Which port of two?   ", "tell two› 80")
	})
}

// What was sent or typed before the workspace is open is in the history if it never opens.
func TestDrafts_beforeTheWorkspaceIsOpen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := uitest.Start(t, uitest.Options{Late: true})
		s.Enter("say early")
		s.See("kept until the workspace is open")
		s.Type("half typed")
		s.See("› half typed")
		home := s.Home
		s.Kill()
		s = uitest.Start(t, uitest.Options{Home: home})
		s.NotSee("half typed", "say early")
		s.Press("up")
		s.See("› half typed")
		s.Press("up")
		s.See("› say early")
	})
}
