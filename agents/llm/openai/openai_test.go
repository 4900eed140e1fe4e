package openai

import (
	"context"
	_ "embed"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"fantail/.ci/long"
	"fantail/agents/llm"
	"fantail/agents/llm/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

//go:embed testdata/tools.sse
var recorded string

// serve answers over HTTP for the length of the test.
func serve(t testing.TB, o Options, replies ...llmtest.Reply) (*Provider, *llmtest.Server) {
	t.Helper()
	s := llmtest.New(replies...)
	o.BaseURL, o.HTTPClient = s.Loopback(t)
	o.BaseURL += "/v1/"
	return New(o), s
}

func stream(ctx context.Context, p *Provider, req *llm.Request) ([]llm.Part, *llm.Stop, *llm.Error) {
	return llmtest.Collect(p.Stream(ctx, req))
}

var recordedParts = []llm.Part{
	llm.Thinking{Text: "Größer als 日本語 🙂?", Opaque: reasoningContent, Model: "openai/m"},
	llm.Text{Text: `I'll read it, then run "go test".`, From: llm.FromModel, Index: 1},
	llm.ToolCall{ID: "call_qQ1aB2", Name: "read_file", Args: json.RawMessage(`{"path": "agents/turn.go", "from": 120}`)},
	llm.ToolCall{ID: "call_zZ9yX8", Name: "check", Args: json.RawMessage(`{}`)},
	llm.Usage{Input: 232, Output: 147, CacheRead: 9110, Reasoning: 61},
}

// However the bytes arrive and lines end, the reply is the same.
func TestRecorded(t *testing.T) {
	forms := map[string]string{
		"LF": recorded, "CRLF": strings.ReplaceAll(recorded, "\n", "\r\n"), "CR": strings.ReplaceAll(recorded, "\n", "\r"),
		"marked": "\ufeff" + recorded, "no end mark": strings.ReplaceAll(recorded, "data: [DONE]\n\n", ""),
		"no space": strings.ReplaceAll(recorded, "data: ", "data:"), "no last empty line": strings.TrimSuffix(recorded, "\n\n"),
	}
	for name, body := range forms {
		for _, size := range []int{0, 1, 2, 3, 7, 64} {
			p, _ := serve(t, Options{}, llmtest.Reply{Raw: body, Write: size})
			parts, stop, err := stream(t.Context(), p, llmtest.Ask("x"))
			if err != nil {
				t.Fatalf("%s by %d: %v", name, size, err)
			}
			if !reflect.DeepEqual(parts, recordedParts) {
				t.Fatalf("%s by %d:\n%+v\n%+v", name, size, parts, recordedParts)
			}
			if stop.Reason != llm.ToolUse || stop.Detail != "tool_calls" {
				t.Fatalf("%+v", stop)
			}
		}
	}
}

// A reply that breaks before it has said why it ends is no success and yields
// no call. One that is closed in order there is incomplete, and has no call that did not
// arrive whole; after that nothing of it can be missing.
func TestCutAnywhere(t *testing.T) {
	mark := `"finish_reason":"tool_calls"}],"usage":null}` + "\n\n"
	end := strings.Index(recorded, mark) + len(mark)
	for _, clean := range []bool{false, true} {
		p, s := serve(t, Options{})
		for at := range len(recorded) + 1 {
			if !long.Wanted() && (at < end-3 || at > end+3) && rand.IntN(16) > 0 {
				continue // an ordinary run cuts at some places, and at all where the reply says its end
			}
			cut := at
			if at == 0 {
				cut = -1
			}
			s.Add(llmtest.Reply{Raw: recorded, Cut: cut, Clean: clean})
			parts, stop, err := stream(t.Context(), p, llmtest.Ask("x"))
			if at >= end {
				if stop == nil || err != nil || !reflect.DeepEqual(parts[:4], recordedParts[:4]) {
					t.Fatalf("cut at %d (clean %v), whole from %d: %v %v", at, clean, end, stop, err)
				}
				continue
			}
			if clean && stop != nil && stop.Reason == llm.Incomplete && err == nil {
				llmtest.WholeCalls(t, parts, recordedParts)
				continue
			}
			if at == end-2 && clean || at == end-1 {
				continue // all of the event is there but its empty line
			}
			if stop != nil || err == nil || err.Kind != llm.Cut {
				t.Fatalf("cut at %d (clean %v): stop %v, error %v", at, clean, stop, err)
			}
			for _, part := range parts {
				if _, ok := part.(llm.ToolCall); ok {
					t.Fatalf("cut at %d (clean %v): a call", at, clean)
				}
			}
		}
	}
}

// Arguments split anywhere come out whole.
func TestSplitAnywhere(t *testing.T) {
	args := `{"path":"a \"b\" \\ ü 日 \u00e9","list":[1,{"x":null}],"n":-1.5e3}`
	p, s := serve(t, Options{})
	for at := range len(args) + 1 {
		s.Add(llmtest.Reply{
			Parts: []llm.Part{llm.ToolCall{ID: "c", Name: "f", Args: json.RawMessage(args)}},
			Split: func(a string) []string { return llmtest.Split(a, at) },
		})
		parts, stop, err := stream(t.Context(), p, llmtest.Ask("x"))
		if err != nil || stop.Reason != llm.ToolUse || string(parts[0].(llm.ToolCall).Args) != args {
			t.Fatalf("split at %d: %v %v", at, parts, err)
		}
	}
}

func body(events ...string) string {
	return "data: " + strings.Join(events, "\n\ndata: ") + "\n\n"
}

func deltaChunk(d string) string { return `{"choices":[{"index":0,"delta":` + d + `}]}` }

func ends(reason string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

func pieces(calls string) string { return deltaChunk(`{"tool_calls":[` + calls + `]}`) }

// The ways in which servers of this protocol send two calls, f {"a":1} and then
// g {} or f again.
func TestCallForms(t *testing.T) {
	for name, c := range map[string]struct {
		events []string
		want   string
	}{
		"by the book": {[]string{
			pieces(`{"index":0,"id":"x","function":{"name":"f","arguments":""}}`), pieces(`{"index":0,"function":{"arguments":"{\"a\""}}`),
			pieces(`{"index":0,"function":{"arguments":":1}"}}`), pieces(`{"index":1,"id":"y","function":{"name":"g","arguments":"{}"}}`),
		}, `x f {"a":1};y g {}`},
		"interleaved": {[]string{
			pieces(`{"index":0,"id":"x","function":{"name":"f","arguments":"{\"a\""}},{"index":1,"id":"y","function":{"name":"g","arguments":"{"}}`),
			pieces(`{"index":1,"function":{"arguments":"}"}}`), pieces(`{"index":0,"function":{"arguments":":1}"}}`),
		}, `x f {"a":1};y g {}`},
		"whole in one": {[]string{
			pieces(`{"index":0,"id":"x","function":{"name":"f","arguments":"{\"a\":1}"}},{"index":1,"id":"y","function":{"name":"g","arguments":"{}"}}`),
		}, `x f {"a":1};y g {}`},
		"index always 0": {[]string{
			pieces(`{"index":0,"id":"x","function":{"name":"f","arguments":"{\"a\":1}"}}`), pieces(`{"index":0,"id":"y","function":{"name":"g","arguments":"{}"}}`),
		}, `x f {"a":1};y g {}`},
		"index always 0 in pieces": {[]string{
			pieces(`{"index":0,"id":"x","function":{"name":"f","arguments":""}}`), pieces(`{"index":0,"function":{"arguments":"{\"a\":1}"}}`),
			pieces(`{"index":0,"id":"y","function":{"name":"g","arguments":"{"}}`), pieces(`{"index":0,"function":{"arguments":"}"}}`),
		}, `x f {"a":1};y g {}`},
		"no index": {[]string{
			pieces(`{"id":"x","function":{"name":"f","arguments":"{\"a\""}}`), pieces(`{"function":{"arguments":":1}"}}`),
			pieces(`{"id":"y","function":{"name":"g","arguments":"{}"}}`),
		}, `x f {"a":1};y g {}`},
		"no index, id and name in each piece": {[]string{
			pieces(`{"id":"x","function":{"name":"f","arguments":"{\"a\""}}`), pieces(`{"id":"x","function":{"name":"f","arguments":":1}"}}`),
			pieces(`{"id":"y","function":{"name":"g","arguments":"{}"}}`), pieces(`{"id":"y","function":{"name":"g","arguments":""}}`),
		}, `x f {"a":1};y g {}`},
		"id and name in each piece": {[]string{
			pieces(`{"index":0,"id":"x","function":{"name":"f","arguments":"{\"a\""}}`), pieces(`{"index":0,"id":"x","function":{"name":"f","arguments":":1}"}}`),
			pieces(`{"index":1,"id":"y","function":{"name":"g","arguments":"{}"}}`),
		}, `x f {"a":1};y g {}`},
		"no ids": {[]string{
			pieces(`{"index":0,"function":{"name":"f","arguments":"{\"a\":1}"}},{"index":1,"function":{"name":"g","arguments":"{}"}}`),
		}, `* f {"a":1};* g {}`},
		"empty ids, index always 0": {[]string{
			pieces(`{"index":0,"id":"","function":{"name":"f","arguments":"{\"a\":1}"}}`), pieces(`{"index":0,"id":"","function":{"name":"g","arguments":"{}"}}`),
		}, `* f {"a":1};* g {}`},
		"the same name, no ids, no index": {[]string{
			pieces(`{"function":{"name":"f","arguments":"{\"a\":1}"}}`), pieces(`{"function":{"name":"f","arguments":"{\"a\":2}"}}`),
		}, `* f {"a":1};* f {"a":2}`},
		"the same name, no arguments, index always 0": {[]string{
			pieces(`{"index":0,"id":"x","function":{"name":"f","arguments":""}}`), pieces(`{"index":0,"id":"y","function":{"name":"f","arguments":"{}"}}`),
		}, `x f {};y f {}`},
		"the same id twice": {[]string{
			pieces(`{"index":0,"id":"x","function":{"name":"f","arguments":"{\"a\":1}"}},{"index":1,"id":"x","function":{"name":"g","arguments":"{}"}}`),
		}, `x f {"a":1};* g {}`},
		"arguments as an object": {[]string{
			pieces(`{"index":0,"id":"x","function":{"name":"f","arguments":{"a":1}}},{"index":1,"id":"y","function":{"name":"g","arguments":null}}`),
		}, `x f {"a":1};y g {}`},
		"no arguments at all": {[]string{
			pieces(`{"index":0,"id":"x","function":{"name":"f"}},{"index":1,"id":"y","function":{"name":"g"}}`),
		}, `x f {};y g {}`},
		"gap in the numbers": {[]string{
			pieces(`{"index":1,"id":"x","function":{"name":"f","arguments":"{\"a\":1}"}},{"index":7,"id":"y","function":{"name":"g","arguments":"{}"}}`),
		}, `x f {"a":1};y g {}`},
		"a new id in each piece": {[]string{
			pieces(`{"index":0,"id":"x","function":{"name":"f","arguments":"{\"a\""}}`), pieces(`{"index":0,"id":"z","function":{"arguments":":1}"}}`),
			pieces(`{"index":1,"id":"y","function":{"name":"g","arguments":"{}"}}`),
		}, `x f {"a":1};y g {}`},
	} {
		for _, reason := range []string{"tool_calls", "stop"} {
			p, _ := serve(t, Options{}, llmtest.Reply{Raw: body(append(c.events, ends(reason))...)})
			parts, stop, err := stream(t.Context(), p, llmtest.Ask("x"))
			if err != nil || stop == nil || stop.Reason != llm.ToolUse {
				t.Errorf("%s: %v %v", name, stop, err)
				continue
			}
			seen := map[string]bool{}
			var got []string
			for i, part := range parts {
				c2 := part.(llm.ToolCall)
				if seen[c2.ID] || c2.ID == "" {
					t.Errorf("%s: id %q", name, c2.ID)
				}
				seen[c2.ID] = true
				id := c2.ID
				if strings.HasPrefix(strings.Split(c.want, ";")[min(i, 1)], "*") {
					id = "*"
				}
				got = append(got, id+" "+c2.Name+" "+string(c2.Args))
			}
			if strings.Join(got, ";") != c.want {
				t.Errorf("%s: %s", name, strings.Join(got, ";"))
			}
		}
	}
}

// What is not whole or not understood is refused, and no call comes of it.
func TestProtocolFaults(t *testing.T) {
	f := func(args string) string {
		q, _ := json.Marshal(args)
		return pieces(`{"index":0,"id":"x","function":{"name":"f","arguments":` + string(q) + `}}`)
	}
	for name, c := range map[string]struct {
		events []string
		kind   llm.ErrorKind
	}{
		"done without words": {[]string{"[DONE]"}, llm.Cut},
		"not JSON":           {[]string{`{"choices":`}, llm.Protocol},
		"error":              {[]string{f(`{}`), `{"error":{"message":"busy","type":"server_error"}}`}, llm.Server},
		"error after end":    {[]string{f(`{}`), ends("tool_calls"), `{"error":{"message":"busy","code":503}}`}, llm.Overloaded},
		"error as text":      {[]string{`{"error":"model runner has stopped"}`}, llm.Server},
		"router's error":     {[]string{`{"error":{"code":429,"message":"slow down"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`}, llm.RateLimited},
		"ended by an error":  {[]string{f(`{}`), ends("error")}, llm.Server},
		"context too long":   {[]string{`{"error":{"message":"x","code":"context_length_exceeded"}}`}, llm.ContextTooLong},
		"error event's name": {[]string{"{}\nevent: error"}, llm.Server},
	} {
		p, _ := serve(t, Options{}, llmtest.Reply{Raw: body(c.events...)})
		parts, stop, err := stream(t.Context(), p, llmtest.Ask("x"))
		if stop != nil || err == nil || err.Kind != c.kind {
			t.Errorf("%s: %v %v %v", name, parts, stop, err)
		}
		for _, part := range parts {
			if _, ok := part.(llm.ToolCall); ok {
				t.Errorf("%s: a call", name)
			}
		}
	}
}

// A call whose arguments are no whole object is not yielded, and named at the end
// of the reply; the others of the reply are.
func TestBrokenArguments(t *testing.T) {
	for _, args := range []string{`{"a":`, `[1]`, `5`, `null`, `"{}"`, "{\"a\":\"\n\"}"} {
		q, _ := json.Marshal(args)
		p, _ := serve(t, Options{}, llmtest.Reply{Raw: body(
			pieces(`{"index":0,"id":"x","function":{"name":"f","arguments":`+string(q)+`}}`),
			pieces(`{"index":1,"id":"y","function":{"name":"g","arguments":"{}"}}`), ends("tool_calls"), "[DONE]")})
		parts, stop, err := stream(t.Context(), p, llmtest.Ask("x"))
		var calls []string
		for _, part := range parts {
			if c, ok := part.(llm.ToolCall); ok {
				calls = append(calls, c.Name)
			}
		}
		if err != nil || stop == nil || stop.Reason != llm.ToolUse || !reflect.DeepEqual(stop.Broken, []string{"f"}) || !reflect.DeepEqual(calls, []string{"g"}) {
			t.Errorf("%s: %v %v %v", args, parts, stop, err)
		}
	}
}

func TestTokenLimit(t *testing.T) {
	first := pieces(`{"index":0,"id":"x","function":{"name":"f","arguments":"{}"}}`)
	for second, broken := range map[string][]string{`{\"a\":`: {"g"}, ``: {"g"}, `{\"a\":1}`: nil} {
		p, _ := serve(t, Options{}, llmtest.Reply{Raw: body(first, pieces(`{"index":1,"id":"y","function":{"name":"g","arguments":"`+second+`"}}`), ends("length"), "[DONE]")})
		parts, stop, err := stream(t.Context(), p, llmtest.Ask("x"))
		if err != nil || stop == nil || stop.Reason != llm.Length || !reflect.DeepEqual(stop.Broken, broken) || len(parts) != 2-len(broken) {
			t.Errorf("%q: %v %+v %v", second, parts, stop, err)
		}
	}
}

func TestStopAndText(t *testing.T) {
	for name, c := range map[string]struct {
		events []string
		want   llm.Reason
		text   string
	}{
		"stop":          {[]string{deltaChunk(`{"content":"hi"}`), ends("stop")}, llm.EndTurn, "hi"},
		"filter":        {[]string{deltaChunk(`{"content":"hi"}`), ends("content_filter")}, llm.Refusal, "hi"},
		"refusal":       {[]string{deltaChunk(`{"refusal":"no"}`), ends("stop")}, llm.Refusal, "no"},
		"calls, none":   {[]string{ends("tool_calls")}, llm.EndTurn, ""},
		"unknown":       {[]string{ends("later")}, llm.Other, ""},
		"list of texts": {[]string{deltaChunk(`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`), ends("stop")}, llm.EndTurn, "ab"},
		"with the end":  {[]string{`{"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}`}, llm.EndTurn, "hi"},
		"other choice":  {[]string{`{"choices":[{"index":1,"delta":{"content":"no"}}]}`, ends("stop")}, llm.EndTurn, ""},
	} {
		p, _ := serve(t, Options{}, llmtest.Reply{Raw: body(append(c.events, "[DONE]")...)})
		parts, stop, err := stream(t.Context(), p, llmtest.Ask("x"))
		if err != nil || stop.Reason != c.want {
			t.Errorf("%s: %+v %v", name, stop, err)
			continue
		}
		text := ""
		for _, part := range parts {
			text += part.(llm.Text).Text
		}
		if text != c.text {
			t.Errorf("%s: %q", name, text)
		}
	}
}

// Reasoning and text that take turns are blocks of their own.
func TestReasoning(t *testing.T) {
	p, _ := serve(t, Options{Name: "local"}, llmtest.Reply{Raw: body(
		deltaChunk(`{"reasoning":"a","reasoning_content":"a"}`), deltaChunk(`{"content":"b"}`), deltaChunk(`{"reasoning":"c"}`), deltaChunk(`{"content":"d"}`), ends("stop"), "[DONE]")})
	parts, _, err := stream(t.Context(), p, llmtest.Ask("x"))
	want := []llm.Part{
		llm.Thinking{Text: "a", Opaque: reasoningContent, Model: "local/m"},
		llm.Text{Text: "b", From: llm.FromModel, Index: 1},
		llm.Thinking{Text: "c", Model: "local/m", Index: 2},
		llm.Text{Text: "d", From: llm.FromModel, Index: 3},
	}
	if err != nil || !reflect.DeepEqual(parts, want) {
		t.Errorf("%+v %v", parts, err)
	}
}

// Reasoning goes back to the server that named it as what it wants back, and to
// one that refuses a conversation without it, whoever began that.
func TestReasoningGoesBack(t *testing.T) {
	call := llm.ToolCall{ID: "c", Name: "f", Args: json.RawMessage(`{}`)}
	for name, c := range map[string]struct {
		base    string
		thought llm.Thinking
		want    string // of the assistant's message; empty for no reasoning at all
	}{
		"its own":                 {"http://local/v1", llm.Thinking{Text: "hm", Opaque: reasoningContent, Model: "openai/m"}, "hm"},
		"by another name":         {"http://local/v1", llm.Thinking{Text: "hm", Model: "openai/m"}, ""},
		"another model's":         {"http://local/v1", llm.Thinking{Text: "hm", Opaque: reasoningContent, Model: "openai/n"}, ""},
		"DeepSeek, its own":       {"http://api.deepseek.com/v1", llm.Thinking{Text: "hm", Opaque: reasoningContent, Model: "openai/m"}, "hm"},
		"DeepSeek, another's":     {"http://api.deepseek.com/v1", llm.Thinking{Text: "hm", Opaque: "signature:x", Model: "anthropic/n"}, " "},
		"DeepSeek, not a word of": {"http://api.deepseek.com/v1", llm.Thinking{}, " "},
	} {
		s := llmtest.New(llmtest.Say("ok"))
		s.Reasons = c.want != ""
		client, stop := s.Pipe()
		req := llmtest.Ask("x")
		req.Messages = append(req.Messages,
			llm.Message{Role: llm.Assistant, Parts: []llm.Part{c.thought, call}},
			llm.Message{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ID: "c", Text: "y"}}})
		if _, _, err := stream(t.Context(), New(Options{BaseURL: c.base, Key: "k", HTTPClient: client}), req); err != nil {
			t.Errorf("%s: %v", name, err)
		} else {
			got, _ := s.Requests()[0].Messages[1].Parts[0].(llm.Thinking)
			if got.Text != c.want {
				t.Errorf("%s: %q", name, got.Text)
			}
		}
		stop()
	}
	// Every reply carries it once one does.
	s := llmtest.New(llmtest.Say("ok"))
	s.Reasons = true
	client, stop := s.Pipe()
	defer stop()
	req := llmtest.Ask("x")
	req.Messages = append(req.Messages,
		llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{Text: "of another model"}}}, llmtest.Ask("y").Messages[0],
		llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Thinking{Text: "hm", Opaque: reasoningContent, Model: "openai/m"}, llm.Text{Text: "z"}}}, llmtest.Ask("y").Messages[0])
	if _, _, err := stream(t.Context(), New(Options{BaseURL: "http://local/v1", HTTPClient: client}), req); err != nil {
		t.Error(err)
	}
}

func TestUsage(t *testing.T) {
	for raw, want := range map[string]llm.Usage{
		`{"prompt_tokens":10,"completion_tokens":2}`:                                               {Input: 10, Output: 2},
		`{"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":20}}`:  {Output: 2, CacheRead: 20},
		`{"prompt_tokens":-1,"completion_tokens":-2,"prompt_tokens_details":null}`:                 {},
		`{"prompt_tokens":10,"completion_tokens":2,"prompt_cache_hit_tokens":6}`:                   {Input: 4, Output: 2, CacheRead: 6},
		`{"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":-20}}`: {Input: 10, Output: 2},
	} {
		// Some servers send it with every event.
		p, _ := serve(t, Options{}, llmtest.Reply{Raw: body(`{"choices":[],"usage":{"prompt_tokens":1}}`, ends("stop"), `{"choices":[],"usage":`+raw+`}`, "[DONE]")})
		parts, _, err := stream(t.Context(), p, llmtest.Ask("x"))
		if err != nil || len(parts) != 1 || parts[0] != want {
			t.Errorf("%s: %+v %v", raw, parts, err)
		}
	}
	p, _ := serve(t, Options{}, llmtest.Reply{Raw: body(ends("stop"), "[DONE]")})
	if parts, stop, err := stream(t.Context(), p, llmtest.Ask("x")); err != nil || stop == nil || len(parts) != 0 {
		t.Errorf("none: %+v %v", parts, err)
	}
}

// A header of the configuration that says who asks takes the place of the key.
func TestAuthorizationHeader(t *testing.T) {
	p, s := serve(t, Options{Key: "key", Headers: http.Header{"Authorization": {"Bearer other"}, "X-Extra": {"1", "2"}}}, llmtest.Say("ok"))
	s.Key = "other"
	if _, _, err := stream(t.Context(), p, llmtest.Ask("x")); err != nil {
		t.Fatal(err)
	}
	if h := s.Requests()[0].Header; !slices.Equal(h.Values("X-Extra"), []string{"1", "2"}) {
		t.Errorf("%+v", h)
	}
}

// A server that says why a reply ends and then hangs does not hold it up long.
func TestHangsAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		raw := body(deltaChunk(`{"content":"hi"}`), ends("stop"))
		s := llmtest.New(llmtest.Reply{Raw: raw, Stall: len(raw)})
		client, stop := s.Pipe()
		defer stop()
		began := time.Now()
		parts, end, err := stream(t.Context(), New(Options{BaseURL: "http://fake/v1", HTTPClient: client}), llmtest.Ask("x"))
		if err != nil || end == nil || len(parts) != 1 || time.Since(began) > 10*time.Second {
			t.Errorf("%v %v %v after %v", parts, end, err, time.Since(began))
		}
	})
}

func TestKeys(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "from-the-environment")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
	_, _, err := stream(t.Context(), New(Options{}), llmtest.Ask("x"))
	if err == nil || err.Kind != llm.NotConfigured || !strings.Contains(err.Message, "OPENAI_API_KEY") {
		t.Fatalf("%v", err)
	}
	p, s := serve(t, Options{Name: "ollama"}, llmtest.Say("ok"))
	if _, _, err := stream(t.Context(), p, llmtest.Ask("x")); err != nil {
		t.Fatal(err)
	}
	r := s.Requests()[0]
	if r.KeyIn != "" || !r.Usage || strings.Contains(string(r.Body), "prompt_cache_key") {
		t.Errorf("%+v", r)
	}
	// A server that wants a key where none is set.
	s.Key = "k"
	_, _, err = stream(t.Context(), p, llmtest.Ask("x"))
	if err == nil || err.Kind != llm.Auth || err.Provider != "ollama" || !strings.Contains(err.Message, "Set OPENAI_API_KEY") {
		t.Errorf("%v", err)
	}
	p = New(Options{Name: "own", KeyHelp: "Name its variable.", BaseURL: p.o.BaseURL, HTTPClient: p.o.HTTPClient})
	_, _, err = stream(t.Context(), p, llmtest.Ask("x"))
	if err == nil || err.Kind != llm.Auth || !strings.HasSuffix(err.Message, "Name its variable.") || strings.Contains(err.Message, "OPENAI_API_KEY") {
		t.Errorf("%v", err)
	}
}

// Only the vendor gets the fields that only it knows.
func TestVendorFields(t *testing.T) {
	req := llmtest.Ask("x")
	req.MaxTokens, req.CacheKey = 77, "agent-1"
	for base, want := range map[string]string{"": `"max_completion_tokens":77,"prompt_cache_key":"agent-1"`, "http://localhost:1": `"max_tokens":77`} {
		raw, err := json.Marshal(New(Options{BaseURL: base, Key: "k"}).params(req, nil))
		if err != nil || !strings.Contains(string(raw), want) {
			t.Errorf("%q: %s %v", base, raw, err)
		}
	}
}
