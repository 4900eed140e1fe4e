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
	"fantail/tools/permit"
)

func TestTurn_answers(t *testing.T) {
	m := &model{reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		return []llm.Part{
			llm.Thinking{Text: "hm", Opaque: "sig", Model: "test/one"},
			llm.Text{Text: "you said ", Index: 1},
			llm.Text{Text: asked(req), Index: 1},
			llm.Usage{Input: 10, Output: 5},
		}, nil
	}}
	w := open(t, m, setting{})
	w.prompt("hello")
	w.settle()
	es := w.entries("main")
	if got := kinds(es); got != "prompt thinking text ended" {
		t.Fatalf("entries: %s", got)
	}
	if es[2].Text != "you said hello" || es[3].End.Outcome != history.Completed || es[3].End.Steps != 1 {
		t.Errorf("text %q, end %+v", es[2].Text, es[3].End)
	}
	w.state("main", event.Idle)
	if i := w.info("main"); i.Usage.Input != 10 || i.Context != 15 || len(i.Prompts) != 0 {
		t.Errorf("info %+v", i)
	}
	w.prompt("again")
	w.settle()
	reqs := m.seen()
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
	m.reply = func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		broken := llm.Stop{Reason: llm.ToolUse, Broken: []string{"push"}}
		switch said := req.Messages[len(req.Messages)-1].Parts; {
		case asked(req) == "never learn" || len(m.seen()) == 1:
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
	w.prompt("go")
	w.settle()
	if got := kinds(w.entries("main")); got != "prompt host call host started result text ended" {
		t.Fatalf("entries: %s", got)
	}
	check(t, valid(m.seen()[2].Messages))
	w.prompt("never learn")
	w.settle()
	es := w.entries("main")
	if end := es[len(es)-1].End; end.Outcome != history.OutFailed || !strings.Contains(end.Error, "no JSON object") {
		t.Errorf("ended %+v", end)
	}
}

// A task whose answer was refused or cut has not completed, and what it said is
// not lost.
// Spec: N-34, R-17.
func TestTask_withoutAnAnswer(t *testing.T) {
	m := &model{reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		return []llm.Part{llm.Text{Text: "so far"}, llm.Stop{Reason: llm.Reason(asked(req)), Detail: "policy"}}, nil
	}}
	w := open(t, m, setting{})
	w.push("no", string(llm.Refusal))
	w.push("cut", string(llm.Length))
	w.run(0)
	w.settle()
	w.state("no", event.Failed)
	w.state("cut", event.Failed)
	ms, err := w.pool.Letters.Inbox(t.Context(), w.main())
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
	m.reply = func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if len(results(req)) > 0 {
			return text("done"), nil
		}
		return append(append(call("a", "bash", `{"command":"echo one > f"}`), call("b", "bash", `{"command":"cat f; echo two >> f"}`)...), call("c", "bash", `{"command":"cat f"}`)...), nil
	}
	w := open(t, m, setting{})
	w.prompt("go")
	w.settle()
	reqs := m.seen()
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
	m.reply = func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if len(m.seen()) == 1 {
			close(streaming)
			<-go_on
			return call("a", "bash", `{"command":"true"}`), nil
		}
		return text("heard: " + asked(req)), nil
	}
	w := open(t, m, setting{})
	w.prompt("first")
	<-streaming
	w.prompt("second")
	w.until("the prompt shows as queued", func() bool { return len(w.info("main").Prompts) == 1 })
	close(go_on)
	w.settle()
	if got := kinds(w.entries("main")); got != "prompt call started result prompt text ended" {
		t.Fatalf("entries: %s", got)
	}
	reqs := m.seen()
	if len(reqs) != 2 {
		t.Fatalf("%d requests", len(reqs))
	}
	check(t, valid(reqs[1].Messages))
	w.until("nothing is queued", func() bool { return len(w.info("main").Prompts) == 0 })
}

func TestStop_leavesAValidHistory(t *testing.T) {
	m := &model{}
	m.reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
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
	main := w.main()
	w.prompt("stream")
	w.until("it streams", func() bool { return w.info("main").Doing == "streaming" })
	w.pool.Stop(main)
	w.settle()
	w.prompt("tool")
	w.output("main", "begun")
	w.pool.Stop(main)
	w.settle()
	w.prompt("still there?")
	w.settle()
	es := w.entries("main")
	if got := kinds(es); got != "prompt text ended prompt call started result ended prompt text ended" {
		t.Errorf("entries: %s", got)
	}
	if es[2].End.Outcome != history.Interrupted || !strings.Contains(es[6].Result.Text, "begun") {
		t.Errorf("end %+v, result %+v", es[2].End, es[6].Result)
	}
	for _, r := range m.seen() {
		check(t, valid(r.Messages))
	}
}

func TestTurn_failureIsShownAndTheNextPromptGoesOn(t *testing.T) {
	m := &model{}
	m.reply = func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if asked(req) == "fail" {
			return append(text("partial"), call("x", "bash", `{"command":"touch ran"}`)...), &llm.Error{Kind: llm.Auth, Provider: "test", Message: "the key is wrong"}
		}
		return text("ok"), nil
	}
	w := open(t, m, setting{})
	w.prompt("fail")
	w.settle()
	w.state("main", event.Idle)
	es := w.entries("main")
	if got := kinds(es); got != "prompt text ended" || es[2].End.Outcome != history.OutFailed || !strings.Contains(es[2].End.Error, "the key is wrong") {
		t.Fatalf("entries: %s, end %+v", got, es[2].End)
	}
	w.prompt("again")
	w.settle()
	reqs := m.seen()
	check(t, valid(reqs[len(reqs)-1].Messages))
}

// Spec, O-21, Q-19, N-17, N-18.
func TestTask_resultIsDepositedAndReceived(t *testing.T) {
	m := &model{reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if strings.Contains(asked(req), "boom") {
			return text("so far"), &llm.Error{Kind: llm.BadRequest, Provider: "test", Message: "boom"}
		}
		return text("result of " + asked(req)), nil
	}}
	w := open(t, m, setting{})
	w.push("good", "work")
	w.push("bad", "boom")
	w.push("", "unnamed")
	if r := w.run(2).String(); r != "Running 2 of 3 (window 2, 1 queued)" {
		t.Errorf("run prints %q", r)
	}
	w.settle()
	w.until("three messages wait", func() bool { return w.info("main").Pending == 3 })
	msg, err := w.pool.Pickup.Receive(t.Context(), w.main(), inbox.Query{From: "good"})
	check(t, err)
	if msg.Body != "result of work" || msg.Kind != inbox.Result || msg.Outcome != "completed" || msg.Subject != "work" {
		t.Errorf("message %+v", msg)
	}
	ms, left, err := w.pool.Pickup.Check(t.Context(), w.main(), inbox.Query{})
	check(t, err)
	if len(ms) != 2 || left != 0 {
		t.Fatalf("%d messages, %d left", len(ms), left)
	}
	for _, m := range ms {
		if m.From == "bad" && (m.Kind != inbox.Failure || !strings.Contains(m.Error, "boom") || m.Partial != "so far") {
			t.Errorf("failure %+v", m)
		}
	}
	if n := len(m.seen()); n != 3 {
		t.Errorf("%d requests: taking mail must not cost one", n)
	}
	w.state("good", event.Done)
	w.state("bad", event.Failed)
	if got := kinds(w.entries("main")); got != "message message" {
		t.Errorf("main's entries: %s", got)
	}
	w.prompt("what came?")
	w.settle()
	reqs := m.seen()
	last := reqs[len(reqs)-1].Messages
	check(t, valid(last))
	if first, ok := last[0].Parts[0].(llm.Text); !ok || first.From != llm.FromMessage || !strings.Contains(first.Text, "result of work") {
		t.Errorf("the request does not carry what was taken: %+v", last)
	}
}

// TestTask_textsNoMessageHolds: a result is delivered however long its texts are,
// and says what it leaves out.
func TestTask_textsNoMessageHolds(t *testing.T) {
	long := "the first ü" + strings.Repeat("üx", 1<<20) + "ü the last"
	for _, failed := range []bool{false, true} {
		m := &model{reply: func(context.Context, *llm.Request) ([]llm.Part, error) {
			if failed {
				return text(long), &llm.Error{Kind: llm.BadRequest, Message: long}
			}
			return text(long), nil
		}}
		w := open(t, m, setting{})
		w.push("job", long)
		w.run(0)
		w.settle()
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
	m := &model{reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		enter <- asked(req)
		<-leave
		return text("ok"), nil
	}}
	w := open(t, m, setting{})
	for _, n := range []string{"a", "b", "c", "d", "e"} {
		w.push(n, n)
	}
	w.run(2)
	got := <-enter + <-enter
	if got != "ab" && got != "ba" {
		t.Errorf("first came %s", got)
	}
	w.until("two run", func() bool { return w.tally.Running == 2 && w.tally.Queued == 3 })
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
		_, err := w.pool.Pickup.Receive(t.Context(), w.main(), inbox.Query{})
		check(t, err)
	}
}

func TestAsk_backgroundQuestionHoldsNobodyElse(t *testing.T) {
	m := &model{reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if rs := results(req); len(rs) > 0 {
			return text("got: " + rs[len(rs)-1].Text), nil
		}
		if c, ok := strings.CutPrefix(asked(req), "run "); ok {
			return call("a", "bash", `{"command":"`+c+`"}`), nil
		}
		return text("hi"), nil
	}}
	w := open(t, m, setting{mode: permit.Ask})
	w.push("one", "run echo first | tee said")
	w.push("two", "run touch second")
	w.run(1)
	w.until("both ask: one that asks holds no slot", func() bool { return w.tally.Asking == 2 })
	w.prompt("are you there?")
	w.until("main answers meanwhile", func() bool { return w.info("main").Outcome == history.Completed })
	w.state("one", event.Asking)
	q := w.info("one").Question
	if q == nil || q.Action.Command != "echo first | tee said" || q.Name != "one" {
		t.Fatalf("question %+v", q)
	}
	if !w.answer(q.ID, permit.Once) || w.answer(q.ID, permit.Once) {
		t.Error("a question is answered once")
	}
	q = w.info("two").Question
	w.answer(q.ID, permit.No, "not today")
	w.settle()
	ms, _, err := w.pool.Pickup.Check(t.Context(), w.main(), inbox.Query{})
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
	m := &model{reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if len(results(req)) > 0 {
			return text("ok"), nil
		}
		return call("a", "bash", `{"command":"`+asked(req)+`"}`), nil
	}}
	w := open(t, m, setting{mode: permit.Ask})
	w.push("one", "go version")
	w.push("two", "go version")
	w.run(0)
	w.until("both ask", func() bool { return w.tally.Asking == 2 })
	q := w.info("one").Question
	if q.Rule == "" {
		t.Fatal("no rule is offered")
	}
	w.answer(q.ID, permit.Session)
	w.settle()
	w.state("two", event.Done)
}

func TestAsk_nobodyThereIsANo(t *testing.T) {
	m := &model{reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if rs := results(req); len(rs) > 0 {
			return text(rs[0].Text), nil
		}
		return call("a", "bash", `{"command":"touch made"}`), nil
	}}
	w := open(t, m, setting{})
	c := w.unattended(t.Context(), agents.Unattended{Mode: permit.Ask})
	check(t, c.Prompt(t.Context(), "go"))
	w.settle()
	es := w.entries(c.Info.Name)
	if r := es[len(es)-2]; !strings.Contains(r.Text, "nobody is here to be asked") {
		t.Errorf("answer %q", r.Text)
	}
}

func TestKill_endsTheToolsAndFreesTheName(t *testing.T) {
	m := &model{reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if asked(req) == "quick" {
			return text("ok"), nil
		}
		return call("a", "bash", `{"command":"trap '' TERM; echo before; sleep 600"}`), nil
	}}
	w := open(t, m, setting{})
	w.push("job", "long")
	w.push("later", "quick")
	w.run(1)
	w.output("job", "before")
	check(t, w.pool.Kill(t.Context(), "job", false))
	w.state("job", event.Killed)
	w.settle()
	ms, _, err := w.pool.Pickup.Check(t.Context(), w.main(), inbox.Query{From: "job"})
	check(t, err)
	if len(ms) != 1 || ms[0].Kind != inbox.Failure || ms[0].Outcome != "killed" {
		t.Fatalf("messages %+v", ms)
	}
	w.push("job", "quick")
	w.run(0)
	w.settle()
	w.state("job", event.Done)
	w.state("job·1", event.Killed)
	if err := w.pool.Kill(t.Context(), "main", false); err == nil {
		t.Error("main can't be killed")
	}
}

func TestKill_removesAQueuedTask(t *testing.T) {
	w := open(t, &model{}, setting{})
	w.push("job", "never")
	check(t, w.pool.Kill(t.Context(), "job", false))
	l, err := w.pool.Queue(t.Context(), w.main())
	check(t, err)
	if len(l.Tasks) != 0 {
		t.Errorf("queue %+v", l.Tasks)
	}
	if _, err := w.pool.Pickup.Receive(t.Context(), w.main(), inbox.Query{}); err == nil || !strings.Contains(err.Error(), "nothing can arrive") {
		t.Errorf("receive: %v", err)
	}
}

// Spec: Q-14, E-20, O-22, N-18.
func TestTask_timeoutEndsIt(t *testing.T) {
	m := &model{reply: func(ctx context.Context, _ *llm.Request) ([]llm.Part, error) {
		<-ctx.Done()
		return text("half"), nil
	}}
	w := open(t, m, setting{})
	_, err := w.pool.Tasks.Push(t.Context(), w.main(), tools.Task{Name: "slow", Prompt: "x", Timeout: 20_000_000})
	check(t, err)
	w.run(0)
	w.settle()
	ms, _, err := w.pool.Pickup.Check(t.Context(), w.main(), inbox.Query{})
	check(t, err)
	if len(ms) != 1 || ms[0].Outcome != "timed_out" || ms[0].Partial != "half" {
		t.Errorf("messages %+v", ms)
	}
}
