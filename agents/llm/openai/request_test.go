package openai

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"fantail/agents/history/historytest"
	"fantail/agents/llm"
	"fantail/tools/validjson"
)

// TestBody: a request says what its messages would say encoded as a whole, however the conversation has grown.
func TestBody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.SampledFrom([]string{"", "http://local/v1", "https://api.deepseek.com"}).Draw(t, "base")
		p := New(Options{Name: "test", Key: "k", BaseURL: base})
		tools := rapid.SampledFrom([][]llm.Tool{nil, {{Name: "f", Description: "<does>", Schema: json.RawMessage(`{"type":"object", "z":1}`)}, {Name: "g"}}}).Draw(t, "tools")
		system := rapid.SampledFrom([]string{" ", "Be <brief>."}).Draw(t, "system")
		request := func(model string, messages []llm.Message) *llm.Request {
			return &llm.Request{Model: model, System: system, Tools: tools, MaxTokens: 77, CacheKey: "agent-1", Messages: messages}
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

// whole is a request in plain values, all of it.
func whole(p *Provider, req *llm.Request) object {
	var out object
	_ = json.Unmarshal(llm.Encode(p.params(req, p.client.Refused.Tools(req.Tools))), &out)
	messages := []object{}
	if strings.TrimSpace(req.System) != "" {
		messages = append(messages, object{"role": "system", "content": req.System})
	}
	reasons := p.reasoningRequired
	for _, m := range req.Messages {
		reasons = reasons || thoughts(m, "test/"+req.Model) != ""
	}
	for _, m := range req.Messages {
		var texts []string
		said := object{"role": "assistant"}
		var calls []object
		for _, part := range m.Parts {
			switch part := part.(type) {
			case llm.Text:
				if strings.TrimSpace(part.Text) != "" {
					texts = append(texts, part.Text)
				}
			case llm.ToolCall:
				args := "{}"
				if llm.IsObject(part.Args) {
					args = string(part.Args)
				}
				calls = append(calls, object{"id": llm.SafeID(part.ID), "type": "function", "function": object{"name": llm.SafeName(part.Name), "arguments": args}})
			case llm.ToolResult:
				messages = append(messages, object{"role": "tool", "tool_call_id": llm.SafeID(part.ID), "content": toolResultText(part)})
			}
		}
		text := strings.Join(texts, "\n\n")
		switch {
		case m.Role == llm.User && text != "":
			messages = append(messages, object{"role": "user", "content": text})
		case m.Role == llm.Assistant && (text != "" || len(calls) > 0):
			if text != "" {
				said["content"] = text
			}
			if len(calls) > 0 {
				said["tool_calls"] = calls
			}
			if thought := thoughts(m, "test/"+req.Model); thought != "" {
				said[reasoningContent] = thought
			} else if reasons {
				said[reasoningContent] = " "
			}
			messages = append(messages, said)
		}
	}
	out["messages"] = messages
	return out
}

// thoughts is what that model has thought in m and wants back.
func thoughts(m llm.Message, model string) (all string) {
	for _, part := range m.Parts {
		if t, ok := part.(llm.Thinking); ok && t.Opaque == reasoningContent && t.Model == model {
			all += t.Text
		}
	}
	return all
}
