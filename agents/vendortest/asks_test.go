package vendortest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/event"
	"fantail/inbox"
	"fantail/tools"
)

// replies answers the question that an agent asks.
func (w *world) replies(name, text string) {
	w.T.Helper()
	var err error
	w.Until(name+" asks", func() bool { // after a start, it may be about to ask again
		q := w.Info(name).Question
		if w.Info(name).State != event.Asking || q == nil {
			return false
		}
		err = w.Pool.Asks.Answer(w.T.Context(), q.ID, event.Answer{Text: text})
		return err == nil || !strings.Contains(err.Error(), "about to ask it again")
	})
	check(w.T, err)
}

// TestAsks_parked: a question outlives both programs. Its answer is told to the agent, and given where it asks the same again:
// the human is asked once.
func TestAsks_parked(t *testing.T) {
	for _, c := range []struct {
		name  string
		early bool // the answer is given before the agent has been started again
		again bool // it asks once more
	}{{"asks again", true, true}, {"does not", true, false}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, dir := newPuppets(t, waits), t.TempDir()
				w, _ := p.open(t, setting{Dir: dir})
				w.Prompt("begin")
				n := <-p.turns
				n.Say("I clean.")
				n.Call("c1", "execute", "rm -r build")
				p.Go("ask", func() { n.Ask("c1", "rm -r build", "allow_once", "reject_once") })
				w.State("main", event.Asking)
				w.Close()
				p.Ended()
				w, _ = p.open(t, setting{Dir: dir})
				w.State("main", event.Asking)
				if p.Began() != 1 {
					t.Error("it is started before there is anything to tell it")
				}
				w.replies("main", "Choice allow_once")
				n = <-p.turns
				if n.Session != "s1" || !n.told("The answer is: Choice allow_once") || n.told("begin") {
					t.Errorf("in %s: %s", n.Session, n.Prompt)
				}
				if c.again {
					n.Call("c2", "execute", "rm -r build")
					if got := n.Ask("c2", "rm -r build", "allow_once", "reject_once"); got != "allow_once" {
						t.Errorf("it was answered %q", got)
					}
					n.Done("c2", "gone")
					var second string
					asked := make(chan struct{})
					p.Go("ask", func() {
						second = n.Ask("c3", "rm -r build", "allow_once", "reject_once")
						close(asked)
					})
					w.replies("main", "Choice reject_once") // for that it was not asked
					if <-asked; second != "reject_once" {
						t.Errorf("it was answered %q", second)
					}
				}
				n.answers("Clean.")
				w.rests("main", 1)
				got := w.transcript("main")
				if strings.Count(got, "text: I clean.") != 1 || strings.Count(got, "ended: completed") != 1 || strings.Contains(got, "crashed") {
					t.Error(got)
				}
				w.Balanced()
			})
		})
	}
}

// TestAsks_late: a permission that is asked for after the turn, as the agent goes on by itself, is a question in a turn of its
// own, which goes on until that is answered.
func TestAsks_late(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, waits)
		w, _ := p.open(t, setting{})
		w.Prompt("one")
		n := <-p.turns
		n.answers("First.")
		w.rests("main", 1)
		got := make(chan string, 1)
		p.Go("ask", func() {
			late := *n.Turn
			late.Context = t.Context()
			got <- late.Ask("c9", "rm -r build", "allow_once", "reject_once")
		})
		w.State("main", event.Asking)
		time.Sleep(time.Hour)
		w.replies("main", "Choice reject_once")
		if a := <-got; a != "reject_once" {
			t.Errorf("it was answered %q", a)
		}
		w.rests("main", 2)
		p.exchange(w, "two", "Second.")
		if got := w.transcript("main"); !strings.Contains(got, "notice: It goes on by itself.") {
			t.Error(got)
		}
		w.Balanced()
	})
}

// TestAsks_twice: what is asked twice is asked one after the other, each is answered by itself; a turn that ends takes back
// what is open.
func TestAsks_twice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, waits)
		w, _ := p.open(t, setting{})
		w.Prompt("one")
		n := <-p.turns
		n.Call("c1", "execute", "rm -r build")
		got := make(chan string, 3)
		for range 2 {
			p.Go("ask", func() { got <- n.Ask("c1", "rm -r build", "allow_once", "reject_once") })
		}
		w.replies("main", "Choice allow_once")
		first := <-got
		w.replies("main", "No, never") // words of the human's own are no yes
		if second := <-got; first != "allow_once" || second != "reject_once" {
			t.Errorf("it was answered %q and %q", first, second)
		}
		p.Go("ask", func() { got <- n.Ask("c1", "rm -r build", "allow_once", "reject_once") })
		w.State("main", event.Asking)
		q := w.Info("main").Question.ID
		n.answers("Over.")
		w.rests("main", 1)
		if err := w.Pool.Asks.Answer(t.Context(), q, event.Answer{Text: "Choice allow_once"}); err == nil {
			t.Error("a question of a turn that is over is answered")
		}
		if third := <-got; third != "" {
			t.Errorf("it was answered %q", third)
		}
		w.Balanced()
	})
}

// TestAsks_background: a question of an agent in the background is in the inbox above it, and answered there.
func TestAsks_background(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, waits)
		w, _ := p.open(t, setting{})
		w.dispatches(tools.Task{Name: "a", Prompt: "do it", Timeout: time.Hour}, "")
		n := <-p.turns
		n.Call("c1", "execute", "rm -r build")
		got := make(chan string, 1)
		p.Go("ask", func() { got <- n.Ask("c1", "rm -r build", "allow_once", "reject_once") })
		w.State("a", event.Asking)
		ms, err := w.Pool.Letters.Questions(t.Context(), w.Main())
		check(t, err)
		if len(ms) != 1 || ms[0].Kind != inbox.Question || !strings.Contains(ms[0].Body, "rm -r build") {
			t.Fatalf("%+v", ms)
		}
		w.replies("a", "Choice allow_once")
		if a := <-got; a != "allow_once" {
			t.Errorf("it was answered %q", a)
		}
		n.Done("c1", "gone")
		n.answers("Over.")
		w.State("a", event.Done)
		if ms := w.took(); len(ms) != 1 || ms[0].Body != "Over." {
			t.Errorf("%+v", ms)
		}
		w.Balanced()
	})
}

// TestAsks_takenBack: a question that the agent does not ask any more is not open any more, though its turn goes on.
func TestAsks_takenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, waits)
		w, _ := p.open(t, setting{})
		w.Prompt("begin")
		n := <-p.turns
		n.Call("c1", "execute", "rm -r build")
		ctx, cancel := context.WithCancel(t.Context())
		p.Go("ask", func() {
			short := *n.Turn
			short.Context = ctx
			short.Ask("c1", "rm -r build", "allow_once", "reject_once")
		})
		w.State("main", event.Asking)
		q := w.Info("main").Question.ID
		cancel()
		w.State("main", event.Running)
		synctest.Wait()
		if err := w.Pool.Asks.Answer(t.Context(), q, event.Answer{Text: "Choice allow_once"}); !errors.Is(err, event.ErrSettled) {
			t.Error(err)
		}
		n.Done("c1", "kept")
		n.answers("Over.")
		w.rests("main", 1)
		w.Balanced()
	})
}

// TestAsks_form: so does a form, which is about no call: its values are asked for one after the other.
func TestAsks_form(t *testing.T) {
	const form = `{"message":"Deploy where?","mode":"form","requestedSchema":{"type":"object","properties":{
		"host":{"type":"string","enum":["one","two"]},"times":{"type":"integer","title":"How often"}},"required":["host","times"]}}`
	synctest.Test(t, func(t *testing.T) {
		p, dir := newPuppets(t, waits), t.TempDir()
		w, _ := p.open(t, setting{Dir: dir})
		w.Prompt("begin")
		n := <-p.turns
		p.Go("ask", func() { _, _ = n.Request("elicitation/create", json.RawMessage(form)) })
		w.State("main", event.Asking)
		w.Close()
		p.Ended()
		w, _ = p.open(t, setting{Dir: dir})
		w.replies("main", "two")
		n = <-p.turns
		if !n.told("The answer is: two") {
			t.Errorf("it was told %s", n.Prompt)
		}
		got := make(chan string, 1)
		p.Go("ask", func() {
			r, err := n.Request("elicitation/create", json.RawMessage(form))
			got <- fmt.Sprint(string(r), err)
		})
		w.replies("main", "often")
		w.State("main", event.Asking)
		w.Until("it asks again", func() bool {
			q := w.Info("main").Question
			return q != nil && strings.Contains(q.Asks.Text, `"often" is no whole number`)
		})
		w.replies("main", "3")
		if g := <-got; g != `{"action":"accept","content":{"host":"two","times":3}}<nil>` {
			t.Error(g)
		}
		n.answers("Over.")
		w.rests("main", 1)
		w.Balanced()
	})
}

// TestAsks_beside: what an agent says and does while a question of its is open leaves that open, to be seen and answered.
func TestAsks_beside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, waits)
		w, _ := p.open(t, setting{})
		w.Prompt("begin")
		n := <-p.turns
		n.Call("c0", "read", "look")
		n.Call("c1", "execute", "rm -r build")
		got := make(chan string, 1)
		p.Go("ask", func() { got <- n.Ask("c1", "rm -r build", "allow_once", "reject_once") })
		w.State("main", event.Asking)
		n.Done("c0", "seen")
		n.Say("I wait.")
		n.Call("c2", "read", "look again")
		n.Done("c2", "seen again")
		w.says("main", "result: seen again")
		synctest.Wait()
		w.Until("all is heard", func() bool { return true })
		if i := w.Info("main"); i.State != event.Asking || i.Question == nil {
			t.Errorf("it is %s (%s)", i.State, i.Doing)
		}
		w.replies("main", "Choice allow_once")
		if a := <-got; a != "allow_once" {
			t.Errorf("it was answered %q", a)
		}
		n.Done("c1", "gone")
		n.answers("Over.")
		w.rests("main", 1)
		w.Balanced()
	})
}
