package uitest_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"fantail/agents/event"
	"fantail/agents/mail"
	"fantail/inbox"
	"fantail/tools/permission"
	"fantail/ui/uitest"
)

// The full-screen panels of an inbox and of a queue.

// queued is a queue with tasks in every state, the first of them running.
func queued(s *uitest.Session) {
	for _, p := range [][2]string{
		{"tests", "look"}, {"vet", "fail this is not allowed"}, {"slow", "after 60s of work"}, {"docs", "after=slow look at the docs"}, {"lint", "look at the linter"},
	} {
		s.Enter("/push name=" + p[0] + " " + p[1])
		s.See("Queued " + p[0])
	}
	s.Enter("/run 1")
	s.See("vet ✗", "slow ●")
}

// TestQueuePanel: what can be done with a queue from its panel.
//
// Spec: Q-59.
func TestQueuePanel(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		s.Press("f4")
		s.See("The queue is empty")
		s.Press("esc")
		queued(s)
		s.Type("half a draft")
		s.Press("f4")
		s.See("[All 5] · Queued 2 · Running 1 · Finished 2", "after slow look at the docs", "after   slow")
		s.Golden("panel-queue-120")
		s.Press("down")
		s.See("so many of its queue run as /run 1 allows")
		s.Type("K")
		s.See("lint is now number 1 in the queue")
		s.Type("e")
		s.See("lint› look at the linter")
		s.Type(" again")
		s.Press("enter")
		s.See("Changed the prompt of lint", "look at the linter again")
		s.Type("x")
		s.See("Remove lint?")
		s.Press("esc")
		s.See("[All 5]")
		s.Type("xr")
		s.See("Removed lint", "[All 4] · Queued 1 · Running 1 · Finished 2")
		s.Type("2")
		s.See("[Running 1]", "thinking")
		s.Type("x")
		s.See("End slow?")
		s.Type("c")
		s.Gone("End slow?")
		s.Type("3")
		s.Gone("after 60s")
		s.See("[Finished 2]", "not allowed")
		s.Type("/look")
		s.Gone("this is not allowed")
		s.Press("enter")
		s.See("All two files")
		s.Type("r")
		s.See("Queued tests again")
		s.Press("esc")
		s.Type("0")
		s.Press("esc")
		s.See("half a draft")
		s.Press("ctrl+c", "f4")
		s.See("[All 5]", "look at the docs")
		s.Type("3")
		s.Gone("look at the docs") // its rows are read: there is one to go to
		s.See("[Finished 2]", "not allowed")
		s.Press("enter")
		s.See("[2 Transcript]")
	})
}

// TestQueuePanelAsks: a task whose agent asks stands out, and no longer once answered.
//
// Spec: Q-59.
func TestQueuePanelAsks(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		s.Enter("/push name=asks command")
		s.Enter("/run")
		s.See("asks ● asks")
		s.Press("f4")
		s.See("● asks", "Running 1")
		s.Press("alt+a")
		s.See("gofmt -l .")
		s.Wait(time.Second)
		s.Press("3", "enter", "enter")
		s.See("✓ asks", "Finished 1")
	})
}

// TestQueuePanelFollows: what changes shows by itself, at every size.
func TestQueuePanelFollows(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		queued(s)
		s.Press("f4")
		s.See("Running 1 · Finished 2")
		s.Wait(time.Minute)
		s.See("Queued 0 · Running 0 · Finished 5")
		for _, size := range [][2]int{{80, 24}, {40, 12}} {
			s.Resize(size[0], size[1])
			s.Golden(fmt.Sprintf("panel-queue-%d", size[0]))
		}
	})
}

// letters are an inbox with a failure, a result, mail of a helper in a thread, and
// something urgent. It returns the helper.
func letters(t *testing.T, s *uitest.Session) event.Info {
	t.Helper()
	auth, err := s.Pool.NewHelper(context.Background(), "auth", "")
	if err != nil {
		t.Fatal(err)
	}
	s.See("auth ○")
	two(s)
	s.Enter("/agent main")
	write(t, s, auth.ID, mail.Letter{Body: "Use **PKCE** for the login.\nThe token lives in the keyring.", Tags: []string{"oauth"}})
	write(t, s, auth.ID, mail.Letter{Body: "the build is red", Priority: inbox.Urgent, Tags: []string{"ci"}})
	s.See("4 pending]")
	return auth
}

// write sends main a letter.
func write(t *testing.T, s *uitest.Session, from int64, l mail.Letter) int64 {
	t.Helper()
	l.To = []string{"main"}
	sent, err := s.Pool.Letters.Mail(context.Background(), from, l)
	if err != nil {
		t.Fatal(err)
	}
	return sent[0].ID
}

// TestInboxPanel: what waits, by lanes; taking one starts a turn and leaves the
// panel, the focus and the draft as they are.
//
// Spec: M-35, M-37, N-23.
func TestInboxPanel(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		s.Enter("/inbox")
		s.See("[All 0] · Needs you 0 · Failed 0 · Done 0 · FYI 0", "No mail. Results of /push tasks arrive here.")
		s.Press("esc")
		auth := letters(t, s)
		s.Type("half a draft")
		s.Press("f3")
		s.See("Inbox · main", "[All 4] · Needs you 1 · Failed 1 · Done 1 · FYI 1", "urgent [ci] the build is red", "auth · urgent mail · #4", "it waits")
		s.Golden("panel-inbox-120")
		s.Type("4")
		s.See("[FYI 1]", "Use PKCE for the login.", "[oauth]", "The token lives in the keyring.")
		s.Press("enter")
		s.See("main starts a turn with #3", "[FYI 0]", "Nothing here. 0 to show all.")
		write(t, s, auth.ID, mail.Letter{Body: "one more"})
		s.See("[FYI 1]", "one more")
		s.Press("esc")
		s.See("half a draft", "✉ from auth · ")
	})
}

// TestInboxPanelFrames: at every size, and with ASCII alone.
func TestInboxPanelFrames(t *testing.T) {
	t.Parallel()
	for _, o := range []uitest.Options{{W: 80, H: 24}, {W: 40, H: 12}, {W: 120, H: 36, Environ: []string{"LANG=C", "NO_COLOR=1"}}} {
		name := fmt.Sprintf("panel-inbox-%d", o.W)
		if o.Environ != nil {
			name = "panel-inbox-ascii"
		}
		o.Provider = uitest.Script(actor)
		t.Run(name, func(t *testing.T) {
			play(t, o, func(s *uitest.Session) {
				auth, err := s.Pool.NewHelper(context.Background(), "auth", "")
				if err != nil {
					t.Fatal(err)
				}
				s.Enter("/push name=tests look")
				s.See("Queued tests")
				s.Enter("/push name=vet fail this is not allowed")
				s.See("Queued vet")
				s.Enter("/run")
				s.See("2 pending")
				s.Enter("/agent main")
				write(t, s, auth.ID, mail.Letter{Body: "Use **PKCE** for the login.\nThe token lives in the keyring.", Tags: []string{"oauth"}})
				write(t, s, auth.ID, mail.Letter{Body: "the build is red", Priority: inbox.Urgent, Tags: []string{"ci"}})
				s.Press("f3")
				s.See("[All 4]")
				s.Press("down")
				s.Type("!")
				s.See("Pinned")
				s.Golden(name)
				if o.W == 40 {
					s.Press("enter")
					s.See("refused")
					s.Golden(name + "-peek")
					s.Press("enter")
					s.See("main starts a turn")
				}
			})
		})
	}
}

// TestInboxPanelThreads: a reply goes to the sender; what comes back is folded with
// what it answers, and unfolds.
//
// Spec: M-36.
func TestInboxPanelThreads(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		auth := letters(t, s)
		s.Press("f3")
		s.See("[All 4]")
		s.Press("down", "down", "down")
		s.See("keyring")
		s.Type("r")
		s.See("reply to auth #3›")
		s.Type("which flow?")
		s.Press("enter")
		s.See("#5 to auth", "1 of 2, started by auth")
		got, err := s.Pool.Letters.Inbox(context.Background(), auth.ID)
		if err != nil || len(got) != 1 || got[0].InReplyTo != 3 || got[0].Body != "which flow?" {
			t.Fatalf("auth got %+v, %v", got, err)
		}
		if _, err := s.Pool.Letters.Reply(context.Background(), auth.ID, 5, "the one with a code"); err != nil {
			t.Fatal(err)
		}
		s.See("[All 5]", "▸ 2")
		if strings.Contains(list(s), "#3 ") {
			t.Errorf("the thread is not folded:\n%s", s.Screen())
		}
		s.Type("Gl")
		s.See("▾ 2", "└ auth", "└ main")
		s.Press("down", "down")
		s.See("keyring")
		s.Press("left")
		s.See("▸ 2", "the one with a code")
		s.Type("m")
		s.See("Muted the thread of #6")
		s.Type("m")
		s.See("Unmuted the thread of #6")
	})
}

// list is the left half of the screen.
func list(s *uitest.Session) string {
	var b strings.Builder
	for _, l := range strings.Split(s.Screen(), "\n") {
		b.WriteString(string([]rune(l)[:min(len([]rune(l)), 57)]) + "\n")
	}
	return b.String()
}

// TestInboxPanelSetsAside: what is archived, snoozed or dismissed is taken back by u,
// and a snooze finish by itself.
//
// Spec: R-22.
func TestInboxPanelSetsAside(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		letters(t, s)
		s.Press("f3")
		s.See("[All 4]")
		s.Type("a")
		s.See("Archived #4 · u undo", "[All 3]")
		s.Press("down", "down")
		s.Type("x")
		s.See("Dismissed #3")
		s.Type("s")
		s.See("snooze auth #3 until")
		s.Type("yesterday")
		s.Press("enter")
		s.See("\"yesterday\" is not a time in the future", "› yesterday")
		s.Press("ctrl+u")
		s.Type("30m")
		s.Press("enter")
		s.See("Snoozed until 00:30: #3", "[All 2]")
		s.Type("v")
		s.See("Inbox · main · snoozed", "PKCE")
		s.Type("vvv")
		s.See("[All 2]")
		s.Type("u")
		s.See("Restored #3", "[All 3]")
		s.Type("u")
		s.See("No longer dismissed: #3")
		s.Type("u")
		s.See("Restored #4", "[All 4]")
		s.Type("g")
		s.See("auth · urgent mail · #4")
		s.Type("s")
		s.Type("30m")
		s.Press("enter")
		s.See("[All 3]")
		s.Wait(31 * time.Minute)
		s.See("[All 4]", "urgent [ci] the build is red")
		s.Type("g!")
		s.See("Pinned #4")
		s.Type(" s")
		s.See("snooze auth #4 until", "enter confirm · esc back")
		s.Press("esc")
		s.Type("u")
		s.See("Unpinned #4")
		s.Type(" s")
		s.See("snooze 2 messages until")
		s.Type("1h")
		s.Press("enter")
		s.See("[All 2]")
		s.Type("u")
		s.See("Restored ", "[All 4]")
		s.Type("/")
		s.Type("keyr")
		s.Gone("[ci] the build is red")
		s.See("Use PKCE", "/ keyr")
		s.Press("esc")
		s.See("[ci] the build is red")
	})
}

// TestInboxPanelFires: a turn with exactly those that were picked; the foot tells
// what it costs.
//
// Spec: N-24, N-26.
func TestInboxPanelFires(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		letters(t, s)
		s.Press("f3")
		s.See("[All 4]", "~")
		s.Type(" ")
		s.See("■✉")
		s.Press("space")
		s.See("2 messages, ~", "enter take 2 · space select")
		s.Press("enter")
		s.See("main starts a turn with 2 messages", "[All 2]")
		s.Press("esc")
		s.See("✉ from auth · ", " · urgent mail", "✉ from vet · ")
		if strings.Contains(s.Screen(), "✉ from tests") {
			t.Errorf("what was not picked was taken:\n%s", s.Screen())
		}
	})
}

// TestInboxPanelShowsTheWork: d shows what the sender changed, and the message again.
func TestInboxPanelShowsTheWork(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor), Files: files, Mode: permission.AcceptEdits}, func(s *uitest.Session) {
		s.Enter("/push name=greet edit the greeting")
		s.Enter("/run")
		s.See("greet ✓")
		s.Press("f3")
		s.See("Renamed the greeting.")
		s.Type("d")
		s.See("greet's work for #1", "+", "Good morning, ")
		s.Type("d")
		s.Gone("Good morning, ")
		s.See("Renamed the greeting.")
		s.Type("w")
		s.See("why #1 waits")
		s.Type("w?")
		s.See("take, start a turn", "unfold, fold thread")
		s.Press("esc")
		s.See("Renamed the greeting.")
		s.Press("f4")
		s.See("Queue · main", "[All 1]")
		s.Press("f3")
		s.See("Inbox · main")
		s.Press("f3")
		s.Gone("Inbox · main")
	})
}

// TestInboxPanelScrolls: of very many messages a window is held; the bar reaches
// both ends, and what arrives does not move it.
func TestInboxPanelScrolls(t *testing.T) {
	t.Parallel()
	const n = 1500
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		auth, err := s.Pool.NewHelper(context.Background(), "auth", "")
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				for j := range n / 50 {
					if _, err := s.Pool.Letters.Send(context.Background(), auth.ID, "main", fmt.Sprintf("letter %d of %d", j, i), ""); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		s.Press("f3")
		s.See("[All 1,500]", "#1500 ")
		s.Type("G")
		s.See("#1 ", "mail · #1 ·")
		s.Type("g")
		s.See("#1500 ", "mail · #1500 ·")
		for range 40 {
			s.Press("ctrl+d")
		}
		s.See("mail · #340 ·")
		write(t, s, auth.ID, mail.Letter{Body: "the newest"})
		s.See("[All 1,501]", "mail · #340 ·")
		for range 40 {
			s.Press("ctrl+u")
		}
		s.See("mail · #1500 ·")
		s.Press("up")
		s.See("the newest")
	})
}

// TestInboxPanelAnswers: what a background agent asks is a row; Enter opens the
// question over the panel, which takes no key in its first moments, and the answer
// lets the agent go on.
func TestInboxPanelAnswers(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor), Files: files}, func(s *uitest.Session) {
		s.Enter("/push name=fmt command")
		s.Enter("/run")
		s.See("fmt ● asks")
		s.Press("f3")
		s.See("[All 1] · Needs you 1", "? #1 fmt", "gofmt -l .")
		s.Golden("panel-inbox-asks-120")
		s.See("enter answer · ")
		s.Type("a")
		s.See("an agent waits for your answer")
		s.Press("space")
		s.See("Press enter to answer it")
		s.Press("f4", "alt+a")
		s.See("Queue · main", "fmt wants to run a command", "Yes, once")
		s.Wait(time.Second)
		s.Press("esc", "f3")
		s.See("Inbox · main", "enter answer · ")
		s.Press("enter")
		s.See("fmt wants to run a command", "Yes, once")
		s.Type("y")
		s.NotSee("fmt ✓")
		s.Wait(time.Second)
		s.Type("y") // no letter answers over a panel
		s.NotSee("fmt ✓")
		s.Press("1", "enter")
		s.See("fmt ✓", "Inbox · main", "Needs you 0", "Formatted.")
		s.Press("alt+a")
		s.See("No open questions", "Inbox · main")
	})
}

// TestInboxPanelOfAnother: the inbox of any agent, from any tab.
func TestInboxPanelOfAnother(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		auth, err := s.Pool.NewHelper(context.Background(), "auth", "")
		if err != nil {
			t.Fatal(err)
		}
		s.See("auth ○")
		if _, err := s.Pool.Letters.Send(context.Background(), auth.ID, "auth", "a note to myself", ""); err != nil {
			t.Fatal(err)
		}
		s.Enter("/inbox auth")
		s.See("Inbox · auth", "a note to myself", "[Agent: main")
		s.Press("enter")
		s.See("auth starts a turn with #1", "[All 0]", "[Agent: main")
		s.Press("f3")
		s.Enter("/inbox nobody")
		s.See("nobody")
		s.Gone("Inbox ·")
	})
}
