package agents_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"runtime"
	"testing"
	"weak"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/llm/llmtest"
	"fantail/agents/llm/openai"
	"fantail/store"
)

// tracing is a provider that notes where messages are kept as they were written.
type tracing struct {
	llm.Provider
	kept []weak.Pointer[llm.EncodedMessage]
}

func (p *tracing) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Part, error] {
	for _, m := range req.Messages {
		p.kept = append(p.kept, weak.Make(m.Encoded))
	}
	return p.Provider.Stream(ctx, req)
}

// left is how many of them are in memory.
func (p *tracing) left() (n int) {
	runtime.GC()
	for _, k := range p.kept {
		if k.Value() != nil {
			n++
		}
	}
	return n
}

// TestRest: while a turn goes on its messages are kept as they were written, and an agent at rest has none of them.
func TestRest(t *testing.T) {
	p := &tracing{}
	during := 0
	s := &llmtest.Server{}
	s.Answer = func(req llmtest.Request) llmtest.Reply {
		if req.N < 3 {
			return llmtest.Call(fmt.Sprint("c", req.N), "list_files", `{}`)
		}
		during = p.left()
		return llmtest.Say("done")
	}
	client, stop := s.Pipe()
	defer stop()
	p.Provider = openai.New(openai.Options{BaseURL: "http://fake/v1", HTTPClient: client})
	w := open(t, p, setting{})
	w.Prompt("go")
	w.Until("it has answered", func() bool { return len(s.Requests()) == 3 && w.Info("main").State == event.Idle })
	w.Settle()
	if during < 5 {
		t.Errorf("%d messages were kept during the turn, want all 5", during)
	}
	if n := p.left(); n > 0 {
		t.Errorf("%d of %d messages are still in memory", n, len(p.kept))
	}
}

// TestRest_long: an agent at rest lets go of a long conversation, and goes on with it as it was.
func TestRest_long(t *testing.T) {
	m := &model{Reply: func(context.Context, *llm.Request) ([]llm.Part, error) { return text("yes"), nil }}
	w := open(t, m, setting{})
	agent := w.Main()
	check(t, w.DB.Write(t.Context(), "seed", func(tx *store.Tx) error {
		for n := range 10_000 {
			e := history.Entry{Kind: history.EntryPrompt, Text: fmt.Sprint(n)}
			if n%2 == 1 {
				e = history.Entry{Kind: history.EntryText, Text: "y"}
			}
			data, err := json.Marshal(e)
			if err != nil {
				return err
			}
			if _, err := tx.Append(agent, 0, string(e.Kind), string(data)); err != nil {
				return err
			}
		}
		return nil
	}))
	for n := range 3 {
		w.Prompt(fmt.Sprint("question ", n))
		w.Until("it has answered", func() bool { return len(m.Seen()) == n+1 && w.Info("main").State == event.Idle })
	}
	reqs := m.Seen()
	for n, req := range reqs {
		if want := 10_001 + 2*n; len(req.Messages) != want {
			t.Fatalf("request %d has %d messages, want %d", n+1, len(req.Messages), want)
		}
		if asked(req) != fmt.Sprint("question ", n) {
			t.Errorf("request %d asks %q", n+1, asked(req))
		}
	}
	first, last := reqs[0].Messages, reqs[2].Messages[:len(reqs[0].Messages)]
	for n := range first {
		if !reflect.DeepEqual(first[n].Parts, last[n].Parts) {
			t.Fatalf("message %d was %+v and is %+v", n, first[n], last[n])
		}
	}
}
