package agents_test

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/tools"
	"fantail/tools/permission"
)

func TestTurn_answers(t *testing.T) {
	m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		return []llm.Part{
			llm.Thinking{Text: "hm", Opaque: "sig", Model: "test/one"},
			llm.Text{Text: "you said ", Index: 1},
			llm.Text{Text: asked(req), Index: 1},
			llm.Usage{Input: 10, Output: 5},
		}, nil
	}}
	w := open(t, m, setting{})
	w.Prompt("hello")
	w.Settle()
	es := w.Entries("main")
	if got := kinds(es); got != "prompt thinking text ended" {
		t.Fatalf("entries: %s", got)
	}
	if es[2].Text != "you said hello" || es[3].End.Outcome != history.Completed || es[3].End.Steps != 1 {
		t.Errorf("text %q, end %+v", es[2].Text, es[3].End)
	}
	w.State("main", event.Idle)
	if i := w.Info("main"); i.Usage.Input != 10 || i.Context != 15 || len(i.Prompts) != 0 {
		t.Errorf("info %+v", i)
	}
	w.Prompt("again")
	w.Settle()
	reqs := m.Seen()
	last := reqs[len(reqs)-1]
	check(t, valid(last.Messages))
	if _, ok := last.Messages[1].Parts[0].(llm.Thinking); !ok || len(last.Messages) != 3 {
		t.Errorf("the thinking of the same model is not sent back: %+v", last.Messages)
	}
}

// A call whose arguments are no object costs the model a step, not the turn; one
// that makes no other is stopped.
func TestTurn_brokenArguments(t *testing.T) {
	m := &model{}
	m.Reply = func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		broken := llm.Stop{Reason: llm.ToolUse, Broken: []string{"push"}}
		switch said := req.Messages[len(req.Messages)-1].Parts; {
		case asked(req) == "never learn" || len(m.Seen()) == 1:
			return []llm.Part{broken}, nil
		case len(results(req)) == 0:
			if last, ok := said[len(said)-1].(llm.Text); !ok || last.From != llm.FromHost || !strings.Contains(last.Text, "push") {
				t.Errorf("the model was told %+v", said)
			}
			return append(call("a", "bash", `{"command":"true"}`), broken), nil
		}
		return text("done"), nil
	}
	w := open(t, m, setting{})
	w.Prompt("go")
	w.Settle()
	if got := kinds(w.Entries("main")); got != "prompt host call host started result text ended" {
		t.Fatalf("entries: %s", got)
	}
	check(t, valid(m.Seen()[2].Messages))
	w.Prompt("never learn")
	w.Settle()
	es := w.Entries("main")
	if end := es[len(es)-1].End; end.Outcome != history.OutFailed || !strings.Contains(end.Error, "no JSON object") {
		t.Errorf("ended %+v", end)
	}
}

// A task whose answer was refused or cut has not completed, and what it said is
// not lost.
// Spec: N-34, R-17.
func TestTask_withoutAnAnswer(t *testing.T) {
	m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		return []llm.Part{llm.Text{Text: "so far"}, llm.Stop{Reason: llm.Reason(asked(req)), Detail: "policy"}}, nil
	}}
	w := open(t, m, setting{})
	w.Push("no", string(llm.Refusal))
	w.Push("cut", string(llm.Length))
	w.Run(0)
	w.Settle()
	w.State("no", event.Failed)
	w.State("cut", event.Failed)
	ms, err := w.Pool.Letters.Inbox(t.Context(), w.Main())
	check(t, err)
	for _, got := range ms {
		want := map[string]string{"no": "refused to answer. policy", "cut": "token limit"}[got.From]
		if got.Success() || got.Partial != "so far" || !strings.Contains(got.Error, want) {
			t.Errorf("message %+v", got)
		}
	}
}

func TestTurn_runsCallsInOrder(t *testing.T) {
	m := &model{}
	m.Reply = func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if len(results(req)) > 0 {
			return text("done"), nil
		}
		return append(append(call("a", "bash", `{"command":"echo one > f"}`), call("b", "bash", `{"command":"cat f; echo two >> f"}`)...), call("c", "bash", `{"command":"cat f"}`)...), nil
	}
	w := open(t, m, setting{})
	w.Prompt("go")
	w.Settle()
	reqs := m.Seen()
	rs := results(reqs[len(reqs)-1])
	if len(rs) != 3 || rs[0].ID != "a" || !strings.Contains(rs[1].Text, "one") || !strings.Contains(rs[2].Text, "one\ntwo") {
		t.Fatalf("results: %+v", rs)
	}
	check(t, valid(reqs[len(reqs)-1].Messages))
}

// Spec: O-8.
func TestTurn_promptWhileBusyEntersAtTheNextSeam(t *testing.T) {
	streaming, go_on := make(chan struct{}), make(chan struct{})
	m := &model{}
	m.Reply = func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if len(m.Seen()) == 1 {
			close(streaming)
			<-go_on
			return call("a", "bash", `{"command":"true"}`), nil
		}
		return text("heard: " + asked(req)), nil
	}
	w := open(t, m, setting{})
	w.Prompt("first")
	<-streaming
	w.Prompt("second")
	w.Until("the prompt shows as queued", func() bool { return len(w.Info("main").Prompts) == 1 })
	close(go_on)
	w.Settle()
	if got := kinds(w.Entries("main")); got != "prompt call started result prompt text ended" {
		t.Fatalf("entries: %s", got)
	}
	reqs := m.Seen()
	if len(reqs) != 2 {
		t.Fatalf("%d requests", len(reqs))
	}
	check(t, valid(reqs[1].Messages))
	w.Until("nothing is queued", func() bool { return len(w.Info("main").Prompts) == 0 })
}

func TestStop_leavesAValidHistory(t *testing.T) {
	m := &model{}
	m.Reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		switch asked(req) {
		case "stream":
			<-ctx.Done()
			return text("half an ans"), nil
		case "tool":
			return call("a", "bash", `{"command":"echo begun; sleep 600"}`), nil
		}
		return text("fine"), nil
	}
	w := open(t, m, setting{})
	main := w.Main()
	w.Prompt("stream")
	w.Until("it streams", func() bool { return w.Info("main").Doing == "streaming" })
	w.Pool.Stop(main)
	w.Settle()
	w.Prompt("tool")
	w.Output("main", "begun")
	w.Pool.Stop(main)
	w.Settle()
	w.Prompt("still there?")
	w.Settle()
	es := w.Entries("main")
	if got := kinds(es); got != "prompt text ended prompt call started result ended prompt text ended" {
		t.Errorf("entries: %s", got)
	}
	if es[2].End.Outcome != history.Interrupted || !strings.Contains(es[6].Result.Text, "begun") {
		t.Errorf("end %+v, result %+v", es[2].End, es[6].Result)
	}
	for _, r := range m.Seen() {
		check(t, valid(r.Messages))
	}
}

func TestTurn_failureIsShownAndTheNextPromptGoesOn(t *testing.T) {
	m := &model{}
	m.Reply = func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if asked(req) == "fail" {
			return append(text("partial"), call("x", "bash", `{"command":"touch ran"}`)...), &llm.Error{Kind: llm.Auth, Provider: "test", Message: "the key is wrong"}
		}
		return text("ok"), nil
	}
	w := open(t, m, setting{})
	w.Prompt("fail")
	w.Settle()
	w.State("main", event.Idle)
	es := w.Entries("main")
	if got := kinds(es); got != "prompt text ended" || es[2].End.Outcome != history.OutFailed || !strings.Contains(es[2].End.Error, "the key is wrong") {
		t.Fatalf("entries: %s, end %+v", got, es[2].End)
	}
	w.Prompt("again")
	w.Settle()
	reqs := m.Seen()
	check(t, valid(reqs[len(reqs)-1].Messages))
}

// Spec, O-21, Q-19, N-17, N-18.
func TestTask_resultIsDepositedAndReceived(t *testing.T) {
	m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if strings.Contains(asked(req), "boom") {
			return text("so far"), &llm.Error{Kind: llm.BadRequest, Provider: "test", Message: "boom"}
		}
		return text("result of " + asked(req)), nil
	}}
	w := open(t, m, setting{})
	w.Push("good", "work")
	w.Push("bad", "boom")
	w.Push("", "unnamed")
	if r := w.Run(2).String(); r != "Running 2 of 3 (window 2, 1 queued)" {
		t.Errorf("run prints %q", r)
	}
	w.Settle()
	w.Until("three messages wait", func() bool { return w.Info("main").Pending == 3 })
	msg, err := w.Pool.Pickup.Receive(t.Context(), w.Main(), inbox.Query{From: "good"})
	check(t, err)
	if msg.Body != "result of work" || msg.Kind != inbox.Result || msg.Outcome != "completed" || msg.Subject != "work" {
		t.Errorf("message %+v", msg)
	}
	ms, left, err := w.Pool.Pickup.Check(t.Context(), w.Main(), inbox.Query{})
	check(t, err)
	if len(ms) != 2 || left != 0 {
		t.Fatalf("%d messages, %d left", len(ms), left)
	}
	for _, m := range ms {
		if m.From == "bad" && (m.Kind != inbox.Failure || !strings.Contains(m.Error, "boom") || m.Partial != "so far") {
			t.Errorf("failure %+v", m)
		}
	}
	if n := len(m.Seen()); n != 3 {
		t.Errorf("%d requests: taking mail must not cost one", n)
	}
	w.State("good", event.Done)
	w.State("bad", event.Failed)
	if got := kinds(w.Entries("main")); got != "message message" {
		t.Errorf("main's entries: %s", got)
	}
	w.Prompt("what came?")
	w.Settle()
	reqs := m.Seen()
	last := reqs[len(reqs)-1].Messages
	check(t, valid(last))
	if first, ok := last[0].Parts[0].(llm.Text); !ok || first.From != llm.FromMessage || !strings.Contains(first.Text, "result of work") {
		t.Errorf("the request does not carry what was taken: %+v", last)
	}
}

// TestTask_textsNoMessageHolds: a result is delivered however long its texts are,
// and says what it leaves out.
func TestTask_textsNoMessageHolds(t *testing.T) {
	t.Parallel()
	long := "the first ü" + strings.Repeat("üx", 1<<19) + "ü the last"
	for _, failed := range []bool{false, true} {
		m := &model{Reply: func(context.Context, *llm.Request) ([]llm.Part, error) {
			if failed {
				return text(long), &llm.Error{Kind: llm.BadRequest, Message: long}
			}
			return text(long), nil
		}}
		w := open(t, m, setting{})
		w.Push("job", long)
		w.Run(0)
		w.Settle()
		msg := w.one()
		texts := []string{msg.Body, msg.Subject}
		if failed {
			texts = []string{msg.Partial, msg.Subject, msg.Error}
		}
		for i, s := range texts {
			if len(s) > inbox.MaxBody || !utf8.ValidString(s) || !strings.Contains(s, "bytes are left out") || !strings.HasSuffix(s, "ü the last") {
				t.Errorf("failed %v: text %d has %d bytes: %.60q", failed, i, len(s), s)
			}
		}
	}
}

// Spec, E-22.
func TestRun_windowHoldsAndDrains(t *testing.T) {
	enter, leave := make(chan string, 5), make(chan struct{})
	m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		enter <- asked(req)
		<-leave
		return text("ok"), nil
	}}
	w := open(t, m, setting{})
	for _, n := range []string{"a", "b", "c", "d", "e"} {
		w.Push(n, n)
	}
	w.Run(2)
	got := <-enter + <-enter
	if got != "ab" && got != "ba" {
		t.Errorf("first came %s", got)
	}
	w.Until("two run", func() bool { return w.Tally.Running == 2 && w.Tally.Queued == 3 })
	for i := range 5 {
		select {
		case x := <-enter:
			t.Errorf("%s started while two ran", x)
		default:
		}
		leave <- struct{}{}
		if i < 3 {
			<-enter
		}
	}
	for range 5 {
		_, err := w.Pool.Pickup.Receive(t.Context(), w.Main(), inbox.Query{})
		check(t, err)
	}
}

func TestAsk_backgroundQuestionHoldsNobodyElse(t *testing.T) {
	m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if rs := results(req); len(rs) > 0 {
			return text("got: " + rs[len(rs)-1].Text), nil
		}
		if c, ok := strings.CutPrefix(asked(req), "run "); ok {
			return call("a", "bash", `{"command":"`+c+`"}`), nil
		}
		return text("hi"), nil
	}}
	w := open(t, m, setting{Mode: permission.Ask})
	w.Push("one", "run echo first | tee said")
	w.Push("two", "run touch second")
	w.Run(1)
	w.Until("both ask: one that asks holds no slot", func() bool { return w.Tally.Asking == 2 })
	w.Prompt("are you there?")
	w.Until("main answers meanwhile", func() bool { return w.Info("main").Outcome == history.Completed })
	w.State("one", event.Asking)
	q := w.Info("one").Question
	if q == nil || q.Action.Command != "echo first | tee said" || q.Name != "one" {
		t.Fatalf("question %+v", q)
	}
	if !w.Answer(q.ID, permission.Once) || w.Answer(q.ID, permission.Once) {
		t.Error("a question is answered once")
	}
	q = w.Info("two").Question
	w.Answer(q.ID, permission.No, "not today")
	w.Settle()
	ms, _, err := w.Pool.Pickup.Check(t.Context(), w.Main(), inbox.Query{})
	check(t, err)
	bodies := map[string]string{}
	for _, m := range ms {
		bodies[m.From] = m.Body
	}
	if !strings.Contains(bodies["one"], "first") || !strings.Contains(bodies["two"], "not today") {
		t.Errorf("bodies %q", bodies)
	}
}

func TestAsk_sessionRuleAnswersTheOthers(t *testing.T) {
	m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if len(results(req)) > 0 {
			return text("ok"), nil
		}
		return call("a", "bash", `{"command":"`+asked(req)+`"}`), nil
	}}
	w := open(t, m, setting{Mode: permission.Ask})
	w.Push("one", "go version")
	w.Push("two", "go version")
	w.Run(0)
	w.Until("both ask", func() bool { return w.Tally.Asking == 2 })
	q := w.Info("one").Question
	if q.Rule == "" {
		t.Fatal("no rule is offered")
	}
	w.Answer(q.ID, permission.Session)
	w.Settle()
	w.State("two", event.Done)
}

func TestAsk_nobodyThereIsANo(t *testing.T) {
	m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if rs := results(req); len(rs) > 0 {
			return text(rs[0].Text), nil
		}
		return call("a", "bash", `{"command":"touch made"}`), nil
	}}
	w := open(t, m, setting{})
	c := w.Unattended(t.Context(), agents.Unattended{Mode: permission.Ask})
	check(t, c.Prompt(t.Context(), "go"))
	w.Settle()
	es := w.Entries(c.Info.Name)
	if r := es[len(es)-2]; !strings.Contains(r.Text, "nobody is here to be asked") {
		t.Errorf("answer %q", r.Text)
	}
}

func TestKill_endsTheToolsAndFreesTheName(t *testing.T) {
	t.Parallel()
	m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if asked(req) == "quick" {
			return text("ok"), nil
		}
		return call("a", "bash", `{"command":"trap '' TERM; echo before; sleep 600"}`), nil
	}}
	w := open(t, m, setting{})
	w.Push("job", "long")
	w.Push("later", "quick")
	w.Run(1)
	w.Output("job", "before")
	check(t, w.Pool.Kill(t.Context(), "job", false))
	w.State("job", event.Killed)
	w.Settle()
	ms, _, err := w.Pool.Pickup.Check(t.Context(), w.Main(), inbox.Query{From: "job"})
	check(t, err)
	if len(ms) != 1 || ms[0].Kind != inbox.Failure || ms[0].Outcome != "killed" {
		t.Fatalf("messages %+v", ms)
	}
	w.Push("job", "quick")
	w.Run(0)
	w.Settle()
	w.State("job", event.Done)
	w.State("job·1", event.Killed)
	if err := w.Pool.Kill(t.Context(), "main", false); err == nil {
		t.Error("main can't be killed")
	}
}

func TestKill_removesAQueuedTask(t *testing.T) {
	w := open(t, &model{}, setting{})
	w.Push("job", "never")
	check(t, w.Pool.Kill(t.Context(), "job", false))
	l, err := w.Pool.Queue(t.Context(), w.Main())
	check(t, err)
	if len(l.Tasks) != 0 {
		t.Errorf("queue %+v", l.Tasks)
	}
	if _, err := w.Pool.Pickup.Receive(t.Context(), w.Main(), inbox.Query{}); err == nil || !strings.Contains(err.Error(), "nothing can arrive") {
		t.Errorf("receive: %v", err)
	}
}

// Spec: Q-14, E-20, O-22, N-18.
func TestTask_timeoutEndsIt(t *testing.T) {
	m := &model{Reply: func(ctx context.Context, _ *llm.Request) ([]llm.Part, error) {
		<-ctx.Done()
		return text("half"), nil
	}}
	w := open(t, m, setting{})
	_, err := w.Pool.Tasks.Push(t.Context(), w.Main(), tools.Task{Name: "slow", Prompt: "x", Timeout: 20_000_000})
	check(t, err)
	w.Run(0)
	w.Settle()
	ms, _, err := w.Pool.Pickup.Check(t.Context(), w.Main(), inbox.Query{})
	check(t, err)
	if len(ms) != 1 || ms[0].Outcome != "timed_out" || ms[0].Partial != "half" {
		t.Errorf("messages %+v", ms)
	}
}
