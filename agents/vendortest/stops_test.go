package vendortest

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/acp/acptest"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/inbox"
	"fantail/tools"
)

// deaf makes a puppet one that goes on whatever it is told.
func deaf(a *acptest.Agent) { a.Deaf = true }

// TestStop: Esc ends the turn, and nothing else: its program lives on, and the next prompt goes to the same session.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, waits)
		w, _ := p.open(t, setting{})
		w.Prompt("begin")
		n := <-p.turns
		n.Say("partial")
		n.Call("c1", "execute", "make")
		w.says("main", "call: make")
		began := time.Now()
		w.Pool.Stop(w.Main())
		<-n.Context.Done()
		w.rests("main", 1)
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %v", took)
		}
		if got := w.transcript("main"); !strings.HasSuffix(got, "text: partial\ncall: make\nresult: (stopped)\nended: interrupted stopped by the user") {
			t.Error(got)
		}
		w.Prompt("go on")
		m := <-p.turns
		if m.Session != n.Session || p.Began() != 1 || m.told("begin") || m.told("reached you") {
			t.Errorf("in %s after %s: %s", m.Session, n.Session, m.Prompt)
		}
		m.answers("Yes.")
		w.rests("main", 2)
		w.Balanced()
	})
}

// TestStop_deaf: an agent that does not stop is given ten seconds, then its program is ended. The session goes on in another.
func TestStop_deaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, deaf)
		w, _ := p.open(t, setting{})
		w.Prompt("begin")
		n := <-p.turns
		n.Say("partial")
		w.says("main", "fake 1")
		began := time.Now()
		w.Pool.Stop(w.Main())
		w.rests("main", 1)
		if took := time.Since(began); took < 5*time.Second || took > 11*time.Second {
			t.Errorf("it took %v", took)
		}
		<-n.Context.Done()
		w.Prompt("go on")
		m := <-p.turns
		if m.Session != n.Session || p.Began() != 2 || m.told("begin") {
			t.Errorf("in %s after %s: %s", m.Session, n.Session, m.Prompt)
		}
		m.answers("Yes.")
		w.rests("main", 2)
		if got := w.transcript("main"); strings.Count(got, "text: partial") != 1 || strings.Count(got, "ended: interrupted") != 1 {
			t.Error(got)
		}
		w.Balanced()
	})
}

// TestKill: a kill ends the agent and its program within two seconds, whether or not that obeys; what it said is told.
func TestKill(t *testing.T) {
	for name, able := range map[string]func(*acptest.Agent){"obeys": waits, "deaf": deaf} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPuppets(t, able)
				w, _ := p.open(t, setting{})
				w.Push("a", "do it")
				w.Run(1)
				n := <-p.turns
				n.Say("So far: nothing.")
				n.Call("c1", "execute", "make")
				w.says("a", "call: make")
				began := time.Now()
				check(t, w.Pool.Kill(t.Context(), "a", false))
				w.State("a", event.Killed)
				if took := time.Since(began); took > 2*time.Second {
					t.Errorf("it took %v", took)
				}
				p.Ended()
				ms, _, err := w.Pool.Pickup.Check(t.Context(), w.Main(), inbox.Query{})
				if check(t, err); len(ms) != 1 || ms[0].Kind != inbox.Failure || ms[0].Outcome != string(history.OutKilled) || !strings.Contains(ms[0].Partial, "So far: nothing.") {
					t.Errorf("%+v", ms)
				}
				w.Balanced()
			})
		})
	}
}

// TestTimeout: a task's time is up for an agent of another vendor's too; what it had said comes with the failure.
func TestTimeout(t *testing.T) {
	for name, able := range map[string]func(*acptest.Agent){"obeys": waits, "deaf": deaf} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPuppets(t, able)
				w, _ := p.open(t, setting{})
				_, err := w.Pool.Tasks.Push(t.Context(), w.Main(), tools.Task{Name: "a", Prompt: "do it", Timeout: time.Minute})
				check(t, err)
				w.Run(1)
				n := <-p.turns
				n.Say("So far: nothing.")
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				defer cancel()
				check(t, w.Pool.Settled(ctx))
				w.State("a", event.Failed)
				if took := time.Since(began); took < time.Minute || took > time.Minute+2*time.Second {
					t.Errorf("it took %v", took)
				}
				p.Ended()
				ms, _, err := w.Pool.Pickup.Check(t.Context(), w.Main(), inbox.Query{})
				if check(t, err); len(ms) != 1 || ms[0].Outcome != string(history.TimedOut) || !strings.Contains(ms[0].Partial, "So far: nothing.") {
					t.Errorf("%+v", ms)
				}
				w.Balanced()
			})
		})
	}
}

// TestClose: the end of the program ends a turn in order, and the vendor's program with it, though that does not obey. The
// next start tells nothing twice.
func TestClose(t *testing.T) {
	for name, able := range map[string]func(*acptest.Agent){"obeys": waits, "deaf": deaf} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, dir := newPuppets(t, able), t.TempDir()
				w, _ := p.open(t, setting{Dir: dir})
				w.Prompt("begin")
				n := <-p.turns
				n.Say("So far: nothing.")
				w.says("main", "fake 1")
				began := time.Now()
				w.Close()
				p.Ended()
				if took := time.Since(began); took > 2*time.Second {
					t.Errorf("it took %v", took)
				}
				w, _ = p.open(t, setting{Dir: dir})
				if got := w.transcript("main"); strings.Count(got, "So far: nothing.") != 1 || strings.Count(got, "ended: interrupted") != 1 {
					t.Error(got)
				}
				w.Prompt("go on")
				m := <-p.turns
				if m.Session != n.Session || m.told("begin") || !m.told("go on") {
					t.Errorf("in %s after %s: %s", m.Session, n.Session, m.Prompt)
				}
				m.answers("Yes.")
				w.rests("main", 2)
				w.Balanced()
			})
		})
	}
}

// TestStop_steered: words that were on their way into a turn as it was stopped are told once, with the next prompt.
func TestStop_steered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, steers)
		w, _ := p.open(t, setting{})
		w.Prompt("begin")
		n := <-p.turns
		n.Call("c1", "execute", "make")
		w.says("main", "call: make")
		w.Prompt("look left")
		n.Done("c1", "made")
		w.says("main", "prompt: look left")
		synctest.Wait()
		w.Pool.Stop(w.Main())
		w.rests("main", 1)
		w.Prompt("go on")
		n = <-p.turns
		if strings.Count(n.Prompt, "look left") != 1 || !n.told("go on") {
			t.Errorf("it was told %s", n.Prompt)
		}
		n.answers("Over.")
		w.State("main", event.Idle)
		synctest.Wait()
		if len(p.turns) > 0 || p.Began() != 1 {
			t.Errorf("%d more turns, %d programs: %s", len(p.turns), p.Began(), (<-p.turns).Prompt)
		}
		if told := p.exchange(w, "more", "Second."); strings.Contains(told, "look left") {
			t.Error(told)
		}
		w.Balanced()
	})
}
