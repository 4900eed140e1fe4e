package vendortest

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/acp/acptest"
	"fantail/store"
)

// TestDies_atASeam: an agent that dies right after a call has ended has failed, and says how; no other is started for it.
func TestDies_atASeam(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, steers)
		w, _ := p.open(t, setting{})
		w.Prompt("begin")
		n := <-p.turns
		n.Call("c1", "execute", "make")
		w.says("main", "call: make")
		holds, free := make(chan struct{}), make(chan struct{})
		p.Go("hold the writer", func() {
			check(t, w.DB.Write(t.Context(), "hold", func(*store.Tx) error {
				close(holds)
				<-free
				return nil
			}))
		})
		<-holds
		n.Done("c1", "made")
		synctest.Wait()
		p.Kill()
		synctest.Wait()
		close(free)
		w.rests("main", 1)
		if got := w.transcript("main"); p.Began() != 1 || !strings.HasSuffix(got, "call: make\nresult: made\nended: failed fake: session/prompt: it ended (exit code 0)") {
			t.Errorf("%d programs: %s", p.Began(), got)
		}
		w.Balanced()
	})
}

// TestDies_again: what an agent names as one did that died is something else: a call of its turn before.
func TestDies_again(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, waits)
		w, _ := p.open(t, setting{})
		w.Prompt("begin")
		n := <-p.turns
		n.Call("c1", "execute", "make")
		w.says("main", "call: make")
		p.Kill()
		w.rests("main", 1)
		w.Prompt("go on")
		n = <-p.turns
		n.Call("c1", "execute", "make again")
		n.Done("c1", "made again")
		n.answers("Over.")
		w.rests("main", 2)
		if got := w.transcript("main"); !strings.HasSuffix(got, "call: make again\nresult: made again\ntext: Over.\nended: completed ") {
			t.Error(got)
		}
		w.Balanced()
	})
}

// TestDies_atRest: an agent whose program has ended between two turns goes on with its session in another, whoever ended it.
func TestDies_atRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, waits)
		w, _ := p.open(t, setting{})
		p.exchange(w, "one", "First.")
		p.Kill()
		synctest.Wait() // until that is known
		if told := p.exchange(w, "two", "Second."); strings.Contains(told, "one") || p.Began() != 2 {
			t.Errorf("%d programs: %s", p.Began(), told)
		}
		time.Sleep(10 * time.Minute) // at that moment it has rested for too long
		if told := p.exchange(w, "three", "Third."); strings.Contains(told, "two") {
			t.Error(told)
		}
		if got := w.transcript("main"); strings.Contains(got, "once more") || strings.Contains(got, "failed") {
			t.Error(got)
		}
		w.Balanced()
	})
}

// TestDies_unheard: what was on its way when an agent died is in its session or is told again, marked, once.
func TestDies_unheard(t *testing.T) {
	for name, arrives := range map[string]bool{"arrives": true, "does not": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPuppets(t, waits)
				w, _ := p.open(t, setting{})
				p.exchange(w, "one", "First.")
				p.Lose(!arrives)
				w.Prompt("two")
				if arrives {
					<-p.turns
				}
				synctest.Wait()
				p.Kill()
				w.rests("main", 2)
				p.Lose(false)
				told := p.exchange(w, "three", "Third.")
				if strings.Contains(told, "two") == arrives || strings.Contains(told, "may have reached you already") == arrives || strings.Contains(told, "one") {
					t.Error(told)
				}
				if got := w.transcript("main"); strings.Contains(got, "is sent once more") == arrives {
					t.Error(got)
				}
				w.Balanced()
			})
		})
	}
}

// TestDies_forgetful: what an agent had begun to carry out and had not kept when its program died is told again, marked, once.
func TestDies_forgetful(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, waits)
		w, _ := p.open(t, setting{})
		p.exchange(w, "alpha", "First.")
		p.forgets.Store(true)
		w.Prompt("beta")
		n := <-p.turns
		n.Call("c1", "execute", "make")
		w.says("main", "call: make")
		p.Kill()
		w.rests("main", 2)
		p.forgets.Store(false)
		told := p.exchange(w, "gamma", "Third.")
		if strings.Count(told, "beta") != 1 || strings.Count(told, "may have reached you already") != 1 || strings.Contains(told, "alpha") {
			t.Error(told)
		}
		p.Kill()
		synctest.Wait()
		if told := p.exchange(w, "delta", "Fourth."); strings.Contains(told, "beta") || strings.Contains(told, "gamma") {
			t.Error(told)
		}
		w.Balanced()
	})
}

// TestDies_steered: words that were on their way into a turn as it ended, and were not taken, are not lost with its program.
func TestDies_steered(t *testing.T) {
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
		p.Lose(true)
		n.answers("Over.") // before it looked
		synctest.Wait()
		p.Kill()
		w.rests("main", 1)
		p.Lose(false)
		if told := p.exchange(w, "go on", "Second."); strings.Count(told, "look left") != 1 || !strings.Contains(told, "may have reached you already") {
			t.Error(told)
		}
		w.Balanced()
	})
}

// TestLogin: an agent that asks for a login is not logged in by this program: the human is told what to run. What they said is
// told once they have.
func TestLogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := true
		p := newPuppets(t, func(a *acptest.Agent) { a.Login = out })
		w, _ := p.open(t, setting{})
		w.Prompt("one")
		w.rests("main", 1)
		if got := w.transcript("main"); !strings.Contains(got, "ended: failed fake: not authorised: it asks you to log in first, which this program never does for you. Run fake login in a terminal of yours") {
			t.Error(got)
		}
		out = false
		if told := p.exchange(w, "two", "Second."); strings.Count(told, "one") != 1 || !strings.Contains(told, "two") || strings.Contains(told, "place") || strings.Contains(told, "reached") {
			t.Error(told)
		}
		w.Balanced()
	})
}
