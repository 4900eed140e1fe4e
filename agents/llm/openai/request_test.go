package openai

import (
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"pgregory.net/rapid"

	"fantail/agents/history/historytest"
	"fantail/agents/llm"
	"fantail/tools/validjson"
)

// TestBody: a request says what the library would encode as a whole, however the conversation has grown.
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
			return p.requestBody(req, p.client.Refused.Tools(req.Tools))
		}, func(model string, messages []llm.Message) ([]byte, error) {
			raw, err := inLibrary(p, request(model, messages)).MarshalJSON()
			valid, _ := validjson.Make(raw)
			return valid, err
		})
	})
}

// inLibrary is a request in the library's words, all of it.
func inLibrary(p *Provider, req *llm.Request) sdk.ChatCompletionNewParams {
	out := p.params(req, p.client.Refused.Tools(req.Tools))
	out.Messages = []sdk.ChatCompletionMessageParamUnion{} // nil would be left out
	if strings.TrimSpace(req.System) != "" {
		out.Messages = append(out.Messages, sdk.SystemMessage(req.System))
	}
	reasons := p.reasoningRequired
	for _, m := range req.Messages {
		reasons = reasons || thoughts(m, "test/"+req.Model) != ""
	}
	for _, m := range req.Messages {
		var texts []string
		said := &sdk.ChatCompletionAssistantMessageParam{}
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
				said.ToolCalls = append(said.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{
					OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
						ID: llm.SafeID(part.ID), Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: llm.SafeName(part.Name), Arguments: args},
					},
				})
			case llm.ToolResult:
				out.Messages = append(out.Messages, sdk.ToolMessage(toolResultText(part), llm.SafeID(part.ID)))
			}
		}
		text := strings.Join(texts, "\n\n")
		switch {
		case m.Role == llm.User && text != "":
			out.Messages = append(out.Messages, sdk.UserMessage(text))
		case m.Role == llm.Assistant && (text != "" || len(said.ToolCalls) > 0):
			if text != "" {
				said.Content.OfString = sdk.String(text)
			}
			if thought := thoughts(m, "test/"+req.Model); thought != "" {
				said.SetExtraFields(map[string]any{reasoningContent: thought})
			} else if reasons {
				said.SetExtraFields(map[string]any{reasoningContent: " "})
			}
			out.Messages = append(out.Messages, sdk.ChatCompletionMessageParamUnion{OfAssistant: said})
		}
	}
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
