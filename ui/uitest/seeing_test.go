package uitest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/event"
	"fantail/agents/llm"
	"fantail/ui/uitest"
)

// TestViewsOfATab: a background agent has no prompt box but four views, while it
// runs and after it ended; each tab keeps its own.
//
// Spec: Q-59.
func TestViewsOfATab(t *testing.T) {
	t.Parallel()
	provider := uitest.Script(func(ctx context.Context, req *llm.Request, say func(llm.Part) bool) error {
		if prompt, _ := uitest.Prompt(req); prompt != "count the files, whatever they are" {
			return actor(ctx, req, say)
		}
		if _, results := uitest.Prompt(req); results == 0 {
			say(llm.Text{Text: "First I look.\n\n"})
			say(call("l1", "list_files", map[string]string{"path": "."}))
			return nil
		}
		say(llm.Text{Text: "There are **four** "})
		uitest.Pause(ctx, 30*time.Second)
		say(llm.Text{Text: "of them."})
		return nil
	})
	play(t, uitest.Options{Provider: provider, Files: files}, func(s *uitest.Session) {
		s.Enter("/push name=tests count the files, whatever they are")
		s.See("Queued tests")
		s.Enter("/push name=other after 10m")
		s.See("Queued other")
		s.Enter("/run")
		s.Press("alt+2")
		s.See("[2 Transcript]", "✓ list .", "There are")
		if strings.Contains(s.Screen(), "› ") {
			t.Errorf("the tab has a prompt box:\n%s", s.Screen())
		}
		s.Type("1")
		s.See("[1 Prompt]", "count the files, whatever they are")
		s.NotSee("list .", "There are")
		s.Press("right", "right")
		s.See("[3 Output]", "There are")
		s.NotSee("list .")
		s.Wait(25 * time.Second)
		s.See("There are four of them.", "tests ✓")
		s.Press("tab")
		s.See("[4 Info]", "list_files 1", "steps      2", "outcome    completed", "parent     main")

		s.Press("alt+3")
		s.See("after 10m", "[2 Transcript]")
		s.Press("alt+2")
		s.See("[4 Info]")
		s.Press("left")
		s.See("[3 Output]", "There are four of them.")
		s.NotSee("list .", "First I look")
		s.Type("y")
		s.See("copied")

		s.Press("alt+1")
		s.See("[Agent: main | 1 pending]")
		s.Enter("/view info")
		s.See("[Info]", "children", "tests (done), other (running)")
		s.Enter("/view nothing")
		s.See(`there is no view "nothing"`)
		s.See("/view nothing") // the text stays
	})
}

// TestMailIsSeen: what waits in an inbox is counted wherever its agent stands,
// listed, and shown whole when it is taken.
//
// Spec: O-80, M-23, M-24, R-47.
func TestMailIsSeen(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor), Files: files}, func(s *uitest.Session) {
		s.Enter("/push name=tests look")
		s.See("Queued tests")
		s.Enter("/run")
		s.See("tests ✓", "main ○ ✉1", "[Agent: main | 📨 1 pending]")
		s.Press("f2", "l")
		s.See("Agents · 2", "mail")
		if l := s.Line("○ main"); !strings.Contains(l, " ✉1 ") {
			t.Errorf("the overview shows main as %q", l)
		}
		s.Press("esc")
		s.Enter("/inbox --list")
		s.See("#1", "from: tests", "1 pending")
		s.Enter("/check")
		s.See("nothing is wrong", "[Agent: main]")
		s.NotSee("main ○ ✉1")
	})
}

// TestViewsSmall: all of it is reachable on a very small screen.
//
// Spec: Q-59.
func TestViewsSmall(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{W: 40, H: 12, Provider: uitest.Script(actor), Files: files}, func(s *uitest.Session) {
		fanOut(s)
		s.Type("4")
		s.See("[Info]", "agent      tests")
		s.Press("pgdown", "pgdown", "pgdown")
		s.See("parent     main")
		s.Type("1")
		s.See("[Prompt]", "look at the cart")
		s.Press("end")
		s.See("stands in.")
		s.Press("f2", "l")
		s.See("Agents · 2", "└ tests")
		s.Press("down")
		s.Type("p")
		s.See("tests, live")
		s.Press("esc")
		s.See("[Prompt]")
	})
}

// TestOverview: what can be done from the list of all agents.
//
// Spec: Q-59, E-33.
func TestOverview(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor), Files: files}, func(s *uitest.Session) {
		fleet(s)
		s.Enter("/agents")
		s.See("Agents · 6", "  └ kid", "waiting for kid")
		s.Type("/job")
		s.Press("enter")
		s.See("waiting for kid", "[2 Transcript]", "dispatch") // the tab of job
		s.Press("f2", "l")
		s.See("Agents · 6")

		// The bar is on the tab one came from.
		s.Type("kk")
		s.Type("x")
		s.See("vet is closed", "Agents · 5")
		s.Press("home")
		s.Type("jx")
		s.See("End tests?")
		s.Type("c")
		s.See("Agents · 5", "tests ●")
		s.Type("x")
		s.See("End tests?")
		s.Type("x")
		s.See("tests was killed", "tests ✗", "Agents · 5")

		// Closing a dispatcher says what becomes of its own.
		s.Press("end")
		s.Type("k")
		s.Type("x")
		s.See("End job?", "kid lives below it")
		s.Press("esc")
		s.See("Agents · 5")
		s.Press("down")
		s.Type("w")
		s.See("kid was asked to wrap up")
		s.Press("esc")
		s.See("waiting for kid", "[2 Transcript]")
	})
}

// TestOverviewPeeks: the last lines of an agent move below the list, and its tab
// is not gone to.
//
// Spec: Q-59.
func TestOverviewPeeks(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		s.Enter("/push name=tap drip")
		s.See("Queued tap")
		s.Enter("/run")
		s.See("tap ●")
		s.Press("f2", "l", "down")
		s.Type("p")
		s.See("tap, live", "Drop 1.")
		s.See("Drop 20.")
		s.NotSee("Drop 1.")
		s.Press("esc")
		s.See("[Agent: main]", "Queued tap")
	})
}

// TestAttachIsFocus: an agent runs on whether somebody looks at it or not; who
// comes in the middle of a reply sees all of it, once.
//
// Spec: N-3.
func TestAttachIsFocus(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{W: 120, H: 200, Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		s.Enter("/push name=tap drip")
		s.See("Queued tap")
		s.Enter("/run")
		s.See("tap ●")
		s.Wait(10 * time.Second)
		s.Press("alt+2")
		s.See("Drop 1.", "Drop 10.")
		s.Press("alt+1")
		s.Wait(10 * time.Second)
		s.Press("alt+2")
		s.See("Drop 20.")
		s.Wait(time.Minute)
		s.See("tap ✓")
		lines := strings.Split(s.Screen(), "\n")
		for n := 1; n <= 60; n++ {
			seen := 0
			for _, l := range lines {
				if strings.TrimSpace(l) == fmt.Sprintf("Drop %d.", n) {
					seen++
				}
			}
			if seen != 1 {
				t.Errorf("drop %d shows %d times", n, seen)
			}
		}
	})
}

// TestTranscriptIsWhatIsKept: what a tab showed live is what the next start shows.
//
// Spec: E-32.
func TestTranscriptIsWhatIsKept(t *testing.T) {
	t.Parallel()
	body := func(s *uitest.Session) string {
		s.Wait(time.Second)
		lines := strings.Split(s.Screen(), "\n")
		return strings.Join(lines[2:len(lines)-3], "\n")
	}
	synctest.Test(t, func(t *testing.T) {
		s := uitest.Start(t, uitest.Options{Provider: uitest.Script(actor), Files: files})
		fanOut(s)
		live, home := body(s), s.Home
		s.Press("alt+1")
		s.Enter("/quit")
		s.Left()
		s.Stop()
		s = uitest.Start(t, uitest.Options{Provider: uitest.Script(actor), Home: home})
		s.See("tests ✓")
		s.Press("alt+2")
		s.See("nothing is wrong")
		if kept := body(s); kept != live {
			t.Errorf("live it showed\n%s\nand after a restart\n%s", live, kept)
		}
		s.Type("4")
		s.See("outcome    completed", "read_file 1")
		s.Type("3")
		s.See("nothing is wrong")
		s.NotSee("list .")
	})
}

// TestEndedAgentsStay: killing or finishing the agent one looks at does not jump
// away; closing its tab does, and says so.
//
// Spec: E-33.
func TestEndedAgentsStay(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		for _, x := range []string{"one after 5s", "two slow", "three fail no"} {
			name, prompt, _ := strings.Cut(x, " ")
			s.Enter("/push name=" + name + " " + prompt)
			s.See("Queued " + name)
		}
		s.Enter("/run")
		s.Press("alt+2")
		s.See("one has ended (completed)", "[Agent: one]", "Finished 5s")
		s.Press("alt+3")
		s.See("first word")
		s.Type("/kill two")
		s.Press("enter")
		s.See("two has ended (killed)", "[Agent: two]", "two ✗", "first word")
		s.Type("/close")
		s.Press("enter")
		s.See("the tab of two was closed; this is")
		if strings.Contains(s.Screen(), "two ✗") {
			t.Errorf("its tab is still there:\n%s", s.Screen())
		}
		s.Press("alt+1")
		s.Enter("/close --finished")
		s.Gone("one ✓", "three ✗")
		s.Enter("/close --finished")
		s.See("No agent has ended")
	})
}

// TestWrapUpByKey: the key must come twice; what the human asked for stands in
// the transcript as theirs.
func TestWrapUpByKey(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{}, func(s *uitest.Session) {
		s.Enter("/push name=job list . then wait 20s then list . then wait 20s then list .")
		s.See("Queued job")
		s.Enter("/run")
		s.Press("alt+2")
		s.See("✓ list")
		s.Type("w")
		s.See("press w again to ask job to wrap up")
		s.Wait(3 * time.Second)
		s.Type("w")
		s.See("press w again to ask job to wrap up")
		s.Type("w")
		s.See("job was asked to wrap up", "Wrap up now", "queued")
		s.See("job ✓", "you, ", "Not done:")
		s.Press("alt+1")
		s.Enter("/check")
		s.See("Not done:")
		s.Enter("/wrapup job")
		s.See("has ended already")
	})
}

// TestWhyIsTold: the reason a task or an agent stands still.
func TestWhyIsTold(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		s.Enter("/push name=tests command")
		s.See("Queued tests")
		s.Enter("/why tests")
		s.See("it has not started: nobody has started it: /run does")
		s.Enter("/run")
		s.See("tests ● asks")
		s.Enter("/why tests")
		s.See("it asks you: bash gofmt -l .")
		s.Enter("/why")
		s.See("main is idle")
		s.Enter("/why nobody")
		s.See("no such agent")
	})
}

// TestStallIsSeen: ninety silent seconds show in the row, in the tab and in the
// overview, and a sign of life takes it away.
func TestStallIsSeen(t *testing.T) {
	t.Parallel()
	provider := uitest.Script(func(ctx context.Context, req *llm.Request, say func(llm.Part) bool) error {
		say(llm.Text{Text: "A word"})
		uitest.Pause(ctx, 110*time.Second)
		say(llm.Text{Text: " and another.\n\n"})
		uitest.Pause(ctx, time.Hour)
		return nil
	})
	play(t, uitest.Options{Provider: provider}, func(s *uitest.Session) {
		s.Enter("/push name=job work")
		s.See("Queued job")
		s.Enter("/run")
		s.See("job ● 0:0")
		s.Wait(80 * time.Second)
		s.NotSee("stalled")
		s.See("job ◌ stalled 9")
		s.Press("alt+2")
		s.See("◌ stalled", "· thinking")
		s.Press("f2", "l")
		s.See("· thinking")
		s.Press("esc")
		s.Wait(20 * time.Second)
		s.See("and another.", "job ● 1:")
		s.NotSee("stalled")
		if i := s.Pool.Infos()[1]; i.State != event.Running {
			t.Errorf("the job is %s", i.State)
		}
	})
}
