package vendortest

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/acp/acptest"
	"fantail/agents/event"
	"fantail/agents/mail"
	"fantail/inbox"
	"fantail/inbox/policy"
)

// policy sets main's.
func (w *world) policy(m policy.Mode) {
	w.T.Helper()
	_, err := w.Pool.Mail.Override(w.T.Context(), w.Main(), func(o *policy.Overrides) { o.Mode = m })
	check(w.T, err)
}

// pending is how many messages wait for main.
func (w *world) pending() int {
	w.T.Helper()
	ms, err := w.Pool.Letters.Inbox(w.T.Context(), w.Main())
	check(w.T, err)
	return len(ms)
}

// TestPolicy_manual: mail holds in the inbox while a turn goes on, whether or not words could be put into it. What is to come
// with the next prompt does; what is held waits on.
func TestPolicy_manual(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, steers)
		w, _ := p.open(t, setting{})
		w.Prompt("begin")
		n := <-p.turns
		n.Call("c1", "execute", "make")
		w.says("main", "call: make")
		w.mailed(inbox.Next, "the build is red")
		w.mailed(inbox.Hold, "lunch")
		n.Done("c1", "made")
		w.says("main", "result: made")
		synctest.Wait()
		select {
		case words := <-n.Steered:
			t.Errorf("it was steered with %s", words)
		default:
		}
		n.answers("Over.")
		w.rests("main", 1)
		if n := w.pending(); n != 2 {
			t.Errorf("%d messages wait", n)
		}
		w.Prompt("more")
		n = <-p.turns
		if !n.told("the build is red") || n.told("lunch") {
			t.Errorf("it was told %s", n.Prompt)
		}
		n.answers("Yes.")
		w.rests("main", 2)
		if n := w.pending(); n != 1 {
			t.Errorf("%d messages wait", n)
		}
		w.Balanced()
	})
}

// TestPolicy_interrupt: mail breaks into no reply. It is put into the turn right after a call has ended where the agent lets
// itself be steered; else it begins a turn once this one is over.
func TestPolicy_interrupt(t *testing.T) {
	for name, able := range map[string]func(*acptest.Agent){"steers": steers, "waits": waits} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPuppets(t, able)
				w, _ := p.open(t, setting{})
				w.policy(policy.Interrupt)
				w.Prompt("begin")
				n := <-p.turns
				n.Say("I begin")
				w.mailed(inbox.Next, "the build is red")
				n.Say(" with a.")
				n.Call("c1", "execute", "make")
				w.says("main", "call: make")
				synctest.Wait()
				if w.pending() != 1 {
					t.Error("it came before the call had ended")
				}
				n.Done("c1", "made")
				if name == "steers" {
					if words := <-n.Steered; !strings.Contains(words, "the build is red") {
						t.Errorf("it was steered with %s", words)
					}
				} else {
					w.says("main", "result: made")
					synctest.Wait()
					if w.pending() != 1 {
						t.Error("it came in the middle of the turn")
					}
					n.answers("Over.")
					if n = <-p.turns; !n.told("the build is red") {
						t.Errorf("it was told %s", n.Prompt)
					}
				}
				n.answers("I heard.")
				w.says("main", "text: I heard.")
				w.State("main", event.Idle)
				if got := w.transcript("main"); w.pending() != 0 || strings.Count(got, "message: the build is red") != 1 {
					t.Error(got)
				}
				w.Balanced()
			})
		})
	}
}

// TestPolicy_queue: mail waits until the turn is over and the human has paused.
func TestPolicy_queue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, steers)
		w, _ := p.open(t, setting{})
		w.Human().Pressed(time.Now())
		w.policy(policy.Queue)
		w.Prompt("begin")
		n := <-p.turns
		n.Call("c1", "execute", "make")
		w.mailed(inbox.Next, "the build is red")
		n.Done("c1", "made")
		time.Sleep(time.Hour)
		if w.pending() != 1 {
			t.Error("it came in the middle of the turn")
		}
		w.Human().Pressed(time.Now())
		n.answers("Over.")
		w.rests("main", 1)
		ended := time.Now()
		if n = <-p.turns; !n.told("the build is red") || time.Since(ended) < policy.IdleAfter-time.Second {
			t.Errorf("after %v it was told %s", time.Since(ended), n.Prompt)
		}
		n.answers("I heard.")
		w.rests("main", 2)
		w.Balanced()
	})
}

// TestPolicy_fork: another vendor's agent can't be forked, so mail that a fork is to handle waits, and the human is told.
func TestPolicy_fork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, waits)
		w, _ := p.open(t, setting{})
		w.policy(policy.Fork)
		id := w.mailed(inbox.Wake, "the build is red")
		const why = "because another vendor's agent carries out its turns"
		w.Until("the human is told", func() bool { return strings.Contains(w.Info("main").Why, why) })
		time.Sleep(time.Hour)
		if w.pending() != 1 || len(p.turns) > 0 || len(w.Pool.Infos()) != 2 {
			t.Errorf("%d wait; %d turns; %+v", w.pending(), len(p.turns), w.Pool.Infos())
		}
		says, err := w.Pool.Mail.Why(t.Context(), id)
		if err != nil || !strings.Contains(says, why) {
			t.Error(says, err)
		}
		w.Prompt("begin")
		n := <-p.turns
		if n.told("the build is red") {
			t.Errorf("it was told %s", n.Prompt)
		}
		n.answers("Yes.")
		w.rests("main", 1)
		if n := w.pending(); n != 1 {
			t.Errorf("%d wait", n)
		}
		check(t, w.Pool.SetModel(t.Context(), w.Main(), "test/one")) // whose agent can be forked
		w.State("main-fork-1", event.Done)
		m, _, err := w.Pool.Letters.Message(t.Context(), id)
		if by, taken := m.Handler(); err != nil || !taken || by != "main-fork-1" {
			t.Errorf("%+v %v", m, err)
		}
		w.Balanced()
	})
}

// TestPolicy_quiet: no mail enters while it is quiet; what came meanwhile does afterwards.
func TestPolicy_quiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, steers)
		w, _ := p.open(t, setting{})
		w.policy(policy.Interrupt)
		check(t, w.Pool.Mail.BeQuiet(t.Context(), time.Time{}))
		w.Prompt("begin")
		n := <-p.turns
		n.Call("c1", "execute", "make")
		w.writes("ci", mail.Letter{To: []string{"main"}, Body: "the build is red", Priority: inbox.Urgent})
		n.Done("c1", "made")
		w.says("main", "result: made")
		n.answers("Over.")
		w.rests("main", 1)
		synctest.Wait()
		if w.pending() != 1 {
			t.Errorf("%d wait", w.pending())
		}
		_, err := w.Pool.Mail.EndQuiet(t.Context())
		check(t, err)
		if n = <-p.turns; !n.told("the build is red") {
			t.Errorf("it was told %s", n.Prompt)
		}
		n.answers("I heard.")
		w.rests("main", 2)
		w.Balanced()
	})
}
