package agents_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"fantail/.ci/long"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/tools"
)

// obstinate is a model that calls tools for ever, whatever it is told. used is what each of its requests says it used.
func obstinate(used func(asked string) []llm.Part) *model {
	var mu sync.Mutex
	n := 0
	return &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		mu.Lock()
		n++
		k := n
		mu.Unlock()
		if asked(req) == "boss" && len(results(req)) == 0 {
			return append(used("boss"), call("d", "delegate", `{"name":"below","prompt":"dig","mode":"sync"}`)...), nil
		}
		found := llm.Text{Text: fmt.Sprintf("found %d", k)}
		return append(used(asked(req)), found, call(fmt.Sprintf("c%d", k), "glob", fmt.Sprintf(`{"pattern":"%d*"}`, k))[0]), nil
	}}
}

// TestBudget_obstinate: whatever a model does, its agent uses at most one request more than its budget. Once it was told
// to finish, no tool runs any more.
func TestBudget_obstinate(t *testing.T) {
	t.Parallel()
	tokens := func(u llm.Usage) func(string) []llm.Part {
		return func(string) []llm.Part { return []llm.Part{u} }
	}
	for name, c := range long.SomeOf(t, 2, map[string]struct {
		of, model, prompt string
		used              func(asked string) []llm.Part
		price             func(llm.Usage) int64
		most              int64 // one request of it, in the budget's unit
	}{
		"its own":  {of: "41k", prompt: "dig", used: tokens(llm.Usage{Input: 2000}), most: 2000},
		"cached":   {of: "41k", prompt: "dig", used: tokens(llm.Usage{Input: 10, CacheRead: 1800, CacheWrite: 90, Output: 100}), most: 2000},
		"dollars":  {of: "$0.41", model: "test/priced", prompt: "dig", used: tokens(llm.Usage{Input: 2000}), price: func(u llm.Usage) int64 { return int64(u.Input+u.CacheRead) * 10 }, most: 20_000},
		"subtree":  {of: "41k", prompt: "boss", used: tokens(llm.Usage{Input: 2000}), most: 2 * 2000},
		"tiny":     {of: "10", prompt: "dig", used: tokens(llm.Usage{Input: 2000}), most: 2000},
		"silent":   {of: "30k", prompt: "dig", used: func(string) []llm.Part { return nil }, most: 8_000},
		"tool big": {of: "3k", prompt: "dig", used: tokens(llm.Usage{Input: 2900}), most: 2900},
	}) {
		t.Run(name, func(t *testing.T) {
			m := obstinate(c.used)
			w := open(t, m, setting{Price: c.price})
			w.pushed(tools.Task{Name: "job", Prompt: c.prompt, Model: c.model, Deliver: "hold"}, c.of)
			w.Run(1)
			w.State("job", event.Failed)
			w.Settle()
			i := w.Info("job")
			if over := i.Budget.Used - i.Budget.Amount.N; i.Outcome != history.OutBudget || over < 0 || over > c.most {
				t.Errorf("%s, %v, over by %d; one request is %d: %s", i.Outcome, i.Budget, over, c.most, i.Why)
			}
			name := "job"
			if c.prompt == "boss" {
				name = "below"
			}
			told, ran, refused := false, 0, 0
			for _, e := range w.Entries(name) {
				told = told || e.Kind == history.EntryHost && strings.HasPrefix(e.Text, "Your budget is nearly used up")
				switch {
				case e.Kind != history.EntryResult:
				case told && !e.Result.Denied:
					t.Errorf("after it was told to finish %s ran", e.Result.Name)
				case told && strings.Contains(e.Result.Text, "No tool runs any more: answer with what you have"):
					refused++
				default:
					ran++
				}
			}
			if !told || refused == 0 {
				t.Errorf("told to finish: %v; %d calls ran, %d were refused", told, ran, refused)
			}
		})
	}
}

// TestBudget_says: the answer of an agent that was told to finish says so.
func TestBudget_says(t *testing.T) {
	m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		rs := results(req)
		if n := len(rs); n > 0 && rs[n-1].Error {
			return uses(1000, llm.Text{Text: "all that I have"}), nil
		}
		return uses(10_000, call(fmt.Sprintf("c%d", len(rs)), "glob", fmt.Sprintf(`{"pattern":"%d*"}`, len(rs)))...), nil
	}}
	w := open(t, m, setting{})
	w.pushed(tools.Task{Name: "digs", Prompt: "dig", Deliver: "hold"}, "50.5k")
	w.Run(1)
	w.State("digs", event.Done)
	ms := w.waits(w.Main())
	if len(ms) == 0 {
		t.Fatal("nothing came")
	}
	got := ms[len(ms)-1].Body
	if !strings.HasPrefix(got, "all that I have\n\n(Its budget was nearly used up, ") || !strings.HasSuffix(got, ": it was told to answer with what it had.)") {
		t.Errorf("its result: %q", got)
	}
}
