package uitest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/event"
	"fantail/ui/uitest"
)

// stateOf is the state of the newest agent of that name.
func stateOf(s *uitest.Session, name string) (state event.State) {
	for _, i := range s.Pool.Infos() {
		if i.Name == name {
			state = i.State
		}
	}
	return state
}

// becomes waits until an agent is in that state.
func becomes(s *uitest.Session, name string, want event.State) {
	s.Until(name+" is "+string(want), func() bool { return stateOf(s, name) == want })
}

// TestInteractiveByHand: pushed with /push or by the engine without a model, an agent reports and stays, goes on with
// what it is told, knowing what it did, ends when told to, and its task begins anew.
//
// Spec: C-1, C-3, C-5, C-6, C-7, C-16.
func TestInteractiveByHand(t *testing.T) {
	t.Parallel()
	for name, push := range map[string]string{"the human": "/push name=kid interactive say one", "main": "push kid interactive: say one"} {
		t.Run(name, func(t *testing.T) {
			play(t, uitest.Options{}, func(s *uitest.Session) {
				s.Enter(push)
				s.Until("it is queued", func() bool { return strings.Contains(s.Screen(), "1 queued") })
				s.Enter("/run")
				s.See("kid ◐ idle", "✉1")
				becomes(s, "kid", event.Idle)

				s.Enter("/tell kid now also say two")
				s.See("kid starts a turn with it", "✉2")
				becomes(s, "kid", event.Idle)
				s.Press("alt+2")
				s.See("one", "two", "earlier: say one.", "idle, stays while you look", "m message")
				s.Type("m")
				s.See("tell kid›")
				s.Enter("also say three")
				s.See("three", "earlier: say one, now also say two.")
				becomes(s, "kid", event.Idle)

				s.Enter("/end kid")
				s.See("kid has ended (completed)", "kid ✓", "m continue")
				becomes(s, "kid", event.Done)
				s.Enter("/respawn kid")
				s.Until("it stays again", func() bool {
					return strings.Contains(s.Screen(), "kid·1 ✓") && strings.Contains(s.Screen(), "kid ◐ idle")
				})
				s.Press("alt+1")
				s.Enter("/end nobody")
				s.See("nobody")
				s.Enter("/end main")
				s.See("Main is there to be talked to and has no end")
				s.Enter("/push name=plain wait 60s")
				s.Enter("/run")
				s.Until("it works", func() bool { return stateOf(s, "plain") == event.Running })
				s.Enter("/end plain")
				s.See("lain ends with its turn by itself")
			})
		})
	}
}

// TestInteractiveWithBothEngines: of two agents the plain one finish and the interactive one reports and stays; told more,
// it goes on with what it knows, at a seam if it is at work; left alone it ends after its time, without another word.
//
// Spec: C-1, C-3, C-6, C-20, C-29, E-13.
func TestInteractiveWithBothEngines(t *testing.T) {
	t.Parallel()
	playEach(t, attached, uitest.Options{}, func(s *uitest.Session, tell func(plain, words string), _ bool) {
		tell("/push name=auth interactive idle=60s wait 3s then say one", "/push name=auth interactive idle=60s task 3: one")
		tell("/push name=plain wait 3s then say hi", "/push name=plain task 3: hi")
		s.Enter("/run")
		s.See("auth ◐ idle", "plain ✓", "✉2")
		becomes(s, "auth", event.Idle)
		s.Enter("/tell auth now also say two")
		s.See("✉3")
		becomes(s, "auth", event.Idle)
		s.Press("alt+2")
		s.See("two", "beside")
		s.Press("alt+1")
		tell("/tell auth wait 20s then say three", "/tell auth task 20: three")
		becomes(s, "auth", event.Running)
		s.Wait(5 * time.Second)
		s.Enter("/tell auth now also say four")
		s.See("auth reads it at its next step")
		becomes(s, "auth", event.Idle)
		s.See("✉4")
		s.Press("alt+2")
		s.See("three", "four")
		s.Press("alt+1")
		s.Wait(59 * time.Second)
		s.See("auth ◐")
		s.Wait(2 * time.Second)
		s.See("auth ✓", "✉4")
		becomes(s, "auth", event.Done)
	})
}

// TestInteractiveTimeOnScreen: the time counts down in its tab, stands still while the tab is looked at, is whole
// afterwards, and ends the agent as done, of which who waits in main's tab sees no more mail.
//
// Spec: C-19, C-20.
func TestInteractiveTimeOnScreen(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{}, func(s *uitest.Session) {
		s.Enter("/push name=kid interactive idle=7s say one")
		s.See("closes after 7s without input")
		s.Enter("/run")
		about := func(want int) {
			t.Helper()
			s.Wait(500 * time.Millisecond) // between two ticks
			got := -1
			for left := range 9 {
				if strings.Contains(s.Screen(), fmt.Sprintf("kid ◐ idle 0:%02d", left)) {
					got = left
				}
			}
			if got != want && got != want-1 {
				t.Errorf("%d seconds are left, want about %d:\n%s", got, want, s.Screen())
			}
		}
		s.See("kid ◐ idle")
		about(7)
		s.Wait(3500 * time.Millisecond)
		about(3)
		s.Press("alt+2")
		s.See("idle, stays while you look")
		s.Wait(time.Minute)
		s.See("kid ◐ idle\n", "idle, stays while you look")
		s.Press("alt+1")
		about(7)
		s.Wait(3500 * time.Millisecond)
		about(3)
		s.See("kid ✓", "1 pending")
		becomes(s, "kid", event.Done)
	})
}

// TestIdleSleeps: a screen moves once a second while an agent's time runs in sight, and not at all otherwise.
//
// Spec: C-15.
func TestIdleSleeps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, idle string
		then       func(s *uitest.Session)
		still      bool
	}{
		{"its time runs", "1h", func(*uitest.Session) {}, false},
		{"it stays for ever", "0", func(*uitest.Session) {}, true},
		{"it is looked at", "1h", func(s *uitest.Session) { s.Press("alt+2") }, true},
		{"a program is attached", "1h", func(s *uitest.Session) { attach(s, "kid") }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			play(t, uitest.Options{}, func(s *uitest.Session) {
				s.Enter("/push name=kid interactive idle=" + c.idle + " say one")
				s.Enter("/run")
				s.See("kid ◐ idle")
				becomes(s, "kid", event.Idle)
				c.then(s)
				s.Wait(61 * time.Second) // ages to the minute and the line of the moment have gone
				before := len(s.Raw())
				s.Wait(20 * time.Second)
				switch n := len(s.Raw()) - before; {
				case c.still && n != 0:
					t.Errorf("the screen wrote %d bytes", n)
				case !c.still && n == 0:
					t.Error("nothing moves")
				}
			})
		})
	}
}

// TestDigestKnowsIdle: who comes back is told who awaits them, also if nothing else happened.
func TestDigestKnowsIdle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := uitest.Start(t, uitest.Options{})
		s.Enter("/push name=kid interactive idle=0 say one")
		s.Enter("/run")
		s.See("kid ◐ idle")
		becomes(s, "kid", event.Idle)
		s.Wait(2 * time.Second)
		s.Stop()
		s = uitest.Start(t, uitest.Options{Home: s.Home})
		s.See("kid ◐ idle")
		s.Wait(61 * time.Minute)
		s.Type("h")
		s.Wait(time.Second)
		if screen := s.Screen(); strings.Contains(screen, "While you were away (1h ago") {
			t.Errorf("nothing happened in that hour:\n%s", screen)
		}
		s.Press("ctrl+u")
		if err := s.Pool.Tell(context.Background(), "kid", "wait 10m then say two"); err != nil {
			t.Fatal(err)
		}
		s.Wait(61 * time.Minute)
		s.Type("h")
		s.See("While you were away", "idle        kid · /tell kid TEXT to continue, /end kid to end it")
	})
}

// TestQuitLeavesIdle: an idle agent is no work that quitting would end; the next start finds it.
//
// Spec: C-16.
func TestQuitLeavesIdle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := uitest.Start(t, uitest.Options{})
		s.Enter("/push name=kid interactive idle=0 say one")
		s.Enter("/run")
		s.See("kid ◐ idle")
		becomes(s, "kid", event.Idle)
		s.Enter("/quit")
		s.Left()
		s.Stop()
		s = uitest.Start(t, uitest.Options{Home: s.Home})
		s.See("kid ◐ idle")
		s.Enter("/tell kid now also say two")
		s.See("✉2")
		s.Press("alt+2")
		s.See("two", "earlier: say one.")
	})
}
