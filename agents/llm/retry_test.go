package llm_test

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"fantail/agents/llm"
	"fantail/agents/llm/anthropic"
	"fantail/agents/llm/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// played yields one list of parts and errors per try.
type played struct {
	tries [][]any
	at    []time.Time // of the tries
}

func (p *played) Stream(ctx context.Context, _ *llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		n := min(len(p.at), len(p.tries)-1)
		p.at = append(p.at, time.Now())
		for _, v := range p.tries[n] {
			switch v := v.(type) {
			case time.Duration:
				<-time.After(v)
			case error:
				yield(nil, v)
				return
			case llm.Part:
				if !yield(v, nil) {
					return
				}
			}
		}
	}
}

func failure(kind llm.ErrorKind, after time.Duration) error {
	return &llm.Error{Kind: kind, Provider: "fake", Message: "Failed.", RetryAfter: after}
}

// run reads a stream: everything it yielded, and its error.
func run(ctx context.Context, p llm.Provider) (parts []llm.Part, waits []time.Duration, failed *llm.Error) {
	for part, err := range p.Stream(ctx, &llm.Request{}) {
		if err != nil {
			return parts, waits, err.(*llm.Error)
		}
		parts = append(parts, part)
		if r, ok := part.(llm.Retrying); ok {
			waits = append(waits, time.Duration(r.Wait)*time.Millisecond)
		}
	}
	return parts, waits, nil
}

func half() float64 { return 0.5 }

func TestRetryEndsWell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &played{tries: [][]any{
			{llm.Text{Text: "half a"}, failure(llm.Cut, 0)},
			{failure(llm.Overloaded, 0)},
			{llm.Text{Text: "whole"}, llm.Stop{Reason: llm.EndTurn}},
		}}
		parts, waits, err := run(t.Context(), llm.Retry(p, llm.RetryOptions{Rand: half}))
		if err != nil || len(parts) != 5 {
			t.Fatalf("%+v %v", parts, err)
		}
		if r := parts[1].(llm.Retrying); r.Attempt != 1 || r.Of != 10 || r.Err.Kind != llm.Cut {
			t.Errorf("%+v", r)
		}
		if parts[3] != (llm.Text{Text: "whole"}) {
			t.Errorf("%+v", parts)
		}
		for i, want := range []time.Duration{1500 * time.Millisecond, 3 * time.Second} {
			if waits[i] != want || p.at[i+1].Sub(p.at[i]) != want {
				t.Errorf("wait %d: said %v, was %v, want %v", i, waits[i], p.at[i+1].Sub(p.at[i]), want)
			}
		}
	})
}

func TestRetryGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &played{tries: [][]any{{failure(llm.Overloaded, 0)}}}
		_, waits, err := run(t.Context(), llm.Retry(p, llm.RetryOptions{}))
		if err == nil || err.Kind != llm.Overloaded || len(p.at) != 10 || len(waits) != 9 || !strings.Contains(err.Message, "10 tries") {
			t.Fatalf("%v after %d tries", err, len(p.at))
		}
		for i, w := range waits {
			if w < time.Second || w > time.Minute {
				t.Errorf("wait %d is %v", i, w)
			}
		}
		if total := p.at[9].Sub(p.at[0]); total > 15*time.Minute {
			t.Errorf("took %v", total)
		}
		// Each try stalls for five minutes: the limit comes first.
		p = &played{tries: [][]any{{5 * time.Minute, failure(llm.Stalled, 0)}}}
		began := time.Now()
		if _, _, err = run(t.Context(), llm.Retry(p, llm.RetryOptions{})); err == nil || len(p.at) != 4 {
			t.Fatalf("%v after %d tries and %v", err, len(p.at), time.Since(began))
		}
	})
}

// A long reply that breaks has not used up the time for its next try.
func TestRetryAfterLongReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &played{tries: [][]any{{40 * time.Minute, failure(llm.Cut, 0)}, {llm.Stop{}}}}
		if _, _, err := run(t.Context(), llm.Retry(p, llm.RetryOptions{})); err != nil {
			t.Fatal(err)
		}
	})
}

func TestRetryFinal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, kind := range []llm.ErrorKind{llm.Auth, llm.BadRequest, llm.ContextTooLong, llm.NotConfigured, llm.Protocol, llm.Cancelled} {
			p := &played{tries: [][]any{{failure(kind, time.Second)}}}
			began := time.Now()
			_, _, err := run(t.Context(), llm.Retry(p, llm.RetryOptions{}))
			if err == nil || err.Kind != kind || err.Message != "Failed." || len(p.at) != 1 || time.Since(began) != 0 {
				t.Errorf("%s: %v after %d tries", kind, err, len(p.at))
			}
		}
		// Broken promises of a provider.
		p := &played{tries: [][]any{{errors.New("plain")}}}
		if _, _, err := run(t.Context(), llm.Retry(p, llm.RetryOptions{})); err == nil || err.Kind != llm.Protocol || len(p.at) != 1 {
			t.Errorf("plain error: %v", err)
		}
		p = &played{tries: [][]any{{llm.Text{Text: "x"}}, {llm.Stop{}}}}
		if _, waits, err := run(t.Context(), llm.Retry(p, llm.RetryOptions{})); err != nil || len(waits) != 1 {
			t.Errorf("no end: %v %v", waits, err)
		}
	})
}

// What a server asks for is honoured as far as it makes sense.
func TestRetryAfter(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"3": 3 * time.Second, "2.5": 2500 * time.Millisecond, "0": 1500 * time.Millisecond, "-1": 1500 * time.Millisecond,
		"1000000000": 5 * time.Minute, "1e9": 5 * time.Minute, "1e400": 1500 * time.Millisecond, "NaN": 1500 * time.Millisecond, "soon": 1500 * time.Millisecond, "": 1500 * time.Millisecond,
		"Sat, 01 Jan 2000 00:00:42 GMT": 42 * time.Second, "Fri, 31 Dec 1999 00:00:00 GMT": 1500 * time.Millisecond, "Tue, 01 Jan 2030 00:00:00 GMT": 5 * time.Minute,
	} {
		t.Run(value, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // fake time begins on 1 January 2000
				r := llmtest.Fail(429, `{"error":{"type":"rate_limit_error","message":"slow down"}}`)
				r.Header.Set("Retry-After", value)
				s := llmtest.New(r, llmtest.Say("ok"))
				client, stop := s.Pipe()
				defer stop()
				p := llm.Retry(anthropic.New(anthropic.Options{BaseURL: "http://fake", Key: "k", HTTPClient: client}), llm.RetryOptions{Rand: half})
				began := time.Now()
				req := &llm.Request{Model: "m", Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text{Text: "x"}}}}}
				for part, err := range p.Stream(t.Context(), req) {
					if err != nil {
						t.Fatal(err)
					}
					if r, ok := part.(llm.Retrying); ok && r.Err.Status != http.StatusTooManyRequests {
						t.Errorf("%+v", r.Err)
					}
				}
				if took := time.Since(began); took != want {
					t.Errorf("waited %v, want %v", took, want)
				}
			})
		})
	}
}

func TestRetryCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		p := &played{tries: [][]any{{failure(llm.RateLimited, time.Minute)}}}
		began := time.Now()
		_, _, err := run(ctx, llm.Retry(p, llm.RetryOptions{}))
		if err == nil || err.Kind != llm.Cancelled || err.Temporary() || time.Since(began) != 10*time.Second {
			t.Fatalf("%v after %v", err, time.Since(began))
		}
		// A failure that only reflects the end of ctx.
		p = &played{tries: [][]any{{failure(llm.Network, 0)}}}
		if _, _, err = run(ctx, llm.Retry(p, llm.RetryOptions{})); err == nil || err.Kind != llm.Cancelled || len(p.at) != 1 {
			t.Fatalf("%v", err)
		}
	})
}

// A reader that leaves at any part ends the loop.
func TestRetryLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for leave := range 3 {
			p := &played{tries: [][]any{{llm.Text{}, failure(llm.Cut, 0)}, {llm.Text{}, llm.Stop{}}}}
			n := 0
			for range llm.Retry(p, llm.RetryOptions{}).Stream(t.Context(), &llm.Request{}) {
				if n++; n > leave {
					break
				}
			}
			if n != leave+1 {
				t.Errorf("%d parts", n)
			}
		}
	})
}

func TestClip(t *testing.T) {
	for n := range 12 {
		got := llm.Clip("größer", n)
		if len(got) > max(n, len("…")) || !strings.HasPrefix("größer", strings.TrimSuffix(got, "…")) {
			t.Errorf("%d: %q", n, got)
		}
	}
	if llm.Clip("abc", 3) != "abc" {
		t.Error("clipped what fits")
	}
}

// A failure that bounds its own number is tried again so often in a row, and others
// before it cost it nothing.
func TestRetry_whatIsNotWorthManyTries(t *testing.T) {
	refused := &llm.Error{Kind: llm.Network, Provider: "fake", Message: "Nothing answers.", Tries: 2}
	for _, c := range []struct {
		tries [][]any
		waits int
		fails bool
	}{
		{[][]any{{refused}}, 1, true},
		{[][]any{{refused}, {llm.Stop{Reason: llm.EndTurn}}}, 1, false},
		{[][]any{{failure(llm.Server, 0)}, {failure(llm.Server, 0)}, {refused}, {refused}}, 3, true},
		{[][]any{{refused}, {failure(llm.Server, 0)}, {refused}, {llm.Stop{Reason: llm.EndTurn}}}, 3, false},
		{[][]any{{refused}, {failure(llm.Server, 0)}}, 9, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := &played{tries: c.tries}
			parts, waits, failed := run(t.Context(), llm.Retry(p, llm.RetryOptions{}))
			if len(waits) != c.waits || (failed != nil) != c.fails {
				t.Errorf("%v: %d waits, %v", c.tries, len(waits), failed)
			}
			if r, ok := parts[0].(llm.Retrying); ok && c.waits == 1 && r.Of != 2 {
				t.Errorf("it says %d tries", r.Of)
			}
		})
	}
}
