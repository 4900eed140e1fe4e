package uitest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"fantail/agents/llm"
	"fantail/ui/uitest"
)

// Mail as a human handles it, on the screen.

// TestFireOnTheScreen: three results enter one turn with the text; an empty inbox
// is refused and gives the text back.
//
// Spec: N-23, N-24, N-26, N-33, R-18.
func TestFireOnTheScreen(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor), Cap: 1}, func(s *uitest.Session) {
		s.Enter("/fire what now?")
		s.See("The inbox is empty, so there is nothing to fire", "› /fire what now?")
		s.Press("ctrl+c")
		s.Enter("/push name=tests look")
		s.Enter("/push name=vet fail this is not allowed")
		s.Enter("/run")
		s.See("vet ✗", "[Agent: main | 📨 2 pending]")
		s.Enter("after 5s of work")
		s.See("main ●")
		s.Enter("/fire what now?")
		s.See("It fires when this turn ends; nothing is taken before", "/fire what now? · queued until this turn ends")
		s.Press("up")
		s.See("› /fire what now?")
		s.Gone("queued until this turn ends")
		s.Press("enter")
		s.See("/fire what now? · queued until this turn ends", "[Agent: main | 2 pending]")
		s.Wait(6 * time.Second)
		s.See("Finished 5s of work.", "✉ from tests · ", " · completed", "✉ from vet · ", " · failed", "▌ what now?", "You said: what now?", "[Agent: main]")
		s.Golden("fire-120")
		s.Enter("/fire --wait #1")
		s.See("--wait fires all messages; leave the numbers out")
	})
}

// TestUndoOnTheScreen: the cards vanish, live and after a restart.
//
// Spec.
func TestUndoOnTheScreen(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		s.Enter("/inbox undo")
		s.See("Undo: no messages were taken yet")
		s.Press("ctrl+c")
		s.Enter("/send main --priority=urgent --tag=ci look at #12")
		s.See("Message #1 is in the inbox of main", "urgent")
		s.Enter("/check --peek")
		s.See("Message #1 from main", "urgent, tags: ci", "look at #12", "1 pending")
		s.Enter("/check")
		s.See("✉ from main · #1 · just now · urgent mail [ci]")
		s.Gone("pending]")
		s.Enter("/inbox undo")
		s.See("1 message went back into the inbox.", "1 pending]")
		s.Gone("✉ from main · ")
		s.Enter("/messages why 1")
		s.See("deliver=next: it waits and joins the conversation with your next prompt")
		s.Golden("undo-120")
		s.Enter("answer me")
		s.See("What I found", "0s · 1 step")
		s.Press("pgup")
		s.See("✉ from main · ")
		s.Press("end")
		s.Enter("/inbox undo")
		s.See("entered a turn, and its request carried them")
		s.Press("ctrl+c")
		s.Enter("/inbox --all")
		s.See("  - from: main (received ", "#1 · urgent mail [ci] · look at #12 · entered a turn")
	})
}

// TestDigestOfTheCollected: several messages are one line each. Enter opens the first one, u twice puts them back, and
// a prompt that begins with u is a prompt.
func TestDigestOfTheCollected(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		s.Enter("/send main The build is green. It took long.")
		s.Enter("/send main Phase 1 is complete")
		s.Press("ctrl+l")
		s.See("2 pending]")
		s.Press("alt+c")
		s.See("▌ 2 messages collected", "✉ main  The build is green.", "✉ main  Phase 1 is complete", "enter open · u undo", "[Agent: main]")
		s.NotSee("✉ from")
		s.Type("update")
		s.See("› update")
		s.NotSee("u undo", "Press u again")
		s.Press("ctrl+c", "enter")
		s.See("─ #1 from main ─", "It took long.")
		s.Press("esc", "down", "enter")
		s.See("─ #2 from main ─")
		s.Press("esc", "esc", "ctrl+o")
		s.See("2 messages collected", "✉ from main · #1", "It took long.", "✉ from main · #2")
		s.Press("ctrl+o")
		s.Gone("✉ from")
		s.Press("u")
		s.See("Press u again to put 2 messages back", "› u")
		s.Press("u")
		s.See("2 messages went back into the inbox.", "2 pending]")
		s.NotSee("collected", "› u ")
		s.Press("alt+c")
		s.See("2 messages collected")
		s.Enter("answer me")
		s.See("What I found")
		s.NotSee("u undo")
		s.Press("u", "u")
		s.See("› uu")
	})
}

// TestMessagesWaitOnTheScreen: one turn each; Esc stops what is left.
//
// Spec: M-38, R-45.
func TestMessagesWaitOnTheScreen(t *testing.T) {
	t.Parallel()
	provider := uitest.Script(func(ctx context.Context, _ *llm.Request, say func(llm.Part) bool) error {
		uitest.Pause(ctx, 3*time.Second)
		say(llm.Text{Text: "Handled."})
		return nil
	})
	play(t, uitest.Options{Provider: provider}, func(s *uitest.Session) {
		for _, text := range []string{"one", "two", "three"} {
			s.Enter("/send main " + text)
		}
		s.See("3 pending]")
		s.Enter("/messages wait")
		s.See("one turn for each message · esc stop", "2 pending]")
		s.Wait(3 * time.Second)
		s.See("1 pending]")
		s.Press("esc")
		s.See("Stopped after 2 messages. The rest is in the inbox", "1 pending]")
		s.Enter("/messages wait")
		s.Wait(4 * time.Second)
		s.See("Handled 1 message", "[Agent: main]")
	})
}

// TestWhatACommandSays: it stands below the messages it speaks of.
//
// Spec: R-22.
func TestWhatACommandSays(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		for _, text := range []string{"one", "two", "three", "four"} {
			s.Enter("/send main letter " + text)
		}
		s.See("4 pending]")
		for i, left := range []string{"3 more: /check again", "2 more: /check again", "1 more: /check again"} {
			s.Enter("/check --one")
			s.See(left)
			card, said := strings.LastIndex(s.Screen(), "✉ from main"), strings.Index(s.Screen(), left)
			if n := strings.Count(s.Screen()[:said], "✉ from main"); card > said || n != i+1 {
				t.Errorf("%q stands below %d of %d cards:\n%s", left, n, i+1, s.Screen())
			}
		}
	})
}

// TestShowOnly: what the human takes for their own eyes stands in the transcript,
// is taken, never reaches the model, and can be put back.
//
// Spec.
func TestShowOnly(t *testing.T) {
	t.Parallel()
	var sent []string
	provider := uitest.Script(func(_ context.Context, req *llm.Request, say func(llm.Part) bool) error {
		sent = append(sent, fmt.Sprint(req.Messages))
		say(llm.Text{Text: "Heard."})
		return nil
	})
	play(t, uitest.Options{Provider: provider}, func(s *uitest.Session) {
		s.Enter("/send main the first secret")
		s.Enter("/send main the second secret")
		s.Enter("/check --one --show-only")
		s.See("✉ from main · ", "#1 · just now · mail · shown to you alone", "the first secret", "1 more: /check again")
		s.Enter("/receive --show-only")
		s.See("#2 · just now · mail · shown to you alone", "the second secret", "[Agent: main]")
		s.Enter("hello")
		s.See("Heard.")
		s.Enter("/context")
		s.See("Estimated tokens:")
		if all := strings.Join(sent, "\n"); len(sent) != 1 || strings.Contains(all, "secret") {
			t.Errorf("the model read %s", all)
		}
		s.Enter("/messages why")
		s.See("why needs the number of a message")
		s.Press("ctrl+c")
		s.Enter("/messages next 2")
		s.See("Message #2 does not wait any more: it is shown to you alone; /messages show 2 prints it")
		s.Press("ctrl+c")
		s.Enter("/messages next #7")
		s.See("There is no message #7")
		s.Press("ctrl+c")
		s.Enter("/inbox undo")
		s.See("1 message went back into the inbox.", "1 pending]")
		s.Enter("/inbox --all")
		s.See("#1 · mail · the first secret · shown to you alone")
	})
}

// TestSendToTwo: one command, two inboxes, or none; what an agent did not read is
// told to its sender.
//
// Spec.
func TestSendToTwo(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		s.Enter("/push name=worker-a slow")
		s.Enter("/push name=worker-b slow")
		s.Enter("/run")
		s.See("worker-a ●", "worker-b ●")
		s.Enter("/send worker-a,nobody stop")
		s.See("no such agent", "nothing was sent", "› /send worker-a,nobody stop")
		s.Press("ctrl+c")
		s.Enter("/send worker-a, nobody stop")
		s.See("no such agent", "nothing was sent", "› /send worker-a, nobody stop")
		s.Press("ctrl+c")
		s.Enter("/send worker-a --priority=soon stop")
		s.See("use low, normal, high or urgent")
		s.Press("ctrl+c")
		s.Enter("/send work stop")
		s.See("beginning of several names: worker-a, worker-b")
		s.Press("ctrl+c")
		s.Enter(`/send worker-a, worker-b --priority=high "stop now"`)
		s.See("Messages are in the inboxes of worker-a (#1), worker-b (#2)")
		s.Enter("/kill worker-a")
		s.See("[Agent: main | 📨 2 pending]")
		s.Enter("/check")
		s.See("message #1 to worker-a not read: worker-a was killed")
		s.Enter("/inbox worker-a --list")
		s.See("#1 · high mail · stop now", "worker-a has ended (killed). /messages show N to read one, /resume worker-a to continue it")
		s.Enter("/close worker-a")
		s.Gone("worker-a ✗")
		s.Enter("/inbox worker-a --all")
		s.See("#1 · high mail · stop now", "/resume worker-a to continue it")
		s.Enter("/kill worker-b")
		s.See("Ended worker-b")
		s.Enter("/inbox worker-b --list")
		s.See("#2 · high mail", "worker-b has ended (killed). /messages show N")
		s.Enter("/push name=calm say nothing")
		s.Enter("/run")
		s.See("calm ✓")
		s.Enter("/inbox calm --list")
		s.See("No messages.")
		s.NotSee("calm has ended")
		s.Enter("/inbox nobody --list")
		s.See("no such agent")
		s.Press("ctrl+c")
		s.Enter("/send worker-a again")
		s.See("has ended (killed) and its tab is closed; /resume worker-a opens it again")
	})
}

// TestReceiveOnTheScreen: the tab waits with a reason; Esc, the time-out and
// nothing to wait for end it in their own words.
//
// Spec: R-21, E-8, E-22, Q-22.
func TestReceiveOnTheScreen(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		s.Enter("/receive")
		s.See("Nothing can arrive: no running or queued agents")
		s.Enter("say hello")
		ready(s)
		s.Wait(time.Minute)
		s.Enter("/receive --wait")
		s.Wait(2 * time.Second)
		s.See("waiting for any message; Esc stops it · 2s") // not since the last turn
		s.Type("a draft")
		s.Press("esc")
		s.See("Stopped.", "› a draft")
		s.Press("ctrl+c")
		s.Enter("/push name=tests after 20s of tests")
		s.Enter("/run")
		s.See("tests ●")
		s.Enter("/receive from=tests timeout=5")
		s.See("waiting for a message from tests")
		s.Wait(6 * time.Second)
		s.See("No message came within 5s. /receive to wait again")
		s.Enter("/receive from=te --lifo ")
		s.Wait(20 * time.Second)
		s.See("✉ from tests · ", " · completed")
		if strings.Contains(s.Status(), "pending") {
			t.Errorf("the status is %s", s.Status())
		}
	})
}

// TestCollectKey: Alt+C collects what /check collects, for the agent in sight, and for main from another tab.
func TestCollectKey(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{}, func(s *uitest.Session) {
		s.Press("alt+c")
		s.See("No messages ready.")
		s.Enter("&say found it")
		s.See("Alt+2 to watch", "1 pending")
		s.Type("a draft")
		s.Press("alt+c")
		s.See("✉ from say-found", "found it", "[Agent: main]", "› a draft")
		s.Press("ctrl+c")
		s.Enter("&say another")
		s.See("Started say-another", "1 pending")
		s.Press("alt+2", "alt+c")
		s.See("Took 1 message: see the tab of main")
	})
}
