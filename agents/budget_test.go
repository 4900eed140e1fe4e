package agents_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/tools"
	"fantail/tools/allowance"
)

// uses is a reply that cost so many tokens.
func uses(n int, parts ...llm.Part) []llm.Part { return append(parts, llm.Usage{Input: n}) }

// spender is a model of which each request uses 10,000 tokens. Sub-agents call a tool, another each time, for ever.
func spender() *model {
	var mu sync.Mutex
	n := 0
	return &model{reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		mu.Lock()
		n++
		k := n
		mu.Unlock()
		if asked(req) == "rest" {
			return uses(10_000, llm.Text{Text: "rested"}), nil
		}
		found := llm.Text{Text: fmt.Sprintf("found %d", k)}
		return uses(10_000, found, call(fmt.Sprintf("c%d", k), "glob", fmt.Sprintf(`{"pattern":"%d*"}`, k))[0]), nil
	}}
}

// pushed pushes a task of that budget.
func (w *world) pushed(t tools.Task, of string) {
	w.t.Helper()
	if of != "" {
		var err error
		t.Budget, err = allowance.Parse(of)
		check(w.t, err)
	}
	_, err := w.pool.Tasks.Push(w.t.Context(), w.main(), t)
	check(w.t, err)
}

// waits are the messages that wait for an agent.
func (w *world) waits(agent int64) []inbox.Message {
	w.t.Helper()
	ms, err := w.pool.Letters.Peek(w.t.Context(), agent, inbox.Query{})
	check(w.t, err)
	return ms
}

// TestBudget_atOnce: who is over its budget with one reply is told of by its end alone.
func TestBudget_atOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, spender(), setting{})
		w.pushed(tools.Task{Name: "digs", Prompt: "dig", Deliver: "hold"}, "5k")
		w.run(1)
		w.state("digs", event.Failed)
		if ms := w.waits(w.main()); len(ms) != 1 || ms[0].Outcome != string(history.OutBudget) {
			t.Errorf("main is told %+v", ms)
		}
		w.close()
	})
}

// TestBudget_endsTheAgent: who dispatched it is warned, it is told to finish, and ends at most one request behind its
// budget, with what it said and why.
func TestBudget_endsTheAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := spender()
		w := open(t, m, setting{})
		w.pushed(tools.Task{Name: "digs", Prompt: "dig", Deliver: "hold"}, "48k")
		w.run(1)
		w.state("digs", event.Failed)
		i := w.info("digs")
		if i.Outcome != history.OutBudget || i.Budget == nil || i.Budget.Used != 50_000 || len(m.seen()) != 5 {
			t.Errorf("%s, %v after %d requests: %s", i.Outcome, i.Budget, len(m.seen()), i.Why)
		}
		ms := w.waits(w.main())
		if len(ms) != 2 || ms[0].Kind != inbox.Notice || !strings.Contains(ms[0].Body, "digs has used 40k of 48k tokens (83%)") {
			t.Fatalf("the mail: %+v", ms)
		}
		if end := ms[1]; end.Kind != inbox.Failure || end.Outcome != "budget" || end.Partial != "found 5" ||
			!strings.Contains(end.Error, "its budget is used up: 50k of 48k tokens (104%)") {
			t.Errorf("its end: %+v", end)
		}
		for n, req := range m.seen() {
			if wrap := strings.Contains(said(req), "Your budget is nearly used up"); wrap != (n == 4) {
				t.Errorf("request %d says so: %v", n, wrap)
			}
		}
		w.close()
		time.Sleep(5 * time.Second)
	})
}

// TestBudget_wrapsUp: an agent that obeys has its answer in time.
func TestBudget_wrapsUp(t *testing.T) {
	m := spender()
	digs := m.reply
	m.reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		if strings.Contains(said(req), "Call no more tools") {
			return uses(1000, llm.Text{Text: "this is what I have"}), nil
		}
		return digs(ctx, req)
	}
	w := open(t, m, setting{})
	w.pushed(tools.Task{Name: "digs", Prompt: "dig"}, "41k")
	w.run(1)
	w.state("digs", event.Done)
	if i := w.info("digs"); i.Budget.Used != 31_000 || i.Gist != "this is what I have" {
		t.Errorf("%v: %s", i.Budget, i.Gist)
	}
}

// TestBudget_subtree: what an agent's agents use is the agent's, too; none of them can give itself more.
func TestBudget_subtree(t *testing.T) {
	m := spender()
	digs := m.reply
	m.reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		if asked(req) == "boss" {
			if len(results(req)) == 0 {
				return uses(1000, call("d", "delegate", `{"name":"below","prompt":"dig","budget":"900k","mode":"sync"}`)...), nil
			}
			return uses(1000, llm.Text{Text: "my agent said " + results(req)[0].Text}), nil
		}
		return digs(ctx, req)
	}
	w := open(t, m, setting{})
	w.pushed(tools.Task{Name: "boss", Prompt: "boss"}, "35k")
	w.run(1)
	w.state("boss", event.Failed)
	below, boss := w.info("below"), w.info("boss")
	if below.Outcome != history.OutBudget || !strings.Contains(below.Why, "the budget of boss, which it works for, is used up") {
		t.Errorf("below: %s, %s", below.Outcome, below.Why)
	}
	if boss.Outcome != history.OutBudget || boss.Budget.Used != 41_000 || below.Budget.Used != 40_000 {
		t.Errorf("boss: %s, %v; below: %v", boss.Outcome, boss.Budget, below.Budget)
	}
}

// TestBudget_usual: the configuration's budget is that of tasks that name none, and only the human gives more.
func TestBudget_usual(t *testing.T) {
	m := spender()
	digs := m.reply
	m.reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		if asked(req) == "go" {
			if len(results(req)) == 0 {
				return call("d", "delegate", `{"name":"greedy","prompt":"dig","budget":"900k","mode":"sync"}`), nil
			}
			return text("done"), nil
		}
		return digs(ctx, req)
	}
	w := open(t, m, setting{budget: allowance.Amount{N: 20_000}})
	w.pushed(tools.Task{Name: "usual", Prompt: "dig"}, "")
	w.pushed(tools.Task{Name: "more", Prompt: "dig"}, "40k")
	w.run(2)
	w.prompt("go")
	for name, want := range map[string]int64{"usual": 20_000, "more": 40_000, "greedy": 20_000} {
		w.state(name, event.Failed)
		if b := w.info(name).Budget; b == nil || b.Amount.N != want || b.Used != want {
			t.Errorf("%s: %v, want %d", name, b, want)
		}
	}
	w.settle()
}

// TestBudget_race: agents that share a budget exceed it by at most a request each that was on the way.
func TestBudget_race(t *testing.T) {
	m := spender()
	digs := m.reply
	both := make(chan struct{}, 2)
	var once sync.Once
	meet := make(chan struct{})
	m.reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		switch asked(req) {
		case "boss":
			if len(results(req)) == 0 {
				return append(call("d1", "delegate", `{"name":"a","prompt":"dig","mode":"sync"}`),
					call("d2", "delegate", `{"name":"b","prompt":"dig","mode":"sync"}`)...), nil
			}
			return text("done"), nil
		case "dig":
			if len(results(req)) == 0 { // the first requests of both are on the way at once
				both <- struct{}{}
				if len(both) == 2 {
					once.Do(func() { close(meet) })
				}
				<-meet
			}
		}
		return digs(ctx, req)
	}
	w := open(t, m, setting{})
	w.pushed(tools.Task{Name: "boss", Prompt: "boss"}, "35k")
	w.run(1)
	w.state("boss", event.Failed)
	b := w.info("boss").Budget
	if b.Used < 35_000 || b.Used >= 35_000+2*10_000+1000 {
		t.Errorf("two agents of 10k a request used %v", b)
	}
}

// TestBudget_afterARestart: what was used stays used, that of a request whose reply was lost too.
//
// Spec: R-35.
func TestBudget_afterARestart(t *testing.T) {
	m := spender()
	w := open(t, m, setting{})
	main := w.main()
	_, err := w.pool.Budgets.Set(t.Context(), main, allowance.Amount{N: 25_000})
	check(t, err)
	w.prompt("rest")
	w.settle()
	w.prompt("rest")
	w.settle()
	w.close()
	w = open(t, m, setting{dir: w.dir})
	if w.main(); w.info("main").Budget == nil || w.info("main").Budget.Used != 20_000 {
		t.Fatalf("the restart left %v", w.info("main").Budget)
	}
	lost := make(chan struct{})
	m.reply = func(ctx context.Context, _ *llm.Request) ([]llm.Part, error) {
		close(lost)
		<-ctx.Done()
		return nil, nil
	}
	w.prompt("rest")
	<-lost
	w.close()
	w = open(t, m, setting{dir: w.dir})
	if w.main(); w.info("main").Budget.Used < 20_000 {
		t.Errorf("after a lost request: %v", w.info("main").Budget)
	}
}

// asksMain waits until main asks, and returns the question.
func (w *world) asksMain() event.Question {
	w.t.Helper()
	w.until("main asks", func() bool { return w.info("main").Question != nil && w.info("main").State == event.Asking })
	return *w.info("main").Question
}

func (w *world) replies(q event.Question, text string) {
	w.t.Helper()
	w.until("the question is open", func() bool {
		err := w.pool.Asks.Answer(context.Background(), q.ID, event.Answer{Text: text})
		if err != nil && !strings.Contains(err.Error(), "about to ask it again") {
			w.t.Fatal(err)
		}
		return err == nil
	})
}

// TestBudget_asksTheHuman: main does not end; a restart asks again, and more is what the answer says.
func TestBudget_asksTheHuman(t *testing.T) {
	m := spender()
	w := open(t, m, setting{})
	_, err := w.pool.Budgets.Set(t.Context(), w.main(), allowance.Amount{N: 10_000})
	check(t, err)
	w.prompt("rest")
	w.settle()
	w.prompt("rest")
	q := w.asksMain()
	if q.Asks == nil || !strings.Contains(q.Asks.Text, "The budget of main is used up: 10k of 10k tokens (100%)") ||
		q.Asks.Options[0].Label != "Go on with another 10k" {
		t.Fatalf("the question: %+v", q.Asks)
	}
	w.close()
	w = open(t, m, setting{dir: w.dir})
	again := w.asksMain()
	if again.ID != q.ID || len(m.seen()) != 1 {
		t.Errorf("asked again: %d, not %d; %d requests", again.ID, q.ID, len(m.seen()))
	}
	w.replies(again, "Go on with another 10k")
	w.settle()
	w.until("another 10k are used", func() bool {
		return *w.info("main").Budget == event.Budget{Amount: allowance.Amount{N: 20_000}, Used: 20_000}
	})
	if len(m.seen()) != 2 {
		t.Errorf("after the yes: %d requests", len(m.seen()))
	}
	w.prompt("rest")
	w.replies(w.asksMain(), "5k")
	w.settle()
	w.until("5k are exceeded", func() bool {
		return *w.info("main").Budget == event.Budget{Amount: allowance.Amount{N: 25_000}, Used: 30_000}
	})
	if len(m.seen()) != 3 {
		t.Errorf("after 5k: %d requests", len(m.seen()))
	}
	w.prompt("rest")
	w.replies(w.asksMain(), "Stop")
	w.state("main", event.Idle)
	w.settle()
	if i := w.info("main"); len(m.seen()) != 3 || i.Outcome != history.OutBudget {
		t.Errorf("after the stop: %d requests, %s", len(m.seen()), i.Outcome)
	}
}

// TestBudget_money: a budget in dollars goes by the price, and where none is known it is refused with the reason.
func TestBudget_money(t *testing.T) {
	m := spender()
	w := open(t, m, setting{price: func(u llm.Usage) int64 { return int64(u.Input) * 100 }}) // $1 a request
	w.pushed(tools.Task{Name: "pays", Prompt: "dig", Model: "test/priced"}, "$2.50")
	_, err := w.pool.Tasks.Push(t.Context(), w.main(), tools.Task{Prompt: "dig", Budget: allowance.Amount{N: 1e6, Money: true}})
	if err == nil || !strings.Contains(err.Error(), "a budget of $1 can't be kept: the price of test/one is unknown") {
		t.Errorf("without a price: %v", err)
	}
	if _, err := w.pool.Budgets.Set(t.Context(), w.main(), allowance.Amount{N: 1e6, Money: true}); err == nil {
		t.Error("main has no price either")
	}
	w.run(1)
	w.state("pays", event.Failed)
	if i := w.info("pays"); i.Budget.Used != 3e6 || i.Outcome != history.OutBudget || !strings.Contains(i.Why, "$3.00 of $2.50 (120%)") {
		t.Errorf("%s, %v: %s", i.Outcome, i.Budget, i.Why)
	}
}

// TestBudget_unpricedBelow: no agent evades a budget in dollars by dispatching one whose price nobody knows.
func TestBudget_unpricedBelow(t *testing.T) {
	m := spender()
	digs := m.reply
	m.reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		if asked(req) == "boss" && len(results(req)) == 0 {
			return uses(1, call("d", "delegate", `{"name":"free","prompt":"dig","model":"test/one","mode":"sync"}`)...), nil
		}
		if asked(req) == "boss" {
			return text("done"), nil
		}
		return digs(ctx, req)
	}
	w := open(t, m, setting{price: func(u llm.Usage) int64 { return int64(u.Input) }})
	w.pushed(tools.Task{Name: "boss", Prompt: "boss", Model: "test/priced"}, "$1")
	w.run(1)
	w.state("free", event.Failed)
	if i := w.info("free"); !strings.Contains(i.Why, "the price of test/one is unknown") || i.Usage.Input != 0 {
		t.Errorf("%s, %+v", i.Why, i.Usage)
	}
	w.settle()
}

// TestBudget_compaction: a summary counts like any request.
func TestBudget_compaction(t *testing.T) {
	m := &model{reply: func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		if wantsSummary(req) {
			return uses(700, llm.Text{Text: "SUMMARY"}), nil
		}
		return uses(1000, llm.Text{Text: "said"}), nil
	}}
	w := open(t, m, setting{})
	main := w.main()
	_, err := w.pool.Budgets.Set(t.Context(), main, allowance.Amount{N: 1500})
	check(t, err)
	w.prompt("one")
	w.settle()
	check(t, w.pool.Compact(t.Context(), main, ""))
	w.until("it counts", func() bool { return w.info("main").Budget.Used == 1700 })
	if err := w.pool.Compact(t.Context(), main, ""); err == nil || len(m.seen()) != 2 {
		t.Errorf("over the budget: %v after %d requests", err, len(m.seen()))
	}
}

// TestBudget_silentModel: what a model does not say it used is estimated, and a request that failed without an answer
// costs nothing.
func TestBudget_silentModel(t *testing.T) {
	fails := true
	m := &model{reply: func(context.Context, *llm.Request) ([]llm.Part, error) {
		if fails {
			return nil, &llm.Error{Kind: llm.Undone, Err: errors.New("refused"), Message: "refused"}
		}
		return text(strings.Repeat("word ", 700)), nil
	}}
	w := open(t, m, setting{})
	_, err := w.pool.Budgets.Set(t.Context(), w.main(), allowance.Amount{N: 100_000})
	check(t, err)
	w.prompt("one")
	w.settle()
	w.until("it is over", func() bool { return w.info("main").Outcome == history.OutFailed })
	if b := w.info("main").Budget; b.Used != 0 {
		t.Errorf("a refused request: %v", b)
	}
	fails = false
	w.prompt("two")
	w.settle()
	w.until("it answered", func() bool { return w.info("main").Outcome == history.Completed })
	if b := w.info("main").Budget; b.Used < 1000 || b.Used > 20_000 {
		t.Errorf("an answer of 3,500 bytes: %v", b)
	}
}

// TestBudget_set: more is more, another unit begins anew, off is none.
func TestBudget_set(t *testing.T) {
	m := spender()
	w := open(t, m, setting{})
	main := w.main()
	set := func(to allowance.Amount) *event.Budget {
		t.Helper()
		b, err := w.pool.Budgets.Set(t.Context(), main, to)
		check(t, err)
		return b
	}
	set(allowance.Amount{N: 30_000})
	w.prompt("rest")
	w.settle()
	if b := set(allowance.Amount{N: 50_000}); b.Used != 10_000 || b.Amount.N != 50_000 {
		t.Errorf("raised: %v", b)
	}
	if set(allowance.Amount{}); w.pool.Infos()[0].Budget != nil {
		t.Error("off left one")
	}
	if b := set(allowance.Amount{N: 20_000}); b.Used != 0 {
		t.Errorf("a new one: %v", b)
	}
}

// TestDefaultTimeout: a task that names no time-out has that of the configuration.
func TestDefaultTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{reply: func(ctx context.Context, _ *llm.Request) ([]llm.Part, error) {
			<-ctx.Done()
			return nil, nil
		}}
		w := open(t, m, setting{limit: 30 * time.Minute})
		began := time.Now()
		w.push("slow", "dig")
		w.run(1)
		time.Sleep(31 * time.Minute)
		w.state("slow", event.Failed)
		if i := w.info("slow"); i.Outcome != history.TimedOut || i.Ended.Sub(began) != 30*time.Minute {
			t.Errorf("%s after %v", i.Outcome, i.Ended.Sub(began))
		}
		w.close()
		time.Sleep(5 * time.Second)
	})
}

// repeating is a model that makes the same call so often, every other time with its arguments in another order.
func repeating(times int) *model {
	return &model{reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		n := len(results(req))
		if n == times {
			return text("that was all"), nil
		}
		args := `{"pattern":"*","path":"."}`
		if n%2 == 1 {
			args = `{"path": ".", "pattern": "*"}`
		}
		return call(fmt.Sprintf("c%d", n), "glob", args), nil
	}}
}

// TestRepeats: the third same call in a row asks the human, again after a restart, and each third after that.
func TestRepeats(t *testing.T) {
	m := repeating(6)
	w := open(t, m, setting{})
	w.prompt("look")
	q := w.asksMain()
	if q.Asks == nil || !strings.Contains(q.Asks.Text, "main calls glob 3 times in a row with the same arguments") || len(m.seen()) != 3 {
		t.Fatalf("after %d requests: %+v", len(m.seen()), q.Asks)
	}
	w.close()
	w = open(t, m, setting{dir: w.dir})
	again := w.asksMain()
	if again.ID != q.ID {
		t.Errorf("the question is %d after the restart, was %d", again.ID, q.ID)
	}
	w.replies(again, "Once")
	w.until("the sixth asks", func() bool {
		q := w.info("main").Question
		return q != nil && q.ID != again.ID
	})
	if len(m.seen()) != 6 {
		t.Errorf("asked after %d requests", len(m.seen()))
	}
	w.replies(*w.info("main").Question, "Stop")
	w.settle()
	rs := results(m.seen()[len(m.seen())-1])
	if len(rs) != 6 || rs[2].Error || !rs[5].Error || !strings.Contains(rs[5].Text, "the user stopped it") {
		t.Errorf("the results: %+v", rs)
	}
}

// TestRepeats_nobodyThere: where nobody can be asked the call is refused, with the reason.
func TestRepeats_nobodyThere(t *testing.T) {
	m := repeating(6)
	w := open(t, m, setting{})
	c := w.unattended(t.Context(), agents.Unattended{})
	w.says(c, "look")
	rs := results(m.seen()[len(m.seen())-1])
	if len(rs) != 6 || rs[1].Error || !rs[2].Error || !rs[3].Error || !rs[5].Error || !strings.Contains(rs[2].Text, "the same call 3 times in a row, and nobody is here") {
		t.Errorf("the results: %+v", rs)
	}
}

// TestRepeats_others: different arguments, and calls that take mail, are not the same call.
func TestRepeats_others(t *testing.T) {
	m := &model{reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		switch n := len(results(req)); {
		case n < 100:
			return call(fmt.Sprintf("c%d", n), "glob", fmt.Sprintf(`{"pattern":"%d*"}`, n)), nil
		case n < 104:
			return call(fmt.Sprintf("c%d", n), "check", `{}`), nil
		}
		return text("done"), nil
	}}
	w := open(t, m, setting{})
	w.prompt("look")
	w.settle()
	w.until("it is through", func() bool { return w.info("main").Outcome == history.Completed })
}

// TestBudget_fork: what an agent's fork uses is the agent's.
func TestBudget_fork(t *testing.T) {
	m := &model{reply: func(context.Context, *llm.Request) ([]llm.Part, error) {
		return uses(3000, llm.Text{Text: "said"}), nil
	}}
	w := open(t, m, setting{})
	_, err := w.pool.Budgets.Set(t.Context(), w.main(), allowance.Amount{N: 100_000})
	check(t, err)
	w.prompt("one")
	w.settle()
	id, err := w.pool.Deposit(inbox.Message{Recipient: w.main(), From: "x", Kind: inbox.Mail, Deliver: inbox.Hold, Body: "b"})
	check(t, err)
	check(t, w.pool.Fork(w.main(), id))
	w.until("both count", func() bool { return w.info("main").Budget != nil && w.info("main").Budget.Used == 6000 })
	w.settle()
}
