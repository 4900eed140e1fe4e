package vendortest

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/event"
)

// TestUnasked: what an agent says and does by itself is a turn of its own, and ends when it is quiet and nothing runs any more.
func TestUnasked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, waits)
		w, _ := p.open(t, setting{})
		w.Prompt("one")
		n := <-p.turns
		n.answers("First.")
		w.rests("main", 1)
		time.Sleep(time.Minute)
		n.Say("The build is over: ")
		w.State("main", event.Running)
		n.Call("c1", "execute", "make test")
		time.Sleep(time.Minute) // it runs
		if i := w.Info("main"); i.State != event.Running {
			t.Errorf("it is %s while its call runs", i.State)
		}
		n.Done("c1", "all pass")
		n.Say("all pass.")
		w.rests("main", 2)
		if got := w.transcript("main"); !strings.HasSuffix(got, "notice: It goes on by itself.\ntext: The build is over: \ncall: make test\nresult: all pass\ntext: all pass.\nended: completed ") {
			t.Error(got)
		}
		if told := p.exchange(w, "two", "Second."); strings.Contains(told, "one") || strings.Contains(told, "pass") {
			t.Error(told)
		}
		w.Balanced()
	})
}

// TestUnasked_prompted: what the human says meanwhile is told in the same turn.
func TestUnasked_prompted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, waits)
		w, _ := p.open(t, setting{})
		w.Prompt("one")
		n := <-p.turns
		n.answers("First.")
		w.rests("main", 1)
		n.Say("By the way.")
		w.State("main", event.Running)
		w.Prompt("two")
		m := <-p.turns
		m.answers("Second.")
		w.rests("main", 2)
		if got := w.transcript("main"); !strings.HasSuffix(got, "text: By the way.\nprompt: two\ntext: Second.\nended: completed ") {
			t.Error(got)
		}
		w.Balanced()
	})
}

// TestUnasked_stopped: the human can stop it. What it says late of a turn that was stopped begins none.
func TestUnasked_stopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, waits)
		w, _ := p.open(t, setting{})
		w.Prompt("one")
		n := <-p.turns
		n.answers("First.")
		w.rests("main", 1)
		n.Call("c1", "execute", "sleep")
		w.says("main", "call: sleep")
		w.Pool.Stop(w.Main())
		w.rests("main", 2)
		n.Say("Too late.")
		synctest.Wait()
		time.Sleep(time.Minute)
		if got := w.transcript("main"); !strings.HasSuffix(got, "call: sleep\nresult: (stopped)\nended: interrupted stopped by the user") {
			t.Error(got)
		}
		p.exchange(w, "two", "Second.")
		w.Balanced()
	})
}

// TestUnasked_dies: one that dies meanwhile has failed, and says how.
func TestUnasked_dies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, waits)
		w, _ := p.open(t, setting{})
		w.Prompt("one")
		n := <-p.turns
		n.answers("First.")
		w.rests("main", 1)
		n.Call("c1", "execute", "sleep")
		w.State("main", event.Running)
		w.says("main", "call: sleep")
		p.Kill()
		w.rests("main", 2)
		if got := w.transcript("main"); !strings.Contains(got, "ended: failed fake") {
			t.Error(got)
		}
		p.exchange(w, "two", "Second.")
		w.Balanced()
	})
}
