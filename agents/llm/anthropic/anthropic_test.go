package anthropic

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"reflect"
	"strings"
	"testing"

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
	if o.Key == "" && o.AuthToken == "" {
		o.Key = "sk-test-0123456789"
	}
	return New(o), s
}

func stream(ctx context.Context, p *Provider, req *llm.Request) ([]llm.Part, *llm.Stop, *llm.Error) {
	return llmtest.Collect(p.Stream(ctx, req))
}

var recordedParts = []llm.Part{
	llm.Thinking{Text: "The tests fail — größer als 日本語 🙂?", Opaque: "signature:EqoBCkgIARABGAIiQL2x/aaB+c==", Model: "anthropic/m"},
	llm.Thinking{Opaque: "redacted:EmwKAhgBEgy3va3pzix/LafPsn4a", Model: "anthropic/m", Index: 1},
	llm.Text{Text: `I'll read it, then run "go test".`, From: llm.FromModel, Index: 2},
	llm.ToolCall{ID: "toolu_01A09q90qw90lq917835lq9", Name: "read_file", Args: json.RawMessage(`{"path": "agents/turn.go", "from": 120}`)},
	llm.ToolCall{ID: "toolu_01T1x1fJ34qAmk2tNTrN7Up6", Name: "check", Args: json.RawMessage(`{}`)},
	llm.Usage{Input: 12, Output: 147, CacheRead: 9110, CacheWrite: 220, Reasoning: 61},
}

// However the bytes arrive and lines end, the reply is the same.
func TestRecorded(t *testing.T) {
	forms := map[string]string{
		"LF": recorded, "CRLF": strings.ReplaceAll(recorded, "\n", "\r\n"), "CR": strings.ReplaceAll(recorded, "\n", "\r"),
		"marked": "\ufeff" + recorded, "with retry": "retry: 10\nid: 4\n\n" + recorded,
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
			if stop.Reason != llm.ToolUse || stop.Detail != "tool_use" {
				t.Fatalf("%+v", stop)
			}
		}
	}
}

// A reply that breaks before it has said why it ends is no success. One that is closed in order there is incomplete, and
// has no call that did not arrive whole; after that nothing of it can be missing.
func TestCutAnywhere(t *testing.T) {
	end := strings.Index(recorded, "event: message_stop") - 2
	for _, clean := range []bool{false, true} {
		p, s := serve(t, Options{})
		for at := range len(recorded) + 1 {
			if !long.Wanted() && at < end-1 && rand.IntN(16) > 0 {
				continue // an ordinary run cuts at some places, and at all where the reply says its end
			}
			cut := at
			if at == 0 {
				cut = -1
			}
			s.Add(llmtest.Reply{Raw: recorded, Cut: cut, Clean: clean})
			parts, stop, err := stream(t.Context(), p, llmtest.Ask("x"))
			switch {
			case at > end+1 || at >= end && clean:
				if stop == nil || err != nil || !reflect.DeepEqual(parts, recordedParts) {
					t.Fatalf("cut at %d (clean %v), whole from %d: %v %v", at, clean, end, stop, err)
				}
			case clean && err == nil:
				if stop.Reason != llm.Incomplete {
					t.Fatalf("cut at %d: %v", at, stop)
				}
				llmtest.WholeCalls(t, parts, recordedParts)
			case (at < end || clean) && (stop != nil || err == nil || err.Kind != llm.Cut):
				t.Fatalf("cut at %d (clean %v): stop %v, error %v", at, clean, stop, err)
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

func line(v string) string {
	var head struct{ Type string }
	_ = json.Unmarshal([]byte(v), &head)
	return "event: " + head.Type + "\ndata: " + v + "\n\n"
}

func body(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString(line(e))
	}
	return b.String()
}

const (
	begin = `{"type":"message_start","message":{"usage":{"input_tokens":5,"output_tokens":1}}}`
	over  = `{"type":"message_stop"}`
)

func useTool(index int, name string) string {
	return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":"id%d","name":%q,"input":{}}}`, index, index, name)
}

func arg(index int, piece string) string {
	q, _ := json.Marshal(piece)
	return fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":%s}}`, index, q)
}

func closing(index int) string { return fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, index) }

func ends(reason string) string {
	return fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q},"usage":{"output_tokens":9}}`, reason)
}

const textBlockStart = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`

// What can't be understood is refused, and no call comes of it.
func TestProtocolFaults(t *testing.T) {
	for name, c := range map[string]struct {
		events []string
		kind   llm.ErrorKind
	}{
		"begun again":        {[]string{begin, textBlockStart, closing(0), begin, ends("end_turn"), over}, llm.Protocol},
		"end first":          {[]string{over}, llm.Protocol},
		"nothing":            {[]string{begin}, llm.Cut},
		"not JSON":           {[]string{begin, `{"type":`}, llm.Protocol},
		"error after a call": {[]string{begin, useTool(0, "f"), arg(0, "{}"), closing(0), `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}, llm.Overloaded},
	} {
		p, _ := serve(t, Options{}, llmtest.Reply{Raw: body(c.events...)})
		parts, stop, err := stream(t.Context(), p, llmtest.Ask("x"))
		if stop != nil || err == nil || err.Kind != c.kind {
			t.Errorf("%s: %v %v %v", name, parts, stop, err)
		}
	}
}

// A call whose arguments are no whole object is not yielded, and named at the end
// of the reply; the others of the reply are.
func TestBrokenArguments(t *testing.T) {
	for name, args := range map[string]string{
		"half": `{"a":`, "array": `[1]`, "null": `null`, "string": `"{}"`, "raw line break": "{\"a\":\"\n\"}", "bad escape": `{"a":"\x"}`,
		"far too deep": `{"a":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "}",
	} {
		p, _ := serve(t, Options{}, llmtest.Reply{Raw: body(
			begin, useTool(0, "f"), arg(0, args), closing(0), useTool(1, "g"), arg(1, "{}"), closing(1), ends("tool_use"), over)})
		parts, stop, err := stream(t.Context(), p, llmtest.Ask("x"))
		var calls []string
		for _, part := range parts {
			if c, ok := part.(llm.ToolCall); ok {
				calls = append(calls, c.Name)
			}
		}
		if err != nil || stop == nil || stop.Reason != llm.ToolUse || !reflect.DeepEqual(stop.Broken, []string{"f"}) || !reflect.DeepEqual(calls, []string{"g"}) {
			t.Errorf("%s: %v %v %v", name, parts, stop, err)
		}
	}
}

func TestTokenLimit(t *testing.T) {
	for name, c := range map[string]struct {
		events []string
		broken []string
		calls  int
	}{
		"in the arguments":     {[]string{begin, useTool(0, "f"), arg(0, "{}"), closing(0), useTool(1, "g"), arg(1, `{"a":"b`), closing(1), ends("max_tokens"), over}, []string{"g"}, 1},
		"before the arguments": {[]string{begin, useTool(0, "f"), closing(0), useTool(1, "g"), closing(1), ends("max_tokens"), over}, []string{"g"}, 1},
		"after them":           {[]string{begin, useTool(0, "f"), arg(0, `{"a":1}`), closing(0), ends("max_tokens"), over}, nil, 1},
		"context":              {[]string{begin, useTool(0, "f"), arg(0, `{"a`), closing(0), ends("model_context_window_exceeded"), over}, []string{"f"}, 0},
	} {
		p, _ := serve(t, Options{}, llmtest.Reply{Raw: body(c.events...)})
		parts, stop, err := stream(t.Context(), p, llmtest.Ask("x"))
		if err != nil || stop == nil || stop.Reason != llm.Length || !reflect.DeepEqual(stop.Broken, c.broken) {
			t.Errorf("%s: %v %+v %v", name, parts, stop, err)
		}
		calls := 0
		for _, part := range parts {
			if _, ok := part.(llm.ToolCall); ok {
				calls++
			}
		}
		if calls != c.calls {
			t.Errorf("%s: %d calls", name, calls)
		}
	}
}

func TestStopReasons(t *testing.T) {
	for word, want := range map[string]llm.Reason{
		"end_turn": llm.EndTurn, "stop_sequence": llm.EndTurn, "refusal": llm.Refusal, "pause_turn": llm.Other, "new_word": llm.Other, "tool_use": llm.EndTurn, "max_tokens": llm.Length,
	} {
		p, _ := serve(t, Options{}, llmtest.Reply{Raw: body(begin, ends(word), over)})
		if _, stop, err := stream(t.Context(), p, llmtest.Ask("x")); err != nil || stop.Reason != want || stop.Detail != word {
			t.Errorf("%s: %+v %v", word, stop, err)
		}
	}
	p, _ := serve(t, Options{}, llmtest.Reply{Raw: body(begin, useTool(0, "f"), arg(0, "{}"), closing(0), ends("end_turn"), over)})
	if _, stop, err := stream(t.Context(), p, llmtest.Ask("x")); err != nil || stop.Reason != llm.ToolUse {
		t.Errorf("call with end_turn: %+v %v", stop, err)
	}
}

// Ids are unique within the reply and the conversation before it.
func TestIDs(t *testing.T) {
	same := strings.ReplaceAll(body(begin, useTool(0, "f"), closing(0), useTool(1, "f"), closing(1), useTool(2, "f"), closing(2), ends("tool_use"), over), `"id1"`, `"id0"`)
	same = strings.ReplaceAll(same, `"id2"`, `""`)
	req := llmtest.Ask("x")
	req.Messages = append(req.Messages,
		llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.ToolCall{ID: "id0", Name: "f", Args: json.RawMessage("{}")}}},
		llm.Message{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ID: "id0", Text: "x"}}})
	p, _ := serve(t, Options{}, llmtest.Reply{Raw: same})
	parts, _, err := stream(t.Context(), p, req)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{"id0": true, "": true}
	for _, part := range parts[:3] {
		id := part.(llm.ToolCall).ID
		if seen[id] {
			t.Errorf("%q again", id)
		}
		seen[id] = true
	}
}

func TestUsage(t *testing.T) {
	for name, c := range map[string]struct {
		events []string
		want   llm.Part
	}{
		"negative": {[]string{`{"type":"message_start","message":{"usage":{"input_tokens":-5,"output_tokens":-1}}}`, ends("end_turn"), over}, llm.Usage{Output: 9}},
		"twice":    {[]string{begin, ends("end_turn"), ends("end_turn"), over}, llm.Usage{Input: 5, Output: 9}},
	} {
		p, _ := serve(t, Options{}, llmtest.Reply{Raw: body(c.events...)})
		parts, _, err := stream(t.Context(), p, llmtest.Ask("x"))
		if err != nil || len(parts) != 1 || parts[0] != c.want {
			t.Errorf("%s: %+v %v", name, parts, err)
		}
	}
	p, _ := serve(t, Options{}, llmtest.Reply{NoUsage: true, Parts: []llm.Part{llm.Text{Text: "x"}}})
	if parts, stop, err := stream(t.Context(), p, llmtest.Ask("x")); err != nil || stop == nil || len(parts) != 1 {
		t.Errorf("none: %+v %v", parts, err)
	}
}

func TestThinkingAsked(t *testing.T) {
	call := llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.ToolCall{ID: "c", Name: "f", Args: json.RawMessage("{}")}}}
	answer := llm.Message{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ID: "c", Text: "x"}}}
	for name, c := range map[string]struct {
		budget, limit int
		more          []llm.Message
		want          string
	}{
		"off":               {0, 0, nil, ``},
		"on":                {4000, 0, nil, `"budget_tokens":4000`},
		"adaptive":          {Adaptive, 0, nil, `"type":"adaptive"`},
		"above the reply's": {50000, 0, nil, `"max_tokens":51024`},
		"must give way":     {50000, 3000, nil, `"budget_tokens":1976`},
		"no room":           {50000, 1000, nil, ``},
		"began without":     {4000, 0, []llm.Message{call, answer}, ``},
	} {
		p, s := serve(t, Options{ThinkingBudget: c.budget}, llmtest.Say("ok"))
		req := llmtest.Ask("x")
		req.MaxTokens = c.limit
		req.Messages = append(req.Messages, c.more...)
		if _, _, err := stream(t.Context(), p, req); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r := s.Requests()[0]
		if r.Thinking != (c.want != "") || !strings.Contains(string(r.Body), c.want) {
			t.Errorf("%s: %s", name, r.Body)
		}
	}
}

// No key leaves for the vendor without being set, and none is looked for in the
// environment.
func TestKeys(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "from-the-environment")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "from-the-environment")
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	_, _, err := stream(t.Context(), New(Options{}), llmtest.Ask("x"))
	if err == nil || err.Kind != llm.NotConfigured || !strings.Contains(err.Message, "ANTHROPIC_API_KEY") {
		t.Fatalf("%v", err)
	}
	p, s := serve(t, Options{AuthToken: "token\n", Headers: http.Header{"X-Extra": {"1"}}}, llmtest.Say("ok"))
	s.Key = "token"
	if _, _, err := stream(t.Context(), p, llmtest.Ask("x")); err != nil {
		t.Fatal(err)
	}
	if r := s.Requests()[0]; r.KeyIn != "Authorization" || r.Header.Get("X-Extra") != "1" {
		t.Errorf("%+v", r.Header)
	}
}

// One connection serves the requests of a conversation.
func TestConnectionIsReused(t *testing.T) {
	p, s := serve(t, Options{}, llmtest.Say("1"), llmtest.Say("2"), llmtest.Say("3"))
	for range 3 {
		if _, _, err := stream(t.Context(), p, llmtest.Ask("x")); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.Connections(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

func TestEventLimits(t *testing.T) {
	big := strings.Repeat("x", 17<<20)
	p, s := serve(t, Options{}, llmtest.Reply{Raw: "data: " + big + "\n\n"})
	if _, _, err := stream(t.Context(), p, llmtest.Ask("x")); err == nil || err.Kind != llm.Protocol || !strings.Contains(err.Message, "16 MB") {
		t.Fatalf("%v", err)
	}
	many := strings.Repeat(line(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`+strings.Repeat("y", 1<<20)+`"}}`), 65)
	s.Add(llmtest.Reply{Raw: body(begin, textBlockStart) + many})
	if _, _, err := stream(t.Context(), p, llmtest.Ask("x")); err == nil || err.Kind != llm.Protocol || !strings.Contains(err.Message, "64 MB") {
		t.Fatalf("%v", err)
	}
}
