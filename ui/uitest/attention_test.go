package uitest_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/llm"
	"fantail/agents/mail"
	"fantail/inbox"
	"fantail/ui/uitest"
)

// attend is play with the bubble's own test.
func attend(t *testing.T, o uitest.Options, f func(t *testing.T, s *uitest.Session)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, uitest.Start(t, o)) })
}

// bells counts how often the terminal's bell rang.
func bells(s *uitest.Session) int {
	return strings.Count(regexp.MustCompile("\x1b\\][^\a\x1b]*\a").ReplaceAllString(string(s.Raw()), ""), "\a")
}

// notified are the texts of the desktop's notifications, as the terminal got them.
func notified(s *uitest.Session) (all []string) {
	for _, p := range strings.Split(string(s.Raw()), "\x1b]777;notify;")[1:] {
		text, _, _ := strings.Cut(p, "\x1b\\")
		all = append(all, text)
	}
	return all
}

// helpers opens agents that the human talks to, without going to them.
func helpers(t *testing.T, s *uitest.Session, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := s.Pool.NewHelper(t.Context(), name, ""); err != nil {
			t.Fatal(err)
		}
	}
}

// letter is mail from one agent to another, and its number.
func letter(t *testing.T, s *uitest.Session, from, to string, p inbox.Priority, body string) int64 {
	t.Helper()
	for _, i := range s.Pool.Infos() {
		if i.Name == from {
			sent, err := s.Pool.Letters.Mail(t.Context(), i.ID, mail.Letter{To: []string{to}, Body: body, Priority: p})
			if err != nil {
				t.Fatal(err)
			}
			return sent[0].ID
		}
	}
	t.Fatalf("there is no agent %s", from)
	return 0
}

// TestStatusOfMail: what waits, what is new and what is urgent, in the status line,
// the tabs and the overview, at every width and in ASCII; quiet says until when.
//
// Spec: M-2, M-23, M-24, M-25, M-26, M-27, R-43, R-47.
func TestStatusOfMail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		o    uitest.Options
		play func(t *testing.T, s *uitest.Session)
		see  string
	}{
		{"pending", uitest.Options{}, func(t *testing.T, s *uitest.Session) {
			letter(t, s, "research", "main", inbox.Normal, "patterns")
			letter(t, s, "research", "main", inbox.Normal, "more patterns")
			s.See("| 📨 2 pending]")
			s.Enter("/inbox --list")
			s.See("#2")
		}, "[Agent: main | 2 pending]"},
		{"new", uitest.Options{}, func(t *testing.T, s *uitest.Session) {
			letter(t, s, "research", "main", inbox.Normal, "patterns")
			letter(t, s, "main", "research", inbox.Normal, "thanks")
			s.See("›research ○ ✉1")
		}, "[Agent: main | 📨 1 pending]"},
		{"urgent", uitest.Options{}, func(t *testing.T, s *uitest.Session) {
			letter(t, s, "research", "main", inbox.Normal, "patterns")
			letter(t, s, "research", "main", inbox.Urgent, "stop")
			s.See("URGENT")
			s.Enter("/inbox --list")
			s.See("#2")
		}, "[Agent: main | 🔴 urgent · 2 pending]"},
		{"urgent-new", uitest.Options{}, func(t *testing.T, s *uitest.Session) {
			letter(t, s, "research", "main", inbox.Urgent, "stop")
		}, "[Agent: main | 🔴 urgent · 📨 1 pending]"},
		{"urgent-ascii", uitest.Options{Environ: []string{"LANG=C"}}, func(t *testing.T, s *uitest.Session) {
			letter(t, s, "main", "research", inbox.Normal, "thanks")
			letter(t, s, "research", "main", inbox.Urgent, "stop")
		}, "[Agent: main | ! urgent - * 1 pending]"},
		{"quiet", uitest.Options{}, func(t *testing.T, s *uitest.Session) {
			letter(t, s, "research", "main", inbox.Urgent, "stop")
			if err := s.Pool.Mail.BeQuiet(t.Context(), time.Now().Add(14*time.Hour)); err != nil {
				t.Fatal(err)
			}
		}, "🔴 urgent · 📨 1 pending]"},
		{"calm", uitest.Options{}, func(t *testing.T, s *uitest.Session) {
			if err := s.Pool.Mail.BeQuiet(t.Context(), time.Now().Add(14*time.Hour)); err != nil {
				t.Fatal(err)
			}
		}, "quiet until 14:00"},
		{"msgs", uitest.Options{Msgs: true}, func(t *testing.T, s *uitest.Session) {
			letter(t, s, "research", "main", inbox.Normal, "patterns")
			letter(t, s, "research", "main", inbox.Normal, "more patterns")
			s.See("| 📨 2 msgs]")
			s.Enter("/check --one")
			s.See("#1")
		}, "[Agent: main | 1 msg]"},
	} {
		for _, w := range []int{120, 80, 40} {
			t.Run(fmt.Sprintf("%s-%d", c.name, w), func(t *testing.T) {
				o := c.o
				o.W, o.H = w, 16
				attend(t, o, func(t *testing.T, s *uitest.Session) {
					helpers(t, s, "research")
					s.See("research")
					c.play(t, s)
					s.See(c.see)
					if c.name == "quiet" && w >= 80 {
						s.See("quiet until 14:00")
						s.NotSee("URGENT")
					}
					s.Golden(fmt.Sprintf("status-%s-%d", c.name, w))
				})
			})
		}
	}
}

// TestNewsEndsByLooking: the mark of what is new goes when its tab is looked at or
// its mail is taken by hand; mail that came and went unseen leaves the bare mark.
//
// Spec: M-24, R-47, E-24.
func TestNewsEndsByLooking(t *testing.T) {
	t.Parallel()
	attend(t, uitest.Options{}, func(t *testing.T, s *uitest.Session) {
		helpers(t, s, "research")
		letter(t, s, "main", "research", inbox.Normal, "one")
		s.See("›research ○ ✉1")
		s.Press("alt+2")
		s.See("[Agent: research | 1 pending]")
		letter(t, s, "main", "research", inbox.Normal, "two")
		s.See("[Agent: research | 📨 2 pending]")
		s.Enter("/check")
		s.See("#2", "[Agent: research]")
		s.Press("alt+1")
		s.See("›research ○")
		s.NotSee("📨")

		letter(t, s, "research", "main", inbox.Normal, "read in the panel")
		s.See("[Agent: main | 📨 1 pending]")
		s.Press("f3")
		s.See("Inbox · main", "[Agent: main | 1 pending]")
		letter(t, s, "research", "main", inbox.Normal, "come while it is open")
		s.See("[Agent: main | 2 pending]")
		s.Press("esc")
		s.Enter("/check")
		s.See("[Agent: main]")

		s.Send("\x1b[O")
		letter(t, s, "research", "main", inbox.Normal, "three")
		s.See("[Agent: main | 📨 1 pending]")
		if _, _, err := s.Pool.Pickup.Check(t.Context(), 1, inbox.Query{}); err != nil {
			t.Fatal(err)
		}
		s.See("[Agent: main | 📨]", "three")
		s.Send("\x1b[I")
		s.See("[Agent: main | 📨]")
		s.Enter("/help")
		s.Press("esc")
		s.See("[Agent: main]")
	})
}

// urgentCard starts a session in which an urgent message arrives in the middle of
// a word.
func urgentCard(t *testing.T, s *uitest.Session) int64 {
	t.Helper()
	helpers(t, s, "testing-agent")
	s.See("testing-agent")
	s.Type("a draft with @ and\nhalf a wo")
	s.See("half a wo")
	id := letter(t, s, "testing-agent", "main", inbox.Urgent, "test failures")
	s.See("[📨 URGENT from testing-agent: test f")
	return id
}

const draft = "› a draft with @ and"

// TestUrgentCard: it comes while somebody types, takes no focus and no letter, and
// no key of its first half second; then its key handles the message in its tab,
// beside the draft.
//
// Spec: M-29, R-43, E-26.
func TestUrgentCard(t *testing.T) {
	t.Parallel()
	for _, w := range []int{120, 80, 40} {
		t.Run(fmt.Sprint(w), func(t *testing.T) {
			var prompts atomic.Value // the last one
			provider := uitest.Script(func(_ context.Context, req *llm.Request, say func(llm.Part) bool) error {
				text, _ := uitest.Prompt(req)
				prompts.Store(text)
				say(llm.Text{Text: "Seen."})
				return nil
			})
			attend(t, uitest.Options{W: w, H: 24, Provider: provider}, func(t *testing.T, s *uitest.Session) {
				urgentCard(t, s)
				x, y := s.Cursor()
				s.Press("alt+u")
				s.Press("alt+x")
				s.Wait(300 * time.Millisecond)
				s.Press("alt+u")
				s.NotSee("completed", "1 step")
				s.See("[📨 URGENT from testing-agent: test f", draft, "half a wo")
				if cx, cy := s.Cursor(); cx != x || cy != y {
					t.Errorf("the cursor went from %d,%d to %d,%d", x, y, cx, cy)
				}
				s.Golden(fmt.Sprintf("card-%d", w))
				s.Type("rd")
				s.Press("alt+u")
				s.See("✉ from testing-agent · ", "urgent", "1 step", draft, "half a word")
				s.Gone("URGENT", "🔴")
				s.Press("enter")
				s.Wait(time.Second)
				if got, want := prompts.Load(), "a draft with @ and\nhalf a word"; got != want {
					t.Errorf("the draft was sent as %q", got)
				}
			})
		})
	}
}

// TestUrgentCards: the newest has the card, which begins anew with each that comes
// into it; Enter does what it did before; a handled one makes room for the
// next; the card of another agent goes to its tab, from the overview too.
//
// Spec: M-29.
func TestUrgentCards(t *testing.T) {
	t.Parallel()
	attend(t, uitest.Options{W: 120, H: 24}, func(t *testing.T, s *uitest.Session) {
		urgentCard(t, s)
		s.Wait(time.Second)
		letter(t, s, "testing-agent", "main", inbox.Urgent, "the build is on fire")
		s.See("[📨 URGENT from testing-agent: the build is on fire] (+1 more)")
		s.Press("alt+u") // meant the one before
		s.NotSee("1 step")
		s.See("(+1 more)")
		s.Golden("card-more-120")
		s.Press("ctrl+c")
		s.Enter("/help")
		s.See("Help")
		s.Press("esc")
		letter(t, s, "main", "testing-agent", inbox.Urgent, "well?")
		s.See("URGENT from main to testing-agent: well?] (+2 more)")
		s.Press("f2", "l")
		s.See("Agents · 2", "URGENT from main to testing-agent")
		s.Wait(time.Second)
		s.Golden("card-overview-120")
		s.Press("alt+u")
		s.See("[Agent: testing-agent]", "✉ from main · ", " · urgent mail", "URGENT from testing-agent to main: the build is on fire] (+1 more)")
		s.Gone("Agents · 2")
		s.Press("ctrl+space")
		s.See("Go to")
		s.Wait(time.Second)
		s.Press("alt+u") // under a dialog it takes no key
		s.NotSee("[Agent: main]")
		s.Press("esc")
		s.See("on fire] (+1 more)")
	})
}

// TestUrgentClicked: a click handles or dismisses, not in the first half second.
//
// Spec: M-29.
func TestUrgentClicked(t *testing.T) {
	t.Parallel()
	attend(t, uitest.Options{W: 120, H: 24}, func(t *testing.T, s *uitest.Session) {
		urgentCard(t, s)
		row := 0
		for i, l := range strings.Split(s.Screen(), "\n") {
			if strings.Contains(l, "URGENT") {
				row = i
			}
		}
		click := func(x int) { s.Send(fmt.Sprintf("\x1b[<0;%d;%dM\x1b[<0;%d;%dm", x+1, row+1, x+1, row+1)) }
		click(5)
		s.NotSee("1 step")
		click(5)
		s.See("✉ from testing-agent · ", " · urgent mail", "1 step", draft)
		letter(t, s, "testing-agent", "main", inbox.Urgent, "again")
		s.See("URGENT from testing-agent: again")
		s.Wait(time.Second)
		click(115)
		s.See("#2 is in the inbox; 🔴 stays until you handle it", "🔴 urgent", draft)
		s.Gone("URGENT")
		letter(t, s, "testing-agent", "main", inbox.Urgent, "third")
		s.See("URGENT from testing-agent: third", "🔴 urgent · 📨 2 pending")
		s.Wait(time.Second)
		click(5)
		s.See("[Agent: main | 🔴 urgent · 1 pending]") // who handles it has looked
	})
}

// TestUrgentDismissed: it waits on, marked, and its card stays away over a
// restart; one that was not dismissed shows again.
//
// Spec: M-29, R-43.
func TestUrgentDismissed(t *testing.T) {
	t.Parallel()
	attend(t, uitest.Options{W: 120, H: 24}, func(t *testing.T, s *uitest.Session) {
		urgentCard(t, s)
		s.Wait(time.Second)
		s.Press("alt+x")
		s.See("#1 is in the inbox; 🔴 stays until you handle it", "[Agent: main | 🔴 urgent · 📨 1 pending]", draft)
		s.Gone("URGENT")
		s.Wait(5 * time.Second)
		s.Golden("card-dismissed-120")
		home := s.Home
		s.Stop()
		s = uitest.Start(t, uitest.Options{W: 120, H: 24, Home: home})
		s.See("[Agent: main | 🔴 urgent · 1 pending]")
		s.NotSee("URGENT")
		letter(t, s, "testing-agent", "main", inbox.Urgent, "worse failures")
		s.See("[📨 URGENT from testing-agent: worse failures]")
		s.Stop()
		s = uitest.Start(t, uitest.Options{W: 120, H: 24, Home: home})
		s.See("[📨 URGENT from testing-agent: worse failures]", "🔴 urgent · 📨 2 pending")
		s.NotSee("more)")
	})
}

// TestUrgentInQuiet: no card and no ring, the mark stays; when quiet ends the card
// shows.
//
// Spec: M-22, R-43.
func TestUrgentInQuiet(t *testing.T) {
	t.Parallel()
	attend(t, uitest.Options{W: 120, H: 24}, func(t *testing.T, s *uitest.Session) {
		helpers(t, s, "testing-agent")
		if err := s.Pool.Mail.BeQuiet(t.Context(), time.Time{}); err != nil {
			t.Fatal(err)
		}
		s.Send("\x1b[O")
		letter(t, s, "testing-agent", "main", inbox.Urgent, "test failures")
		s.See("🔴 urgent", "· quiet")
		s.Wait(time.Minute)
		s.NotSee("URGENT")
		if n := bells(s); n != 0 {
			t.Errorf("it rang %d times", n)
		}
		if _, err := s.Pool.Mail.EndQuiet(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.See("[📨 URGENT from testing-agent: test failures]")
		s.Gone("· quiet")
	})
}

// TestRingAfterQuiet: when quiet ends by itself, who is elsewhere is called once to
// what is urgent and to who asks, and not again to what they were called to before.
//
// Spec: M-22, M-29.
func TestRingAfterQuiet(t *testing.T) {
	t.Parallel()
	attend(t, uitest.Options{Provider: uitest.Script(actor), Environ: []string{"TERM_PROGRAM=ghostty"}}, func(t *testing.T, s *uitest.Session) {
		helpers(t, s, "testing-agent")
		s.Send("\x1b[O")
		s.Wait(time.Second) // until it knows
		letter(t, s, "testing-agent", "main", inbox.Urgent, "known before")
		s.Wait(2 * time.Second)
		s.Send("\x1b[I")
		s.Enter("/messages quiet for 10m")
		s.See("Quiet until ")
		s.Enter("/push name=asks command")
		s.Enter("/run")
		s.See("asks ● asks")
		s.Send("\x1b[O")
		s.Wait(time.Second)
		letter(t, s, "testing-agent", "main", inbox.Urgent, "test failures")
		letter(t, s, "testing-agent", "main", inbox.Normal, "patience")
		s.Wait(9 * time.Minute)
		if got := notified(s); len(got) != 1 {
			t.Errorf("called in quiet: %q", got)
		}
		s.Wait(2 * time.Minute)
		s.See("Quiet is over.")
		if got := notified(s); len(got) != 2 || got[1] != "fantail · shop;1 urgent, 1 needs you: testing-agent, asks" {
			t.Errorf("called %q", got)
		}
	})
}

// TestRing: an unfocused terminal is told of what is urgent, failed or needs the
// human, several at once in one; a focused one never.
//
// Spec: M-29, E-24.
func TestRing(t *testing.T) {
	t.Parallel()
	attend(t, uitest.Options{Provider: uitest.Script(actor), Environ: []string{"TERM_PROGRAM=ghostty"}}, func(t *testing.T, s *uitest.Session) {
		helpers(t, s, "testing-agent")
		s.Send("\x1b[I")
		letter(t, s, "testing-agent", "main", inbox.Urgent, "test failures")
		s.Wait(2 * time.Minute)
		if got := notified(s); len(got) != 0 {
			t.Errorf("a focused terminal was told %q", got)
		}
		s.Send("\x1b[O")
		letter(t, s, "testing-agent", "main", inbox.Normal, "nothing urgent")
		s.Wait(2 * time.Second)
		if got := notified(s); len(got) != 0 {
			t.Errorf("it was told %q", got)
		}
		letter(t, s, "testing-agent", "main", inbox.Urgent, "more \x1b]0;failures\x07; and; so on")
		s.Wait(700 * time.Millisecond)
		if got := notified(s); len(got) != 0 {
			t.Errorf("it was told at once: %q", got)
		}
		s.Wait(time.Second)
		want := []string{"fantail · shop;urgent from testing-agent: more ]0,failures , and, so on"}
		if got := notified(s); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("it was told %q, want %q", got, want)
		}
		s.Enter("/push name=lint fail this is not allowed")
		s.Enter("/push name=vet fail this neither")
		s.Enter("/push name=cart command")
		s.Enter("/run")
		s.See("lint ✗", "vet ✗", "cart ● asks")
		s.Wait(2 * time.Second)
		want = append(want, "fantail · shop;cart asks: bash gofmt -l . && echo 'all files are formatted'", "fantail · shop;2 failed: lint, vet")
		if got := notified(s); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("it was told %q, want %q", got, want)
		}
		// Whoever comes back within the moment is not called.
		letter(t, s, "testing-agent", "main", inbox.Urgent, "once more")
		letter(t, s, "testing-agent", "main", inbox.Urgent, "and again")
		s.Wait(time.Second)
		want = append(want, "fantail · shop;2 urgent: testing-agent")
		letter(t, s, "testing-agent", "main", inbox.Urgent, "once more")
		s.Wait(300 * time.Millisecond)
		s.Send("\x1b[I")
		s.Wait(2 * time.Second)
		if got := notified(s); len(got) != len(want) {
			t.Errorf("it was told %q", got)
		}
	})
}

// TestRingMail: an unfocused terminal is told of a reminder that is due and of a result that starts a turn, though the
// agent has taken it; not of a plain result. A focused one is told of nothing.
//
// Spec: M-29.
func TestRingMail(t *testing.T) {
	t.Parallel()
	attend(t, uitest.Options{Provider: uitest.Script(actor), Environ: []string{"TERM_PROGRAM=ghostty"}}, func(t *testing.T, s *uitest.Session) {
		var want []string
		told := func(more ...string) {
			t.Helper()
			s.Wait(3 * time.Second)
			if want = append(want, more...); fmt.Sprint(notified(s)) != fmt.Sprint(want) {
				t.Fatalf("it was told %q, want %q", notified(s), want)
			}
		}
		work := func(deliver string, names ...string) {
			t.Helper()
			for _, name := range names {
				s.Enter("/push name=" + name + " deliver=" + deliver + " look")
			}
			s.Enter("/run")
			for _, name := range names {
				s.See(name + " ✓")
			}
		}
		s.Send("\x1b[I")
		s.Enter("/remind 1m stretch")
		work("wake", "seen")
		s.Wait(2 * time.Minute)
		told()
		s.Enter("/remind 1m drink **water**")
		s.See("due 00:03")
		s.Send("\x1b[O")
		work("hold", "plain")
		work("next", "patient")
		told()
		s.Wait(time.Minute)
		told("fantail · shop;reminder: drink water")
		work("wake", "docs")
		told("fantail · shop;mail from docs: All two files were looked at, nothing is wrong.")
		work("wake", "vet", "lint")
		told("fantail · shop;2 messages: lint, vet")
	})
}

// TestRingSnoozed: when the time of an urgent message comes it calls anew, after a
// restart too.
//
// Spec: M-29.
func TestRingSnoozed(t *testing.T) {
	t.Parallel()
	for name, restart := range map[string]bool{"running": false, "restarted": true} {
		t.Run(name, func(t *testing.T) {
			attend(t, uitest.Options{}, func(t *testing.T, s *uitest.Session) {
				helpers(t, s, "testing-agent")
				letter(t, s, "testing-agent", "main", inbox.Urgent, "test failures")
				s.See("URGENT")
				s.Enter("/inbox snooze 1 30m")
				s.See("Snoozed #1 until")
				s.Gone("URGENT")
				if restart {
					home := s.Home
					s.Stop()
					s = uitest.Start(t, uitest.Options{Home: home})
				}
				s.Send("\x1b[I")
				s.Send("\x1b[O")
				before := bells(s)
				s.Wait(31 * time.Minute)
				s.See("URGENT from testing-agent: test failures")
				if n := bells(s) - before; n != 1 {
					t.Errorf("it rang %d times", n)
				}
			})
		})
	}
}

// TestRingWithoutFocus: a terminal that never tells of its focus is left alone
// while keys come, and rings once none came for a minute.
func TestRingWithoutFocus(t *testing.T) {
	t.Parallel()
	attend(t, uitest.Options{}, func(t *testing.T, s *uitest.Session) {
		helpers(t, s, "testing-agent")
		s.Type("a")
		letter(t, s, "testing-agent", "main", inbox.Urgent, "one")
		s.Wait(30 * time.Second)
		if n := bells(s); n != 0 {
			t.Errorf("it rang %d times beside somebody", n)
		}
		s.Wait(31 * time.Second)
		letter(t, s, "testing-agent", "main", inbox.Urgent, "two")
		s.Wait(2 * time.Second)
		if n := bells(s); n != 1 {
			t.Errorf("it rang %d times", n)
		}
	})
}

// TestDigest: what ended while nobody was there is told once, after a restart and
// after an hour; nothing when nothing happened, or in main's own transcript alone.
func TestDigest(t *testing.T) {
	t.Parallel()
	attend(t, uitest.Options{W: 120, H: 24, Provider: uitest.Script(actor)}, func(t *testing.T, s *uitest.Session) {
		s.NotSee("While you were away")
		s.Enter("/push name=quick after 20s of work")
		s.Enter("/push name=wrong fail not allowed")
		s.Enter("/run")
		s.See("wrong ✗")
		s.Wait(61 * time.Minute)
		s.NotSee("While you were away")
		s.Type("h")
		s.See("While you were away (1h):", "finished    quick · /check to collect the results", "› h")
		s.See("failed      wrong · /inbox to see why, /retry wrong to try again")
		s.See("ran         20s · /timeline to see when", "quick       ━ ", "  20s")
		s.Golden("digest-hour-120")
		s.Type("ello")
		s.Wait(time.Second)
		if n := strings.Count(s.Screen(), "While you were away"); n != 1 {
			t.Errorf("it is told %d times", n)
		}
		s.Press("ctrl+u")
		s.Enter("/push name=long after 10h of work")
		s.Enter("/push name=asks command")
		s.Enter("/run")
		s.See("long ", "asks ● asks")
		home := s.Home
		s.Stop()
		s.Wait(time.Second)
		s = uitest.Start(t, uitest.Options{W: 120, H: 24, Provider: uitest.Script(actor), Home: home})
		s.See("While you were away (1s):", "interrupted ", "/resume ")
		s.Golden("digest-restart-120")
		s.Stop()
		s = uitest.Start(t, uitest.Options{W: 120, H: 24, Provider: uitest.Script(actor), Home: home})
		s.See("long ")
		s.NotSee("While you were away")
		s.Enter("/kill asks")       // the one who did it need not be told
		s.Enter("fail not allowed") // what became of main's own turn stands in its transcript
		s.See("Failed after")
		s.Wait(61 * time.Minute)
		s.Type("h")
		s.NotSee("While you were away")
	})
}

// TestDigestBars: who was away is told how long agents waited for them, and what each did when.
func TestDigestBars(t *testing.T) {
	t.Parallel()
	attend(t, uitest.Options{W: 120, H: 24, Provider: uitest.Script(actor)}, func(t *testing.T, s *uitest.Session) {
		s.Enter("/push name=asks command")
		s.Enter("/push name=quick after 30m of work")
		s.Enter("/run")
		s.See("asks ● asks", "quick ●")
		s.Wait(61 * time.Minute)
		s.Type("h")
		s.See("While you were away (1h):", "waited      for you 1h01m of 1h01m · /timeline to see when")
		s.See("asks        "+strings.Repeat("▒", 24)+"  1h01m, waited 1h01m", "quick       "+strings.Repeat("━", 12)+strings.Repeat(" ", 12)+"  30m")
		s.Golden("digest-bars-120")
	})
	attend(t, uitest.Options{W: 40, H: 24, Provider: uitest.Script(actor)}, func(t *testing.T, s *uitest.Session) {
		s.Enter("/push name=a-long-name-of-an-agent after 30m of work")
		s.Enter("/run")
		s.Wait(61 * time.Minute)
		s.Type("h")
		s.See("ran         30m00s · /timeline to", "a-lon…agent ━━━━━━━━━━━━")
	})
}

// TestDigestFits: however long what happened is called, its command stands whole on its
// line where there is room.
//
// Spec: M-29.
func TestDigestFits(t *testing.T) {
	t.Parallel()
	for _, w := range []int{120, 80, 40} {
		attend(t, uitest.Options{W: w, H: 24}, func(t *testing.T, s *uitest.Session) {
			helpers(t, s, "testing-agent", "review")
			s.Type("x")
			s.Press("ctrl+u")
			s.Wait(time.Second)
			letter(t, s, "testing-agent", "main", inbox.Urgent, "12 of 400 tests fail since the last change of the 日本語 table, see the log for the first of them")
			letter(t, s, "testing-agent", "review", inbox.Urgent, "well?")
			s.Wait(61 * time.Minute)
			s.Type("h")
			s.See("were away (1h):", "/messages next 1")
			s.Golden(fmt.Sprintf("digest-fits-%d", w))
		})
	}
}

// TestCardSleeps: a card that shows moves nothing, and neither does what is gathered
// once it was told.
func TestCardSleeps(t *testing.T) {
	t.Parallel()
	attend(t, uitest.Options{}, func(t *testing.T, s *uitest.Session) {
		urgentCard(t, s)
		s.Wait(10 * time.Second)
		before := len(s.Raw())
		s.Wait(10 * time.Minute)
		if n := len(s.Raw()) - before; n != 0 {
			t.Errorf("the idle screen wrote %d bytes", n)
		}
	})
}
