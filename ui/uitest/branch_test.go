package uitest_test

import (
	"testing"

	"fantail/ui/uitest"
)

// TestForkGoesOnInBoth: a conversation is branched behind an earlier turn, picked
// from a list, and goes on in both tabs.
// Spec: N-12.
func TestForkGoesOnInBoth(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{}, func(s *uitest.Session) {
		s.Enter("/fork")
		s.See("No turn of main has ended yet")
		s.Press("ctrl+c")
		for _, word := range []string{"lighthouse", "harbour", "storm"} {
			s.Enter("say " + word)
			s.See("▌ say " + word)
			s.Wait(1e9)
		}
		s.Enter("/fork name=calm")
		s.See("Branch from main after turn", "3  say storm", "1  say lighthouse")
		s.Golden("fork-pick-120")
		s.Press("down", "enter")
		s.See("[Agent: calm]", "harbour", "Branched from main behind turn 2.")
		s.NotSee("storm")
		s.Enter("say sunshine")
		s.See("▌ say sunshine", "main ○ │ 2 ›calm ○")
		s.Golden("fork-120")
		s.Enter("/agent main")
		s.See("[Agent: main]", "storm")
		s.NotSee("sunshine")
		s.Enter("say thunder")
		s.See("▌ say thunder")
		s.Enter("/fork 1")
		s.See("[Agent: main-2]", "lighthouse", "behind turn 1")
		s.NotSee("harbour", "thunder")
	})
}

// TestForkOfABackgroundAgent: in its tab /fork and /context are about it, not about
// main, and the branch can be talked to.
// Spec: N-12.
func TestForkOfABackgroundAgent(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{}, func(s *uitest.Session) {
		s.Enter("/push name=scout say the harbour is empty")
		s.Enter("/run")
		s.See("scout ✓")
		s.Enter("/agent scout")
		s.See("m continue")
		s.Press("/")
		s.Enter("context")
		s.See("Context of scout")
		s.Press("/")
		s.Enter("fork")
		s.See("Branch from scout after turn", "1  say the harbour is")
		s.Press("enter")
		s.See("[Agent: scout-2]", "the harbour is empty", "Branched from scout behind turn 1.")
		s.Enter("say and the storm?")
		s.See("▌ say and the storm?")
	})
}
