package llmtest_test

import (
	"context"
	"encoding/json"
	"flag"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"fantail/agents/llm"
	"fantail/agents/llm/anthropic"
	"fantail/agents/llm/llmtest"
	"fantail/agents/llm/openai"
)

var serveAt = flag.String("serve", "", "address on which TestServe serves until it is interrupted")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestServe(t *testing.T) {
	if *serveAt == "" {
		t.Skip("serves only with -serve ADDRESS")
	}
	l, err := net.Listen("tcp", *serveAt)
	if err != nil {
		t.Fatal(err)
	}
	s := &llmtest.Server{Answer: llmtest.Script}
	stop := s.Serve(l)
	defer stop()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	<-ctx.Done()
}

// protocols are the providers under the same tests.
var protocols = []struct {
	name string
	make func(base, key string, c *http.Client) llm.Provider
}{
	{llmtest.Anthropic, func(base, key string, c *http.Client) llm.Provider {
		return anthropic.New(anthropic.Options{BaseURL: base, Key: key, HTTPClient: c})
	}},
	{llmtest.OpenAI, func(base, key string, c *http.Client) llm.Provider {
		return openai.New(openai.Options{BaseURL: base + "/v1", Key: key, HTTPClient: c})
	}},
}

// each runs test against a server on loopback, once for each protocol.
func each(t *testing.T, test func(t *testing.T, s *llmtest.Server, p llm.Provider)) {
	t.Helper()
	for _, protocol := range protocols {
		t.Run(protocol.name, func(t *testing.T) {
			s := llmtest.New()
			base, client := s.Loopback(t)
			test(t, s, protocol.make(base, "sk-test-0123456789abcdef", client))
		})
	}
}

// got is what a stream yielded.
type got struct {
	text, thinking string
	opaque         []string
	calls          []llm.ToolCall
	usage          *llm.Usage
	stop           *llm.Stop
	retries        []llm.Retrying
	err            *llm.Error
	parts          []llm.Part // with pieces joined, as an agent records them
}

// collect reads a stream to its end and checks its form.
func collect(t *testing.T, ctx context.Context, p llm.Provider, req *llm.Request) got {
	t.Helper()
	var g got
	ended := false
	for part, err := range p.Stream(ctx, req) {
		if ended {
			t.Fatalf("something came after the end: %v %v", part, err)
		}
		if err != nil {
			e, ok := err.(*llm.Error)
			if !ok || part != nil {
				t.Fatalf("want an *llm.Error and no part, got %T and %v", err, part)
			}
			if len(e.Message) > llm.MessageLimit {
				t.Fatalf("message has %d bytes", len(e.Message))
			}
			g.err, ended = e, true
			continue
		}
		switch part := part.(type) {
		case llm.Text:
			g.text += part.Text
			g.join(part)
		case llm.Thinking:
			g.thinking += part.Text
			if part.Opaque != "" {
				g.opaque = append(g.opaque, part.Opaque)
			}
			g.join(part)
		case llm.ToolCall:
			if !json.Valid(part.Args) || part.Args[0] != '{' || part.ID == "" {
				t.Fatalf("a call that is not whole: %+v", part)
			}
			g.calls = append(g.calls, part)
			g.parts = append(g.parts, part)
		case llm.Usage:
			if g.usage != nil {
				t.Fatal("usage twice")
			}
			g.usage = &part
		case llm.Stop:
			g.stop, ended = &part, true
		case llm.Retrying:
			g.retries = append(g.retries, part)
			g.text, g.thinking, g.calls, g.parts, g.usage = "", "", nil, nil, nil
		}
	}
	if !ended {
		t.Fatal("the stream ended with neither Stop nor error")
	}
	return g
}

func (g *got) join(part llm.Part) {
	if n := len(g.parts); n == 0 || !llmtest.Join(&g.parts[n-1], part) {
		g.parts = append(g.parts, part)
	}
}

func user(text string) llm.Message {
	return llm.Message{Role: llm.User, Parts: []llm.Part{llm.Text{Text: text, From: llm.FromPrompt}}}
}

func ask(text string) *llm.Request {
	return &llm.Request{Model: "fake", Messages: []llm.Message{user(text)}}
}

var listTool = llm.Tool{Name: "list_files", Description: "Lists.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}

func TestText(t *testing.T) {
	each(t, func(t *testing.T, s *llmtest.Server, p llm.Provider) {
		want := llmtest.Lorem(300)
		s.Add(llmtest.Reply{Parts: []llm.Part{llm.Text{Text: want}}, Usage: llm.Usage{Input: 10, Output: 42, CacheRead: 900, CacheWrite: 100, Reasoning: 7}})
		req := ask("hello")
		req.System, req.Tools, req.CacheKey = "Be brief.", []llm.Tool{listTool}, "agent-1"
		g := collect(t, t.Context(), p, req)
		if g.err != nil || g.text != want {
			t.Fatalf("err %v, %d bytes of %d", g.err, len(g.text), len(want))
		}
		if *g.usage != (llm.Usage{Input: 10, Output: 42, CacheRead: 900, CacheWrite: 100, Reasoning: 7}) {
			t.Errorf("usage %+v", *g.usage)
		}
		if g.stop.Reason != llm.EndTurn {
			t.Errorf("stop %+v", *g.stop)
		}
		r := s.Requests()[0]
		if r.System != "Be brief." || r.LastText() != "hello" || r.KeyIn == "" || len(r.Tools) != 1 || string(r.Tools[0].Schema) != string(listTool.Schema) {
			t.Errorf("the server saw %+v", r)
		}
		if r.Protocol == llmtest.Anthropic && r.Marks != 3 {
			t.Errorf("%d cache marks, want tools, system and the last message", r.Marks)
		}
	})
}

// A conversation with thinking and several calls goes back as it came.
func TestCallsAndThinking(t *testing.T) {
	each(t, func(t *testing.T, s *llmtest.Server, p llm.Provider) {
		s.Add(llmtest.Reply{Parts: []llm.Part{
			llm.Thinking{Text: "Two folders, two calls."},
			llm.Text{Text: "Looking."},
			llm.ToolCall{ID: "c1", Name: "list_files", Args: json.RawMessage(`{"path":"a \"b\" \\ ü"}`)},
			llm.ToolCall{ID: "c2", Name: "list_files", Args: json.RawMessage(`{}`)},
		}}, llmtest.Say("Both are empty."))
		req := ask("look")
		req.Tools = []llm.Tool{listTool}
		g := collect(t, t.Context(), p, req)
		if g.err != nil || g.thinking != "Two folders, two calls." || g.text != "Looking." || g.stop.Reason != llm.ToolUse {
			t.Fatalf("%+v", g)
		}
		if len(g.calls) != 2 || g.calls[0].ID != "c1" || string(g.calls[0].Args) != `{"path":"a \"b\" \\ ü"}` || g.calls[1].ID != "c2" || string(g.calls[1].Args) != `{}` {
			t.Fatalf("calls %+v", g.calls)
		}
		req.Messages = append(
			req.Messages,
			llm.Message{Role: llm.Assistant, Parts: g.parts},
			llm.Message{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ID: "c1", Text: ""}, llm.ToolResult{ID: "c2", Text: "no such folder", Error: true}, llm.Text{Text: "and now?"}}},
		)
		g = collect(t, t.Context(), p, req)
		if g.err != nil || g.text != "Both are empty." {
			t.Fatalf("%+v", g)
		}
		said := s.Requests()[1].Messages
		if len(said) != 3 {
			t.Fatalf("the server saw %+v", said)
		}
		th, ok := said[1].Parts[0].(llm.Thinking) // its signature was checked by the server
		if !ok || th.Text != "Two folders, two calls." {
			t.Errorf("thinking did not come back: %+v", said[1].Parts)
		}
		// Another model must not see it.
		s.Add(llmtest.Say("x"))
		req.Model = "other"
		if g = collect(t, t.Context(), p, req); g.err != nil {
			t.Fatal(g.err)
		}
		if _, ok := s.Requests()[2].Messages[1].Parts[0].(llm.Thinking); ok {
			t.Error("thinking went to another model")
		}
	})
}

// What other providers' models left in a history is acceptable to each.
func TestForeignHistory(t *testing.T) {
	each(t, func(t *testing.T, s *llmtest.Server, p llm.Provider) {
		id := "functions.list files:0/" + strings.Repeat("x", 60)
		req := &llm.Request{Model: "fake", Messages: []llm.Message{
			user("look"),
			{Role: llm.Assistant, Parts: []llm.Part{llm.Thinking{Text: "hm", Opaque: "signature:abc", Model: "else/where"}, llm.Text{Text: " \n"}, llm.ToolCall{ID: id, Name: "no such tool!", Args: json.RawMessage(`[1]`)}}},
			{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ID: id, Text: "unknown tool", Error: true}}},
			{Role: llm.Assistant, Parts: []llm.Part{llm.Thinking{Text: "only thought", Model: "else/where"}}},
			user("and?"),
		}}
		s.Add(llmtest.Say("ok"))
		if g := collect(t, t.Context(), p, req); g.err != nil {
			t.Fatal(g.err)
		}
	})
}
