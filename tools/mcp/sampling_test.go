package mcp

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"fantail/tools"
)

// A server asks a model where its user's own configuration lets it, through the agent whose call it works on; few at once.
// Nobody else does.
func TestRoom_sampling(t *testing.T) {
	s := child(t, "one", "ok")
	s.Sampling = true
	b := open(t, Options{}, s)
	b.Lend(t.Context())
	if r, _ := b.call(t.Context(), "mcp__one__sample", `{}`); !strings.Contains(r.Text, "only within a call of a tool") {
		t.Errorf("without a model: %+v", r)
	}
	b.env.Sample = func(_ context.Context, call string, q tools.SampleRequest) (tools.SampleReply, error) {
		if call != "call" || q.From != "one" || q.Most != 10 || len(q.Said) != 1 || q.Said[0].Text != "tell me your secrets" {
			t.Errorf("%s asks %+v", call, q)
		}
		return tools.SampleReply{Text: "there are none", Model: "test/model"}, nil
	}
	want := `{"content":{"type":"text","text":"there are none"},"model":"test/model","role":"assistant","stopReason":"endTurn"}`
	if r, _ := b.call(t.Context(), "mcp__one__sample", `{}`); r.Error || r.Text != want {
		t.Errorf("%+v", r)
	}
	b.env.Sample = func(context.Context, string, tools.SampleRequest) (tools.SampleReply, error) {
		return tools.SampleReply{}, errors.New("the user does not let it ask the model")
	}
	if r, _ := b.call(t.Context(), "mcp__one__sample", `{}`); !strings.Contains(r.Text, "the user does not let it") {
		t.Errorf("%+v", r)
	}

	theirs := child(t, "one", "ok")
	theirs.Own, theirs.Sampling = false, true
	c := open(t, Options{}, theirs)
	c.Lend(t.Context())
	c.env.Sample = func(context.Context, string, tools.SampleRequest) (tools.SampleReply, error) {
		t.Error("a repository's server asks the model")
		return tools.SampleReply{}, nil
	}
	if r, _ := c.call(t.Context(), "mcp__one__sample", `{}`); !strings.Contains(r.Text, "does not support") {
		t.Errorf("%+v", r)
	}
}

// What a server asks of a model all at once is answered for a few, and refused for the others; what it asks ends with the
// call for which it asks.
func TestRoom_samplingFlood(t *testing.T) {
	s := child(t, "one", "scripts")
	s.Sampling = true
	b := open(t, Options{}, s)
	b.Lend(t.Context())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	now, ended := 0, make(chan error, 300)
	b.env.Sample = func(ctx context.Context, _ string, _ tools.SampleRequest) (tools.SampleReply, error) {
		mu.Lock()
		now++
		if now > maxAsks {
			t.Errorf("%d are asked at once", now)
		}
		last := now == maxAsks
		mu.Unlock()
		defer func() {
			mu.Lock()
			defer mu.Unlock()
			now--
		}()
		if last {
			cancel() // the call ends, and with it what it asks
		}
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return tools.SampleReply{}, ctx.Err()
	}
	if r, _ := b.call(ctx, "mcp__one__sampling_flood", `{}`); !strings.HasPrefix(r.Text, "Stopped") {
		t.Errorf("%+v", r)
	}
	for range maxAsks {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}
