package agents_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
)

// TestSettled_waitsForAPromptThatJustEntered: between a prompt's entry and the
// turn it starts nothing looks idle.
func TestSettled_waitsForAPromptThatJustEntered(t *testing.T) {
	m := &model{Reply: func(context.Context, *llm.Request) ([]llm.Part, error) { return text("ok"), nil }}
	w := open(t, m, setting{})
	for i := range 100 {
		w.Prompt("go")
		w.Settle()
		if n := len(m.Seen()); n != i+1 {
			t.Fatalf("settled after prompt %d with %d requests", i+1, n)
		}
	}
}

// TestWake_ofASubAgentIsTakenOnce: it takes its child's result at its seam, and
// nothing seems under way after it ended, now or after a restart.
// Spec: E-24, R-60.
func TestWake_ofASubAgentIsTakenOnce(t *testing.T) {
	t.Parallel()
	m := &model{}
	m.Reply = func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		switch {
		case asked(req) == "child":
			return text("the child's answer"), nil
		case len(results(req)) == 0:
			return call("a", "push", `{"name":"kid","prompt":"child","start":true,"deliver":"wake"}`), nil
		}
		last := req.Messages[len(req.Messages)-1].Parts
		if tx, ok := last[len(last)-1].(llm.Text); ok && tx.From == llm.FromMessage {
			return text("seen: " + tx.Text), nil
		}
		return text("waiting"), nil
	}
	dir := t.TempDir()
	w := open(t, m, setting{Dir: dir})
	w.Push("job", "parent")
	w.Run(0)
	w.Settle()
	if m := w.one(); !strings.Contains(m.Body, "the child's answer") {
		t.Errorf("message %+v", m)
	}
	job := w.Info("job").ID
	check(t, w.DB.Write(t.Context(), "late mail", func(tx *store.Tx) error {
		_, err := inbox.New(w.DB, nil).Add(tx, inbox.Message{Recipient: job, From: "ci", Body: "too late", Deliver: inbox.Wake})
		return err
	}))
	w.Close()
	w = open(t, m, setting{Dir: dir})
	w.Settle()
}

// TestStop_beforeTheTaskBegan: a task that was ended before its goroutine ran
// stays ended.
func TestStop_beforeTheTaskBegan(t *testing.T) {
	hold := make(chan struct{})
	m := &model{Reply: func(ctx context.Context, _ *llm.Request) ([]llm.Part, error) {
		<-ctx.Done()
		return nil, nil
	}}
	w := open(t, m, setting{Start: func(name string, f func()) {
		go func() {
			if name == "agent job" {
				<-hold
			}
			f()
		}()
	}})
	w.Push("job", "x")
	w.Run(0)
	w.State("job", event.Running)
	w.Pool.Stop(w.Info("job").ID)
	close(hold)
	w.Settle()
	if m := w.one(); m.Outcome != "interrupted" {
		t.Errorf("message %+v", m)
	}
	if err := w.Pool.Kill(t.Context(), "job", false); err == nil || !strings.Contains(err.Error(), "has ended already") {
		t.Errorf("kill: %v", err)
	}
}

// TestKill_racesTheStart: whenever it comes, the task ends with at most one
// message, and Kill returns.
func TestKill_racesTheStart(t *testing.T) {
	m := &model{Reply: func(ctx context.Context, _ *llm.Request) ([]llm.Part, error) {
		<-ctx.Done()
		return nil, nil
	}}
	w := open(t, m, setting{})
	for i := range 40 {
		name := fmt.Sprintf("job%d", i)
		w.Push(name, "x")
		w.Run(0)
		check(t, w.Pool.Kill(t.Context(), name, false))
	}
	w.Settle()
	var killed int
	for _, i := range w.Pool.Infos() {
		if i.State == event.Killed {
			killed++
		}
	}
	ms, err := w.Pool.Letters.Inbox(t.Context(), w.Main())
	check(t, err)
	if len(ms) != killed {
		t.Errorf("%d messages of %d killed agents", len(ms), killed)
	}
}

// TestReceive_timeoutTakesTheSlotBack: an agent whose wait was in vain goes on
// only when there is a slot for it.
func TestReceive_timeoutTakesTheSlotBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		m := &model{}
		m.Reply = func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
			switch {
			case asked(req) == "hog":
				<-release
			case len(results(req)) == 0:
				return call("a", "receive", `{"timeout":1}`), nil
			}
			return text("ok"), nil
		}
		w := open(t, m, setting{Cap: 1})
		w.Push("patient", "wait")
		w.Run(0)
		w.State("patient", event.Waiting)
		w.Push("hog", "hog")
		w.Run(0)
		w.Until("the hog runs", func() bool { return w.Info("hog").Doing == "streaming" })
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := len(m.Seen()); n != 2 {
			t.Errorf("%d requests while one slot was taken", n)
		}
		close(release)
		w.Settle()
		w.State("patient", event.Done)
	})
}

// TestAwait_whatWaitsForItsParentIsTold: the child's wait for a parent that waits
// for it ends with the reason, and the parent still gets its report.
func TestAwait_whatWaitsForItsParentIsTold(t *testing.T) {
	m := &model{}
	m.Reply = func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		rs := results(req)
		last := req.Messages[len(req.Messages)-1].Parts
		switch tx, _ := last[len(last)-1].(llm.Text); {
		case asked(req) == "child" && len(rs) == 0:
			return call("r", "receive", `{"from":"job"}`), nil
		case asked(req) == "child":
			return text("told: " + rs[0].Text), nil
		case len(rs) == 0:
			return call("a", "push", `{"name":"kid","prompt":"child","start":true}`), nil
		case tx.From == llm.FromMessage:
			return text("seen: " + tx.Text), nil
		}
		return text("dispatched"), nil
	}
	w := open(t, m, setting{})
	w.Push("job", "parent")
	w.Run(0)
	w.Settle()
	if m := w.one(); !strings.Contains(m.Body, "told: ") || !strings.Contains(m.Body, "job waits for the work it dispatched, kid waits for job") {
		t.Errorf("message %+v", m)
	}
}

func TestReply_callsGetIDsOfTheirOwn(t *testing.T) {
	m := &model{}
	m.Reply = func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if n := len(m.Seen()); n == 3 {
			return text("done"), nil
		}
		parts := append(call("x", "list_files", `{}`), call("x", "glob", `{"pattern":"*"}`)...)
		parts = append(parts, call("", "queue", `{}`)...)
		parts = append(parts, call("y", strings.Repeat("n", 1<<20), `{}`)...)
		return append(parts, call("z", "", `{}`)...), nil
	}
	w := open(t, m, setting{})
	w.Prompt("go")
	w.Settle()
	ids := map[string]string{}
	for _, e := range w.Entries("main") {
		switch {
		case e.Call != nil:
			if ids[e.Call.ID] != "" || e.Call.ID == "" || len(e.Call.Name) > 100 {
				t.Errorf("call %+v", e.Call)
			}
			ids[e.Call.ID] = e.Call.Name
		case e.Result != nil:
			if name, ok := ids[e.Result.ID]; !ok || name != e.Result.Name || len(e.Result.Text) > 2000 {
				t.Errorf("result %.300v", e.Result)
			}
		}
	}
	if len(ids) != 10 {
		t.Errorf("%d calls", len(ids))
	}
	for _, r := range m.Seen() {
		check(t, valid(r.Messages))
	}
}

func TestReply_oddEnds(t *testing.T) {
	for _, c := range []struct {
		name  string
		parts []llm.Part
		err   error
		kinds string
		last  string // in the entry before the end, or in its error
	}{
		{"only thinking", []llm.Part{llm.Thinking{Text: "hm"}}, nil, "prompt thinking notice ended", "answered nothing"},
		{"only white space", text(" \n"), nil, "prompt notice ended", "answered nothing"},
		{"a call after the stop", append([]llm.Part{llm.Text{Text: "said"}, llm.Stop{Reason: llm.EndTurn}}, call("a", "bash", `{"command":"touch ran"}`)...), nil, "prompt text ended", "said"},
		{"arguments that are no JSON", append(text("said"), llm.ToolCall{ID: "a", Name: "bash", Args: json.RawMessage(`{"command":`)}), nil, "prompt text ended", "are no JSON"},
		{"no arguments", append(text("said"), llm.ToolCall{ID: "a", Name: "bash"}), nil, "prompt text ended", "are no JSON"},
		{"a refusal", []llm.Part{llm.Stop{Reason: llm.Refusal, Detail: "not that"}}, nil, "prompt notice ended", "not that"},
		{"too long", nil, &llm.Error{Kind: llm.ContextTooLong, Provider: "test", Message: "Too long."}, "prompt ended", "/new begins a new conversation"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &model{Reply: func(context.Context, *llm.Request) ([]llm.Part, error) { return c.parts, c.err }}
			w := open(t, m, setting{})
			w.Prompt("go")
			w.Settle()
			es := w.Entries("main")
			if got := kinds(es); got != c.kinds {
				t.Fatalf("entries %s", got)
			}
			n := len(es)
			if said := es[n-2].Text + es[n-1].End.Error; !strings.Contains(said, c.last) {
				t.Errorf("it ends with %q", said)
			}
			if len(m.Seen()) != 1 {
				t.Errorf("%d requests", len(m.Seen()))
			}
		})
	}
}

func TestUnprompt(t *testing.T) {
	hold := make(chan struct{})
	m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		<-hold
		return text("ok"), nil
	}}
	dir := t.TempDir()
	w := open(t, m, setting{Dir: dir})
	w.Prompt("first")
	w.Until("it streams", func() bool { return w.Info("main").Doing == "streaming" })
	w.Prompt("second")
	w.Prompt("third")
	w.Until("both are queued", func() bool { return len(w.Info("main").Prompts) == 2 })
	second := w.Info("main").Prompts[0].ID
	for _, want := range []bool{true, false} {
		if ok, err := w.Pool.Unprompt(t.Context(), second); ok != want || err != nil {
			t.Errorf("take back: %v, %v", ok, err)
		}
	}
	go close(hold)
	w.Close() // the third may have entered; if not, it is held now

	// What was queued when the program ended is shown, not sent, whatever else is
	// typed; the human takes it back.
	hold = make(chan struct{})
	close(hold)
	check(t, func() error {
		db, err := store.Open(t.Context(), dir+"/fantail.db", store.Options{})
		if err != nil {
			return err
		}
		defer db.Close()
		return db.Write(t.Context(), "queue", func(tx *store.Tx) error {
			_, err := tx.AddPrompt(1, "typed before the end", false)
			return err
		})
	}())
	w = open(t, m, setting{Dir: dir})
	w.Prompt("new")
	w.Settle()
	held := w.Info("main").Prompts
	w.Until("the new one was answered", func() bool { held = w.Info("main").Prompts; return w.Info("main").Outcome == history.Completed })
	if len(held) == 0 || !held[len(held)-1].Held || held[len(held)-1].Text != "typed before the end" {
		t.Fatalf("prompts %+v", held)
	}
	for _, r := range m.Seen() {
		if s := fmt.Sprint(r.Messages); strings.Contains(s, "typed before") || strings.Contains(s, "second") {
			t.Errorf("it was sent: %s", s)
		}
	}
	if ok, err := w.Pool.Unprompt(t.Context(), held[len(held)-1].ID); !ok || err != nil {
		t.Errorf("take back: %v, %v", ok, err)
	}
}

// TestWithdraw takes all that is queued back at once, in order, and nothing of it is sent.
func TestWithdraw(t *testing.T) {
	m := &model{Reply: func(ctx context.Context, _ *llm.Request) ([]llm.Part, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	w := open(t, m, setting{})
	w.Prompt("first")
	w.Until("it streams", func() bool { return w.Info("main").Doing == "streaming" })
	for _, text := range []string{"second", "third\nof two lines", "fourth"} {
		w.Prompt(text)
	}
	w.Until("all are queued", func() bool { return len(w.Info("main").Prompts) == 3 })
	for _, want := range []string{"second|third\nof two lines|fourth", ""} {
		got, err := w.Pool.Withdraw(t.Context(), w.Main())
		if err != nil || strings.Join(got, "|") != want {
			t.Errorf("it gives %q back, %v; want %q", got, err, want)
		}
	}
	if left := w.Info("main").Prompts; len(left) != 0 {
		t.Errorf("%+v are shown as queued", left)
	}
	w.Pool.Stop(w.Main())
	w.Settle()
	if n := len(m.Seen()); n != 1 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestClear_isRefusedWhileATurnRuns(t *testing.T) {
	hold := make(chan struct{})
	m := &model{Reply: func(context.Context, *llm.Request) ([]llm.Part, error) {
		<-hold
		return text("ok"), nil
	}}
	w := open(t, m, setting{})
	w.Prompt("first")
	w.Until("it streams", func() bool { return w.Info("main").Doing == "streaming" })
	if err := w.Pool.Clear(t.Context(), w.Main()); err == nil || !strings.Contains(err.Error(), "a turn runs") {
		t.Errorf("clear: %v", err)
	}
	close(hold)
	w.Settle()
	check(t, w.Pool.Clear(t.Context(), w.Main()))
	w.Prompt("second")
	w.Settle()
	reqs := m.Seen()
	if last := reqs[len(reqs)-1].Messages; len(last) != 1 {
		t.Errorf("after it %d messages are sent", len(last))
	}
}

// TestClear_staysClear: after a restart too, nothing of the old conversation counts
// as sent until something is.
func TestClear_staysClear(t *testing.T) {
	m := &model{Reply: func(context.Context, *llm.Request) ([]llm.Part, error) {
		return append([]llm.Part{llm.Usage{Input: 10, Output: 5}}, text("ok")...), nil
	}}
	set := setting{Dir: t.TempDir()}
	w := open(t, m, set)
	context := func(want int) {
		t.Helper()
		for _, i := range w.Pool.Infos() {
			if i.Kind == event.Main && i.Context != want {
				t.Errorf("a context of %d tokens, not %d", i.Context, want)
			}
		}
	}
	again := func() {
		w.Close()
		w = open(t, m, set)
	}
	w.Prompt("first")
	w.Settle()
	again()
	context(15)
	check(t, w.Pool.Clear(t.Context(), w.Main()))
	context(0)
	again()
	context(0)
	w.Prompt("second")
	w.Settle()
	again()
	context(15)
}

// TestNext_whoGivesUpStartsNoTurn: a wish whose asker left is not carried out.
func TestNext_whoGivesUpStartsNoTurn(t *testing.T) {
	hold := make(chan struct{})
	m := &model{Reply: func(context.Context, *llm.Request) ([]llm.Part, error) {
		<-hold
		return text("ok"), nil
	}}
	w := open(t, m, setting{})
	_, err := w.Pool.Letters.Send(t.Context(), w.Main(), "main", "mail", inbox.Low)
	check(t, err)
	w.Prompt("take it at the start")
	w.Until("it streams", func() bool { return w.Info("main").Doing == "streaming" })
	_, err = w.Pool.Letters.Send(t.Context(), w.Main(), "main", "mail for next", "")
	check(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, _, err := w.Pool.Pickup.Next(ctx, 1, 0)
		left <- err
	}()
	cancel()
	if err := <-left; err == nil {
		t.Error("next returned a message while a turn ran")
	}
	answered := make(chan bool, 1)
	go func() {
		_, ok, _ := w.Pool.Pickup.Next(context.Background(), 1, 999)
		answered <- ok
	}()
	close(hold)
	if <-answered {
		t.Error("message 999 was taken")
	}
	w.Settle()
	if n := len(m.Seen()); n != 1 {
		t.Errorf("%d requests", n)
	}
	w.one()
}

// TestCheck_tellsTheModelWhatIsLeft and bounds what a large failure brings.
func TestCheck_tellsTheModelWhatIsLeft(t *testing.T) {
	m := &model{}
	m.Reply = func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if len(results(req)) == 0 {
			return call("a", "check", `{}`), nil
		}
		return text("ok"), nil
	}
	w := open(t, m, setting{})
	main := w.Main()
	box := inbox.New(w.DB, nil)
	big := strings.Repeat("<message> 1 MB\n", inbox.MaxBody/15)
	for range 5 {
		_, err := box.Deposit(t.Context(), inbox.Message{Recipient: main, From: "ci", Kind: inbox.Failure, Deliver: inbox.Hold, Error: "e", Partial: big})
		check(t, err)
	}
	w.Prompt("look")
	w.Settle()
	reqs := m.Seen()
	last := reqs[len(reqs)-1].Messages
	check(t, valid(last))
	s := fmt.Sprint(last)
	if !strings.Contains(s, "4 more: check again") {
		t.Errorf("the model is not told what is left: %d bytes", len(s))
	}
	if len(s) > 150_000 {
		t.Errorf("one failure brings %d bytes", len(s))
	}
}

// Spec, E-21.
func TestPush_names(t *testing.T) {
	w := open(t, &model{}, setting{})
	for _, name := range []string{
		"main", "Main", "user", "System", "rооt", "a b", "9a", "\x1b[31mred", strings.Repeat("x", 10_000), "a/b", "a·1", "",
	} {
		_, err := w.Pool.Tasks.Push(t.Context(), w.Main(), tools.Task{Name: name, Prompt: "x"})
		if (err == nil) != (name == "") {
			t.Errorf("name %.40q: %v", name, err)
		}
	}
	w.Push("twice", "x")
	if _, err := w.Pool.Tasks.Push(t.Context(), w.Main(), tools.Task{Name: "twice", Prompt: "x"}); err == nil || !strings.Contains(err.Error(), "queued or runs already") {
		t.Errorf("a second one: %v", err)
	}
}

// TestRun_replacesAWindowWhoseQueueIsDrained: what is pushed while tasks run obeys
// the newest window.
func TestRun_replacesAWindowWhoseQueueIsDrained(t *testing.T) {
	hold := make(chan struct{})
	m := &model{Reply: func(context.Context, *llm.Request) ([]llm.Part, error) {
		<-hold
		return text("ok"), nil
	}}
	w := open(t, m, setting{})
	w.Push("a", "x")
	w.Run(1)
	w.Until("a runs", func() bool { return w.Info("a").Doing == "streaming" })
	w.Run(2)
	w.Push("b", "x")
	w.Until("b runs beside it", func() bool { return w.Info("b").Doing == "streaming" })
	close(hold)
	w.Settle()
}
