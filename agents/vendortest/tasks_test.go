package vendortest

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/inbox"
	"fantail/tools"
)

// dispatches pushes a task and starts it.
func (w *world) dispatches(t tools.Task, budget string) {
	w.T.Helper()
	if budget != "" {
		var err error
		t.Budget, err = tools.ParseAmount(budget)
		check(w.T, err)
	}
	t.Start = true
	_, err := w.Pool.Tasks.Push(w.T.Context(), w.Main(), t)
	check(w.T, err)
}

// took takes all of main's mail.
func (w *world) took() []inbox.Message {
	w.T.Helper()
	ms, _, err := w.Pool.Pickup.Check(w.T.Context(), w.Main(), inbox.Query{})
	check(w.T, err)
	return ms
}

// TestBudget: what a turn has used counts, as far as the agent says so. One that has used up its budget begins no other turn.
func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, waits)
		w, _ := p.open(t, setting{})
		w.dispatches(tools.Task{Name: "a", Prompt: "do it", Interactive: true}, "50k")
		n := <-p.turns
		n.Usage = `{"inputTokens":40000,"outputTokens":20000}`
		n.answers("One.")
		w.State("a", event.Idle)
		if b := w.Info("a").Budget; b == nil || b.Used != 60_000 {
			t.Errorf("%+v", b)
		}
		check(t, w.Pool.Tell(t.Context(), "a", "more"))
		w.State("a", event.Failed)
		if i := w.Info("a"); i.Outcome != history.OutBudget || len(p.turns) > 0 {
			t.Errorf("%s, %d turns", i.Outcome, len(p.turns))
		}
		w.took()
		w.Balanced()
	})
}

// TestBudget_steered: a turn into which words are put counts once.
func TestBudget_steered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, steers)
		w, _ := p.open(t, setting{})
		w.dispatches(tools.Task{Name: "a", Prompt: "do it " + strings.Repeat("word ", 1000), Interactive: true}, "50k")
		n := <-p.turns
		n.Call("c1", "execute", "make")
		w.says("a", "call: make")
		check(t, w.Pool.Tell(t.Context(), "a", "look left"))
		n.Done("c1", "made")
		if words := <-n.Steered; !strings.Contains(words, "look left") {
			t.Errorf("it was steered with %s", words)
		}
		n.Usage = `{"inputTokens":9000,"outputTokens":1000}`
		n.answers("One.")
		w.State("a", event.Idle)
		if b := w.Info("a").Budget; b == nil || b.Used != 10_000 {
			t.Errorf("%+v", b)
		}
		w.took()
		w.Balanced()
	})
}

// TestBudget_wraps: an agent whose budget is nearly used up is told so with what it is told next.
func TestBudget_wraps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, waits)
		w, _ := p.open(t, setting{})
		w.dispatches(tools.Task{Name: "a", Prompt: "do it", Interactive: true}, "50k")
		n := <-p.turns
		n.Usage = `{"inputTokens":47900,"outputTokens":100}`
		n.answers("One.")
		w.State("a", event.Idle)
		check(t, w.Pool.Tell(t.Context(), "a", "more"))
		n = <-p.turns
		if !n.told("more") || strings.Count(n.Prompt, "Your budget is nearly used up") != 1 {
			t.Errorf("it was told %s", n.Prompt)
		}
		n.answers("Two.")
		w.State("a", event.Idle)
		w.took()
		w.Balanced()
	})
}

// TestBudget_fails: a turn that fails counts once too, and the next by itself.
func TestBudget_fails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, waits)
		w, _ := p.open(t, setting{})
		w.dispatches(tools.Task{Name: "a", Prompt: "do it"}, "50k")
		n := <-p.turns
		n.Say("So far: " + strings.Repeat("word ", 4000))
		synctest.Wait()
		p.Kill()
		w.State("a", event.Failed)
		lost := w.Info("a").Budget.Used
		if lost < 5000 || lost > 15_000 {
			t.Errorf("%d tokens", lost)
		}
		_, _, err := w.Pool.Resume(t.Context(), w.Main(), "a", "again")
		check(t, err)
		n = <-p.turns
		n.Usage = `{"inputTokens":900,"outputTokens":100}`
		n.answers("One.")
		w.State("a", event.Done)
		if b := w.Info("a").Budget; b == nil || b.Used != lost+1000 {
			t.Errorf("%+v after %d", b, lost)
		}
		w.took()
		w.Balanced()
	})
}

// TestInteractive: an agent that awaits input is idle after its turn, reports each, and what it is told goes to the same
// session; its program ends when it does.
func TestInteractive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, waits)
		w, _ := p.open(t, setting{})
		w.dispatches(tools.Task{Name: "a", Prompt: "do it", Interactive: true, Idle: time.Hour}, "")
		n := <-p.turns
		n.answers("One.")
		w.State("a", event.Idle)
		time.Sleep(20 * time.Minute) // its program has ended meanwhile: it rests too long
		p.Ended()
		check(t, w.Pool.Tell(t.Context(), "a", "more"))
		m := <-p.turns
		if m.Session != n.Session || !m.told("more") || m.told("do it") || p.Began() != 2 {
			t.Errorf("in %s after %s: %s", m.Session, n.Session, m.Prompt)
		}
		m.answers("Two.")
		w.State("a", event.Idle)
		check(t, w.Pool.End(t.Context(), "a"))
		w.State("a", event.Done)
		p.Ended()
		if ms := w.took(); len(ms) != 2 || ms[0].Body != "One." || ms[1].Body != "Two." {
			t.Errorf("%+v", ms)
		}
		w.Balanced()
	})
}

// TestWrapUp: that it is to finish is put into the turn where the agent lets itself be steered, else told at its end.
func TestWrapUp(t *testing.T) {
	for _, able := range []string{"steers", "waits"} {
		t.Run(able, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPuppets(t, abilities()[able])
				w, _ := p.open(t, setting{})
				w.dispatches(tools.Task{Name: "a", Prompt: "do it"}, "")
				n := <-p.turns
				n.Call("c1", "execute", "make")
				w.says("a", "call: make")
				check(t, w.Pool.WrapUp(t.Context(), "a"))
				n.Done("c1", "made")
				words := ""
				if able == "steers" {
					words = <-n.Steered
				} else {
					w.says("a", "result: made")
					n.answers("One.")
					n = <-p.turns
					words = n.Prompt
				}
				if !strings.Contains(strings.ToLower(words), "finish") {
					t.Errorf("it was told %s", words)
				}
				n.answers("All I have.")
				w.State("a", event.Done)
				if ms := w.took(); len(ms) != 1 || ms[0].Body != "All I have." {
					t.Errorf("%+v", ms)
				}
				w.Balanced()
			})
		})
	}
}

// TestAgain: a task that failed is tried again by a new agent, with what became of the first; respawned as it was; resumed in
// the session it had.
func TestAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, waits)
		w, _ := p.open(t, setting{})
		w.dispatches(tools.Task{Name: "a", Prompt: "do it"}, "")
		first := <-p.turns
		first.Say("So far: nothing.")
		synctest.Wait()
		p.Kill()
		w.State("a", event.Failed)
		_, _, err := w.Pool.Tasks.Retry(t.Context(), w.Main(), "a", "look left")
		check(t, err)
		w.Run(1)
		n := <-p.turns
		if n.Session == first.Session || !n.told("do it") || !n.told("look left") || !n.told("So far: nothing.") {
			t.Errorf("in %s: %s", n.Session, n.Prompt)
		}
		n.answers("One.")
		w.Settle()
		_, err = w.Pool.Tasks.Respawn(t.Context(), w.Main(), "a")
		check(t, err)
		if n = <-p.turns; !n.told("do it") || n.told("So far") {
			t.Errorf("in %s: %s", n.Session, n.Prompt)
		}
		n.answers("Two.")
		w.Settle()
		_, _, err = w.Pool.Resume(t.Context(), w.Main(), "a·1", "go on with it")
		check(t, err)
		if n = <-p.turns; n.Session != first.Session || n.told("do it") || !n.told("go on with it") {
			t.Errorf("in %s, not %s: %s", n.Session, first.Session, n.Prompt)
		}
		n.answers("Three.")
		w.Settle()
		if ms := w.took(); len(ms) != 4 {
			t.Errorf("%+v", ms)
		}
		synctest.Wait()
		p.Ended()
		w.Balanced()
	})
}
