package agents_test

import (
	"context"
	_ "embed"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
)

//go:embed testdata/faults.sql
var faults string

// fault makes the database fail in the named way, or work again.
func (w *world) fault(name string) {
	w.T.Helper()
	_, rest, ok := strings.Cut(faults, "-- "+name+"\n")
	if !ok {
		w.T.Fatalf("no fault %s", name)
	}
	statement, _, _ := strings.Cut(rest, "\n")
	check(w.T, w.DB.Write(context.Background(), "fault", func(tx *store.Tx) error {
		_, err := tx.Exec(statement)
		return err
	}))
}

func (w *world) why(name, s string) {
	w.T.Helper()
	w.Until(name+" says "+s, func() bool { return strings.Contains(w.Info(name).Why, s) })
}

// one checks that main's inbox holds exactly one message, and returns it.
func (w *world) one() inbox.Message {
	w.T.Helper()
	ms, err := w.Pool.Letters.Inbox(w.T.Context(), w.Main())
	check(w.T, err)
	if len(ms) != 1 {
		w.T.Fatalf("%d messages: %+v", len(ms), ms)
	}
	return ms[0]
}

func TestFault_inAbsorbShowsAndThePromptIsSentLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{Reply: func(context.Context, *llm.Request) ([]llm.Part, error) { return text("ok"), nil }}
		w := open(t, m, setting{})
		w.fault("turns")
		w.Prompt("hello")
		w.why("main", "fault in turns")
		if i := w.Info("main"); i.State != event.Idle || len(i.Prompts) != 1 {
			t.Errorf("meanwhile %+v", i)
		}
		w.fault("none")
		w.Settle()
		w.Until("all is well", func() bool { return w.Info("main").Outcome == history.Completed && w.Info("main").Why == "" })
		if got := kinds(w.Entries("main")); got != "prompt text ended" || len(m.Seen()) != 1 {
			t.Errorf("entries %s, %d requests", got, len(m.Seen()))
		}
	})
}

func TestFault_fullDiskKeepsTheReplyAndItsResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w *world
		long := strings.Repeat("all of it ", 20_000)
		m := &model{}
		m.Reply = func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
			if len(results(req)) > 0 {
				return text("done"), nil
			}
			w.fault("full")
			return append(text(long), call("a", "list_files", `{}`)...), nil
		}
		w = open(t, m, setting{})
		w.Prompt("go")
		w.why("main", "the disk is full")
		w.State("main", event.Running)
		w.fault("space")
		w.Settle()
		es := w.Entries("main")
		if got := kinds(es); got != "prompt text call result text ended" || es[1].Text != long || len(m.Seen()) != 2 {
			t.Errorf("entries %s, %d requests", got, len(m.Seen()))
		}
		w.Until("the trouble is gone", func() bool { return w.Info("main").Why == "" })
	})
}

func TestFault_escEndsTheWaitForSpace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w *world
		m := &model{}
		m.Reply = func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
			if asked(req) == "again" {
				return text("ok"), nil
			}
			w.fault("full")
			return text(strings.Repeat("x", 500_000)), nil
		}
		w = open(t, m, setting{})
		w.Prompt("go")
		w.why("main", "the disk is full")
		w.Pool.Stop(w.Main())
		w.fault("space")
		w.Settle()
		w.Prompt("again")
		w.Settle()
		if got := kinds(w.Entries("main")); got != "prompt ended prompt text ended" {
			t.Errorf("entries %s", got)
		}
	})
}

func TestFault_inAResultEndsTheTurnInTheOpen(t *testing.T) {
	m := &model{}
	m.Reply = func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if asked(req) == "go" {
			return call("a", "list_files", `{}`), nil
		}
		return text("ok"), nil
	}
	w := open(t, m, setting{})
	w.fault("results")
	w.Prompt("go")
	w.Settle()
	es := w.Entries("main")
	if got := kinds(es); got != "prompt call ended" || !strings.Contains(es[2].End.Error, "record the result of list_files") {
		t.Fatalf("entries %s: %+v", got, es[2])
	}
	w.fault("none")
	w.Prompt("again")
	w.Settle()
	for _, r := range m.Seen() {
		check(t, valid(r.Messages))
	}
}

func TestFault_inFinishIsTriedUntilTheResultIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{Reply: func(context.Context, *llm.Request) ([]llm.Part, error) { return text("the result"), nil }}
		w := open(t, m, setting{})
		w.fault("ends")
		w.Push("job", "x")
		w.Run(0)
		w.why("job", "trying again: record the end of the turn")
		w.fault("none")
		w.Settle()
		if m := w.one(); m.Body != "the result" {
			t.Errorf("message %+v", m)
		}
		w.State("job", event.Done)
	})
}

func TestFault_inTheStartOfATaskIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{Reply: func(context.Context, *llm.Request) ([]llm.Part, error) { return text("the result"), nil }}
		w := open(t, m, setting{})
		w.fault("agents")
		w.Push("job", "x")
		w.Run(0)
		w.why("main", "start job")
		w.fault("none")
		w.Settle()
		if m := w.one(); m.Body != "the result" {
			t.Errorf("message %+v", m)
		}
		w.Until("the trouble is gone", func() bool { return w.Info("main").Why == "" })
	})
}

// TestRefuse_aModelThatIsGone: the task ends with its message even if its turn
// can't begin and the disk refuses at first, and nothing seems under way after.
func TestRefuse_aModelThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gone atomic.Bool
		w := open(t, &model{}, setting{Gone: func(name string) bool { return name == "test/two" && gone.Load() }})
		_, err := w.Pool.Tasks.Push(t.Context(), w.Main(), tools.Task{Name: "job", Prompt: "x", Model: "test/two"})
		check(t, err)
		gone.Store(true)
		w.fault("ends")
		w.Run(0)
		w.why("job", "trying again")
		w.fault("none")
		w.Settle()
		if m := w.one(); m.Kind != inbox.Failure || !strings.Contains(m.Error, "test/two is not configured") {
			t.Errorf("message %+v", m)
		}
		w.Until("the task is no queued prompt", func() bool { i := w.Info("job"); return i.State == event.Failed && len(i.Prompts) == 0 })
	})
}
