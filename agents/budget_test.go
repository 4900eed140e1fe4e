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
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/tools"
)

// uses is a reply that cost so many tokens.
func uses(n int, parts ...llm.Part) []llm.Part { return append(parts, llm.Usage{Input: n}) }

// spender is a model of which each request uses 10,000 tokens. Sub-agents call a tool, another each time, for ever.
func spender() *model {
	var mu sync.Mutex
	n := 0
	return &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
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
	w.T.Helper()
	if of != "" {
		var err error
		t.Budget, err = tools.ParseAmount(of)
		check(w.T, err)
	}
	_, err := w.Pool.Tasks.Push(w.T.Context(), w.Main(), t)
	check(w.T, err)
}

// waits are the messages that wait for an agent.
func (w *world) waits(agent int64) []inbox.Message {
	w.T.Helper()
	ms, err := w.Pool.Letters.Peek(w.T.Context(), agent, inbox.Query{})
	check(w.T, err)
	return ms
}

// TestBudget_atOnce: who is over its budget with one reply is told of by its end alone.
func TestBudget_atOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, spender(), setting{})
		w.pushed(tools.Task{Name: "digs", Prompt: "dig", Deliver: "hold"}, "5k")
		w.Run(1)
		w.State("digs", event.Failed)
		if ms := w.waits(w.Main()); len(ms) != 1 || ms[0].Outcome != string(history.OutBudget) {
			t.Errorf("main is told %+v", ms)
		}
		w.Close()
	})
}

// TestBudget_endsTheAgent: who dispatched it is warned, it is told to finish, and ends at most one request behind its
// budget, with what it said and why.
func TestBudget_endsTheAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := spender()
		w := open(t, m, setting{})
		w.pushed(tools.Task{Name: "digs", Prompt: "dig", Deliver: "hold"}, "48k")
		w.Run(1)
		w.State("digs", event.Failed)
		i := w.Info("digs")
		if i.Outcome != history.OutBudget || i.Budget == nil || i.Budget.Used != 50_000 || len(m.Seen()) != 5 {
			t.Errorf("%s, %v after %d requests: %s", i.Outcome, i.Budget, len(m.Seen()), i.Why)
		}
		ms := w.waits(w.Main())
		if len(ms) != 2 || ms[0].Kind != inbox.Notice || !strings.Contains(ms[0].Body, "digs has used 40k of 48k tokens (83%)") {
			t.Fatalf("the mail: %+v", ms)
		}
		if end := ms[1]; end.Kind != inbox.Failure || end.Outcome != "budget" || end.Partial != "found 5" ||
			!strings.Contains(end.Error, "its budget is used up: 50k of 48k tokens (104%)") {
			t.Errorf("its end: %+v", end)
		}
		for n, req := range m.Seen() {
			if wrap := strings.Contains(said(req), "Your budget is nearly used up"); wrap != (n == 4) {
				t.Errorf("request %d says so: %v", n, wrap)
			}
		}
		w.Close()
		time.Sleep(5 * time.Second)
	})
}

// TestBudget_wrapsUp: an agent that obeys has its answer in time.
func TestBudget_wrapsUp(t *testing.T) {
	m := spender()
	digs := m.Reply
	m.Reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		if strings.Contains(said(req), "Call no more tools") {
			return uses(1000, llm.Text{Text: "this is what I have"}), nil
		}
		return digs(ctx, req)
	}
	w := open(t, m, setting{})
	w.pushed(tools.Task{Name: "digs", Prompt: "dig"}, "41k")
	w.Run(1)
	w.State("digs", event.Done)
	if i := w.Info("digs"); i.Budget.Used != 31_000 || i.Gist != "this is what I have" {
		t.Errorf("%v: %s", i.Budget, i.Gist)
	}
}

// TestBudget_subtree: what an agent's agents use is the agent's, too; none of them can give itself more.
func TestBudget_subtree(t *testing.T) {
	m := spender()
	digs := m.Reply
	m.Reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
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
	w.Run(1)
	w.State("boss", event.Failed)
	below, boss := w.Info("below"), w.Info("boss")
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
	digs := m.Reply
	m.Reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		if asked(req) == "go" {
			if len(results(req)) == 0 {
				return call("d", "delegate", `{"name":"greedy","prompt":"dig","budget":"900k","mode":"sync"}`), nil
			}
			return text("done"), nil
		}
		return digs(ctx, req)
	}
	w := open(t, m, setting{Budget: tools.Amount{N: 20_000}})
	w.pushed(tools.Task{Name: "usual", Prompt: "dig"}, "")
	w.pushed(tools.Task{Name: "more", Prompt: "dig"}, "40k")
	w.Run(2)
	w.Prompt("go")
	for name, want := range map[string]int64{"usual": 20_000, "more": 40_000, "greedy": 20_000} {
		w.State(name, event.Failed)
		if b := w.Info(name).Budget; b == nil || b.Amount.N != want || b.Used != want {
			t.Errorf("%s: %v, want %d", name, b, want)
		}
	}
	w.Settle()
}

// TestBudget_race: agents that share a budget exceed it by at most a request each that was on the way.
func TestBudget_race(t *testing.T) {
	m := spender()
	digs := m.Reply
	both := make(chan struct{}, 2)
	var once sync.Once
	meet := make(chan struct{})
	m.Reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
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
	w.Run(1)
	w.State("boss", event.Failed)
	b := w.Info("boss").Budget
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
	main := w.Main()
	_, err := w.Pool.Budgets.Set(t.Context(), main, tools.Amount{N: 25_000})
	check(t, err)
	w.Prompt("rest")
	w.Settle()
	w.Prompt("rest")
	w.Settle()
	w.Close()
	w = open(t, m, setting{Dir: w.Dir})
	if w.Main(); w.Info("main").Budget == nil || w.Info("main").Budget.Used != 20_000 {
		t.Fatalf("the restart left %v", w.Info("main").Budget)
	}
	lost := make(chan struct{})
	m.Reply = func(ctx context.Context, _ *llm.Request) ([]llm.Part, error) {
		close(lost)
		<-ctx.Done()
		return nil, nil
	}
	w.Prompt("rest")
	<-lost
	w.Close()
	w = open(t, m, setting{Dir: w.Dir})
	if w.Main(); w.Info("main").Budget.Used < 20_000 {
		t.Errorf("after a lost request: %v", w.Info("main").Budget)
	}
}

// asksMain waits until main asks, and returns the question.
func (w *world) asksMain() event.Question {
	w.T.Helper()
	w.Until("main asks", func() bool { return w.Info("main").Question != nil && w.Info("main").State == event.Asking })
	return *w.Info("main").Question
}

func (w *world) replies(q event.Question, text string) {
	w.T.Helper()
	w.Until("the question is open", func() bool {
		err := w.Pool.Asks.Answer(context.Background(), q.ID, event.Answer{Text: text})
		if err != nil && !strings.Contains(err.Error(), "about to ask it again") {
			w.T.Fatal(err)
		}
		return err == nil
	})
}

// TestBudget_asksTheHuman: main does not end; a restart asks again, and more is what the answer says.
func TestBudget_asksTheHuman(t *testing.T) {
	m := spender()
	w := open(t, m, setting{})
	_, err := w.Pool.Budgets.Set(t.Context(), w.Main(), tools.Amount{N: 10_000})
	check(t, err)
	w.Prompt("rest")
	w.Settle()
	w.Prompt("rest")
	q := w.asksMain()
	if q.Asks == nil || !strings.Contains(q.Asks.Text, "The budget of main is used up: 10k of 10k tokens (100%)") ||
		q.Asks.Options[0].Label != "Go on with another 10k" {
		t.Fatalf("the question: %+v", q.Asks)
	}
	w.Close()
	w = open(t, m, setting{Dir: w.Dir})
	again := w.asksMain()
	if again.ID != q.ID || len(m.Seen()) != 1 {
		t.Errorf("asked again: %d, not %d; %d requests", again.ID, q.ID, len(m.Seen()))
	}
	w.replies(again, "Go on with another 10k")
	w.Settle()
	w.Until("another 10k are used", func() bool {
		return *w.Info("main").Budget == event.Budget{Amount: tools.Amount{N: 20_000}, Used: 20_000}
	})
	if len(m.Seen()) != 2 {
		t.Errorf("after the yes: %d requests", len(m.Seen()))
	}
	w.Prompt("rest")
	w.replies(w.asksMain(), "5k")
	w.Settle()
	w.Until("5k are exceeded", func() bool {
		return *w.Info("main").Budget == event.Budget{Amount: tools.Amount{N: 25_000}, Used: 30_000}
	})
	if len(m.Seen()) != 3 {
		t.Errorf("after 5k: %d requests", len(m.Seen()))
	}
	w.Prompt("rest")
	w.replies(w.asksMain(), "Stop")
	w.State("main", event.Idle)
	w.Settle()
	if i := w.Info("main"); len(m.Seen()) != 3 || i.Outcome != history.OutBudget {
		t.Errorf("after the stop: %d requests, %s", len(m.Seen()), i.Outcome)
	}
}

// TestBudget_money: a budget in dollars goes by the price, and where none is known it is refused with the reason.
func TestBudget_money(t *testing.T) {
	m := spender()
	w := open(t, m, setting{Price: func(u llm.Usage) int64 { return int64(u.Input) * 100 }}) // $1 a request
	w.pushed(tools.Task{Name: "pays", Prompt: "dig", Model: "test/priced"}, "$2.50")
	_, err := w.Pool.Tasks.Push(t.Context(), w.Main(), tools.Task{Prompt: "dig", Budget: tools.Amount{N: 1e6, Money: true}})
	if err == nil || !strings.Contains(err.Error(), "a budget of $1 can't be kept: the price of test/one is unknown") {
		t.Errorf("without a price: %v", err)
	}
	if _, err := w.Pool.Budgets.Set(t.Context(), w.Main(), tools.Amount{N: 1e6, Money: true}); err == nil {
		t.Error("main has no price either")
	}
	w.Run(1)
	w.State("pays", event.Failed)
	if i := w.Info("pays"); i.Budget.Used != 3e6 || i.Outcome != history.OutBudget || !strings.Contains(i.Why, "$3.00 of $2.50 (120%)") {
		t.Errorf("%s, %v: %s", i.Outcome, i.Budget, i.Why)
	}
	es := w.Entries("pays")
	if end := es[len(es)-1].End; end == nil || end.Cost != 3e6 {
		t.Errorf("the turn ends with %+v, want its cost", end)
	}
	w.send("main", "no turn")
	_, _, err = w.Pool.Pickup.Check(t.Context(), w.Main(), inbox.Query{})
	check(t, err)
	es = w.Entries("main")
	if s := es[len(es)-1].Spent; len(s) != 3 || s[1].Cost != 3e6 || s[2] != (history.Spent{}) {
		t.Errorf("of what was collected, was spent %+v, want the turn's cost and nothing", s)
	}
}

// TestBudget_unpricedBelow: no agent evades a budget in dollars by dispatching one whose price nobody knows.
func TestBudget_unpricedBelow(t *testing.T) {
	m := spender()
	digs := m.Reply
	m.Reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		if asked(req) == "boss" && len(results(req)) == 0 {
			return uses(1, call("d", "delegate", `{"name":"free","prompt":"dig","model":"test/one","mode":"sync"}`)...), nil
		}
		if asked(req) == "boss" {
			return text("done"), nil
		}
		return digs(ctx, req)
	}
	w := open(t, m, setting{Price: func(u llm.Usage) int64 { return int64(u.Input) }})
	w.pushed(tools.Task{Name: "boss", Prompt: "boss", Model: "test/priced"}, "$1")
	w.Run(1)
	w.State("free", event.Failed)
	if i := w.Info("free"); !strings.Contains(i.Why, "the price of test/one is unknown") || i.Usage.Input != 0 {
		t.Errorf("%s, %+v", i.Why, i.Usage)
	}
	w.Settle()
}

// TestBudget_compaction: a summary counts like any request.
func TestBudget_compaction(t *testing.T) {
	m := &model{Reply: func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		if wantsSummary(req) {
			return uses(700, llm.Text{Text: "SUMMARY"}), nil
		}
		return uses(1000, llm.Text{Text: "said"}), nil
	}}
	w := open(t, m, setting{})
	main := w.Main()
	_, err := w.Pool.Budgets.Set(t.Context(), main, tools.Amount{N: 1500})
	check(t, err)
	w.Prompt("one")
	w.Settle()
	check(t, w.Pool.Compact(t.Context(), main, ""))
	w.Until("it counts", func() bool { return w.Info("main").Budget.Used == 1700 })
	if err := w.Pool.Compact(t.Context(), main, ""); err == nil || len(m.Seen()) != 2 {
		t.Errorf("over the budget: %v after %d requests", err, len(m.Seen()))
	}
}

// TestBudget_silentModel: what a model does not say it used is estimated, and a request that failed without an answer
// costs nothing.
func TestBudget_silentModel(t *testing.T) {
	fails := true
	m := &model{Reply: func(context.Context, *llm.Request) ([]llm.Part, error) {
		if fails {
			return nil, &llm.Error{Kind: llm.TaskFailed, Err: errors.New("refused"), Message: "refused"}
		}
		return text(strings.Repeat("word ", 700)), nil
	}}
	w := open(t, m, setting{})
	_, err := w.Pool.Budgets.Set(t.Context(), w.Main(), tools.Amount{N: 100_000})
	check(t, err)
	w.Prompt("one")
	w.Settle()
	w.Until("it is over", func() bool { return w.Info("main").Outcome == history.OutFailed })
	if b := w.Info("main").Budget; b.Used != 0 {
		t.Errorf("a refused request: %v", b)
	}
	fails = false
	w.Prompt("two")
	w.Settle()
	w.Until("it answered", func() bool { return w.Info("main").Outcome == history.Completed })
	if b := w.Info("main").Budget; b.Used < 1000 || b.Used > 20_000 {
		t.Errorf("an answer of 3,500 bytes: %v", b)
	}
}

// TestBudget_set: more is more, another unit begins anew, off is none.
func TestBudget_set(t *testing.T) {
	m := spender()
	w := open(t, m, setting{})
	main := w.Main()
	set := func(to tools.Amount) *event.Budget {
		t.Helper()
		b, err := w.Pool.Budgets.Set(t.Context(), main, to)
		check(t, err)
		return b
	}
	set(tools.Amount{N: 30_000})
	w.Prompt("rest")
	w.Settle()
	if b := set(tools.Amount{N: 50_000}); b.Used != 10_000 || b.Amount.N != 50_000 {
		t.Errorf("raised: %v", b)
	}
	if set(tools.Amount{}); w.Pool.Infos()[0].Budget != nil {
		t.Error("off left one")
	}
	if b := set(tools.Amount{N: 20_000}); b.Used != 0 {
		t.Errorf("a new one: %v", b)
	}
}

// TestDefaultTimeout: a task that names no time-out has that of the configuration.
func TestDefaultTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{Reply: func(ctx context.Context, _ *llm.Request) ([]llm.Part, error) {
			<-ctx.Done()
			return nil, nil
		}}
		w := open(t, m, setting{Limit: 30 * time.Minute})
		began := time.Now()
		w.Push("slow", "dig")
		w.Run(1)
		time.Sleep(31 * time.Minute)
		w.State("slow", event.Failed)
		if i := w.Info("slow"); i.Outcome != history.TimedOut || i.Ended.Sub(began) != 30*time.Minute {
			t.Errorf("%s after %v", i.Outcome, i.Ended.Sub(began))
		}
		w.Close()
		time.Sleep(5 * time.Second)
	})
}

// repeating is a model that makes the same call so often, every other time with its arguments in another order.
func repeating(times int) *model {
	return &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
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
	w.Prompt("look")
	q := w.asksMain()
	if q.Asks == nil || !strings.Contains(q.Asks.Text, "main calls glob 3 times in a row with the same arguments") || len(m.Seen()) != 3 {
		t.Fatalf("after %d requests: %+v", len(m.Seen()), q.Asks)
	}
	w.Close()
	w = open(t, m, setting{Dir: w.Dir})
	again := w.asksMain()
	if again.ID != q.ID {
		t.Errorf("the question is %d after the restart, was %d", again.ID, q.ID)
	}
	w.replies(again, "Once")
	w.Until("the sixth asks", func() bool {
		q := w.Info("main").Question
		return q != nil && q.ID != again.ID
	})
	if len(m.Seen()) != 6 {
		t.Errorf("asked after %d requests", len(m.Seen()))
	}
	w.replies(*w.Info("main").Question, "Stop")
	w.Settle()
	rs := results(m.Seen()[len(m.Seen())-1])
	if len(rs) != 6 || rs[2].Error || !rs[5].Error || !strings.Contains(rs[5].Text, "the user stopped it") {
		t.Errorf("the results: %+v", rs)
	}
}

// TestRepeats_nobodyThere: where nobody can be asked the call is refused, with the reason.
func TestRepeats_nobodyThere(t *testing.T) {
	m := repeating(6)
	w := open(t, m, setting{})
	c := w.Unattended(t.Context(), agents.Unattended{})
	w.says(c, "look")
	rs := results(m.Seen()[len(m.Seen())-1])
	if len(rs) != 6 || rs[1].Error || !rs[2].Error || !rs[3].Error || !rs[5].Error || !strings.Contains(rs[2].Text, "the same call 3 times in a row, and nobody is here") {
		t.Errorf("the results: %+v", rs)
	}
}

// TestRepeats_others: different arguments, and calls that take mail, are not the same call.
func TestRepeats_others(t *testing.T) {
	m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		switch n := len(results(req)); {
		case n < 100:
			return call(fmt.Sprintf("c%d", n), "glob", fmt.Sprintf(`{"pattern":"%d*"}`, n)), nil
		case n < 104:
			return call(fmt.Sprintf("c%d", n), "check", `{}`), nil
		}
		return text("done"), nil
	}}
	w := open(t, m, setting{})
	w.Prompt("look")
	w.Settle()
	w.Until("it is through", func() bool { return w.Info("main").Outcome == history.Completed })
}

// TestBudget_fork: what an agent's fork uses is the agent's.
func TestBudget_fork(t *testing.T) {
	m := &model{Reply: func(context.Context, *llm.Request) ([]llm.Part, error) {
		return uses(3000, llm.Text{Text: "said"}), nil
	}}
	w := open(t, m, setting{})
	_, err := w.Pool.Budgets.Set(t.Context(), w.Main(), tools.Amount{N: 100_000})
	check(t, err)
	w.Prompt("one")
	w.Settle()
	id, err := w.Pool.Deposit(inbox.Message{Recipient: w.Main(), From: "x", Kind: inbox.Mail, Deliver: inbox.Hold, Body: "b"})
	check(t, err)
	check(t, w.Pool.Fork(w.Main(), id))
	w.Until("both count", func() bool { return w.Info("main").Budget != nil && w.Info("main").Budget.Used == 6000 })
	w.Settle()
}

// TestBudget_goesOn: an agent that goes on keeps its budget and its time, with all it has used, and so does its task where it
// is pushed again: a respawn begins with the whole budget, and no more.
func TestBudget_goesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, spender(), setting{})
		a, err := tools.ParseAmount("48k")
		check(t, err)
		_, err = w.Pool.Tasks.Push(t.Context(), w.Main(), tools.Task{Name: "digs", Prompt: "dig", Budget: a, Timeout: time.Hour})
		check(t, err)
		w.Run(1)
		w.State("digs", event.Failed)
		for _, step := range []struct {
			name  string
			do    func() (tasks.Task, error)
			spent int64
		}{
			{"resume", func() (tasks.Task, error) {
				row, _, err := w.Pool.Resume(t.Context(), w.Main(), "digs", "dig")
				return row, err
			}, 50_000},
			{"resume again", func() (tasks.Task, error) {
				row, _, err := w.Pool.Resume(t.Context(), w.Main(), "digs", "dig")
				return row, err
			}, 50_000},
			{"respawn", func() (tasks.Task, error) { return w.Pool.Tasks.Respawn(t.Context(), w.Main(), "digs") }, 50_000},
		} {
			row, err := step.do()
			check(t, err)
			if row.Budget != "48k" || row.Timeout != time.Hour {
				t.Errorf("%s: budget %q, time-out %s", step.name, row.Budget, row.Timeout)
			}
			synctest.Wait()
			time.Sleep(time.Minute)
			w.State("digs", event.Failed)
			if i := w.Info("digs"); i.Outcome != history.OutBudget || i.Budget == nil || i.Budget.Used != step.spent {
				t.Errorf("%s: it ended %s with %v", step.name, i.Outcome, i.Budget)
			}
		}
		w.Close()
		time.Sleep(5 * time.Second)
	})
}
