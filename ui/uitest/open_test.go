package uitest_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/ui/uitest"
)

// TestHelpersMailEachOther: two helpers, opened, named and talked to in their own
// tabs, write to each other; commands act for the tab they are typed in, but for
// a background agent's, where they act for main.
// Spec: R-24.
func TestHelpersMailEachOther(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{}, func(s *uitest.Session) {
		s.Enter("/agent new research")
		s.See("[Agent: research]", "›research ○", "research · helper · builtin")
		s.Enter("/agent new oauth-impl")
		s.See("[Agent: oauth-impl]", "main ○ │ 2 ›research ○ │ 3 ›oauth-impl ○")
		s.Enter("send research: implementation ready for testing")
		s.See("Message #1 is in the inbox of research")
		s.Enter("/agent research")
		s.See("[Agent: research | 1 pending]")
		s.Enter("/messages next")
		s.See("implementation ready for testing", "[Agent: research]")
		s.Enter(`/send oauth-impl "tests are red"`)
		s.See("Message #2 is in the inbox of oauth-impl", "›oauth-impl ○ ")
		s.Press("alt+tab")
		s.See("[Agent: oauth-impl | 1 pending]")
		s.Enter("/check from=research")
		s.See("tests are red", "[Agent: oauth-impl]")
		s.NotSee("pending")
		s.Enter("/agent main")
		s.See("[Agent: main]")
		s.NotSee("tests are red")
		s.Enter("/agent list")
		s.See("• main [main] - Idle", "• research [helper] - Idle", "• oauth-impl [helper] - Idle")
	})
}

// TestHelperPushesAndChecks: what is pushed in a helper's tab stands in its
// queue and reports to its inbox, and its status line counts it.
func TestHelperPushesAndChecks(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{}, func(s *uitest.Session) {
		s.Enter("/agent new oauth")
		s.See("[Agent: oauth]")
		s.Enter("/push name=kid say kid was here")
		s.See("Queued kid")
		s.Enter("/run")
		s.See("kid ✓", "[Agent: oauth | 📨 1 pending]", "›oauth ○ ✉1")
		s.Press("alt+3")
		s.Type("/")
		s.See("as main›")
		s.Type("queue")
		s.Press("enter")
		s.See("The queue is empty.")
		s.Enter("/agent oauth")
		s.Enter("/queue")
		s.See("Finished:", "  - kid (completed")
		s.Enter("/check")
		s.See("kid was here", "[Agent: oauth]")
		s.NotSee("pending")
	})
}

// TestHelperRenamesAndCloses: a rename says what becomes of from=, and closing a
// helper that is not finished asks.
func TestHelperRenamesAndCloses(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{}, func(s *uitest.Session) {
		s.Enter("/agent new oauth")
		s.See("[Agent: oauth]")
		s.Enter("/agent rename login")
		s.See("oauth is now login.", "from=oauth", "[Agent: login]")
		s.Enter("/push name=kid say kid was here")
		s.See("Queued kid")
		s.Enter("/agent close")
		s.See("Close login?", "login is not finished: 1 task is queued.")
		s.Golden("helper-close-120")
		s.Type("n")
		s.Gone("Close login?")
		s.See("[Agent: login]")
		s.Enter("wait 1h")
		s.See("›login ●")
		s.Enter("/agent close login")
		s.See("Close login?", "it is at work")
		s.Type("y")
		s.See("[Agent: main]")
		s.Gone("›login")
		s.Enter("/queue")
		s.See("Queued:", "  - kid")
		s.Enter("/agent login")
		s.See("There is no agent \"login\". /agent to list them, /agent new login to open a helper")
	})
}

// TestHelperOverARestart: a helper is there again with its transcript, its unread
// mail and its queue.
func TestHelperOverARestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := uitest.Start(t, uitest.Options{})
		s.Enter("/agent new oauth")
		s.See("[Agent: oauth]")
		s.Enter("say remember the lighthouse")
		s.See("1 step")
		s.Enter("/push name=later say later")
		s.See("Queued later")
		s.Enter("/agent main")
		s.See("[Agent: main]")
		s.Enter("/send oauth unread words")
		s.See("›oauth ○ ✉1")
		home := s.Home
		s.Enter("/quit")
		s.Left()
		s.Stop()

		s = uitest.Start(t, uitest.Options{Home: home})
		s.See("main ○ │ 2 ›oauth ○ ✉1")
		s.Press("alt+2")
		s.See("remember the lighthouse", "[Agent: oauth | 1 pending]")
		s.Press("up")
		s.Wait(time.Second)
		if !strings.Contains(s.Screen(), "› /send") { // the command that ended it is kept, if there was time
			s.Press("up")
		}
		s.See("› /send oauth unread words")
		s.Press("ctrl+c")
		s.Enter("/queue")
		s.See("  - later")
		s.Enter("/check")
		s.See("✉ from main · ", "unread words")
		if tabs, _, _ := strings.Cut(s.Screen(), "\n"); strings.Contains(tabs, "✉") {
			t.Errorf("a tab still shows mail: %s", tabs)
		}
	})
}

func TestHelperFrames(t *testing.T) {
	t.Parallel()
	for _, w := range []int{120, 40} {
		play(t, uitest.Options{W: w, H: 24}, func(s *uitest.Session) {
			s.Enter("/agent new oauth")
			s.See("Agent: oauth")
			s.Golden(map[int]string{120: "helper-120", 40: "helper-40"}[w])
			s.Enter("/agent list")
			s.See("[helper] - Idle")
			s.Golden(map[int]string{120: "helper-list-120", 40: "helper-list-40"}[w])
		})
	}
}

// TestAgentIsCompleted: what /agent offers says what it does, and behind a verb
// stands only what the verb takes.
func TestAgentIsCompleted(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{}, func(s *uitest.Session) {
		s.Enter("/agent new api")
		s.See("[Agent: api]")
		s.Type("/agent ")
		s.See("rename", "give a helper another name", "main", "go to its tab")
		s.Golden("agent-complete-120")
		s.Type("close ")
		s.See("› /agent close")
		s.NotSee("rename", "main's", "▸ main")
		s.Press("tab")
		s.See("› /agent close api")
	})
}
