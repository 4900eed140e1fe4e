package uitest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/llm/anthropic"
	"fantail/agents/llm/llmtest"
	"fantail/agents/mail"
	"fantail/ui/uitest"
)

// workflow plays a scenario with the built-in engine, with a fake model behind
// the real protocol, and with another vendor's agents. do writes a task's instructions in the language of each.
func workflow(t *testing.T, o uitest.Options, f func(s *uitest.Session, do func(plain string) string)) {
	t.Helper()
	t.Run("builtin", func(t *testing.T) {
		play(t, o, func(s *uitest.Session) { f(s, func(plain string) string { return plain }) })
	})
	t.Run("vendor", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f(uitest.Start(t, theirs(t, o)), func(plain string) string { return plain })
		})
	})
	t.Run("anthropic", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server := &llmtest.Server{Answer: llmtest.Script}
			client, stop := server.Pipe()
			o.Provider = anthropic.New(anthropic.Options{Key: "k", BaseURL: "http://fake", HTTPClient: client})
			o.Model = "anthropic/fake"
			defer stop()
			s := uitest.Start(t, o)
			defer s.Stop()
			f(s, scripted)
		})
	})
}

// scripted turns instructions for the engine into those for the fake model.
func scripted(plain string) string {
	var steps []string
	for _, step := range strings.Split(strings.ReplaceAll(plain, "\n", " then "), " then ") {
		verb, rest, _ := strings.Cut(step, " ")
		switch verb {
		case "wait":
			step = "delay " + rest
		case "send":
			to, text, _ := strings.Cut(rest, ": ")
			step = fmt.Sprintf(`call send {"to":%q,"message":%q}`, to, text)
		case "receive":
			step = fmt.Sprintf(`call receive {"from":%q}`, strings.TrimPrefix(rest, "from "))
		}
		steps = append(steps, step)
	}
	return strings.Join(steps, " ;; ")
}

// Spec.
func TestWorkflow_sequential(t *testing.T) {
	t.Parallel()
	workflow(t, uitest.Options{}, func(s *uitest.Session, do func(string) string) {
		s.Enter("/push name=researcher " + do("wait 30s then say three OAuth patterns"))
		s.See("Queued researcher", "1 queued")
		s.Wait(time.Minute)
		s.NotSee("researcher ●")
		s.Enter("/run")
		s.See("Running 1 of 1", "researcher ●")
		s.Enter("/receive")
		s.See("waiting for any message")
		s.Wait(31 * time.Second)
		s.See("✉ from researcher", "three OAuth patterns", "main ○")
		s.Enter("/push name=implementer " + do("say built the second pattern"))
		s.Enter("/run")
		s.Enter("/receive")
		s.See("✉ from implementer", "built the second pattern", "[Agent: main]")
	})
}

// Spec.
func TestWorkflow_parallel(t *testing.T) {
	t.Parallel()
	workflow(t, uitest.Options{}, func(s *uitest.Session, do func(string) string) {
		for i, n := range []string{"a", "b", "c"} {
			s.Enter(fmt.Sprintf("/push name=worker-%s %s", n, do(fmt.Sprintf("wait %ds then say result %s", 10*(i+1), n))))
			s.See("Queued worker-" + n)
		}
		s.Enter("/run")
		s.See("Running 3 of 3", "3 running")
		s.Wait(31 * time.Second)
		s.See("[Agent: main | 📨 3 pending]")
		for left, n := range []string{"a", "b", "c"} {
			s.Enter("/receive")
			s.See("✉ from worker-"+n, "result "+n)
			if left < 2 {
				s.See(fmt.Sprintf("| %d pending]", 2-left))
			}
		}
		s.Enter("/receive")
		s.See("Nothing can arrive")
	})
}

// Spec.
func TestWorkflow_continuedWork(t *testing.T) {
	t.Parallel()
	workflow(t, uitest.Options{}, func(s *uitest.Session, do func(string) string) {
		s.Enter("/push name=researcher " + do("wait 60s then say found it"))
		s.Enter("/run")
		s.See("researcher ●")
		s.Enter(do("say I go on meanwhile"))
		s.See("I go on meanwhile")
		s.Enter("/check")
		s.See("No messages ready.")
		s.Wait(time.Minute)
		s.Enter("/check")
		s.See("✉ from researcher", "found it")
	})
}

// Spec, E-22.
func TestWorkflow_batched(t *testing.T) {
	t.Parallel()
	workflow(t, uitest.Options{H: 60}, func(s *uitest.Session, do func(string) string) {
		for i := range 5 {
			s.Enter(fmt.Sprintf("/push name=t%d %s", i, do(fmt.Sprintf("wait 10s then say result %d", i))))
			s.See(fmt.Sprintf("Queued t%d", i))
		}
		s.Enter("/run 2")
		s.See("Running 2 of 5 (window 2, 3 queued)", "2 running · 3 queued")
		s.Enter("/queue")
		s.See("Queued:", "  - t4", "Running:", "  - t0 (started 0s ago)")
		for i := range 5 {
			s.Enter("/receive")
			s.Until(fmt.Sprintf("%d have come", i+1), func() bool { return strings.Count(s.Screen(), "▌ result ") == i+1 })
		}
		s.Enter("/queue")
		s.See("Finished:", "  - t4 (completed 0s ago)")
	})
}

// Spec.
func TestWorkflow_outOfOrder(t *testing.T) {
	t.Parallel()
	workflow(t, uitest.Options{}, func(s *uitest.Session, do func(string) string) {
		for i, n := range []string{"a", "b", "c"} {
			s.Enter(fmt.Sprintf("/push name=%s %s", n, do(fmt.Sprintf("wait %ds then say result %s", 10*(i+1), n))))
			s.See("Queued " + n)
		}
		s.Enter("/run")
		s.See("3 running")
		for _, c := range [][2]string{{"from=b", "b"}, {"from=c", "c"}, {"", "a"}} {
			s.Enter(strings.TrimSpace("/receive " + c[0]))
			s.Wait(15 * time.Second)
			s.See("✉ from "+c[1], "result "+c[1])
			if c[1] == "b" {
				s.NotSee("✉ from c", "✉ from a")
			}
		}
		s.See("[Agent: main]")
	})
}

// Spec.
func TestWorkflow_progress(t *testing.T) {
	t.Parallel()
	workflow(t, uitest.Options{}, func(s *uitest.Session, do func(string) string) {
		s.Paste("/push name=worker " + do("send main: Phase 1 complete\nwait 60s\nsay all phases done"))
		s.Press("enter")
		s.See("Queued worker")
		s.Enter("/run")
		s.See("[Agent: main | 📨 1 pending]", "worker ●")
		s.Enter("/check")
		s.See("✉ from worker", "Phase 1 complete")
		s.NotSee("all phases done ")
		s.Enter("/receive")
		s.Wait(time.Minute)
		s.See("✉ from worker · ", " · completed", "[Agent: main]")
	})
}

// TestWorkflow_siblings pushes them in the wrong order, one at a time: who waits
// for its sibling holds no place in the window.
//
// Spec.
func TestWorkflow_siblings(t *testing.T) {
	t.Parallel()
	workflow(t, uitest.Options{}, func(s *uitest.Session, do func(string) string) {
		s.Enter("/push name=implementer " + do("receive from analyzer then say built on it"))
		s.See("Queued implementer")
		s.Paste("/push name=analyzer " + do("wait 20s\nsend implementer: Found patterns: observer\nsay analysed"))
		s.Press("enter")
		s.See("Queued analyzer")
		s.Enter("/run 1")
		s.See("Running 1 of 2 (window 1, 1 queued)", "implementer ◌", "analyzer ●")
		s.Press("alt+2")
		s.See("waiting for a message from analyzer")
		s.Wait(21 * time.Second)
		s.See("✉ from analyzer", "Found patterns: observer", "built on it")
		s.Press("alt+1")
		s.See("[Agent: main | 2 pending]")
		s.Enter("/check")
		s.See("2 messages collected", "✓ implementer  ", "✓ analyzer     ")
		s.Press("ctrl+o")
		s.See("✉ from implementer", "built on it", "✉ from analyzer")
	})
}

// TestWorkflow_siblingsInOrder pushes them in the right order, one at a time: the
// letter waits for the sibling to start, and its writer holds no place meanwhile.
//
// Spec.
func TestWorkflow_siblingsInOrder(t *testing.T) {
	t.Parallel()
	workflow(t, uitest.Options{}, func(s *uitest.Session, do func(string) string) {
		s.Paste("/push name=analyzer " + do("send implementer: Found patterns: observer\nsay analysed"))
		s.Press("enter")
		s.See("Queued analyzer")
		s.Enter("/push name=implementer " + do("receive from analyzer then say built on it"))
		s.See("Queued implementer")
		s.Enter("/run 1")
		s.See("[Agent: main | 📨 2 pending]")
		s.Enter("/check")
		s.See("✓ implementer  ", "✓ analyzer     ")
		s.Press("ctrl+o")
		s.See("✉ from implementer", "built on it", "✉ from analyzer", "analysed")
	})
}

// TestQueueIsChanged edits, moves and removes what is queued, in the box.
//
// Spec.
func TestQueueIsChanged(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{}, func(s *uitest.Session) {
		for _, n := range []string{"a", "b", "c"} {
			s.Enter("/push name=" + n + " wait 5s then say " + n)
			s.See("Queued " + n)
		}
		s.Type("/queue move c")
		s.Press("tab", "esc")
		s.Type(" 1")
		s.Press("enter")
		s.See("c is now number 1 in the queue")
		s.Enter("/queue rm b")
		s.See("Removed b", "2 queued")
		s.Enter("/push name=d say d")
		s.See("Queued d", "3 queued")
		s.Enter("/kill d")
		s.See("Removed d, which had not started", "2 queued")
		s.Enter("/push name=late after=c,a say I know")
		s.Enter("/queue")
		s.See("Queued:\n    - c\n    - a\n    - late (after a, c)")
		s.Enter("/queue edit a")
		s.See("› /queue edit a wait 5s then say a")
		s.Type(" changed")
		s.Press("enter")
		s.See("Changed the prompt of a")
		s.Enter("/run 2")
		s.See("Running 2 of 3 (window 2, 1 queued)")
		s.Enter("/queue edit c say too late")
		s.See("The task c has started; /kill c ends it", "› /queue edit c say too late") // the text is not lost
		s.Press("ctrl+c")
		s.Enter("/queue rm c")
		s.See("The task c has started")
		s.Press("ctrl+c")
		s.Wait(6 * time.Second)
		s.See("late ✓")
		s.Press("alt+4")
		s.See("✉ from c · ", " · completed", "✉ from a · ", " · completed", "a changed", "I know")
	})
}

// TestQueueShowsPrompts: what is typed while the agent works stands in its queue.
func TestQueueShowsPrompts(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{}, func(s *uitest.Session) {
		s.Enter("wait 30s then say slow")
		s.See("main ●")
		s.Enter("say next")
		s.See("say next · queued")
		s.Enter("/queue")
		s.See("Prompts:\n    - say next")
		s.Wait(31 * time.Second)
		s.Enter("/queue")
		s.See("The queue is empty.")
	})
}

// TestCommandTask queues a plain command: it asks nobody, shows its output while
// it runs, and its end is a message.
func TestCommandTask(t *testing.T) {
	t.Parallel()
	s := uitest.Start(t, uitest.Options{Real: true}) // a process does not live in fake time
	s.Enter("/push name=tests !echo begun; while [ ! -e go ]; do sleep 0.01; done; seq 1 30; exit 3")
	s.Enter("/push name=after after=tests say fine")
	s.See("Queued after")
	s.Enter("/run")
	s.See("tests ●")
	s.Press("alt+2")
	s.See("begun", "bash echo begun", "[Agent: tests]")
	s.NotSee("asks:", "builtin")
	if err := os.WriteFile(filepath.Join(s.Home.Root, "go"), nil, 0o600); err != nil {
		t.Error(err)
	}
	s.See("tests ✗", "exit 3", "30")
	s.Press("1")
	s.See("!echo begun; while")
	s.Press("3")
	s.See("exit 3, took ", "its last 20 lines are:")
	s.Press("2")
	s.Press("alt+1")
	s.See("[Agent: main | 2 pending]")
	s.Enter("/check")
	s.See("✗ tests  exit 3", "✗ after  not started: tests failed: exit 3")
	s.Press("ctrl+o")
	s.See("✉ from tests · ", " · failed", "exit 3", "▌ took ", "its last 20 lines are:")
	s.Press("end")
	s.See("✉ from after · ", " · failed", "not started: tests failed: exit 3")
	s.Enter("/retry tests")
	s.See("Queued tests again. /run to start")
	s.Enter("/run")
	s.See("tests·1 ✗", "tests ✗")
}

// Spec.
func TestKillAsksForThoseBelow(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Mode: "yolo"}, func(s *uitest.Session) {
		tree := func() {
			s.Enter("/push name=boss delegate kid: wait 1h")
			s.Enter("/run")
			s.See("boss ◌", "kid ●")
		}
		tree()
		s.Enter("/kill boss")
		s.See("End boss?", "kid lives below it.")
		s.Type("c")
		s.Gone("End boss?")
		s.See("kid ●")
		s.Enter("/kill boss")
		s.See("End boss?")
		s.Type("o")
		s.See("Ended boss", "boss ✗", "kid ●")
		s.Enter("/kill kid") // nobody is below it
		s.See("kid ✗", "[Agent: main | 📨 2 pending]")
		tree()
		s.Enter("/kill boss --cascade")
		s.See("Ended boss and all below it")
		s.Until("all are gone", func() bool { return !strings.Contains(s.Screen(), "●") && !strings.Contains(s.Screen(), "running") })
		tree()
		s.Enter("/kill boss")
		s.See("End boss?")
		s.Type("a")
		s.Gone("End boss?")
		s.Until("all are gone", func() bool { return !strings.Contains(s.Screen(), "●") })
		s.Enter("/kill main")
		s.See("The agent main can't be killed")
		s.Press("ctrl+c")
		tree() // with agents below main, it is refused all the same, without a question
		s.Enter("/kill main")
		s.See("The agent main can't be killed")
		s.Gone("End main?")
	})
}

// Spec.
func TestRunOnce(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Cap: 2}, func(s *uitest.Session) {
		for _, n := range []string{"a", "b", "c", "d"} {
			s.Enter("/push name=" + n + " wait 1m then say " + n)
			s.See("Queued " + n)
		}
		s.Enter("/run 1 --once timeout=10s")
		s.See("Running 1 of 4 (3 queued)")
		s.Wait(11 * time.Second)
		s.See("a ✗", "[Agent: main | 📨 1 pending]", "3 queued")
		s.Enter("/run")
		s.See("Running 2 of 3 (1 queued)", "b ●", "c ●") // their tabs open once the tasks have begun
		s.Enter("/queue")
		s.See("Queued:\n    - d: queued (cap)")
		s.Enter("/run 1 x")
		s.See(`"x" is not a number of agents`)
	})
}

// TestRetryHandsOnWhatHappened tries a failed task again with a hint.
func TestRetryHandsOnWhatHappened(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{}, func(s *uitest.Session) {
		s.Enter("/push name=job say half of it then fail no more power")
		s.Enter("/run")
		s.See("job ✗")
		s.Enter("/retry job plug it in first")
		s.See("Queued job again")
		s.Enter("/queue edit job say it worked")
		s.See("Changed the prompt of job")
		s.Enter("/run")
		s.See("job·1 ✗", "job ✓")
		s.Press("alt+3")
		s.See("✉ from job·1 · ", " · failed", "no more power", "half of it", "plug it in first", "it worked")
		s.Press("alt+1")
		s.Enter("/retry job")
		s.See("Queued job, which had completed, again")
	})
}

// TestPush_whatNoModelCarriesOut: a prompt that the engine can't carry out is doubted in
// one line at the push and at the run, and fails in one; what can is not.
func TestPush_whatNoModelCarriesOut(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Mode: "yolo"}, func(s *uitest.Session) {
		s.Enter("/push name=fine say hi")
		s.See("Queued fine. /run to start")
		s.NotSee("will fail")
		s.Enter("/push name=free please refactor")
		s.See("It will fail: No language model is configured: `please refactor` is not one of the instructions")
		s.Enter("/push name=next after=free say never")
		s.Enter("/run")
		s.See("free will fail: without a model only plain instructions work, such as run CMD", "free ✗", "fine ✓")
		s.NotSee("fine, free", "next will")
		s.Enter("/check")
		s.See("✗ free  No language model is configured: please refactor is not one of the instructions", "✗ next  not started: free failed: No language model")
		s.Press("ctrl+o")
		s.See("✉ from free")
		s.NotSee("One instruction a line")
	})
}

// TestDoubt_everyDoor: whatever queues a task that its model can't carry out, changes it
// or starts it says so, once, and says nothing of one that it can.
func TestDoubt_everyDoor(t *testing.T) {
	t.Parallel()
	const why, free, out = "It will fail: No language model is configured", "free will fail: without a model", "out will fail: without a model"
	synctest.Test(t, func(t *testing.T) {
		o := uitest.Options{Mode: "yolo", W: 160, H: 45}
		s := uitest.Start(t, o)
		said := func(what, warning string) {
			t.Helper()
			s.Wait(time.Second)
			screen := s.Screen()
			_, below, _ := strings.Cut(screen[max(0, strings.LastIndex(screen, what)):], "\n")
			want := 1
			if warning == "" {
				want = 0
			}
			if strings.Count(below, "will fail: ") != want || !strings.Contains(below, warning) {
				t.Errorf("%s: not %d times %q:\n%s", what, want, warning, below)
			}
		}
		for _, c := range []struct{ line, warning string }{
			{"/push name=free please refactor", why},
			{"/run", free},
			{"/retry free", why},
			{"/queue edit free please do", why},
			{"/queue edit free say hi", ""},
			{"/queue edit free please do", why},
			{"/run", free},
			{"/push name=fine say hi", ""},
			{"/run", ""},
			{"/resume fine please go on", why},
		} {
			s.Enter(c.line)
			said("› "+c.line, c.warning)
		}
		s.Press("f4")
		s.See("Queue · main", "Queued 0", "Finished 4")
		s.Press("r")
		s.See("Queued 1")
		said("Queue · main", why)
		s.Press("R")
		s.See("Queued 0")
		said("Queue · main", "fine will fail: without a model")
		s.Press("esc", "esc")
		home := s.Home
		s.Enter("/quit")
		s.Left()
		s.Stop()
		beside(t, home, func(d *mail.Client) error { // it names no model: it gets main's
			_, err := d.Push(t.Context(), mail.OutsideOrder{Name: "out", Prompt: "please look"})
			return err
		})
		o.Home = home
		s = uitest.Start(t, o)
		s.See("[Agent: main", "1 task is queued: out")
		s.Press("f4")
		s.See("Queued 1")
		s.Press("R")
		said("Queue · main", out)
	})
}

// TestAmpersand: & starts one task and leaves the queue; a pasted one is a prompt.
func TestAmpersand(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{}, func(s *uitest.Session) {
		s.Enter("/push name=later say later")
		s.See("Queued later")
		s.Enter("&wait 30s then say found it")
		s.See("Started wait-30s-say. Alt+2 to watch", "1 running · 1 queued")
		s.Press("alt+2")
		s.See("Transcript")
		s.Press("alt+1")
		s.Wait(31 * time.Second)
		s.See("1 pending")
		s.Enter(`\&x`)
		s.See("&x")
		s.NotSee("Started x")
		s.Paste("&say pasted")
		s.Press("enter")
		s.See("&say pasted")
		s.NotSee("Started pasted", "Started say")
	})
}
