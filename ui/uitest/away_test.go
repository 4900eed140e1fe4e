package uitest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/llm/llmtest"
	"fantail/ui/uitest"
)

// what is the label and the text of what a message says.
var what = regexp.MustCompile(`(?m)^\*\*(Result|Error|Reminder)\*\*: (.*)$`)

// asked is what a request asks: the last prompt, how many results stand behind it and the last of them, and what came in
// front of that prompt. A protocol may send both as one text.
func asked(req llmtest.Request) (prompt string, results int, result string, news []string) {
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.ToolResult:
				results, result = results+1, p.Text
			case llm.Text:
				text := p.Text
				if m.Role != llm.User {
					continue
				}
				if strings.HasPrefix(text, "[System: ") {
					for _, m := range what.FindAllStringSubmatch(text, -1) {
						news = append(news, m[1]+": "+m[2])
					}
					_, text, _ = strings.Cut(text[strings.LastIndex(text, "\n</message "):], ">")
				}
				if text = strings.TrimSpace(text); text != "" {
					prompt, results = text, 0
				}
			}
		}
		if m.Role == llm.Assistant {
			news = nil
		}
	}
	return prompt, results, result, news
}

// watcher plays a model that watches, dispatches and answers; what came it tells first.
func watcher(req llmtest.Request) llmtest.Reply {
	prompt, results, result, news := asked(req)
	call := func(name, args string) llmtest.Reply {
		return llmtest.Call(fmt.Sprint("c", len(req.Messages)), name, args)
	}
	switch {
	// An observer.
	case strings.HasPrefix(prompt, "Does CI pass?") && results == 0:
		return call("read_file", `{"path":"ci/log"}`)
	case strings.HasPrefix(prompt, "Does CI pass?") && results == 1 && strings.Contains(result, "passed"):
		return call("schedule", `{"action":"unregister","task_id":"ci"}`)
	case strings.HasPrefix(prompt, "Does CI pass?") && results == 1:
		return llmtest.Say("CI is red.")
	case strings.HasPrefix(prompt, "Does CI pass?"):
		return llmtest.Say("CI is green.")

	// Sub-agents.
	case prompt == "Run the suite." && results == 0:
		r := call("bash", `{"command":"sh suite.sh"}`)
		r.Delay = time.Minute
		return r
	case prompt == "Run the suite.":
		return llmtest.Say(strings.TrimSpace(result))
	case prompt == "How does auth work?":
		r := llmtest.Say("auth uses signed tokens")
		r.Delay = time.Minute
		return r

	case results > 0:
		return llmtest.Say("Begun.")
	case strings.HasPrefix(prompt, "check if CI passes"):
		return call("schedule", `{"action":"register","task_id":"ci","interval_seconds":600,"cancel_when":"CI passes","prompt":"Does CI pass?"}`)
	case strings.HasPrefix(prompt, "run the full test suite"):
		return call("delegate", `{"name":"tests","prompt":"Run the suite.","mode":"async"}`)
	case strings.HasPrefix(prompt, "research how auth works"):
		return call("delegate", `{"name":"auth","prompt":"How does auth work?","mode":"async"}`)
	}
	return llmtest.Say(strings.Join(append(news, "Four."), "\n\n"))
}

// newest is the text of main's newest entry of that kind.
func newest(t *testing.T, s *uitest.Session, kind history.EntryKind) (text string) {
	t.Helper()
	es, err := s.Pool.Records.Page(t.Context(), s.Pool.Infos()[0].ID, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		if e.Kind == kind {
			text = e.Text
		}
	}
	return text
}

// stand fails unless text holds all of these one behind the other.
func stand(t *testing.T, text string, all ...string) {
	t.Helper()
	rest := text
	for _, one := range all {
		_, behind, ok := strings.Cut(rest, one)
		if !ok {
			t.Errorf("%q does not stand there, or not behind the others, in\n%s", one, text)
		}
		rest = behind
	}
}

// ask asks what has nothing to do with what came.
func ask(s *uitest.Session, tell tell) { tell(s, "say Four.", "what is two and two?") }

// TestAway_untilCIPasses: who asked for CI goes on with something else; an observer looks again and again, without a turn
// of main's; the one that sees it pass ends the schedule, and says so. All reports enter with the next prompt.
//
// Spec: O-1, O-6, O-10, O-46, O-47, O-87.
func TestAway_untilCIPasses(t *testing.T) {
	t.Parallel()
	playAll(t, models, uitest.Options{H: 60, Files: map[string]string{"ci/log": "2 tests failed\n"}}, watcher, func(t *testing.T, s *uitest.Session, tell tell, model bool) {
		tell(s, "schedule ci every 10m: read ci/passed then unregister ci", "check if CI passes, let me know")
		s.See("Scheduled task 'ci': fires every 600s.", "⏲ 1", "2 steps")
		ask(s, tell)
		s.See("Four.")
		for n := range 2 {
			s.Wait(10 * time.Minute)
			s.See(fmt.Sprintf("%d pending]", n+1), "⏲ 1")
		}
		for _, file := range []string{"log", "passed"} {
			if err := os.WriteFile(filepath.Join(s.Home.Root, "ci", file), []byte("all tests passed\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s.Wait(10 * time.Minute)
		s.See("3 pending]")
		s.Gone("⏲")
		s.Wait(25 * time.Minute)
		s.See("3 pending]")
		s.NotSee("✉ from")
		if i := s.Pool.Infos()[0]; i.Steps != 3 {
			t.Errorf("main made %d steps: a report is no turn", i.Steps)
		}

		ask(s, tell)
		s.See("✉ from headless-ci-1", "✉ from headless-ci-2", "✉ from headless-ci-3", "The watch has ended: ci is not scheduled any more.", "[Agent: main]")
		s.NotSee("pending")
		header, red, green := "[System: 2 scheduled task(s) failed, 1 scheduled task(s) completed]", "does not exist", "Task ci cancelled."
		if model {
			header, red, green = "[System: 3 scheduled task(s) completed]", "CI is red.", "CI is green."
		}
		stand(t, newest(t, s, history.EntryMessage), header+"\n\n", "**Scheduled task**: ", red, "\n---\n", red, "\n---\n", "**Result**: ", green, "The watch has ended")
		stand(t, newest(t, s, history.EntryText), red, red, "Four.")
	})
}

// TestAway_theSuiteInTheBackground: main answers at once and goes on while a sub-agent runs the tests, which the human
// allows; the result waits as mail and enters with the next prompt.
//
// Spec: O-2, O-23, O-24, O-37.
func TestAway_theSuiteInTheBackground(t *testing.T) {
	t.Parallel()
	playAll(t, models, uitest.Options{H: 60, Files: map[string]string{"suite.sh": "echo 'all 214 tests pass'\n"}}, watcher, func(t *testing.T, s *uitest.Session, tell tell, _ bool) {
		tell(s, "delegate tests: wait 60s then run sh suite.sh", "run the full test suite in the background")
		s.See("Task dispatched to 'tests' (session: 1)", "2 steps", "1 running")
		ask(s, tell)
		s.See("Four.", "1 running")
		s.Wait(time.Minute)
		s.See("tests ● asks")
		s.Press("alt+2")
		s.See("tests wants to run a command", "$ sh suite.sh")
		s.Wait(firstSecond)
		s.Type("y")
		s.Gone("wants to run a command")
		s.Press("alt+1")
		s.See("1 pending]", "tests ✓")
		s.NotSee("✉ from tests")
		ask(s, tell)
		s.See("✉ from tests · ", " · completed", "[Agent: main]")
		s.NotSee("pending")
		stand(t, newest(t, s, history.EntryMessage), "[System: 1 background task(s) completed]\n\n", "**Task**: ", "**Result**: ", "all 214 tests pass")
		stand(t, newest(t, s, history.EntryText), "Four.")
	})
}

// TestAway_aFindingIsFoldedIn: what a sub-agent found stands before the next prompt, under the header that says what came;
// the reply tells it, and answers what was asked.
//
// Spec: O-3, O-10, O-31, O-33, O-75, O-79, O-87.
func TestAway_aFindingIsFoldedIn(t *testing.T) {
	t.Parallel()
	playAll(t, every, uitest.Options{H: 60}, watcher, func(t *testing.T, s *uitest.Session, tell tell, _ bool) {
		tell(s, "delegate auth: wait 60s then say auth uses signed tokens", "research how auth works in the background")
		s.See("Task dispatched to 'auth' (session: 1)", "2 steps", "1 running")
		s.Wait(61 * time.Second)
		s.See("1 pending]", "auth ✓")
		ask(s, tell)
		s.See("✉ from auth · ", "Four.", "[Agent: main]")
		s.NotSee("pending")
		stand(t, newest(t, s, history.EntryMessage), "[System: 1 background task(s) completed]\n\n<message ", "\n**Task**: ", "\n**Result**: auth uses signed tokens\n</message ")
		stand(t, newest(t, s, history.EntryText), "auth uses signed tokens", "Four.")
		ask(s, tell)
		s.Until("it is answered again", func() bool { return strings.Count(s.Screen(), "Four.") >= 2 })
		if n := strings.Count(s.Screen(), "✉ from auth"); n != 1 {
			t.Errorf("the finding stands %d times on the screen", n)
		}
	})
}

// TestAway_reminder: a reminder that fired while no screen was there starts nothing; the next screen is told, and the
// reply to what is asked next starts with it.
//
// Spec: O-4, O-35, O-40, O-87.
func TestAway_reminder(t *testing.T) {
	t.Parallel()
	playAll(t, every, uitest.Options{H: 40}, watcher, func(t *testing.T, s *uitest.Session, tell tell, _ bool) {
		s.Enter("/remind 1m commit your work")
		s.See("Reminder reminder-1: in 1m, due ", "⏲ 1")
		s.Wait(time.Second)
		s.Press("ctrl+c", "ctrl+c")
		s.Left()
		s.Wait(10 * time.Minute)
		if i := s.Pool.Infos()[0]; i.Pending != 1 || i.Steps != 0 {
			t.Errorf("%d messages wait after %d steps", i.Pending, i.Steps)
		}
		b := s.Beside()
		b.See("While you were away (10m):", "reminder    commit your work", "1 pending]")
		b.NotSee("⏲", "late")
		ask(b, tell)
		b.See("✉ from reminder-1 · ", "Four.", "[Agent: main]")
		b.NotSee("pending")
		stand(t, newest(t, s, history.EntryMessage), "[System: 1 reminder]\n\n", "\n**Reminder**: commit your work\n")
		stand(t, newest(t, s, history.EntryText), "commit your work", "Four.")
		b.Stop()
	})
}
