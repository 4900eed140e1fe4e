package uitest_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/llm"
	"fantail/ui/uitest"
)

// summariser answers a request for a summary slowly, and all else as actor does,
// saying whether it saw a summary.
func summariser(ctx context.Context, req *llm.Request, say func(llm.Part) bool) error {
	if len(req.Tools) > 0 {
		for _, m := range req.Messages {
			for _, p := range m.Parts {
				if t, ok := p.(llm.Text); ok && strings.HasPrefix(t.Text, "1. The person wants") {
					say(llm.Text{Text: "I go by the summary. "})
				}
			}
		}
		return actor(ctx, req, say)
	}
	for _, l := range []string{
		"1. The person wants the total computed once.\n", "2. It goes into `price.Total`.\n", "3. cart.go was read.\n", "4. Next: move it.\n",
		"5. Open: rounding.\n", "6. Names: `greet`, `Total`.\n", "7. Nothing else.\n", "8. The end.\n",
	} {
		say(llm.Text{Text: l})
		uitest.Pause(ctx, time.Second)
	}
	say(llm.Usage{Input: 1540, Output: 90})
	return nil
}

// TestCompactAndGoOn: /compact streams a summary that then stands for what was
// said; Esc in the middle changes nothing; it is there again after a restart.
func TestCompactAndGoOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := uitest.Options{Provider: uitest.Script(summariser), Window: 200_000}
		s := uitest.Start(t, o)
		s.Enter("/compact")
		s.See("there is nothing to compact yet")
		s.Press("ctrl+c")
		s.Enter("hello")
		s.See("You said: hello", "1 step")
		s.Enter("/compact keep the names")
		s.See("compacting · 2. It goes into")
		s.Golden("compacting-120")
		s.Press("esc")
		s.See("Compacting stopped. Nothing changed", "main ○")
		s.Until("the box is empty", func() bool { return typed(s) == "" })
		s.Enter("still there")
		s.See("You said: still there")
		s.NotSee("I go by the summary")
		s.Enter("/compact")
		s.See("compacted · 1,540 → about", "1. The person wants", "2 more lines")
		s.Golden("compacted-120")
		s.Enter("go on")
		s.See("I go by the summary. You said: go on", "main ○")
		home := s.Home
		s.Enter("/quit")
		s.Left()
		s.Stop()

		o.Home = home
		s = uitest.Start(t, o)
		s.See("You said: hello", "compacted · 1,540")
		s.Enter("and on")
		s.See("I go by the summary. You said: and on")
	})
}

// TestCompactOfAHelperThatCloses: closing ends it, and the helper opens again as it
// was.
func TestCompactOfAHelperThatCloses(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(summariser), Window: 200_000}, func(s *uitest.Session) {
		s.Enter("/agent new api")
		s.See("[Agent: api]")
		s.Enter("hello")
		s.See("You said: hello", "1 step")
		s.Enter("/compact")
		s.See("compacting · 1. The person")
		s.Enter("/agent close")
		s.See("Close api?", "it is at work")
		s.Type("y")
		s.See("[Agent: main]")
		s.Enter("/resume api")
		s.See("The tab of api is open again")
		s.Enter("/agent api")
		s.See("[Agent: api]", "You said: hello")
	})
}

// TestCompactsByItself: with a small window the conversation is compacted before it
// overflows, and the human sees it.
func TestCompactsByItself(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(summariser), Window: 1700}, func(s *uitest.Session) {
		s.Enter("hello")
		s.See("You said: hello", "1 step")
		s.Enter("go on")
		s.See("compacting ·")
		s.See("compacted by itself", "I go by the summary. You said: go on")
	})
}

// TestContextFrame: /context shows what the conversation consists of.
// Spec: O-74, O-82.
func TestContextFrame(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor), Window: 200_000}, func(s *uitest.Session) {
		s.Enter("hello")
		s.See("You said: hello", "1 step")
		s.Enter("/send main some words of mail")
		s.See("1 pending")
		s.Enter("/check")
		s.Gone("1 pending")
		s.Enter("/context")
		s.See("Context of main, test/scripted", "0% of 200k · compacts at 85%", "mail ", "1 message taken in, ~")
		s.Golden("context-120")
	})
}
