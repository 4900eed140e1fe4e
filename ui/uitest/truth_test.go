package uitest_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/mail"
	"fantail/inbox"
	"fantail/ui/uitest"
)

// TestPushWhileARunDrains: a task that is pushed joins the run that goes on, and the
// program says so to the human and to a model; without one it names the command.
func TestPushWhileARunDrains(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{}, func(s *uitest.Session) {
		s.Enter("/push name=a wait 20s then say done")
		s.See("Queued a. /run to start")
		s.Enter("/run 1")
		s.See("Running 1 of 1")
		s.Enter("/push name=b say hello")
		s.See("Queued b. It joins the current run")
		s.Enter("/push name=c after=b say bye")
		s.See("Queued c. It joins the current run")
		s.Enter("push d: say that too")
		s.See("Queued 'd'; it joins the run that drains your queue.")
		s.Wait(30 * time.Second)
		s.See("a ✓", "b ✓", "c ✓", "d ✓")
		s.Enter("/retry b")
		s.See("Queued b, which had completed, again. /run to start")
		s.Enter("/push name=e say it is drained")
		s.See("Queued e. /run to start")
		s.Enter("/run")
		s.See("e ✓")
	})
}

// TestPushAfterRunOnce: what --once leaves is queued, and so is what comes after.
func TestPushAfterRunOnce(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{}, func(s *uitest.Session) {
		s.Enter("/push name=a wait 20s")
		s.Enter("/run 1 --once")
		s.See("Running 1 of 1")
		s.Enter("/push name=b say hello")
		s.See("Queued b. /run to start")
	})
}

// TestEscGivesBackWhatIsQueued: Esc stops the turn; what was queued stands before the
// draft in its order, is sent to nobody, and is gone from the queue.
func TestEscGivesBackWhatIsQueued(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		s.Enter("slow")
		s.See("first word")
		s.Enter("one more thing")
		s.See("one more thing · queued")
		s.Enter("and another")
		s.See("and another · queued")
		s.Type("half a dra")
		s.Press("esc")
		s.See("stopped")
		s.Gone("· queued")
		s.See("› one more thing\n  and another\n  half a dra")
		s.Type("ft")
		s.See("  half a draft")
		s.Wait(time.Minute)
		s.NotSee("You said")
		s.See("main ○")
		s.Press("ctrl+c")
		s.Enter("slow")
		s.See("main ●")
		s.Enter("later")
		s.See("later · queued")
		s.Press("esc")
		s.See("› later")
		s.Gone("· queued")
	})
}

// TestCommandsStandAboveWhatTheyPrint: the line that was typed, and below it what it
// said; an error that is told again is counted.
func TestCommandsStandAboveWhatTheyPrint(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{}, func(s *uitest.Session) {
		s.Enter("/queue")
		s.See("› /queue\n  The queue is empty")
		s.Enter("/agent list")
		s.See("› /agent list\n  • main")
		s.Enter("send main: hello")
		s.See("1 pending")
		s.Enter("/check")
		s.Until("the message stands below /check", func() bool {
			_, below, ok := strings.Cut(s.Screen(), "› /check\n")
			return ok && strings.Contains(below, "hello")
		})
		for range 3 {
			s.Enter("/xyzzy")
		}
		s.See("› /xyzzy\n✗ Unknown command /xyzzy. /help to list them ×3")
		s.NotSee("lists them ×2")
		s.Enter("/queue rm nobody")
		s.Enter("/queue rm nobody")
		s.See("› /queue rm nobody\n", " ×2")
		s.Enter("/push line one\\")
		s.See("› /push line one\n")
	})
}

// TestInboxOpensOnWhatNeedsYou: whatever came last, and whatever is pinned, the bar
// stands on the newest that needs the human; without one on the first row.
func TestInboxOpensOnWhatNeedsYou(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		auth := letters(t, s)
		write(t, s, auth.ID, mail.Letter{Body: "now or never", Priority: inbox.Urgent})
		last := write(t, s, auth.ID, mail.Letter{Body: "came last"})
		s.See("6 pending")
		s.Press("f3")
		s.See("Needs you 2 · Failed 1 · Done 1 · FYI 2")
		s.Until("rows stand by lanes, the newest first", func() bool {
			return inOrder(list(s), "now or never", "the build is red", "✗", "✓", "came last", "PKCE")
		})
		s.See("auth · urgent mail · #5")
		s.Press("esc")
		s.Gone("Needs you 2")
		s.Enter(fmt.Sprintf("/inbox pin %d", last))
		s.See(fmt.Sprintf("#%d", last))
		s.Press("f3")
		s.Until("the pinned one stands above", func() bool { return inOrder(list(s), "came last", "now or never") })
		s.See("auth · urgent mail · #5")
	})
}

// inOrder reports whether the texts stand in s in that order.
func inOrder(s string, texts ...string) bool {
	for _, x := range texts {
		_, rest, ok := strings.Cut(s, x)
		if !ok {
			return false
		}
		s = rest
	}
	return true
}

// TestOverviewSaysWhatCameOfIt: of agents that ended the first line of their result or
// error, also after a restart; and the foot names what its keys do
// with the agent under the bar on a usual screen.
func TestOverviewSaysWhatCameOfIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := uitest.Start(t, uitest.Options{W: 80, H: 24})
		s.Enter("/push name=good say three patterns fit then say more below")
		s.Enter("/push name=bad fail no table")
		s.Enter("/push name=plain !echo built 12 files")
		s.Enter("/run")
		s.See("good ✓", "bad ✗", "plain ✓")
		look := func(s *uitest.Session) {
			t.Helper()
			s.Press("f2", "l")
			s.See("done: three patterns fit", "done: exit 0", "enter open · p preview · / find")
			s.Press("down")
			s.See("enter open · m continue · r run again · x close")
			if !regexp.MustCompile(`bad .* failed: .*no table`).MatchString(s.Screen()) {
				t.Errorf("the error is not shown:\n%s", s.Screen())
			}
			s.NotSee("more below")
			s.Press("esc")
		}
		look(s)
		s.Stop()
		look(uitest.Start(t, uitest.Options{W: 80, H: 24, Home: s.Home}))
	})
}

// TestPromptOfEachAttempt: the Prompt view of an agent that was resumed has the original
// and what each attempt was asked to do, with how it ended; also after a restart.
func TestPromptOfEachAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := uitest.Start(t, uitest.Options{})
		s.Enter("/push name=kid say the first answer")
		s.Enter("/run")
		s.See("kid ✓", "1 pending")
		s.Enter("/resume kid fail the second one")
		s.See("kid ✗")
		s.Press("alt+2")
		s.Type("1")
		s.See("[1 Prompt]", "the original · ", "· completed", "say the first answer", "attempt 2 · ", "· failed", "fail the second one")
		s.Press("alt+1")
		s.Enter("/resume kid wait 30s")
		s.See("kid ●")
		s.Press("alt+2")
		s.See("say the first answer", "fail the second one", "attempt 3 · ", "· running", "wait 30s")
		s.Golden("prompt-attempts-120")
		s.Wait(time.Minute)
		s.See("attempt 3 · ")
		s.Gone("· running")
		s.Stop()
		s = uitest.Start(t, uitest.Options{Home: s.Home})
		s.Press("alt+2")
		s.Type("1")
		s.See("say the first answer", "fail the second one", "wait 30s", "attempt 3 · ")
	})
}

// TestPushReadsItsOptions: model= decides who carries the task out, and quotes that hold
// the whole prompt are none of it; others are.
func TestPushReadsItsOptions(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		s.Enter("/push name=plain look at it")
		s.Enter("/push model=test/other name=quoted \"look at both\"")
		s.Enter("/push name=inner say \"this\" and 'that'")
		s.See("3 queued")
		for name, want := range map[string]string{"plain": "look at it", "quoted": "look at both", "inner": `say "this" and 'that'`} {
			if got, err := s.Pool.Tasks.Typed(context.Background(), name); err != nil || got != want {
				t.Errorf("%s is asked %q, %v; want %q", name, got, err, want)
			}
		}
		s.Enter("/run")
		s.See("plain ✓", "quoted ✓")
		for _, i := range s.Pool.Infos() {
			if want := map[string]string{"plain": "test/scripted", "quoted": "test/other"}[i.Name]; want != "" && i.Model != want {
				t.Errorf("%s runs on %s, want %s", i.Name, i.Model, want)
			}
		}
		s.Enter("/push model=nowhere/none x")
		s.See(`no model "nowhere/none"`)
	})
}

// TestNewestFirstWhenTyped: --lifo makes /check and /receive begin with the newest.
func TestNewestFirstWhenTyped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ command, first string }{
		{"/check --one", "letter one"}, {"/check --one --lifo", "letter three"}, {"/receive", "letter one"}, {"/receive --lifo", "letter three"},
	} {
		play(t, uitest.Options{}, func(s *uitest.Session) {
			for _, n := range []string{"one", "two", "three"} {
				if _, err := s.Pool.Letters.Mail(context.Background(), 1, mail.Letter{To: []string{"main"}, Body: "letter " + n}); err != nil {
					t.Fatal(err)
				}
			}
			s.See("3 pending")
			s.Enter(c.command)
			s.See("2 pending", c.first)
			if n := strings.Count(s.Screen(), "letter "); n != 1 {
				t.Errorf("%s brings %d:\n%s", c.command, n, s.Screen())
			}
		})
	}
}

// TestQueueListsTen: of those that have finished the last ten, and how many more.
func TestQueueListsTen(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{H: 60}, func(s *uitest.Session) {
		for i := range 12 {
			s.Enter(fmt.Sprintf("/push name=t%02d say x", i))
		}
		s.Enter("/run")
		s.See("12 pending")
		listed := func() int {
			_, list, _ := strings.Cut(s.Screen(), "Finished:")
			return strings.Count(list, "(completed")
		}
		s.Enter("/queue")
		s.See("(+2 older, /queue --all)")
		if n := listed(); n != 10 {
			t.Errorf("it lists %d", n)
		}
		s.Enter("/new")
		s.Enter("/queue --all")
		s.Until("all are listed", func() bool { return listed() >= 12 })
	})
}
