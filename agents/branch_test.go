package agents_test

import (
	"reflect"
	"strings"
	"testing"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/store"
)

// turns are an agent's own turns.
func (w *world) ownTurns(agent int64) (own []store.Turn) {
	w.T.Helper()
	check(w.T, w.DB.Read(w.T.Context(), func(rx *store.Rx) error {
		ts, err := rx.Turns(agent)
		for _, x := range ts {
			if x.Agent == agent {
				own = append(own, x)
			}
		}
		return err
	}))
	return own
}

// TestBranch: a branch's requests begin with exactly what the original's carried
// up to the turn it branched behind; both go on without the other; the row of its
// first turn has the historical turn as parent, a new conversation and no spawner.
// Spec: N-12.
func TestBranch(t *testing.T) {
	m := &model{}
	m.Reply = echo
	w := open(t, m, setting{})
	main := w.Main()
	w.Prompt("one")
	w.Settle()
	w.Prompt("two")
	w.Settle()
	second := m.Last()
	w.Prompt("three")
	w.Settle()

	past, err := w.Pool.Records.Turns(t.Context(), main, 0)
	check(t, err)
	if len(past) != 3 || past[1].Prompt != "two" || past[1].Number != 2 || past[1].Outcome != history.Completed {
		t.Errorf("turns: %+v", past)
	}
	if past, err := w.Pool.Records.Turns(t.Context(), main, 1); err != nil || len(past) != 1 || past[0].Number != 3 {
		t.Errorf("the newest turn: %+v, %v", past, err)
	}
	i, err := w.Pool.Branch(t.Context(), main, 2, "")
	check(t, err)
	if i.Name != "main-2" || i.Kind != event.Helper {
		t.Errorf("the branch is %+v", i)
	}
	w.tell(i.ID, "otherwise")
	req := m.Last()
	if got, want := said(req), "one | said by main: one | two | said by main: two | otherwise"; got != want {
		t.Errorf("the branch's request: %q, want %q", got, want)
	}
	if n := len(second.Messages); !reflect.DeepEqual(req.Messages[:n], second.Messages) {
		t.Error("what the branch sends of the past differs from what the original sent")
	}
	w.Prompt("four")
	w.Settle()
	if got := said(m.Last()); strings.Contains(got, "otherwise") || !strings.Contains(got, "three") {
		t.Errorf("the original's request: %q", got)
	}
	mine, its := w.ownTurns(i.ID), w.ownTurns(main)
	if len(mine) != 1 || mine[0].Parent != its[1].ID || mine[0].Conversation != mine[0].ID || mine[0].SpawnedBy != 0 || mine[0].Kind != "agent" {
		t.Errorf("the row of its turn: %+v", mine)
	}
	w.tell(i.ID, "further")
	if mine = w.ownTurns(i.ID); mine[1].Parent != mine[0].ID || mine[1].Conversation != mine[0].Conversation {
		t.Errorf("the row of its second turn: %+v", mine[1])
	}

	// A branch of the branch, behind a turn of the original and behind one of its own.
	for number, want := range map[int]string{1: "one | said by main: one | end", 3: "one | said by main: one | two | said by main: two | otherwise | said by main-2: otherwise | end"} {
		twig, err := w.Pool.Branch(t.Context(), i.ID, number, "")
		check(t, err)
		w.tell(twig.ID, "end")
		if got := said(m.Last()); got != want {
			t.Errorf("the branch behind turn %d says %q, want %q", number, got, want)
		}
	}

	// It is there again with all of it, though the original began anew.
	check(t, w.Pool.Clear(t.Context(), main))
	w.Close()
	w = open(t, m, setting{Dir: w.Dir})
	w.Main()
	w.tell(i.ID, "again")
	if got := said(m.Last()); !strings.HasPrefix(got, "one | said by main: one | two") || !strings.HasSuffix(got, "further | said by main-2: further | again") {
		t.Errorf("after a restart: %q", got)
	}
	page, err := w.Pool.Records.Page(t.Context(), i.ID, 0, 1000)
	check(t, err)
	if got := kinds(page); !strings.HasPrefix(got, "prompt text ended prompt text ended notice prompt") {
		t.Errorf("its transcript: %s", got)
	}
}

// TestBranch_refuses what can't be branched from.
// Spec: N-12.
func TestBranch_refuses(t *testing.T) {
	w := open(t, &model{Reply: bosses}, setting{})
	main := w.Main()
	for _, number := range []int{0, 1} {
		if _, err := w.Pool.Branch(t.Context(), main, number, ""); err == nil {
			t.Errorf("branched from turn %d of nothing", number)
		}
	}
	w.Prompt("one")
	w.Settle()
	w.Prompt("endless")
	w.Until("it streams", func() bool { return w.Info("main").Doing == "streaming" })
	if _, err := w.Pool.Branch(t.Context(), main, 2, ""); err == nil || !strings.Contains(err.Error(), "still runs") {
		t.Errorf("from a running turn: %v", err)
	}
	if _, err := w.Pool.Branch(t.Context(), main, 9, ""); err == nil || !strings.Contains(err.Error(), "there is no turn 9") {
		t.Errorf("from a turn that is not: %v", err)
	}
	if _, err := w.Pool.Branch(t.Context(), main, 0, "main"); err == nil || !strings.Contains(err.Error(), "reserved") {
		t.Errorf("with a reserved name: %v", err)
	}
	i, err := w.Pool.Branch(t.Context(), main, 0, "side")
	check(t, err)
	if past, err := w.Pool.Records.Turns(t.Context(), i.ID, 0); err != nil || len(past) != 1 || past[0].Prompt != "one" {
		t.Errorf("beside a running turn it branched behind %+v, %v", past, err)
	}
	w.Pool.Stop(main)
	w.Settle()
}

// TestBranch_ofABackgroundAgent: what one did that takes no prompts can be talked
// about in a branch of it, however it ended; it stays as strict as it was.
// Spec: N-12.
func TestBranch_ofABackgroundAgent(t *testing.T) {
	m := &model{Reply: bosses}
	w := open(t, m, setting{})
	w.Push("kid", "look")
	w.Push("cut", "endless")
	w.Push("cmd", "!echo hi")
	w.Run(0)
	w.Until("one runs", func() bool { return w.Info("cut").Doing == "streaming" })
	if _, err := w.Pool.Branch(t.Context(), w.idOf("cut"), 0, ""); err == nil || !strings.Contains(err.Error(), "no turn has ended") {
		t.Errorf("from one that works: %v", err)
	}
	check(t, w.Pool.Kill(t.Context(), "cut", false))
	w.Settle()
	for name, want := range map[string]string{"kid": "look | said by look | why?", "cut": "endless | That turn ended", "cmd": "why? | result: hi"} {
		i, err := w.Pool.Branch(t.Context(), w.idOf(name), 0, "")
		check(t, err)
		if i.Kind != event.Helper || i.Name != name+"-2" || i.Model == "" {
			t.Errorf("%s: %+v", name, i)
		}
		w.tell(i.ID, "why?")
		got := said(m.Last())
		for _, p := range m.Last().Messages {
			if r, ok := p.Parts[0].(llm.ToolResult); ok {
				got += " | result: " + r.Text
			}
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
