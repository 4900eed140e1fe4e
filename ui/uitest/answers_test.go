package uitest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fantail/.ci/long"
	"fantail/tools/permission"
	"fantail/ui/uitest"
)

// Which keys answer what is asked, and which never do.

const (
	askedIn = "main wants to run a command"
	line    = "▌ main wants to run  touch made   "
)

// made reports whether what was asked about ran.
func made(s *uitest.Session, name string) bool {
	_, err := os.Stat(filepath.Join(s.Home.Root, name))
	return err == nil
}

// mode waits until the status line finish so.
func mode(s *uitest.Session, want string) {
	s.Until("the status line finish with "+want, func() bool { return strings.HasSuffix(s.Status(), want) })
}

// TestShiftTabReleasesNothing: on the way through all modes, with whatever pauses, by key and by name, on one screen or
// two, no open question is answered: of the agent in sight, and of those that nobody looked at; commands and writes.
//
// Spec: R-49, E-26.
func TestShiftTabReleasesNothing(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(s, other *uitest.Session){
		"quickly": func(s, _ *uitest.Session) {
			for range 9 {
				s.Press("shift+tab")
				s.Wait(50 * time.Millisecond)
			}
		},
		"nearly a second each": func(s, _ *uitest.Session) {
			for range 9 {
				s.Press("shift+tab")
				s.Wait(990 * time.Millisecond)
			}
		},
		"slowly": func(s, _ *uitest.Session) {
			for range 9 {
				s.Press("shift+tab")
				s.Wait(1500 * time.Millisecond)
			}
		},
		"on two screens": func(s, other *uitest.Session) {
			for range 5 {
				s.Press("shift+tab")
				s.Wait(700 * time.Millisecond)
				other.Press("shift+tab")
				s.Wait(1500 * time.Millisecond)
			}
		},
		"by name": func(s, _ *uitest.Session) {
			for _, m := range []string{"accept-edits", "auto", "yolo", "plan", "yolo"} {
				s.Enter("/mode " + m)
				s.Wait(3 * time.Second)
			}
		},
		"from the list": func(s, _ *uitest.Session) {
			s.Enter("/mode")
			s.See("Mode (now ask)")
			s.Press("down", "enter")
			s.Wait(3 * time.Second)
		},
		"as a screen that comes": func(s, _ *uitest.Session) {
			if err := s.Pool.SetMode(context.Background(), permission.Yolo); err != nil {
				panic(err)
			}
			s.Wait(3 * time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, uitest.Options{Wall: permission.Prevents, W: 100, H: 30}, func(s *uitest.Session) {
				for i, does := range []string{"run touch made", "write new: text", "run touch also"} {
					s.Enter(fmt.Sprintf("/push name=job%d %s", i, does))
					s.See(fmt.Sprintf("Queued job%d", i))
				}
				s.Enter("/run")
				s.See("3 asking")
				s.Enter("write mine: text")
				s.See("4 asking")
				s.Wait(5 * time.Second)
				change(s, s.Beside())
				s.Wait(5 * time.Second)
				for _, f := range []string{"made", "new", "also", "mine"} {
					if made(s, f) {
						t.Errorf("%s was made", f)
					}
				}
				if open(s) != 4 {
					t.Errorf("%d questions are open, want 4:\n%s", open(s), s.Screen())
				}
				s.Enter("/mode ask")
				s.Enter("/answer job1 yes")
				s.Until("the yes counts", func() bool { return made(s, "new") && open(s) == 3 })
			})
		})
	}
}

// TestShiftTabLoosensLater: what a mode tightens holds at once, what it loosens after a second without another press,
// on whatever screen; the status lines say so, and what is called meanwhile is judged by the tighter.
//
// Spec: R-49.
func TestShiftTabLoosensLater(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Wall: permission.Prevents, W: 100, H: 30}, func(s *uitest.Session) {
		other := s.Beside()
		both := func(want string) {
			mode(s, want)
			mode(other, want)
		}
		both("ask")
		s.Press("shift+tab")
		both("ask → accept-edits")
		s.Wait(600 * time.Millisecond)
		other.Press("shift+tab")
		both("ask → auto")
		s.Wait(600 * time.Millisecond) // more than a second after the first press
		both("ask → auto")
		s.Enter("/push name=early write early: text")
		s.Enter("/run")
		s.See("1 asking")
		s.Wait(time.Second)
		both("auto")
		if strings.Contains(s.Status(), "→") || made(s, "early") {
			t.Errorf("early was made %t; the status is %s", made(s, "early"), s.Status())
		}
		s.Enter("/push name=late write late: text")
		s.Until("what is called later runs", func() bool { return made(s, "late") })
		s.Press("shift+tab")
		both(" plan")
		s.Wait(10 * time.Millisecond)
		s.Enter("/push name=third write third: text")
		s.See("third ✗")
		if made(s, "third") {
			t.Error("plan does not hold at once")
		}
		s.Press("shift+tab")
		both("plan → ask")
		s.Press("shift+tab", "shift+tab")
		both("plan → auto")
		s.Press("shift+tab")
		both(" plan")
		s.Wait(3 * time.Second)
		both(" plan")
		s.Press("shift+tab")
		other.Enter("/mode yolo") // by name it holds at once, and nothing comes after it
		both("yolo · outside the sandbox")
		s.Wait(3 * time.Second)
		both("yolo · outside the sandbox")
	})
}

// sentOnce makes main ask that long after a prompt was sent twice with Enter, and waits that long after it.
func sentOnce(s *uitest.Session, a *asker, comes, waits time.Duration) {
	ask := a.on("go")
	s.Enter("go")
	if comes == 0 {
		ask()
	}
	s.Press("enter")
	switch {
	case comes == 0:
		s.Wait(waits)
	case comes < waits:
		s.Wait(comes)
		ask()
		s.Wait(waits - comes)
	default:
		s.Wait(waits)
		ask()
		s.Wait(comes - waits)
	}
}

// TestPromptEnterEnter: a prompt, a second Enter, and then the next sentence: whenever the question comes, and whenever
// the sentence begins, it answers nothing and is whole in the box.
//
// Spec: R-49, E-26.
func TestPromptEnterEnter(t *testing.T) {
	t.Parallel()
	texts := []string{"yes do it", "so what else", "please wait", "pass", "nothing", "any of them", "say yes"}
	comes := []time.Duration{0, 100 * time.Millisecond, 550 * time.Millisecond, 1050 * time.Millisecond, 2050 * time.Millisecond}
	begins := []time.Duration{600 * time.Millisecond, 1100 * time.Millisecond, 2100 * time.Millisecond, 3100 * time.Millisecond, time.Minute}
	rows := 0
	for _, text := range texts[:min(long.Times(2, len(texts)), len(texts))] {
		t.Run(text, func(t *testing.T) {
			a := newAsker()
			play(t, uitest.Options{Provider: a.Script, W: 100, H: 24}, func(s *uitest.Session) {
				for _, c := range comes {
					for _, b := range begins {
						if c > b {
							continue
						}
						sentOnce(s, a, c, b)
						slowly(s, text)
						drafted(t, s, fmt.Sprintf("%q, comes after %s, begins after %s", text, c, b), "› "+text)
						settle(s)
					}
				}
				if made(s, "made") {
					t.Error("the command ran")
				}
			})
		})
		rows += len(comes) * len(begins)
	}
	if rows < 50 {
		t.Errorf("only %d rows", rows)
	}
}

// TestOneLetterAnswers: after a prompt was sent, one letter alone answers, a third of a second later, and Enter behind it
// changes nothing; two letters are the beginning of a sentence, and what is neither takes the letter back.
//
// Spec: R-49, E-26.
func TestOneLetterAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys func(s *uitest.Session)
		ends bool   // the question is answered
		box  string // what the box holds, if it is not
	}{
		"y":             {func(s *uitest.Session) { s.Type("y") }, true, ""},
		"y, Enter":      {func(s *uitest.Session) { s.Type("y"); s.Press("enter") }, true, ""},
		"p":             {func(s *uitest.Session) { s.Type("p") }, true, ""},
		"ye":            {func(s *uitest.Session) { s.Type("ye") }, false, "› ye"},
		"y, held down":  {func(s *uitest.Session) { s.Type("yyyy") }, true, ""},
		"ys":            {func(s *uitest.Session) { s.Type("ys") }, false, "› ys"},
		"y, 290ms, e":   {func(s *uitest.Session) { s.Type("y"); s.Wait(290 * time.Millisecond); s.Type("e") }, false, "› ye"},
		"y, a paste":    {func(s *uitest.Session) { s.Type("y"); s.Paste("es, do") }, false, "› yes, do"},
		"y, up":         {func(s *uitest.Session) { s.Type("y"); s.Press("up") }, false, ""},
		"y, shift+tab":  {func(s *uitest.Session) { s.Type("y"); s.Press("shift+tab") }, false, ""},
		"y, a click":    {func(s *uitest.Session) { s.Type("y"); click(s, "main") }, false, ""},
		"y, ctrl+c":     {func(s *uitest.Session) { s.Type("y"); s.Press("ctrl+c") }, false, ""},
		"y, focus":      {func(s *uitest.Session) { s.Type("y"); s.Send("\x1b[O\x1b[I") }, false, ""},
		"y, a resize":   {func(s *uitest.Session) { s.Type("y"); s.Resize(90, 24) }, false, ""},
		"y, other tab":  {func(s *uitest.Session) { s.Type("y"); s.Press("alt+2") }, false, ""},
		"y, the inbox":  {func(s *uitest.Session) { s.Type("y"); s.Press("f3") }, false, ""},
		"n":             {func(s *uitest.Session) { s.Type("n"); s.See("Instead:"); s.Press("enter") }, true, ""},
		"no":            {func(s *uitest.Session) { s.Type("no") }, false, "› no"},
		"a paste":       {func(s *uitest.Session) { s.Paste("y\n") }, false, ""},
		"tab, y":        {func(s *uitest.Session) { s.Type("x"); s.Press("backspace", "tab"); s.Type("y") }, false, ""},
		"a letter, y":   {func(s *uitest.Session) { s.Type("u"); s.Wait(5 * time.Second); s.Type("y") }, false, "› uy"},
		"arrows, Enter": {func(s *uitest.Session) { s.Press("down", "up", "up", "enter"); s.Wait(time.Second) }, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAsker()
			play(t, uitest.Options{Provider: a.Script, W: 100, H: 24}, func(s *uitest.Session) {
				if name == "y, other tab" {
					s.Enter("/agent new help")
					s.See("Agent: help")
					s.Press("alt+1")
				}
				sentOnce(s, a, time.Second, 4*time.Second)
				s.See(askedIn)
				c.keys(s)
				s.Wait(400 * time.Millisecond)
				if c.box != "" {
					drafted(t, s, name, c.box)
				}
				if (open(s) == 0) != c.ends {
					t.Errorf("it is answered: %t\n%s", open(s) == 0, s.Screen())
				}
			})
		})
	}
}

// TestAnswersInARow: a key that answers is not typing: the next question comes in the same place, takes no key for half
// a second, and then the next answer; a reason that is typed is typing.
//
// Spec: R-49, E-26.
func TestAnswersInARow(t *testing.T) {
	t.Parallel()
	a := newAsker()
	play(t, uitest.Options{Provider: a.Script, W: 100, H: 24}, func(s *uitest.Session) {
		pose := func() {
			ask := a.on("go twice")
			s.Enter("go twice")
			s.Wait(5 * time.Second)
			ask()
			s.See(askedIn, "$ touch made")
			s.Wait(firstSecond)
		}
		pose()
		s.Type("y")
		s.See("$ touch made!")
		s.Wait(450 * time.Millisecond)
		s.Type("y") // too early
		s.Wait(20 * time.Millisecond)
		s.See(askedIn, "not answered: the question just appeared. Press the key again")
		if open(s) != 1 {
			t.Error("a key in the first half second answers")
		}
		s.Wait(500 * time.Millisecond)
		s.Type("y")
		s.Gone(askedIn)
		if s.Wait(time.Second); !made(s, "made!") {
			t.Error("the second was not answered")
		}
		s.See("›")
		settle(s)

		pose()
		s.Type("n")
		s.See("Instead:")
		slowly(s, "not now")
		s.Press("enter")
		s.See(askedIn, "$ touch made!") // the reason is sent: nobody types
	})
}

// TestNextTakesThePlace: after an answer another agent's question takes the same place, with the half-second guard; what
// begins a sentence puts it away and goes into the box.
//
// Spec: E-26.
func TestNextTakesThePlace(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{W: 100, H: 24}, func(s *uitest.Session) {
		for n, job := range []string{"job1 run touch one", "job2 run touch two"} { // job1 asks first
			s.Enter("/push name=" + job)
			s.Enter("/run")
			s.See(fmt.Sprintf("%d asking", n+1))
		}
		s.Enter("run touch made")
		s.See("3 asking")
		s.Wait(5 * time.Second)
		s.See(askedIn)
		s.Type("y")
		s.See("job1 wants to run a command", "Agent: main")
		s.Type("y") // too early
		s.Wait(600 * time.Millisecond)
		if made(s, "one") || open(s) != 2 {
			t.Error("a key in the first half second answers")
		}
		s.Wait(3 * time.Second)
		s.Type("y")
		s.See("job2 wants to run a command")
		s.Until("the first ran", func() bool { return made(s, "one") && !made(s, "two") })
		s.Wait(3 * time.Second)
		s.Type("hello")
		s.See("› hello")
		s.Gone("job2 wants to run a command")
		if open(s) != 1 {
			t.Error("a sentence answers")
		}
	})
}

// TestWholeQuestion: Space shows a question on the whole screen, where keys answer after half a second; Esc goes back to
// it, with the same guard.
//
// Spec: E-26.
func TestWholeQuestion(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{W: 100, H: 24}, func(s *uitest.Session) {
		s.Enter("run touch made")
		s.See("1 asking")
		s.Wait(5 * time.Second)
		s.Press("space")
		s.See("tab edit · esc back")
		s.Gone("▌ run touch made")
		s.Type("y")
		s.See("not answered: the question just appeared")
		s.Wait(time.Second)
		s.Press("esc")
		s.See("▌ run touch made", "space whole")
		s.Type("y")
		s.Wait(time.Second)
		if made(s, "made") {
			t.Error("a key in the first half second answers")
		}
		s.Press("space")
		s.See("esc back")
		s.Wait(time.Second)
		s.Type("y")
		s.Until("it ran", func() bool { return made(s, "made") && open(s) == 0 })
	})
}

// TestLineOpensOnce: a question that came as a line because of what was typed opens once nothing is in the box and no key
// fell for two seconds, with the whole of its first second; it does so once, and not if it was put off.
//
// Spec: R-49, E-26.
func TestLineOpensOnce(t *testing.T) {
	t.Parallel()
	a := newAsker()
	play(t, uitest.Options{Provider: a.Script, W: 100, H: 24}, func(s *uitest.Session) {
		pose := func() {
			ask := a.on("go")
			s.Enter("go")
			s.Wait(time.Second)
			ask()
			s.See(line)
		}
		pose()
		s.Wait(900 * time.Millisecond)
		s.See(line)
		s.Wait(200 * time.Millisecond)
		s.See(askedIn)
		s.Wait(700 * time.Millisecond)
		s.Type("y")
		s.Wait(400 * time.Millisecond)
		if s.See(askedIn); open(s) != 1 {
			t.Error("it is answered in its first second")
		}
		s.Wait(time.Second)
		s.Type("e") // a sentence
		s.See("› ye", line)
		s.Press("ctrl+u")
		s.Wait(time.Minute)
		if s.See(line); strings.Contains(s.Screen(), askedIn) {
			t.Error("it opens twice")
		}
		settle(s)

		// Each key puts it off by two seconds, a draft for as long as it is there.
		pose()
		for range 3 {
			s.Wait(900 * time.Millisecond)
			s.Press("right")
			s.See(line)
		}
		s.Type("a draft")
		s.Wait(time.Minute)
		s.See(line, "› a draft")
		s.Press("ctrl+u")
		s.Wait(1900 * time.Millisecond)
		s.See(line)
		s.Wait(200 * time.Millisecond)
		s.See(askedIn)
		s.Wait(firstSecond)
		s.Press("esc")
		s.See(line)
		s.Wait(time.Minute)
		s.See(line)
		s.Press("f3")
		s.See("Inbox · main")
		s.Press("esc")
		s.Wait(3 * time.Second)
		if s.See(line); strings.Contains(s.Screen(), askedIn) {
			t.Error("what was put off comes again")
		}
		s.Press("tab")
		s.See(askedIn)
		s.Press("esc")
		settle(s)
	})
}

// TestTabGoesToAQuestion: from an empty box Tab goes to the question above it, with the half-second guard; with a draft it
// completes, and a second Tab at once opens nothing.
//
// Spec: E-26.
func TestTabGoesToAQuestion(t *testing.T) {
	t.Parallel()
	a := newAsker()
	play(t, uitest.Options{Provider: a.Script, W: 100, H: 24}, func(s *uitest.Session) {
		ask := a.on("go")
		s.Enter("go")
		s.Wait(5 * time.Second)
		s.Type("@")
		ask()
		s.See(line+"alt+a or f5", "› @")
		s.Press("tab")
		s.Wait(100 * time.Millisecond)
		if strings.Contains(s.Screen(), askedIn) {
			t.Error("from a draft")
		}
		s.Press("ctrl+u")
		s.See(line + "tab to answer")
		s.Press("enter")
		s.Wait(100 * time.Millisecond)
		if strings.Contains(s.Screen(), askedIn) {
			t.Error("Enter goes to it")
		}
		s.Press("tab", "tab")
		s.Type("y")
		s.See(askedIn, "not answered: the question just appeared. Press the key again")
		if open(s) != 1 || strings.Contains(s.Screen(), "because") {
			t.Error("what followed at once did something")
		}
		s.Wait(time.Second)
		s.Type("y")
		s.Gone(askedIn)
	})
}

// TestDigitsGoFromViewToView: in the tab of an agent without a box digits show its views, whatever it asks and however
// long; elsewhere they answer.
//
// Spec: E-26.
func TestDigitsGoFromViewToView(t *testing.T) {
	t.Parallel()
	for does, asks := range map[string]string{"run touch made": "job wants to run a command", "ask Which?: one | two | three | four | five": "job has a question"} {
		t.Run(asks, func(t *testing.T) {
			play(t, uitest.Options{W: 100, H: 30, Wall: permission.Prevents}, func(s *uitest.Session) {
				s.Enter("/push name=job " + does)
				s.See("Queued job")
				s.Enter("/run")
				s.See("1 asking")
				answered := func(what string) {
					t.Helper()
					s.Wait(400 * time.Millisecond)
					if open(s) != 1 {
						t.Fatalf("%s: it was answered", what)
					}
				}
				for _, pause := range []time.Duration{0, 600 * time.Millisecond, 5 * time.Second} {
					s.Press("alt+1", "alt+2")
					s.See(asks)
					for _, d := range "123456789412" {
						s.Wait(pause)
						s.Type(string(d))
						answered(fmt.Sprintf("%c after %s", d, pause))
						s.See(asks)
					}
				}
				s.Type("4")
				s.See("parent")  // of its facts
				s.Press("alt+a") // gone to, in its tab
				s.Wait(time.Second)
				s.Type("1")
				answered("1 after Alt+A")
				s.Press("esc")
				s.Enter("/answer job")
				s.See("enter confirm")
				s.Wait(time.Second)
				s.Type("1")
				answered("1 after /answer")
				s.Press("enter")
				s.Until("it is answered", func() bool { return open(s) == 0 })
			})
		})
	}
}
