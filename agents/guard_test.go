package agents_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents"
	"fantail/agents/llm"
	"fantail/inbox"
)

// The 21st call is answered with a sentence and runs no more, whether calls come alone or many at once; who goes on after
// it is stopped, and who concludes has said what it found. The report says so either way.
// Spec: O-65, O-86, E-27.
func TestGuard_calls(t *testing.T) {
	const sentence = "You have reached the maximum tool calls for this scheduled execution. Summarize your findings and stop."
	for name, c := range map[string]struct {
		beside   int
		obeys    bool
		most     int
		outcome  string
		why      string
		answered int // calls that got the sentence
	}{
		"alone, obeys":   {1, true, 0, "failed", "stopped: it made the 20 tool calls that an observer may make", 1},
		"alone, goes on": {1, false, 0, "failed", "stopped: it made the 20 tool calls that an observer may make, and went on", 1},
		"many at once":   {8, true, 0, "failed", "stopped: it made the 20 tool calls that an observer may make", 4},
		"many, go on":    {8, false, 0, "failed", "stopped: it made the 20 tool calls that an observer may make, and went on", 4},
		"raised":         {1, true, 30, "failed", "stopped: it made the 30 tool calls that an observer may make", 1},
		"raised too far": {1, true, 500, "failed", "stopped: it made the 50 tool calls that an observer may make", 1},
		"at the limit":   {10, true, 0, "completed", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			var got []llm.ToolResult
			made := 0
			w := observerOpen(t, observerSetting{limits: agents.ObserverLimits{Calls: c.most, Tokens: 200_000}, reply: func(_ context.Context, n int, req *llm.Request) ([]llm.Part, error) {
				got = observerResults(req)
				told := false
				for _, r := range got {
					told = told || r.Text == sentence
				}
				if told && c.obeys || name == "at the limit" && made == 20 {
					return says("I found it."), nil
				}
				var args []string
				for range c.beside {
					args = append(args, read(fmt.Sprint("f", made)))
					made++
				}
				return append(says("On my way."), calls(n, "read_file", args...)...), nil
			}})
			m := w.observes(agents.ObserverOrder{})
			found := "On my way."
			if c.obeys {
				found = "I found it."
			}
			if m.Kind != inbox.Scheduled || m.Outcome != c.outcome || m.Error != c.why || m.Body != found {
				t.Errorf("%+v", m)
			}
			answered := 0
			for n, r := range got {
				if r.Text == sentence {
					answered++
				} else if ran := strings.Contains(r.Text, "does not exist"); !ran {
					t.Errorf("call %d: %+v", n, r)
				}
			}
			if answered != c.answered {
				t.Errorf("%d calls got the sentence, want %d", answered, c.answered)
			}
		})
	}
}

// The same call twice in a row is answered with a stop message and does not run again; the third time ends the observer.
// How its arguments are written tells nothing apart, and what comes between does.
// Spec: O-66, R-5, E-27.
func TestGuard_loops(t *testing.T) {
	const again = "You are repeating the same tool call. This suggests a loop. Summarize what you've found so far and conclude."
	same := []string{`{"path":"f","limit":5}`, `{"limit":5,"path":"f"}`, ` { "limit" : 5.0, "path" : "\u0066" } `}
	for name, c := range map[string]struct {
		batches [][]string
		outcome string
		told    int
	}{
		"twice":          {[][]string{{same[0]}, {same[1]}}, "completed", 1},
		"three times":    {[][]string{{same[0]}, {same[1]}, {same[2]}}, "failed", 1},
		"in one reply":   {[][]string{{same[0], same[1], same[2]}}, "failed", 0},
		"one between":    {[][]string{{same[0]}, {read("g")}, {same[0]}, {read("g")}, {same[0]}}, "completed", 0},
		"over two":       {[][]string{{same[0], same[1]}, {same[2]}}, "failed", 1},
		"another number": {[][]string{{same[0]}, {`{"path":"f","limit":6}`}, {same[0]}}, "completed", 0},
	} {
		t.Run(name, func(t *testing.T) {
			var got []llm.ToolResult
			w := observerOpen(t, observerSetting{reply: func(_ context.Context, n int, req *llm.Request) ([]llm.Part, error) {
				got = observerResults(req)
				if n < len(c.batches) {
					return append(says("Looking."), calls(n, "read_file", c.batches[n]...)...), nil
				}
				return says("done"), nil
			}})
			w.file("f", "text")
			m := w.observes(agents.ObserverOrder{})
			if m.Kind != inbox.Scheduled || m.Outcome != c.outcome || (c.outcome == "failed") != (m.Error == "stopped: it made the same call of read_file three times in a row") {
				t.Errorf("%+v", m)
			}
			told := 0
			for _, r := range got {
				if r.Text == again {
					told++
				}
			}
			if told != c.told {
				t.Errorf("it was told %d times, want %d", told, c.told)
			}
		})
	}
}

// No request is sent that could pass the limit of tokens: what is counted is what the provider says, but no less than
// what was seen, and a provider that says nothing is counted too.
// Spec: O-64, E-27.
func TestGuard_tokens(t *testing.T) {
	for name, c := range map[string]struct {
		limit int
		says  llm.Usage
		reads int // bytes that each call brings
		most  int // requests
		least int
	}{
		"it says so":          {0, llm.Usage{Input: 20_000, CacheRead: 4_000, CacheWrite: 500, Output: 400}, 10, 3, 2},
		"it says nothing":     {0, llm.Usage{}, 20_000, 5, 2},
		"it says too little":  {0, llm.Usage{Output: 1}, 20_000, 5, 2},
		"raised":              {100_000, llm.Usage{Input: 24_900}, 10, 5, 4},
		"raised too far":      {1_000_000, llm.Usage{Input: 24_900}, 10, 9, 8},
		"nothing left at all": {10, llm.Usage{}, 10, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := observerOpen(t, observerSetting{limits: agents.ObserverLimits{Tokens: c.limit}, reply: func(_ context.Context, n int, req *llm.Request) ([]llm.Part, error) {
				ps := append(says("So far."), calls(n, "read_file", fmt.Sprintf(`{"path":"f","offset":%d}`, n+1))...)
				if c.says != (llm.Usage{}) {
					ps = append(ps, c.says)
				}
				return ps, nil
			}})
			w.file("f", strings.Repeat("text\n", c.reads/5))
			m := w.observes(agents.ObserverOrder{})
			limit := c.limit
			if limit == 0 {
				limit = 50_000
			}
			limit = min(limit, 200_000)
			if m.Kind != inbox.Scheduled || m.Error != fmt.Sprintf("stopped: its next request would pass the %d tokens that an observer may use", limit) || m.Outcome != "failed" {
				t.Errorf("%+v", m)
			}
			if n := len(w.model.requests); n > c.most || n < c.least {
				t.Errorf("%d requests, want %d to %d", n, c.least, c.most)
			}
			if n := c.says.Context() * len(w.model.requests); n > limit {
				t.Errorf("it used %d tokens of %d", n, limit)
			}
		})
	}
}

// A reply may not be longer than the room that is left for it.
// Spec: O-64.
func TestGuard_boundsTheReply(t *testing.T) {
	w := observerOpen(t, observerSetting{maxOut: 64_000, reply: func(_ context.Context, n int, _ *llm.Request) ([]llm.Part, error) {
		if n == 0 {
			return append(calls(n, "read_file", read("f")), llm.Usage{Input: 40_000}), nil
		}
		return says("done"), nil
	}})
	w.observes(agents.ObserverOrder{})
	for n, most := range []int{50_000, 10_000} {
		if got := w.model.requests[n].MaxTokens; got <= 0 || got >= most {
			t.Errorf("reply %d may have %d tokens", n, got)
		}
	}
}

// An observer has its time once it has a slot; nothing makes that longer than its limit, and the limit can be raised only
// so far.
// Spec: O-58, O-63, E-27.
func TestGuard_time(t *testing.T) {
	for set, want := range map[time.Duration]time.Duration{0: 300 * time.Second, 20 * time.Minute: 20 * time.Minute, 5 * time.Hour: 1800 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			w := observerOpen(t, observerSetting{limits: agents.ObserverLimits{Time: set, Calls: 50, Tokens: 200_000}, reply: func(ctx context.Context, n int, req *llm.Request) ([]llm.Part, error) {
				select { // one that is busy all the time
				case <-time.After(40 * time.Second):
					return calls(n, "read_file", read(fmt.Sprint("f", n))), nil
				case <-ctx.Done():
					return nil, &llm.Error{Kind: llm.Cancelled, Err: ctx.Err()}
				}
			}})
			began := time.Now()
			m := w.observes(agents.ObserverOrder{})
			if d := time.Since(began); d != want || m.Outcome != "timed_out" || m.Kind != inbox.Scheduled {
				t.Errorf("after %s: %+v", d, m)
			}
			w.close()
			time.Sleep(time.Minute)
		})
	}
}
