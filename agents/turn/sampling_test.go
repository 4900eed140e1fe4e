package turn

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/llm"
	"fantail/tools"
)

// table is a sampler whose clock is set by hand, and a human who answers each question alike.
type table struct {
	*Sampler
	now   time.Time
	says  string
	fails error
	asked int
}

func newTable() *table {
	b := &table{now: time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)}
	b.Sampler = NewSampler(SamplerOptions{Now: func() time.Time { return b.now }})
	return b
}

func (b *table) may(from, model string) error {
	q := tools.SampleRequest{From: from, Said: []tools.SampleMessage{{Text: "how many?"}}, Most: 100}
	return b.Sampler.may(context.Background(), model, "call", q, func(context.Context, string, string, tools.Question) (string, error) {
		b.asked++
		return b.says, b.fails
	})
}

// A yes for the session holds for that program and that model, for eight hours and a hundred answers.
func TestMay_always(t *testing.T) {
	for _, c := range []struct {
		name        string
		from, model string
		later       time.Duration
		used        int // answers meanwhile
		asks        bool
	}{
		{"at once", "docs", "m", 0, 0, false},
		{"another program", "other", "m", 0, 0, true},
		{"another model", "docs", "n", 0, 0, true},
		{"names that run together", "doc", "sm", 0, 0, true},
		{"just before eight hours", "docs", "m", 8*time.Hour - time.Second, 0, false},
		{"after eight hours", "docs", "m", 8 * time.Hour, 0, true},
		{"the next day", "docs", "m", 24 * time.Hour, 0, true},
		{"the hundredth answer", "docs", "m", 0, 98, false},
		{"the one after it", "docs", "m", 0, 99, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newTable()
			b.says = always
			for range 1 + c.used {
				if err := b.may("docs", "m"); err != nil {
					t.Fatal(err)
				}
			}
			if b.asked != 1 {
				t.Fatalf("asked %d times for %d answers", b.asked, 1+c.used)
			}
			b.now = b.now.Add(c.later)
			if err := b.may(c.from, c.model); err != nil || b.asked == 2 != c.asks {
				t.Errorf("asked %d times, %v", b.asked, err)
			}
		})
	}
}

// What has ended does not come back with a clock that is put back.
func TestMay_ended(t *testing.T) {
	b := newTable()
	b.says = always
	_ = b.may("docs", "m")
	b.now = b.now.Add(holds)
	b.says = samplingOnce
	_ = b.may("docs", "m")
	b.now = b.now.Add(-holds)
	if _ = b.may("docs", "m"); b.asked != 3 {
		t.Errorf("asked %d times, want 3", b.asked)
	}
}

// Any other answer holds for the one request, and only a yes lets it through.
func TestMay_answers(t *testing.T) {
	trouble := errors.New("parked")
	for _, c := range []struct {
		says  string
		fails error
		lets  bool
	}{{samplingOnce, nil, true}, {refuse, nil, false}, {"", nil, false}, {"yes", nil, false}, {samplingOnce, trouble, false}, {always, trouble, false}} {
		b := newTable()
		b.says, b.fails = c.says, c.fails
		for n := range 2 {
			if err := b.may("docs", "m"); (err == nil) != c.lets || b.asked != n+1 || c.fails != nil && !errors.Is(err, c.fails) {
				t.Errorf("%q, %v: %v, asked %d times", c.says, c.fails, err, b.asked)
			}
		}
	}
}

// A request contains only what the program asked, and the length of its answer is limited.
func TestRequest(t *testing.T) {
	b := newTable()
	for _, c := range []struct{ wanted, bound, want int }{
		{100, 0, 100},
		{maxTokens + 1, 0, maxTokens},
		{100, 50, 50},
		{50, 100, 50},
		{1 << 30, maxTokens * 2, maxTokens},
	} {
		if req := b.request(&fleet.Agent{}, llm.Model{MaxOut: c.bound}, tools.SampleRequest{Said: []tools.SampleMessage{{Text: "x"}}, Most: c.wanted}); req.MaxTokens != c.want || len(req.Tools) != 0 {
			t.Errorf("%d wanted of a model of %d: %d, and %d tools", c.wanted, c.bound, req.MaxTokens, len(req.Tools))
		}
	}
	for _, c := range []struct {
		name  string
		said  []tools.SampleMessage
		roles []llm.Role
	}{
		{"one", []tools.SampleMessage{{Text: "a"}}, []llm.Role{llm.User}},
		{"two in a row", []tools.SampleMessage{{Text: "a"}, {Text: "b"}}, []llm.Role{llm.User}},
		{"the model last", []tools.SampleMessage{{Text: "a"}, {ByModel: true, Text: "b"}}, []llm.Role{llm.User, llm.Assistant, llm.User}},
		{"the model first", []tools.SampleMessage{{ByModel: true, Text: "a"}, {Text: "b"}}, []llm.Role{llm.User, llm.Assistant, llm.User}},
	} {
		req := b.request(&fleet.Agent{}, llm.Model{}, tools.SampleRequest{From: "docs", System: "be brief", Said: c.said, Most: 1})
		var roles []llm.Role
		for _, m := range req.Messages {
			roles = append(roles, m.Role)
		}
		if len(roles) != len(c.roles) {
			t.Errorf("%s: %v", c.name, roles)
			continue
		}
		for i := range roles {
			if roles[i] != c.roles[i] {
				t.Errorf("%s: %v", c.name, roles)
			}
		}
		if !strings.Contains(req.System, `"docs"`) || !strings.Contains(req.System, "be brief") {
			t.Errorf("%s: %s", c.name, req.System)
		}
	}
}

// speaks is a provider that must not be asked.
type speaks struct{ llm.Provider }

// Nothing is asked where there is no model, or where nobody is there to say yes.
func TestFor_refused(t *testing.T) {
	asks := func(context.Context, string, string, tools.Question) (string, error) { return refuse, nil }
	for _, c := range []struct {
		provider llm.Provider
		ask      ask
		wrong    string
	}{
		{nil, asks, "no model to ask"}, {speaks{}, nil, "nobody is there"}, {nil, nil, "no model to ask"}, {speaks{}, asks, "does not let it ask"},
	} {
		b := newTable()
		f := fleet.New(t.Context(), fleet.Options{Now: time.Now, Resolve: func(name string) (llm.Model, error) { return llm.Model{Name: name, Provider: c.provider}, nil }})
		_, err := b.For(f.NewAgent(event.Info{ID: 1, Model: "m"}, 0), &tools.Runtime{Ask: c.ask})(t.Context(), "call", tools.SampleRequest{From: "docs", Said: []tools.SampleMessage{{Text: "x"}}, Most: 9})
		if err == nil || !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%v, want %s", err, c.wrong)
		}
	}
}
