package uitest_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/llm"
	"fantail/ui/uitest"
)

// How mail is handled while a human works, on the screen.

// TestQuietWorkOnTheScreen: mail of little weight comes silently, is handled when
// the human pauses, and a half-typed draft is neither changed nor overtaken.
//
// Spec: M-1, M-3, M-23, M-28, R-44, E-26.
func TestQuietWorkOnTheScreen(t *testing.T) {
	t.Parallel()
	playAll(t, "builtin vendor", uitest.Options{}, nil, func(t *testing.T, s *uitest.Session, _ tell, _ bool) {
		golden := func(name string) {
			if !strings.HasSuffix(t.Name(), "vendor") { // whose name the frames would show
				s.Golden(name)
			}
		}
		s.Enter("/agent config message-handling queue --idle-after=30s")
		s.See("Mail rules for main, first match wins:", "default: queue", "queued mail is handled after 30s without a key")
		s.Enter("/agent new research-agent")
		s.See("Agent: research-agent")
		s.Enter("wait 20s then send main: OAuth patterns are documented")
		s.Press("alt+1")
		s.See("[Agent: main")
		s.Type("half a thou")
		s.Wait(25 * time.Second)
		s.See("1 pending]", "› half a thou")
		s.Wait(2 * time.Minute)
		s.See("1 pending]", "› half a thou")
		golden("policy-draft-120")
		s.Enter("ght") // it is sent: the draft is gone
		s.See("▌ half a thought", "1 pending]", "1 step")
		s.Enter("/messages why 1")
		s.See("it waits until no key came for 30s (30s to go).", "Policy: queue, by /agent config message-handling queue.")
		s.Wait(31 * time.Second)
		s.See("OAuth patterns are documented", "Handled message from research-agent while you were thinking")
		s.Gone("pending]")
		golden("policy-handled-120")
	})
}

// TestModesOnTheScreen: what the human says beats the file, sender before mode, and
// quiet beats all; wrong words say what is right.
//
// Spec: M-20, M-21, M-22, R-41, R-43.
func TestModesOnTheScreen(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{}, func(s *uitest.Session) {
		for wrong, right := range map[string]string{
			"/messages mode loud":                                            "no mode \"loud\" for messages: manual, interrupt, queue, fork",
			"/messages mode fork --idle-after=5s":                            "--idle-after belongs to the mode queue",
			"/messages mode --idle-after=5s":                                 "put --idle-after after a mode: mode queue",
			"/messages mode queue now":                                       "unexpected \"now\"",
			"/messages from [ fork":                                          "\"[\" is not a pattern",
			"/messages from ci":                                              "from needs a sender",
			"/messages quiet until noonish":                                  "noonish\" is not a time in the future",
			"/messages quiet until":                                          "until when? Type until 14:00 or for 2h",
			"/messages resume":                                               "t is not quiet; /messages quiet holds all mail",
			"/agent config message-handling fork --idle-after=5s":            "--idle-after belongs to the mode queue",
			"/agent config message-handling queue --idle-after=never":        "\"never\" is no time to be idle",
			"/agent config colour":                                           "config has message-handling only, not",
			"/agent config message-handling interrupt-urgent-only sometimes": "\"sometimes\"",
		} {
			s.Enter(wrong)
			s.See(right)
			s.Press("ctrl+c")
		}
		s.Enter("/agent new ci")
		s.See("Agent: ci")
		s.Press("alt+1")
		s.Enter("/messages mode queue --idle-after=5s")
		s.See("/messages mode: queue", "queued mail is handled after 5s without a key")
		s.Enter("/messages mode interrupt")
		s.See("/messages mode: interrupt")
		s.Enter("/messages from ci queue")
		s.See("/messages from ci: queue")
		s.Press("alt+2")
		s.Enter("send main: from ci")
		s.See("Message #1 is in the inbox of main")
		s.Press("alt+1")
		s.Enter("/messages why 1")
		s.See("Policy: queue, by /messages from ci queue.")
		s.Enter("/messages from ci default")
		s.See("#1 from ci", "A message came")
		s.Enter("/messages quiet for 4m")
		s.See("Quiet until 00:0", "quiet until 00:0")
		s.Press("alt+2")
		s.Enter("send main: now")
		s.Wait(2 * time.Minute)
		s.Press("alt+1")
		s.See("1 pending]")
		s.Enter("/messages why 2")
		s.See("it waits because it is quiet; it ends at 00:0", "Decided by quiet mode.")
		s.Wait(2 * time.Minute)
		s.See("Quiet is over. 1 message came meanwhile: 1 to read.", "#2 from ci")
		s.Gone("pending]", "quiet until")
		s.Wait(time.Second) // the turn that it starts ends
		s.Enter("/messages mode default")
		s.See("default: manual")
		s.Golden("policy-modes-120")
	})
}

// TestLettersOnTheScreen: looking at mail takes none, and letters go out by command
// or because the model was told to.
//
// Spec: M-34, M-35, M-39, M-40, M-41, M-42, M-43.
func TestLettersOnTheScreen(t *testing.T) {
	t.Parallel()
	provider := uitest.Script(func(_ context.Context, req *llm.Request, say func(llm.Part) bool) error {
		last := req.Messages[len(req.Messages)-1]
		if text, ok := last.Parts[len(last.Parts)-1].(llm.Text); ok && strings.HasPrefix(text.Text, "Send a message to testing-agent that ") {
			say(llm.ToolCall{ID: "s", Name: "send", Args: json.RawMessage(`{"to":"testing-agent","message":"Implementation ready for testing","priority":"high"}`)})
			say(llm.Stop{Reason: llm.ToolUse})
			return nil
		}
		say(llm.Text{Text: "Done."})
		say(llm.Stop{Reason: llm.EndTurn})
		return nil
	})
	play(t, uitest.Options{Provider: provider}, func(s *uitest.Session) {
		s.Enter("/agent new testing-agent")
		s.See("Agent: testing-agent")
		s.Press("alt+1")
		s.Enter(`/send testing-agent "Implementation ready for testing"`)
		s.See("Message #1 is in the inbox of testing-agent")
		s.Enter(`/send testing-agent --priority=high "Critical bug found, need retest"`)
		s.See("Message #2 is in the inbox of testing-agent")
		s.Enter("Send a message to testing-agent that implementation is ready")
		s.See("Message #3 is in the inbox of testing-agent", "Done.")
		s.Press("alt+2")
		s.See("3 pending]")
		s.Enter("/messages show")
		s.See("#1 · mail", "#2 · high mail", "Critical bug found, need retest", "#3 · high mail")
		s.Enter("/messages show 2")
		s.See("#2 from main", "high mail", "3 pending]")
		s.Press("esc")
		s.Enter("/messages next")
		s.See("from main · #2", "2 pending]")
	})
}

// hybrid is the policy of an agent with a rule of every sort.
const hybrid = `# .agents/oauth-impl.yml
message_handling:
  default: queue           # Default behavior

  # Override for specific senders
  from:
    main: interrupt        # Root agent can interrupt
    testing-*: fork        # Testing agents trigger fork

  # Override for specific priorities
  priority:
    urgent: interrupt      # Urgent always interrupts
    high: fork            # High priority forks
    normal: queue         # Normal queues

  # Override for specific tags
  tags:
    blocker: interrupt    # Blockers interrupt
    fyi: queue           # FYIs queue

  # Override for specific times
  schedule:
    weekdays:
      9am-5pm: fork       # During work hours, fork
      5pm-9am: queue      # Off hours, queue
    weekends: queue       # Weekends always queue
`

// TestHybridPolicyOnTheScreen: a file with a rule of every sort, and a message for
// each of them.
//
// Spec: M-14, M-15, M-16, M-17, M-18, R-41, E-29.
func TestHybridPolicyOnTheScreen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		monday := time.Date(now.Year(), now.Month(), now.Day(), 10, 0, 0, 0, now.Location())
		for monday.Weekday() != time.Monday || monday.Before(now) {
			monday = monday.AddDate(0, 0, 1)
		}
		time.Sleep(monday.Sub(now)) // no program runs meanwhile: one draws 120 times a second
		s := uitest.Start(t, uitest.Options{Files: map[string]string{".agents/oauth-impl.yml": hybrid}})
		for _, name := range []string{"oauth-impl", "testing-agent", "review"} {
			s.Enter("/agent new " + name)
			s.See("Agent: " + name)
		}
		s.Press("alt+2")
		s.See("[Agent: oauth-impl]")
		s.Enter("/messages mode")
		s.See("urgent: interrupt", "from main: interrupt", "from testing-*: fork", "tag blocker: interrupt", "high priority: fork", "weekdays 9am-5pm: fork", "(from .agents/oauth-impl.yml, and what you typed)")
		n := 0
		send := func(from, options, text string) {
			t.Helper()
			n++
			s.Press(map[string]string{"main": "alt+1", "testing-agent": "alt+3", "review": "alt+4"}[from])
			s.See("[Agent: " + from)
			s.Enter("/send oauth-impl " + options + text)
			s.See("in the inbox of oauth-impl")
			s.Press("alt+2")
			s.See("[Agent: oauth-impl")
		}
		send("main", "", "the root may interrupt")
		s.See("✉ from main · ", "the root may interrupt")
		send("testing-agent", "", "test results")
		s.Enter("/messages why 2")
		s.See("it is handled by oauth-impl-fork-1")
		send("review", "--priority=urgent ", "it is urgent")
		s.See("✉ from review · ")
		send("review", "--priority=high ", "it is high")
		s.Enter("/messages why 4")
		s.See("it is handled by oauth-impl-fork-2")
		send("review", "--tag=blocker --priority=low ", "it blocks")
		s.See("✉ from review · #5 · just now · low mail [blocker]")
		send("review", "--tag=fyi --priority=high ", "for your information")
		s.Enter("/messages why 6")
		s.See("Policy: queue, by its rule for the tag fyi in .agents/oauth-impl.yml.")
		send("review", "", "nothing special")
		s.Enter("/messages why 7")
		s.See("Policy: queue, by its rule for normal messages in .agents/oauth-impl.yml.")
		send("review", "--priority=low ", "in the hours of work")
		s.Enter("/messages why 8")
		s.See("it is handled by oauth-impl-fork-3")
		s.See("2 pending]")
		s.Wait(time.Minute)
		s.See("Handled 2 messages while you were idle")
		s.Stop()
		time.Sleep(8 * time.Hour)
		s = uitest.Start(t, uitest.Options{Home: s.Home})
		send("review", "--priority=low ", "in the evening")
		s.Enter("/messages why 9")
		s.See("Policy: queue, by its schedule (weekdays 5pm-9am) in .agents/oauth-impl.yml.")
		if strings.Contains(s.Screen(), "in the hours of work") {
			t.Error("what a fork handled stands in its parent's transcript")
		}
	})
}
