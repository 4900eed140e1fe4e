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
	"fantail/tools"
	"fantail/tools/permission"
)

// sampler lends a tool that asks the agent's model what it is called with.
type sampler struct {
	lender
	change func(q *tools.SampleRequest)
}

func (l *sampler) Lend(context.Context) []tools.Lent {
	t, _ := l.Borrow("mcp__db__samples")
	return []tools.Lent{t}
}

func (l *sampler) Borrow(name string) (tools.Lent, bool) {
	t, is := l.lender.Borrow(name)
	t.Parse = func(env *tools.Runtime, id string, args json.RawMessage) (*tools.Call, error) {
		return &tools.Call{Action: permission.Action{Tool: name, Kind: permission.Foreign, Dir: env.Root, Input: string(args)}, Run: func(ctx context.Context) tools.Result {
			if env.Sample == nil {
				return tools.Result{Text: "nobody lets it"}
			}
			q := tools.SampleRequest{From: "db", System: "Be short.", Most: 50, Said: []tools.SampleMessage{{Text: "sample " + string(args)}}}
			if l.change != nil {
				l.change(&q)
			}
			r, err := env.Sample(ctx, id, q)
			return tools.Result{Text: fmt.Sprintf("it says %q by %s, cut %v, stopped %v: %v", r.Text, r.Model, r.Cut, r.Stopped, err)}
		}}, nil
	}
	return t, is
}

// sampled is a model that calls the tool, answers the program, and says in the end what the call came to.
func sampled(answer func(ctx context.Context, req *llm.Request) ([]llm.Part, error)) *model {
	return &model{Reply: func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		if strings.HasPrefix(asked(req), "sample ") || strings.Contains(req.System, "a server of the Model Context Protocol") {
			return answer(ctx, req)
		}
		ps, err := lentCaller(ctx, req)
		return uses(1000, ps...), err
	}}
}

// lastText is what an agent said last.
func (w *world) lastText(name string) (last string) {
	for _, e := range w.Entries(name) {
		if e.Kind == history.EntryText {
			last = e.Text
		}
	}
	return last
}

// A program asks the model with the human's yes, and gets the answer. What it asked goes alone; what it used is the
// agent's, and the transcript says whose it was. A yes for the session asks no more.
func TestSampling(t *testing.T) {
	var sent []*llm.Request
	m := sampled(func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		sent = append(sent, req)
		return uses(500, llm.Text{Text: "forty-two END and more"}), nil
	})
	l := &sampler{change: func(q *tools.SampleRequest) { q.Stops = []string{" END"} }}
	w := open(t, m, setting{Mode: permission.Yolo, Lends: l})
	w.Prompt("mcp__db__samples {}")
	q := w.asks("main")
	if !strings.Contains(q.Asks.Text, "The MCP server db wants to ask") || !strings.Contains(q.Asks.Text, "at most 50 tokens") || !strings.Contains(q.Asks.Text, "sample {}") {
		t.Errorf("%+v", q.Asks)
	}
	check(t, w.Pool.Asks.Answer(t.Context(), q.ID, event.Answer{Text: q.Asks.Options[1].Label}))
	w.Settle()
	if got := w.lastText("main"); !strings.Contains(got, `it says "forty-two" by `) || !strings.Contains(got, "stopped true: <nil>") {
		t.Error(got)
	}
	req := sent[0]
	if len(req.Messages) != 1 || len(req.Tools) != 0 || req.MaxTokens != 50 || !strings.Contains(req.System, "Be short.") || strings.Contains(said(req), "mcp__db") {
		t.Errorf("%+v", req)
	}
	w.Until("what it asked is counted", func() bool { return w.Info("main").Usage.Input == 2500 })
	noted := false
	for _, e := range w.Entries("main") {
		noted = noted || e.Kind == history.EntryNotice && strings.Contains(e.Text, "The MCP server db asked") && strings.Contains(e.Text, "500 tokens in")
	}
	if !noted {
		t.Error("the transcript does not say what the program asked")
	}
	w.Prompt("mcp__db__samples {}") // no question any more
	w.Settle()
	if len(sent) != 2 || !strings.Contains(w.lastText("main"), "forty-two") {
		t.Error(len(sent), w.lastText("main"))
	}
}

// Without a yes nothing is sent.
func TestSampling_refused(t *testing.T) {
	m := sampled(func(context.Context, *llm.Request) ([]llm.Part, error) {
		t.Error("the model was asked")
		return text("x"), nil
	})
	w := open(t, m, setting{Mode: permission.Yolo, Lends: &sampler{}})
	for _, no := range []string{"no: it gets no answer", "what is this?"} {
		w.Prompt("mcp__db__samples {}")
		q := w.asks("main")
		check(t, w.Pool.Asks.Answer(t.Context(), q.ID, event.Answer{Text: no}))
		w.Settle()
		if got := w.lastText("main"); !strings.Contains(got, "the user does not let it ask the model") {
			t.Error(got)
		}
	}
}

// What a program asks counts to the agent's budget, and does not use it up.
func TestSampling_budget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := sampled(func(context.Context, *llm.Request) ([]llm.Part, error) {
			return uses(40_000, llm.Text{Text: "yes"}), nil
		})
		l := &sampler{}
		w := open(t, m, setting{Mode: permission.Yolo, Lends: l})
		w.pushed(tools.Task{Name: "job", Prompt: "mcp__db__samples {}"}, "100k")
		w.Run(1)
		q := w.asks("job")
		check(t, w.Pool.Asks.Answer(t.Context(), q.ID, event.Answer{Text: q.Asks.Options[0].Label}))
		w.State("job", event.Done)
		if i := w.Info("job"); i.Budget == nil || i.Budget.Used != 42_000 {
			t.Errorf("%+v", i.Budget)
		}
		l.change = func(q *tools.SampleRequest) { q.Said[0].Text += strings.Repeat(" and more", 40_000) }
		w.pushed(tools.Task{Name: "poor", Prompt: "mcp__db__samples {}"}, "100k")
		w.Run(1)
		q = w.asks("poor")
		if _, m := w.row(q.ID); m.ID == 0 || !strings.Contains(m.Body, "wants to ask test/one") {
			t.Errorf("the question in the inbox: %+v", m)
		}
		check(t, w.Pool.Asks.Answer(t.Context(), q.ID, event.Answer{Text: q.Asks.Options[0].Label}))
		w.State("poor", event.Done)
		if i := w.Info("poor"); i.Budget == nil || i.Budget.Used != 2_000 || !strings.Contains(i.Gist, "what is left is for the agent's own answer") {
			t.Errorf("%+v %s", i.Budget, i.Gist)
		}
		w.Close()
		time.Sleep(5 * time.Second)
	})
}

// answersIn is a moment more than a model may take to answer a program.
const answersIn = 5*time.Minute + time.Second

// A model that does not answer ends with the call; the call that is stopped ends what it asked.
func TestSampling_slow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		m := sampled(func(ctx context.Context, _ *llm.Request) ([]llm.Part, error) {
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return nil, &llm.Error{Kind: llm.Cancelled, Message: "stopped"}
		})
		w := open(t, m, setting{Mode: permission.Yolo, Lends: &sampler{}})
		w.Prompt("mcp__db__samples {}")
		q := w.asks("main")
		began := time.Now()
		check(t, w.Pool.Asks.Answer(t.Context(), q.ID, event.Answer{Text: q.Asks.Options[0].Label}))
		time.Sleep(answersIn)
		w.Settle()
		if got := w.lastText("main"); !strings.Contains(got, "the model did not answer within 5m0s") || time.Since(began) > 6*time.Minute {
			t.Error(got)
		}
		<-ended
		w.Close()
		time.Sleep(5 * time.Second)
	})
}
