package responses

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"fantail/agents/llm"
	"fantail/agents/llm/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func serve(t *testing.T, replies ...llmtest.Reply) *Provider {
	t.Helper()
	var o Options
	o.BaseURL, o.HTTPClient = llmtest.New(replies...).Loopback(t)
	o.BaseURL += "/v1/"
	return New(o)
}

// A reply comes as parts, and the server takes its reasoning, calls and results back.
func TestConversation(t *testing.T) {
	call := func(id string) llm.ToolCall {
		return llm.ToolCall{ID: id, Name: "read", Args: json.RawMessage(`{"path":"a"}`)}
	}
	p := serve(t, llmtest.Reply{Parts: []llm.Part{llm.Thinking{Text: "Which?"}, llm.Text{Text: "Both."}, call("c1"), call("c2")}},
		llmtest.Reply{Parts: []llm.Part{llm.Text{Text: "Done."}}})
	req := llmtest.Ask("x")
	req.Model = "gpt-5.6"
	parts, stop, err := llmtest.Collect(p.Stream(t.Context(), req))
	if err != nil || stop.Reason != llm.ToolUse || len(parts) != 5 {
		t.Fatalf("%+v %+v %v", parts, stop, err)
	}
	thought, _ := parts[0].(llm.Thinking)
	if thought.Text != "Which?" || thought.Model != "openai/gpt-5.6" || !strings.Contains(thought.Opaque, "encrypted_content") {
		t.Fatalf("%+v", thought)
	}
	if !reflect.DeepEqual(parts[2:4], []llm.Part{call("c1"), call("c2")}) {
		t.Fatalf("%+v", parts)
	}
	req.Messages = append(req.Messages, llm.Message{Role: llm.Assistant, Parts: parts[:4]},
		llm.Message{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ID: "c1"}, llm.ToolResult{ID: "c2", Text: "no", Error: true}}})
	parts, stop, err = llmtest.Collect(p.Stream(t.Context(), req))
	if err != nil || stop.Reason != llm.EndTurn || len(parts) != 2 {
		t.Fatalf("%+v %+v %v", parts, stop, err)
	}
}

// Reasoning is sent back only to its model and only if something follows it.
func TestReasoningSentBack(t *testing.T) {
	thought := llm.Thinking{Opaque: `{"type":"reasoning"}`, Model: "openai/o3"}
	for _, c := range []struct {
		model string
		parts []llm.Part
		want  string
	}{
		{"openai/o3", []llm.Part{thought, llm.Text{Text: "a"}}, `{"type":"reasoning"},{"type":"message","role":"assistant","content":"a"}`},
		{"openai/o3", []llm.Part{llm.Text{Text: "a"}, thought}, `{"type":"message","role":"assistant","content":"a"}`},
		{"openai/o3", []llm.Part{thought}, ``},
		{"openai/o4", []llm.Part{thought, llm.Text{Text: "a"}}, `{"type":"message","role":"assistant","content":"a"}`},
	} {
		if got := (encoding{model: c.model}).encodeMessage(&llm.Message{Role: llm.Assistant, Parts: c.parts}); string(got) != c.want {
			t.Errorf("%s: %s, want %s", c.model, got, c.want)
		}
	}
}

// Only models that reason are asked to.
func TestReasons(t *testing.T) {
	for model, want := range map[string]bool{"o3": true, "o4-mini": true, "gpt-5": true, "gpt-5.6-terra": true, "gpt-10": true, "gpt-4.1": false, "gpt-4o": false, "omni": false, "gpt-": false} {
		if reasons(model) != want {
			t.Errorf("%s: want %v", model, want)
		}
	}
}

// Odd streams end as their kind says.
func TestOddStreams(t *testing.T) {
	text := `data: {"type":"response.output_text.delta","output_index":0,"delta":"a"}` + "\n\n"
	call := `data: {"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","name":"f"}}` + "\n\n"
	for name, c := range map[string]struct {
		raw    string
		kind   llm.ErrorKind
		reason llm.Reason
	}{
		"whole":         {raw: text + `data: {"type":"response.completed","response":{"status":"completed"}}` + "\n\n", reason: llm.EndTurn},
		"unknown event": {raw: `data: {"type":"response.new","x":1}` + "\n\n" + text + `data: {"type":"response.completed","response":{"status":"completed"}}` + "\n\n", reason: llm.EndTurn},
		"token limit":   {raw: text + call + `data: {"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}` + "\n\n", reason: llm.Length},
		"error":         {raw: text + `data: {"type":"error","code":"server_error","message":"no"}` + "\n\n", kind: llm.Server},
		"failed":        {raw: `data: {"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"slow"}}}` + "\n\n", kind: llm.RateLimited},
	} {
		parts, stop, err := llmtest.Collect(serve(t, llmtest.Reply{Raw: c.raw}).Stream(t.Context(), llmtest.Ask("x")))
		switch {
		case c.kind != "" && (err == nil || err.Kind != c.kind):
			t.Errorf("%s: error %v, want %s", name, err, c.kind)
		case c.kind == "" && (err != nil || stop.Reason != c.reason):
			t.Errorf("%s: %+v %+v %v, want %s", name, parts, stop, err, c.reason)
		case name == "token limit" && !reflect.DeepEqual(stop.Broken, []string{"f"}):
			t.Errorf("%s: broken %v", name, stop.Broken)
		}
	}
	_, stop, err := llmtest.Collect(serve(t, llmtest.Reply{Raw: text + text, Cut: len(text)}).Stream(t.Context(), llmtest.Ask("x")))
	if stop != nil || err == nil || err.Kind != llm.Cut {
		t.Errorf("cut: %+v %v", stop, err)
	}
}
