package vendortest

import (
	"strings"
	"testing"
	"testing/synctest"

	"fantail/agents/acp/acptest"
	"fantail/agents/agentstest"
	"fantail/agents/event"
	"fantail/agents/llm"
	"fantail/inbox"
)

// exchange has main prompted, and the puppet answer. It returns what that was told.
func (p *puppets) exchange(w *world, prompt, answer string) (told string) {
	w.T.Helper()
	turns := strings.Count(w.transcript("main"), "ended: ")
	w.Prompt(prompt)
	n := <-p.turns
	n.answers(answer)
	w.rests("main", turns+1)
	return n.Prompt
}

// TestCompact: a vendor's agent compacts its conversation itself: the human is told so, and nothing breaks.
func TestCompact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, waits)
		w, m := p.open(t, setting{})
		p.exchange(w, "one", "First.")
		before := w.transcript("main")
		err := w.Pool.Compact(t.Context(), w.Main(), "mind the tests")
		if err == nil || !strings.Contains(err.Error(), "another vendor's agent") || !strings.Contains(err.Error(), "/new") {
			t.Error(err)
		}
		if got := w.transcript("main"); got != before || len(m.Seen()) > 0 || w.Info("main").State != event.Idle {
			t.Errorf("%s: %s", w.Info("main").State, got)
		}
		if told := p.exchange(w, "two", "Second."); strings.Contains(told, "one") || p.Began() != 1 {
			t.Error(told)
		}
		w.Balanced()
	})
}

// TestClear: a new conversation is a new session, in which nothing is known of the old one.
func TestClear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, waits)
		w, _ := p.open(t, setting{})
		p.exchange(w, "one", "First.")
		check(t, w.Pool.Clear(t.Context(), w.Main()))
		w.Prompt("two")
		n := <-p.turns
		if n.Session != "s2" || n.told("one") || n.told("First.") || !n.told("two") {
			t.Errorf("in %s: %s", n.Session, n.Prompt)
		}
		n.answers("Second.")
		w.rests("main", 2)
		w.Balanced()
	})
}

// TestBranch: a branch of a conversation goes on in a session of its own, that begins with what was said up to there.
func TestBranch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, waits)
		w, _ := p.open(t, setting{})
		p.exchange(w, "one", "First.")
		p.exchange(w, "two", "Second.")
		i, err := w.Pool.Branch(t.Context(), w.Main(), 1, "side")
		check(t, err)
		check(t, w.Pool.Prompt(t.Context(), i.ID, "and now?"))
		n := <-p.turns
		if n.Session == "s1" || !n.told("[person]\none") || !n.told("[assistant]\nFirst.") || n.told("two") || !n.told("and now?") {
			t.Errorf("in %s: %s", n.Session, n.Prompt)
		}
		n.answers("Third.")
		w.State("side", event.Idle)
		if told := p.exchange(w, "three", "Fourth."); strings.Contains(told, "and now?") || strings.Contains(told, "one") {
			t.Error(told)
		}
		w.Balanced()
	})
}

// TestModels: a conversation goes on with another model and back. Each is told once what it does not know.
func TestModels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, waits)
		w, m := p.open(t, setting{})
		p.exchange(w, "one", "First.")
		p.exchange(w, "two", "Second.")
		check(t, w.Pool.SetModel(t.Context(), w.Main(), "test/one"))
		w.Prompt("three")
		w.rests("main", 3)
		var said []string
		for _, m := range m.Last().Messages {
			for _, part := range m.Parts {
				said = append(said, part.(llm.Text).Text)
			}
		}
		if got := strings.Join(said, " | "); got != "one | First. | two | Second. | three" {
			t.Errorf("the model was told %s", got)
		}
		p.Ended() // its program is not needed any more
		w.Prompt("four")
		w.rests("main", 4)
		check(t, w.Pool.SetModel(t.Context(), w.Main(), model))
		told := p.exchange(w, "five", "Fifth.")
		for text, times := range map[string]int{
			"one": 0, "First.": 0, "Second.": 0, "[person]\nthree": 1, "[assistant]\nours: three": 1, "[person]\nfour": 1, "ours: four": 1, "five": 1,
			"said meanwhile, and not to you": 1,
		} {
			if strings.Count(told, text) != times {
				t.Errorf("it was told %q not %d times: %s", text, times, told)
			}
		}
		if told := p.exchange(w, "six", "Sixth."); strings.Contains(told, "three") || strings.Contains(told, "five") || strings.Contains(told, "meanwhile") {
			t.Error(told)
		}
		w.Balanced()
	})
}

// TestModels_first: who takes the place of a model is told what was said before, once.
func TestModels_first(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, waits)
		w, _ := p.open(t, setting{})
		check(t, w.Pool.SetModel(t.Context(), w.Main(), "test/one"))
		w.Prompt("one")
		w.rests("main", 1)
		check(t, w.Pool.SetModel(t.Context(), w.Main(), model))
		if told := p.exchange(w, "two", "Second."); strings.Count(told, "ours: one") != 1 || !strings.Contains(told, "two") {
			t.Error(told)
		}
		if told := p.exchange(w, "three", "Third."); strings.Contains(told, "one") {
			t.Error(told)
		}
		w.Balanced()
	})
}

// TestModels_midTurn: a model that is chosen in the middle of a turn of a vendor's agent takes over once that is over.
func TestModels_midTurn(t *testing.T) {
	for name, able := range map[string]func(*acptest.Agent){"steers": steers, "waits": waits} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPuppets(t, able)
				w, m := p.open(t, setting{})
				w.Prompt("one")
				n := <-p.turns
				n.Call("c1", "execute", "make")
				w.says("main", "call: make")
				n.Call("c2", "execute", "make more")
				w.says("main", "call: make more")
				check(t, w.Pool.SetModel(t.Context(), w.Main(), "test/one"))
				w.Prompt("two")
				n.Done("c1", "made")
				w.says("main", "result: made")
				if name == "steers" {
					if words := <-n.Steered; !strings.Contains(words, "two") {
						t.Errorf("it was steered with %s", words)
					}
				}
				n.Done("c2", "made more")
				n.answers("First.")
				w.rests("main", 1)
				got := w.transcript("main")
				if strings.Count(got, "text: First.") != 1 || strings.Count(got, "result: made more") != 1 || name == "waits" != strings.Contains(got, "text: ours: two") {
					t.Error(got)
				}
				w.Prompt("three")
				w.says("main", "ours: three")
				w.State("main", event.Idle)
				for _, req := range m.Seen() {
					if err := agentstest.Valid(req.Messages); err != nil {
						t.Error(err)
					}
				}
				w.Balanced()
			})
		})
	}
}

// TestQueued: prompts that are typed while a turn goes on enter together once it is over, in their order.
func TestQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, waits)
		w, _ := p.open(t, setting{})
		w.Prompt("one")
		n := <-p.turns
		w.Prompt("two")
		w.Prompt("three")
		n.answers("First.")
		n = <-p.turns
		if a, b := strings.Index(n.Prompt, "two"), strings.Index(n.Prompt, "three"); a < 0 || b < a || n.told("one") {
			t.Errorf("it was told %s", n.Prompt)
		}
		n.answers("Second.")
		w.State("main", event.Idle)
		synctest.Wait()
		if got := w.transcript("main"); len(p.turns) > 0 || strings.Count(got, "prompt: ") != 3 || strings.Count(got, "ended: ") != 1 {
			t.Error(got)
		}
		w.Balanced()
	})
}

// TestUndo: what the human took goes back until the vendor's agent was told of it, and not after.
func TestUndo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, waits)
		w, _ := p.open(t, setting{})
		w.Prompt("one")
		n := <-p.turns
		w.mailed(inbox.Hold, "the build is red")
		if ms := w.took(); len(ms) != 1 {
			t.Fatal(ms)
		}
		n.answers("First.")
		w.rests("main", 1)
		if n, err := w.Pool.Letters.Undo(t.Context(), w.Main()); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		if told := p.exchange(w, "two", "Second."); strings.Contains(told, "the build is red") {
			t.Error(told)
		}
		w.took()
		if told := p.exchange(w, "three", "Third."); strings.Count(told, "the build is red") != 1 {
			t.Error(told)
		}
		if _, err := w.Pool.Letters.Undo(t.Context(), w.Main()); err == nil || !strings.Contains(err.Error(), "a request has carried") {
			t.Error(err)
		}
		if told := p.exchange(w, "four", "Fourth."); strings.Contains(told, "the build is red") {
			t.Error(told)
		}
		w.Balanced()
	})
}
