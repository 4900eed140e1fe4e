package uitest_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/event"
	"fantail/tools/permission"
	"fantail/ui/uitest"
)

// Two background agents ask, and are answered from main's tab: by a dialog over
// what shows, and by a command. The draft there stays as it is, and what is typed
// when a dialog pops up answers nothing.
//
// Spec: R-49, E-17, E-26.
func TestQuestions_answeredFromAnotherTab(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{}, func(s *uitest.Session) {
		s.Enter("/push name=db ask Which database?: postgres | sqlite then say chosen")
		s.See("Queued db")
		s.Enter("/run")
		s.See("db ● asks", "1 asking", "[Agent: main]")
		s.Enter("/push name=cmd run touch made")
		s.See("Queued cmd")
		s.See("cmd ● asks", "2 asking", "[Agent: main]")
		s.Type("half a draft")
		s.See("› half a draft")

		s.Press("f5")
		s.Type("2y") // too early
		s.See("db has a question", "1  postgres", "2  sqlite", "Type your own answer", "› half a draft", "2 asking")
		s.Golden("asks-120")
		s.Wait(600 * time.Millisecond)
		s.Press("esc")
		s.Gone("db has a question")
		s.Press("f5")
		s.See("cmd wants to run a command", "$ touch made")
		s.Wait(600 * time.Millisecond)
		s.Press("esc")
		s.Press("f5")
		s.See("db has a question")
		s.Wait(600 * time.Millisecond)
		s.Type("2")
		s.See("db ✓", "› half a draft", "1 asking")
		s.NotSee("has a question")
		s.Press("ctrl+u")

		s.Enter("/inbox")
		s.See("Needs you 1", "? #2 cmd ! bash touch made")
		s.See("cmd · high approval")
		s.Press("enter")
		s.See("cmd wants to run a command", "$ touch made")
		s.Wait(600 * time.Millisecond)
		s.Press("esc")
		s.Gone("cmd wants to run a command")
		s.See("Needs you 1")
		s.Press("esc")
		s.Gone("Needs you")
		s.Enter("/messages show 2")
		s.See("#2 from cmd", "is      high approval")
		s.Press("esc")
		s.Enter("/check")
		s.See("✉ from db · #3", "The user answered: sqlite")
		s.NotSee("✉ from cmd")
		for in, want := range map[string]string{
			"/answer 2 perhaps":  `"perhaps" is none of yes, session, project and no`,
			"/answer 2 yes sure": "yes takes nothing more",
			"/answer nobody yes": `there is no agent "nobody"`,
			"/answer main yes":   "main has no question now",
			"/answer 1 2":        "it was answered already: sqlite, ",
			"/answer 3":          "#3 is no question that you could answer",
			"/answer 99 yes":     "#99 is no question that you could answer",
		} {
			s.Enter(in)
			s.Until("the screen says "+want, func() bool {
				return strings.Contains(strings.ToLower(s.Screen()), strings.ToLower(want))
			})
			s.Press("ctrl+c")
		}
		s.Enter("/answer #2 yes")
		s.See("Answered cmd: yes", "cmd ✓")
		s.NotSee("asking")
		if _, err := os.Stat(filepath.Join(s.Home.Root, "made")); err != nil {
			t.Error(err)
		}
		s.Enter("/answer")
		s.See("No open questions")
	})
}

// A dialog whose question was answered elsewhere goes away, and answers nothing.
func TestQuestions_answeredElsewhere(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{W: 80, H: 24}, func(s *uitest.Session) {
		s.Enter("/push name=cmd run touch made")
		s.See("Queued cmd")
		s.Enter("/run")
		s.See("1 asking")
		s.Enter("/answer cmd")
		s.See("cmd wants to run a command")
		q := s.Pool.Infos()[1].Question
		if err := s.Pool.Asks.Answer(context.Background(), q.ID, event.Answer{Choice: permission.No, Reason: "elsewhere"}); err != nil {
			t.Error(err)
		}
		s.Gone("cmd wants to run a command")
		s.See("the question of cmd is closed now", "cmd ✗")
	})
}

// What was asked is asked again after the program ended, and goes on when it is
// answered then; quitting asks nothing because of it.
//
// Spec: R-49, E-17, N-19.
func TestQuestions_overARestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := uitest.Start(t, uitest.Options{})
		s.Enter("/push name=db ask Which database?: postgres | sqlite")
		s.See("Queued db")
		s.Enter("/run")
		s.See("db ● asks")
		s.Enter("ask Which port? then run touch made")
		s.See("▌ main has a question: Which port?   ")
		s.Press("f5")
		s.See("main has a question", "Which port?", "│ ›")
		s.Press("alt+2")
		s.See("db has a question")
		home := s.Home
		s.Press("alt+tab")
		s.Wait(600 * time.Millisecond)
		s.Press("ctrl+c")
		s.Press("ctrl+c")
		s.Left()
		s.Stop()

		s = uitest.Start(t, uitest.Options{Home: home, W: 80, H: 24})
		s.See("main ● asks", "db ● asks", "2 asking", "main has a question", "Which port?")
		s.Golden("asks-again-80")
		s.Wait(firstSecond)
		s.Type("8080")
		s.Press("enter")
		s.See("The user answered: 8080", "main wants to run a command")
		s.See("main wants to run a command", "$ touch made")
		s.Wait(600 * time.Millisecond)
		s.Type("y")
		s.See("3 steps") // those before the restart count
		s.Wait(600 * time.Millisecond)
		s.Enter("/answer db postgres, but only for now")
		s.See("Answered db: postgres, but only for now", "db ✓")
		s.Enter("/check")
		s.See("The user answered: postgres, but", "only for now")
		if _, err := os.Stat(filepath.Join(s.Home.Root, "made")); err != nil {
			t.Error(err)
		}
	})
}

// A small terminal shows the question, its options and what else there is.
func TestQuestions_inASmallTerminal(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{W: 40, H: 12}, func(s *uitest.Session) {
		s.Enter("ask Which of these databases shall the cart be kept in from now on?: postgres | sqlite | mysql | duckdb | none at all")
		s.See("   tab")
		s.Press("alt+a")
		s.See("main has a question", "Which of these", "↓ more")
		s.Golden("asks-40")
		s.Wait(600 * time.Millisecond)
		s.Press("down", "down", "down", "down", "down")
		s.See("5  none at all")
		s.Press("enter")
		s.See("The user answered: none", "2 steps")
	})
}

// Quitting while others work says what becomes of a question.
func TestQuestions_quit(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{W: 80, H: 24}, func(s *uitest.Session) {
		s.Enter("/push name=db ask Which database?")
		s.See("Queued db")
		s.Enter("/push name=slow wait 1h")
		s.See("Queued slow")
		s.Enter("/run")
		s.See("db ● asks", "slow ●")
		s.Enter("/quit")
		s.See("slow is still at work. db has a question", "is kept")
		s.Type("c")
		s.Gone("still at work")
	})
}
