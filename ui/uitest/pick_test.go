package uitest_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"fantail/ui/uitest"
)

// A list to pick from begins at what holds now; the switcher at the tab before.
func TestListsBeginWhereTheyStand(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		two(s)
		s.Enter("/theme light")
		s.Enter("/theme")
		s.See("Theme (now light)", "▸ light")
		s.Press("esc")
		s.Press("shift+tab")
		s.Enter("/mode")
		s.See("Mode (now accept-edits)", "▸ accept-edits")
		s.Press("down", "enter")
		s.Until("the mode is plan", func() bool { return strings.HasSuffix(s.Status(), "plan") })
		s.Press("alt+3", "alt+2")
		s.See("[Agent: tests")
		s.Press("ctrl+space")
		s.See("▸ vet")
		s.Press("enter")
		s.See("[Agent: vet")
	})
}

func TestCloseAllEnded(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		s.Enter("/close --all")
		s.See("No agent has ended")
		s.Press("ctrl+c")
		two(s)
		s.Enter("/push name=late after 30s")
		s.Enter("/run")
		s.See("late ●")
		s.Enter("/close --all")
		s.Gone("tests ✓", "vet ✗")
		s.See("late ●", "2 pending")
	})
}

// A click on the rule below goes to what is new.
func TestClickGoesToWhatIsNew(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{H: 24, Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		s.Enter("long")
		ready(s)
		s.Enter("/push name=tests look")
		s.Enter("/run")
		s.See("✉1")
		s.Enter("collect")
		s.Send("\x1b[5~\x1b[5~") // twice page up, before it is answered
		s.See("new ↓")
		s.Send("\x1b[<0;5;21M") // the rule above the prompt box
		s.Gone("new ↓")
	})
}

// Up brings back what was typed before the restart, commands too.
func TestHistoryOutlivesTheProgram(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := uitest.Start(t, uitest.Options{Provider: uitest.Script(actor)})
		s.Enter("answer")
		ready(s)
		s.Enter("/inbox --list")
		s.See("No messages.")
		s.Stop()
		again := uitest.Start(t, uitest.Options{Provider: uitest.Script(actor), Home: s.Home})
		again.Press("up")
		again.See("› /inbox")
		again.Press("up")
		again.See("› answer")
		again.Press("up")
		again.See("› answer")
	})
}
