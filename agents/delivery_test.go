package agents_test

import (
	"context"
	"strings"
	"testing"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/tools"
)

// TestDelegate_resultEntersTheNextTurn: what an agent dispatched waits for the
// next prompt, enters before it, and costs no request while it waits.
// Spec: O-9, O-12, O-15, O-37, O-75.
func TestDelegate_resultEntersTheNextTurn(t *testing.T) {
	m := &model{}
	m.Reply = func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		switch {
		case asked(req) == "child work":
			return text("the child's answer"), nil
		case asked(req) == "delegate" && len(results(req)) == 0:
			return call("d", "push", `{"name":"kid","prompt":"child work","start":true}`), nil
		}
		return text("ok"), nil
	}
	w := open(t, m, setting{})
	w.Prompt("delegate")
	w.Settle()
	w.Until("the result waits", func() bool { return w.Info("main").Pending == 1 })
	if n := len(m.Seen()); n != 3 {
		t.Fatalf("%d requests before the next prompt, want 2 of main and 1 of the child", n)
	}
	es := w.Entries("main")
	if !strings.Contains(es[2].Result.Text, "Task dispatched to 'kid' (session: ") {
		t.Errorf("push answered %q", es[2].Result.Text)
	}
	w.Prompt("how did it go?")
	w.Settle()
	es = w.Entries("main")
	if got := kinds(es); got != "prompt call result text ended message prompt text ended" {
		t.Fatalf("entries: %s", got)
	}
	if txt := es[5].Text; !strings.HasPrefix(txt, "[System: 1 background task(s) completed]\n\n<message ") || !strings.Contains(txt, ".\n**Task**: child work\n**Result**: the child's answer\n</message") {
		t.Errorf("digest:\n%s", txt)
	}
	reqs := m.Seen()
	check(t, valid(reqs[len(reqs)-1].Messages))
}

// Spec: O-14, O-16, O-17.
func TestDeliver_wakeStartsATurnAndHoldDoesNot(t *testing.T) {
	t.Parallel()
	m := &model{}
	m.Reply = func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		switch a := asked(req); {
		case strings.HasPrefix(a, "child"):
			return text("answer of " + a), nil
		case strings.HasPrefix(a, "push ") && len(results(req)) == 0:
			return call("d", "push", `{"name":"kid-`+a[5:]+`","prompt":"child","start":true,"deliver":"`+a[5:]+`"}`), nil
		}
		return text("ok"), nil
	}
	w := open(t, m, setting{})
	w.Prompt("push hold")
	w.Settle()
	w.Until("the held one waits", func() bool { return w.Info("main").Pending == 1 })
	w.Prompt("push wake")
	w.Settle()
	w.Until("only the held one waits", func() bool { return w.Info("main").Pending == 1 && w.Info("kid-wake").State == event.Done })
	w.Settle()
	if got := kinds(w.Entries("main")); !strings.HasSuffix(got, "ended message text ended") {
		t.Errorf("entries: %s", got)
	}
}

func TestNext_takesTheMostUrgentIntoATurnOfItsOwn(t *testing.T) {
	m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) { return text("handled"), nil }}
	w := open(t, m, setting{})
	main := w.Main()
	for _, x := range []struct {
		text string
		p    inbox.Priority
	}{{"calm", inbox.Normal}, {"fire!", inbox.Urgent}} {
		_, err := w.Pool.Letters.Send(t.Context(), main, "main", x.text, x.p)
		check(t, err)
	}
	got, ok, err := w.Pool.Pickup.Next(t.Context(), main, 0)
	check(t, err)
	if !ok || got.Body != "fire!" {
		t.Fatalf("next: %+v", got)
	}
	w.Settle()
	es := w.Entries("main")
	if kinds(es) != "message text ended" || !strings.HasPrefix(es[0].Text, "You have a message from main. Message #2.") {
		t.Errorf("entries %s: %q", kinds(es), es[0].Text)
	}
	for id, want := range map[int64]string{99: "there is no message #99", 2: "message #2 does not wait any more: it is taken by /messages next"} {
		if _, ok, err := w.Pool.Pickup.Next(t.Context(), main, id); ok || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("message %d: %v %v", id, ok, err)
		}
	}
	if n := len(m.Seen()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// Spec: R-21, E-22.
func TestReceive_saysAtOnceThatNothingCanArrive(t *testing.T) {
	m := &model{Reply: func(context.Context, *llm.Request) ([]llm.Part, error) { return text("ok"), nil }}
	w := open(t, m, setting{})
	main := w.Main()
	for _, c := range []struct{ from, want string }{
		{"", "nothing can arrive: no running or queued agents"},
		{"ghost", "nothing can arrive: there is no agent ghost"},
	} {
		_, err := w.Pool.Pickup.Receive(t.Context(), main, inbox.Query{From: c.from})
		if err == nil || err.Error() != c.want {
			t.Errorf("receive from %q: %v", c.from, err)
		}
	}
	w.Push("a", "x")
	w.Push("b", "x")
	if _, err := w.Pool.Pickup.Receive(t.Context(), main, inbox.Query{}); err == nil || !strings.Contains(err.Error(), "2 tasks are queued, none runs: /run") {
		t.Errorf("receive with queued tasks: %v", err)
	}
	w.Run(0)
	w.Settle()
	_, _, err := w.Pool.Pickup.Check(t.Context(), main, inbox.Query{})
	check(t, err)
	if _, err := w.Pool.Pickup.Receive(t.Context(), main, inbox.Query{From: "a"}); err == nil || !strings.Contains(err.Error(), "a has ended (done)") {
		t.Errorf("receive from an ended agent: %v", err)
	}
	w.State("main", event.Idle)
}

// TestReceive_siblings is 002's sibling coordination one at a time, in either
// order: the implementer that waits first holds no slot meanwhile, and neither
// does the analyzer whose letter waits for the implementer to start.
//
// Spec.
func TestReceive_siblings(t *testing.T) {
	for _, names := range [][]string{{"implementer", "analyzer"}, {"analyzer", "implementer"}} {
		t.Run(names[0]+" first", func(t *testing.T) { siblings(t, names) })
	}
}

func siblings(t *testing.T, names []string) {
	m := &model{}
	m.Reply = func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		rs := results(req)
		switch {
		case asked(req) == "implement" && len(rs) == 0:
			return call("r", "receive", `{"from":"analyzer"}`), nil
		case asked(req) == "implement":
			all := rs[0].Text
			for _, m := range req.Messages {
				for _, part := range m.Parts {
					if p, ok := part.(llm.Text); ok && p.From == llm.FromMessage {
						all += p.Text // it was there before the call
					}
				}
			}
			return text("built on: " + all), nil
		case asked(req) == "analyze" && len(rs) == 0:
			return call("s", "send", `{"to":"implementer","message":"Found patterns: x"}`), nil
		}
		return text("analysed"), nil
	}
	w := open(t, m, setting{})
	for _, name := range names {
		w.Push(name, map[string]string{"implementer": "implement", "analyzer": "analyze"}[name])
	}
	w.Run(1)
	w.Settle()
	ms, _, err := w.Pool.Pickup.Check(t.Context(), w.Main(), inbox.Query{})
	check(t, err)
	if len(ms) != 2 {
		t.Fatalf("messages %+v", ms)
	}
	for _, msg := range ms {
		if msg.From == "implementer" && !strings.Contains(msg.Body, "Found patterns: x") {
			t.Errorf("implementer says %q; analyzer: %+v", msg.Body, w.Entries("analyzer")[2].Result)
		}
	}
}

// TestSend_toWhatHasNotStarted: a letter waits for what starts by itself, as long
// as that can start; the human's own is refused with what keeps it.
//
// Spec, E-13.
func TestSend_toWhatHasNotStarted(t *testing.T) {
	play(t, counted(), setting{Cap: 1}, func(w *world) {
		for _, task := range []tools.Task{
			{Name: "needed", Prompt: "send needs: hello then say sent"},
			{Name: "needs", Prompt: "check then say read", After: []string{"needed"}},
			{Name: "long", Prompt: "wait 1m then send killed: x then say on"},
			{Name: "late", Prompt: "say late"},
			{Name: "writes", Prompt: "send brief: hello\nsend idle: hello\nsay sent"},
			{Name: "gone", Prompt: "send removed: hello then say sent"},
			{Name: "brief", Prompt: "wait 1s then say here"},
			{Name: "removed", Prompt: "say never", After: []string{"brief"}},
		} {
			w.task(task)
		}
		idle, err := w.Pool.NewHelper(w.T.Context(), "aide", "")
		check(w.T, err)
		_, err = w.Pool.Tasks.Push(w.T.Context(), idle.ID, tools.Task{Name: "idle", Prompt: "say idle"})
		check(w.T, err)
		w.Run(0)
		w.Until("long runs", func() bool { return w.Info("long").State == event.Running })
		_, err = w.Pool.Letters.Send(w.T.Context(), w.Main(), "late", "x", "")
		refuses(w.T, err, `"late": that task has not started, so nobody reads its mail yet: 1 agents run, as many as may at once`)
		w.rest()
		for name, want := range map[string]string{
			"needed": "needs is queued and waits for needed, which can't go on",
			"writes": "that task is queued and has not started",
			"gone":   "in the inbox of removed",
		} {
			if m := w.mail()[name]; !strings.Contains(m.Text(), want) {
				w.T.Errorf("%s ended with %q, want %q", name, m.Text(), want)
			}
		}
	})
}

// Spec: R-21, E-22.
func TestReceive_waitCycleIsExplainedToBoth(t *testing.T) {
	for name, c := range map[string]struct {
		waits map[string]string // who waits for whom
		chain string
		hear  []string
	}{
		"two":      {map[string]string{"a": "b", "b": "a"}, "a waits for b, b waits for a", []string{"a", "b"}},
		"three":    {map[string]string{"a": "b", "b": "c", "c": "a"}, "a waits for b, b waits for c, c waits for a", []string{"a", "b", "c"}},
		"and tail": {map[string]string{"a": "b", "b": "a", "d": "a"}, "a waits for b, b waits for a", []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := &model{}
			m.Reply = func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
				if rs := results(req); len(rs) > 0 {
					return text(rs[0].Text), nil
				}
				return call("r", "receive", `{"from":"`+asked(req)+`"}`), nil
			}
			w := open(t, m, setting{})
			for who, whom := range c.waits {
				w.Push(who, whom)
			}
			w.Run(0)
			w.Settle()
			mail := w.mail()
			if len(mail) != len(c.waits) {
				t.Errorf("%d messages", len(mail))
			}
			for _, who := range c.hear {
				if body := mail[who].Body; !strings.Contains(body, c.chain) {
					t.Errorf("%s hears %q, not that %s", who, body, c.chain)
				}
			}
			if name == "and tail" && !strings.Contains(mail["d"].Body, c.chain) && !strings.Contains(mail["d"].Body, "a has ended") {
				t.Errorf("d hears %q", mail["d"].Body)
			}
		})
	}
}

// TestNested_parentsWaitWithoutASlot: nine nested parents finish although only
// eight agents may run at once, and each gets its child's result.
//
// Spec, O-76.
func TestNested_parentsWaitWithoutASlot(t *testing.T) {
	m := &model{}
	m.Reply = func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		depth := asked(req)
		last := req.Messages[len(req.Messages)-1].Parts
		if depth == "xxxxxxxxxx" {
			return text("bottom"), nil
		}
		if len(results(req)) == 0 {
			return call("p", "push", `{"prompt":"`+depth+`x","start":true}`), nil
		}
		if tx, ok := last[len(last)-1].(llm.Text); ok && tx.From == llm.FromMessage {
			return text("seen " + tx.Text), nil
		}
		return text("dispatched"), nil
	}
	w := open(t, m, setting{Cap: 8})
	w.Push("top", "x")
	w.Run(0)
	w.Settle()
	ms, _, err := w.Pool.Pickup.Check(t.Context(), w.Main(), inbox.Query{})
	check(t, err)
	if len(ms) != 1 || !strings.Contains(ms[0].Body, "bottom") {
		t.Fatalf("messages %+v", ms)
	}
	// Each parent asks for its call, its answer and what the result is worth. The
	// last two are one where the child was done before the parent went on.
	if n := len(m.Seen()); n < 9*2+1 || n > 9*3+1 {
		t.Errorf("%d requests: waiting must cost none", n)
	}
}

func TestReceive_humanWaitKeepsPromptsAndStops(t *testing.T) {
	hold := make(chan struct{})
	m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if asked(req) == "slow" {
			<-hold
		}
		return text("ok"), nil
	}}
	w := open(t, m, setting{})
	main := w.Main()
	w.Push("s", "slow")
	w.Run(0)
	failed := make(chan error, 1)
	go func() {
		_, err := w.Pool.Pickup.Receive(t.Context(), main, inbox.Query{})
		failed <- err
	}()
	w.State("main", event.Waiting)
	w.Prompt("typed meanwhile")
	w.Until("it is queued", func() bool { return len(w.Info("main").Prompts) == 1 })
	w.Pool.Stop(main)
	if err := <-failed; err == nil || err.Error() != "stopped" {
		t.Errorf("receive after Esc: %v", err)
	}
	w.Until("the prompt is answered", func() bool { return w.Info("main").Outcome == history.Completed })
	close(hold)
	w.Settle()
	if w.Until("the result waits", func() bool { return w.Info("main").Pending == 1 }); len(m.Seen()) != 2 {
		t.Errorf("%d requests", len(m.Seen()))
	}
}

func TestSend_refusals(t *testing.T) {
	m := &model{Reply: func(context.Context, *llm.Request) ([]llm.Part, error) { return text("ok"), nil }}
	w := open(t, m, setting{})
	w.Push("done", "x")
	w.Run(0)
	w.Settle()
	for _, c := range []struct{ to, body, want string }{
		{"nobody", "hi", "no such agent"},
		{"done", "hi", "has ended (done)"},
		{"main", "", "empty"},
		{"main", strings.Repeat("x", inbox.MaxBody+1), "larger than 1 MiB"},
	} {
		if _, err := w.Pool.Letters.Send(t.Context(), w.Main(), c.to, c.body, ""); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("send to %s: %v, want %q", c.to, err, c.want)
		}
	}
}
