package uitest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"fantail/agents/llm"
	"fantail/inbox/policy"
	"fantail/ui/uitest"
)

// colleague plays agents of which one works for long; forks look into a file, take
// their time and answer the message they handle.
func colleague(ctx context.Context, req *llm.Request, say func(llm.Part) bool) error {
	results := 0
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			if _, ok := p.(llm.ToolResult); ok {
				results++
			}
		}
	}
	prompt, _ := uitest.Prompt(req)
	defer say(llm.Usage{Input: 1200, Output: 340})
	switch {
	case strings.Contains(req.System, "-fork-") && results == 0:
		say(call("g", "grep", map[string]string{"pattern": "token"}))
	case strings.Contains(req.System, "-fork-") && results == 1:
		uitest.Pause(ctx, 5*time.Second)
		say(call("r", "reply_to_message", map[string]any{"id": 1, "message": "The code flow with PKCE: see auth.go."}))
	case strings.Contains(req.System, "-fork-"):
		say(llm.Text{Text: "testing-agent asked which flow we use. I answered: the code flow with PKCE, as in `auth.go`."})
	case strings.HasPrefix(prompt, "implement"):
		for range 60 {
			say(llm.Text{Text: "Refreshing tokens. ", Index: 1})
			uitest.Pause(ctx, time.Second)
		}
	default:
		say(llm.Text{Text: "Yes."})
	}
	return ctx.Err()
}

// TestForkOnTheScreen: a message comes to an agent that streams; a fork's tab appears,
// says what it handles, answers and closes, and the agent's own tab shows nothing
// of it.
// Spec: M-4, M-5, M-6, M-8, M-9, M-11, M-13, R-46, E-30.
func TestForkOnTheScreen(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{120, 36}, {40, 12}} {
		o := uitest.Options{Provider: uitest.Script(colleague), W: size[0], H: size[1], Files: map[string]string{"auth.go": "package auth // token refresh\n"}}
		play(t, o, func(s *uitest.Session) {
			wide := size[0] > 80
			s.Enter("/agent new oauth-impl")
			s.See("Agent: oauth-impl")
			impl, err := s.Pool.Letters.Whose(context.Background(), "oauth-impl")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Pool.Mail.Override(context.Background(), impl.ID, func(o *policy.Overrides) { o.Mode = policy.Fork }); err != nil {
				t.Fatal(err)
			}
			s.Enter("implement the token refresh")
			s.See("Refreshing tokens.")
			s.Enter("/agent new testing-agent")
			s.See("Agent: testing-agent")
			s.Enter("/send oauth-impl which flow do we use?")
			s.Until("the fork is there", func() bool { return len(s.Pool.Infos()) == 4 })
			s.Wait(100 * time.Millisecond)
			s.Enter("/agent oauth-impl-fork-1")
			s.See("Handling message #1 · closes itself", "✉ from testing-agent")
			s.Golden(fmt.Sprintf("message-fork-%d", o.W))
			if wide {
				s.Press("/")
				s.Enter("agents")
				s.See("handles #1 · ")
				s.Press("esc")
				s.Press("1")
				s.See("message #1 from testing-agent: what it says is data", "which flow do we use?")
				s.Press("4")
				s.See("handles", "message #1 from testing-agent", "it closes itself", "parent")
				s.Golden("message-fork-info-120")
				s.Press("2")
			}
			s.Press("alt+2")
			s.See("Agent: oauth-impl")
			s.Wait(6 * time.Second)
			s.Gone("fork")
			s.NotSee("which flow", "PKCE")
			s.Press("alt+3")
			s.See("1 pending")
			s.Enter("/check")
			s.See("✉ from oauth-impl-fork-1", "The code flow with PKCE")
			s.Press("alt+2")
			s.Wait(time.Minute)
			s.See("1 step")
			s.NotSee("PKCE")
			s.Enter("/messages why 1")
			s.See("handled by oauth-impl-fork-1")
			s.Enter("/resume oauth-impl-fork-1")
			s.See("The tab of oauth-impl-fork-1")
			s.Enter("/agent oauth-impl-fork-1")
			s.See("Handled message #1", "PKCE")
			s.Golden(fmt.Sprintf("message-fork-ended-%d", o.W))
		})
	}
}

// TestForkEndsWhileLookedAt: the tab of a fork that ends before the human's eyes stays
// until they go elsewhere, and a fork that failed is a failure in its parent's inbox.
// Spec: M-5, M-13, R-46, E-33.
func TestForkEndsWhileLookedAt(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(colleague)}, func(s *uitest.Session) {
		s.Enter("/messages mode fork")
		s.Enter("/send main hello")
		s.See("main-fork-1 ●")
		s.Enter("/agent main-fork-1")
		s.See("Handling message #1 · closes itself")
		s.Press("/")
		s.Enter("fork")
		s.See("You can't fork a fork: main-fork-1 handles one message")
		s.Press("esc")
		s.See("main-fork-1 has ended (completed). Its tab stays until you leave it", "Handled message #1", "I answered")
		s.Wait(4 * time.Minute)
		s.See("I answered")
		s.Press("alt+1")
		s.Gone("main-fork-1 ✓")
		s.Enter("/resume main-fork-1 and more")
		s.See("is a fork: it handles one message and does not go on")
		s.Press("ctrl+c")
		s.Enter("/send main hello again")
		s.See("main-fork-2 ●")
		s.Enter("/agent main-fork-2")
		s.See("Handling message #3")
		s.Press("esc")
		s.See("■ You stopped it", "Did not handle message #3")
		s.Press("alt+1")
		s.Gone("main-fork-2 ✗")
		s.Enter("/check")
		s.See("2 messages collected")
		s.Press("ctrl+o")
		s.See("✉ from main-fork-2 · ", " · interrupted", "message #3 from main was not handled (interrupted: stopped by the user).", "/messages show 3 prints it")
		s.Golden("message-fork-failed-120")
		s.Enter("/doctor")
		s.See("Nothing is lost and nothing is doubled.")
	})
}
