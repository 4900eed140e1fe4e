package anthropic

import (
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"pgregory.net/rapid"

	"fantail/agents/history/historytest"
	"fantail/agents/llm"
	"fantail/agents/llm/llmtest"
	"fantail/tools/validjson"
)

// TestBody: a request says what the library would encode as a whole, however the conversation has grown.
func TestBody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := New(Options{Name: "test", Key: "k", ThinkingBudget: rapid.SampledFrom([]int{0, Adaptive, 4000}).Draw(t, "budget")})
		tools := rapid.SampledFrom([][]llm.Tool{nil, {{Name: "f", Description: "<does>", Schema: json.RawMessage(`{"type":"object", "z":1}`)}, {Name: "g"}}}).Draw(t, "tools")
		request := func(model string, messages []llm.Message) *llm.Request {
			return &llm.Request{Model: model, System: "Be <brief>.", Tools: tools, Messages: messages}
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
func inLibrary(p *Provider, req *llm.Request) sdk.MessageNewParams {
	out := p.params(req, p.client.Refused.Tools(req.Tools))
	out.Messages = []sdk.MessageParam{} // nil would be left out
	model := p.o.Name + "/" + req.Model
	for _, m := range req.Messages {
		var blocks []sdk.ContentBlockParamUnion
		for _, part := range m.Parts {
			blocks = append(blocks, wordsOf(part, model)...)
		}
		role := sdk.MessageParamRole(m.Role)
		switch n := len(out.Messages) - 1; {
		case len(blocks) == 0:
		case n >= 0 && out.Messages[n].Role == role:
			out.Messages[n].Content = append(out.Messages[n].Content, blocks...)
		default:
			out.Messages = append(out.Messages, sdk.MessageParam{Role: role, Content: blocks})
		}
	}
	marks, mayThink := 0, true
	for i := len(out.Messages) - 1; i >= 0; i-- {
		content := out.Messages[i].Content
		if out.Messages[i].Role == sdk.MessageParamRoleUser && marks < 2 {
			*content[len(content)-1].GetCacheControl() = sdk.NewCacheControlEphemeralParam()
			marks++
		}
	}
	for i := len(out.Messages) - 1; i >= 0; i-- {
		first := out.Messages[i].Content[0]
		if out.Messages[i].Role == sdk.MessageParamRoleAssistant {
			mayThink = first.OfThinking != nil || first.OfRedactedThinking != nil
			break
		}
		if first.OfToolResult == nil {
			break
		}
	}
	switch {
	case p.o.ThinkingBudget < 0:
		out.Thinking.OfAdaptive = &sdk.ThinkingConfigAdaptiveParam{Display: sdk.ThinkingConfigAdaptiveDisplaySummarized}
	case p.o.ThinkingBudget > 0 && mayThink:
		out.Thinking = sdk.ThinkingConfigParamOfEnabled(int64(p.o.ThinkingBudget))
	}
	return out
}

func wordsOf(part llm.Part, model string) []sdk.ContentBlockParamUnion {
	switch part := part.(type) {
	case llm.Text:
		if strings.TrimSpace(part.Text) != "" {
			return []sdk.ContentBlockParamUnion{sdk.NewTextBlock(part.Text)}
		}
	case llm.Thinking:
		mark, word, _ := strings.Cut(part.Opaque, ":")
		switch {
		case part.Model != model:
		case mark == "signature":
			return []sdk.ContentBlockParamUnion{sdk.NewThinkingBlock(word, part.Text)}
		case mark == "redacted":
			return []sdk.ContentBlockParamUnion{sdk.NewRedactedThinkingBlock(word)}
		}
	case llm.ToolCall:
		args := json.RawMessage("{}")
		if llm.IsObject(part.Args) {
			args = part.Args
		}
		return []sdk.ContentBlockParamUnion{sdk.NewToolUseBlock(llm.SafeID(part.ID), args, llm.SafeName(part.Name))}
	case llm.ToolResult:
		out := &sdk.ToolResultBlockParam{ToolUseID: llm.SafeID(part.ID)}
		if part.Error {
			out.IsError = sdk.Bool(true)
		}
		if strings.TrimSpace(part.Text) != "" {
			out.Content = []sdk.ToolResultBlockParamContentUnion{{OfText: &sdk.TextBlockParam{Text: part.Text}}}
		}
		return []sdk.ContentBlockParamUnion{{OfToolResult: out}}
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
