package agents_test

import (
	"context"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/llm"
	"fantail/tools"
)

// TestFacts_sums: what the database knows of an agent, its closed children too.
func TestFacts_sums(t *testing.T) {
	m := &model{}
	m.Reply = func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		switch rs := results(req); {
		case asked(req) == "kid":
			return text("from the kid"), nil
		case len(rs) == 0:
			return append(call("a", "list_files", `{}`), call("b", "list_files", `{}`)...), nil
		case len(rs) == 2:
			return append(text("half way"), call("c", "push", `{"name":"kid","prompt":"kid","start":true}`)...), nil
		}
		return text("all of it"), nil
	}
	w := open(t, m, setting{})
	_, err := w.Pool.Tasks.Push(t.Context(), w.Main(), tools.Task{Name: "job", Prompt: "the task", Timeout: time.Minute, Deliver: "next"})
	check(t, err)
	w.Run(0)
	w.Settle()
	w.State("kid", event.Done)
	check(t, w.Pool.CloseTab(t.Context(), "kid"))
	f, err := w.Pool.Records.Facts(t.Context(), w.Info("job").ID)
	check(t, err)
	if len(f.Tools) != 2 || f.Tools[0] != (agents.ToolCount{Name: "list_files", Times: 2}) || f.Tools[1].Name != "push" {
		t.Errorf("tools %+v", f.Tools)
	}
	if f.Task.Timeout != time.Minute || f.Task.Deliver != "next" || f.Task.Created.IsZero() {
		t.Errorf("task %+v", f.Task)
	}
	if len(f.Children) != 1 || f.Children[0].Name != "kid" || f.Children[0].State != event.Done {
		t.Errorf("children %+v", f.Children)
	}
	if f.Prompt != "the task" || f.Answer != "all of it" || f.Turns != 1 || f.Session == 0 {
		t.Errorf("facts %+v", f)
	}
	es := w.Entries("job")
	if f.UpTo != es[len(es)-1].Seq {
		t.Errorf("they stand as of %d, the transcript ends at %d", f.UpTo, es[len(es)-1].Seq)
	}
}

// TestDoes says what a running agent does and why a queued task has not started.
func TestDoes(t *testing.T) {
	w := open(t, &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		return call("c", "bash", `{"command":"mkfifo gate; echo begun; read x < gate"}`), nil
	}}, setting{Cap: 1})
	w.Push("job", "work")
	w.Push("next", "work too")
	n, err := w.Pool.Does("next")
	check(t, err)
	if !strings.Contains(n.Queued, "/run") {
		t.Errorf("a task nobody started: %+v", n)
	}
	w.Run(0)
	w.State("job", event.Running)
	w.Output("job", "begun")
	if n, err = w.Pool.Does("job"); err != nil || len(n.Calls) != 1 || !strings.Contains(n.Calls[0].Title, "mkfifo gate") || n.Calls[0].Since.IsZero() {
		t.Errorf("a running tool: %+v, %v", n, err)
	}
	if n.Info.Active.IsZero() {
		t.Error("its output was no sign of life")
	}
	if n, err = w.Pool.Does("next"); err != nil || !strings.Contains(n.Queued, "as many as may at once") {
		t.Errorf("a task that waits for the cap: %+v, %v", n, err)
	}
	if _, err = w.Pool.Does("nobody"); err == nil {
		t.Error("nobody has a reason")
	}
}

// TestStalled: a request that brings nothing for ninety seconds stalls, one that
// goes on does not, and the pieces that came last count, not the events.
func TestStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, pieces{every: time.Minute, n: 3}, setting{})
		w.Prompt("go")
		stalled := func() bool {
			n, err := w.Pool.Does("main")
			check(t, err)
			if n.Asked.IsZero() != (n.Info.State != event.Running) {
				t.Errorf("the request was sent at %s in state %s", n.Asked, n.Info.State)
			}
			_, ok := n.Info.Stalled(n.Info.Active, time.Now())
			return ok
		}
		w.State("main", event.Running)
		time.Sleep(89 * time.Second) // 29 s behind the first piece
		synctest.Wait()
		if stalled() {
			t.Error("it stalls between two pieces")
		}
		time.Sleep(150 * time.Second) // the last piece came after three minutes
		synctest.Wait()
		if stalled() {
			t.Error("it stalls 59 s after the last piece")
		}
		time.Sleep(31 * time.Second)
		synctest.Wait()
		if !stalled() {
			t.Error("nothing for 90 s is no stall")
		}
		w.Pool.Stop(w.Main())
		w.State("main", event.Idle)
		if stalled() {
			t.Error("an agent at rest stalls")
		}
		w.Close()
	})
}

// pieces is a provider that says a word now and then and never ends.
type pieces struct {
	every time.Duration
	n     int
}

func (p pieces) Stream(ctx context.Context, _ *llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		for range p.n {
			select {
			case <-time.After(p.every):
			case <-ctx.Done():
				return
			}
			if !yield(llm.Text{Text: "word "}, nil) {
				return
			}
		}
		<-ctx.Done()
	}
}
