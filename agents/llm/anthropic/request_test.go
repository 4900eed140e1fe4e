package anthropic

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"fantail/agents/history/historytest"
	"fantail/agents/llm"
	"fantail/agents/llm/llmtest"
	"fantail/tools/validjson"
)

// TestBody: a request says what its messages would say encoded as a whole, however the conversation has grown.
func TestBody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := New(Options{Name: "test", Key: "k", ThinkingBudget: rapid.SampledFrom([]int{0, Adaptive, 4000}).Draw(t, "budget")})
		tools := rapid.SampledFrom([][]llm.Tool{nil, {{Name: "f", Description: "<does>", Schema: json.RawMessage(`{"type":"object", "z":1}`)}, {Name: "g"}}}).Draw(t, "tools")
		request := func(model string, messages []llm.Message) *llm.Request {
			return &llm.Request{Model: model, System: "Be <brief>.", Tools: tools, Messages: messages}
		}
		historytest.Same(t, "test", func(model string, messages []llm.Message) ([][]byte, error) {
			req := request(model, messages)
			return p.requestBody(req, p.client.Refused.Tools(req.Tools)), nil
		}, func(model string, messages []llm.Message) ([]byte, error) {
			raw, err := json.Marshal(whole(p, request(model, messages)))
			valid, _ := validjson.Make(raw)
			return valid, err
		})
	})
}

type object = map[string]any

// message is one of a request, in plain values.
type message struct {
	Role    llm.Role `json:"role"`
	Content []object `json:"content"`
}

// whole is a request in plain values, all of it.
func whole(p *Provider, req *llm.Request) object {
	var out object
	_ = json.Unmarshal(llm.Encode(params(req, p.client.Refused.Tools(req.Tools))), &out)
	messages := []message{}
	for _, m := range req.Messages {
		var blocks []object
		for _, part := range m.Parts {
			blocks = append(blocks, wordsOf(part, p.o.Name+"/"+req.Model)...)
		}
		switch n := len(messages) - 1; {
		case len(blocks) == 0:
		case n >= 0 && messages[n].Role == m.Role:
			messages[n].Content = append(messages[n].Content, blocks...)
		default:
			messages = append(messages, message{m.Role, blocks})
		}
	}
	marks, mayThink := 0, true
	for i := len(messages) - 1; i >= 0; i-- {
		content := messages[i].Content
		if messages[i].Role == llm.User && marks < 2 {
			content[len(content)-1]["cache_control"] = object{"type": "ephemeral"}
			marks++
		}
	}
	for i := len(messages) - 1; i >= 0; i-- {
		first := messages[i].Content[0]["type"]
		if messages[i].Role == llm.Assistant {
			mayThink = first == "thinking" || first == "redacted_thinking"
			break
		}
		if first != "tool_result" {
			break
		}
	}
	switch {
	case p.o.ThinkingBudget < 0:
		out["thinking"] = object{"type": "adaptive", "display": "summarized"}
	case p.o.ThinkingBudget > 0 && mayThink:
		out["thinking"] = object{"type": "enabled", "budget_tokens": p.o.ThinkingBudget}
	}
	out["messages"] = messages
	return out
}

func wordsOf(part llm.Part, model string) []object {
	switch part := part.(type) {
	case llm.Text:
		if strings.TrimSpace(part.Text) != "" {
			return []object{{"type": "text", "text": part.Text}}
		}
	case llm.Thinking:
		mark, word, _ := strings.Cut(part.Opaque, ":")
		switch {
		case part.Model != model:
		case mark == "signature":
			return []object{{"type": "thinking", "thinking": part.Text, "signature": word}}
		case mark == "redacted":
			return []object{{"type": "redacted_thinking", "data": word}}
		}
	case llm.ToolCall:
		args := json.RawMessage("{}")
		if llm.IsObject(part.Args) {
			args = part.Args
		}
		return []object{{"type": "tool_use", "id": llm.SafeID(part.ID), "name": llm.SafeName(part.Name), "input": args}}
	case llm.ToolResult:
		out := object{"type": "tool_result", "tool_use_id": llm.SafeID(part.ID)}
		if part.Error {
			out["is_error"] = true
		}
		if strings.TrimSpace(part.Text) != "" {
			out["content"] = []object{{"type": "text", "text": part.Text}}
		}
		return []object{out}
	}
	return nil
}

// TestBrokenSchema: a tool whose schema is no JSON is offered with one that takes anything, and the others as they are.
func TestBrokenSchema(t *testing.T) {
	p, s := serve(t, Options{}, llmtest.Say("ok"))
	req := llmtest.Ask("x")
	req.Tools = []llm.Tool{
		{Name: "f", Schema: json.RawMessage(`{"type":`)}, {Name: "g", Schema: json.RawMessage(`{"type":"object","required":["a"]}`)}, {Name: "h"}, {Name: "g"},
	}
	if _, _, err := stream(t.Context(), p, req); err != nil {
		t.Fatal(err)
	}
	body := string(s.Requests()[0].Body)
	for _, want := range []string{`{"type":"object","required":["a"]}`, `"name":"h"`, `"name":"f"`} {
		if strings.Count(body, want) != 1 {
			t.Errorf("%s: %s", want, body)
		}
	}
	if strings.Count(body, `"name":"g"`) != 1 || strings.Count(body, `{"type":"object","properties":{}}`) != 2 {
		t.Errorf("%s", body)
	}
}
