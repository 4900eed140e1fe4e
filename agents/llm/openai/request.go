package openai

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"fantail/agents/llm"
	"fantail/agents/llm/wire"
)

// wanted is the field, and the Thinking.Opaque, of reasoning that goes back to the
// server. What comes by another name (reasoning) stays here: servers that use it
// refuse it in a request.
const wanted = "reasoning_content"

// reasoners refuse a reply of the assistant that comes back without its reasoning,
// even one of another model.
var reasoners = []string{"api.deepseek.com", "api.moonshot.ai", "api.moonshot.cn"}

// params is req in the library's words. Fields that only the vendor knows go
// only there: some of the other servers refuse what they do not know.
func (p *Provider) params(req *llm.Request) sdk.ChatCompletionNewParams {
	out := sdk.ChatCompletionNewParams{
		Model:         req.Model,
		Messages:      p.messages(req),
		StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: sdk.Bool(true)},
	}
	if req.MaxTokens > 0 {
		if p.vendor {
			out.MaxCompletionTokens = sdk.Int(int64(req.MaxTokens))
		} else {
			out.MaxTokens = sdk.Int(int64(req.MaxTokens))
		}
	}
	if p.vendor && req.CacheKey != "" {
		out.PromptCacheKey = sdk.String(req.CacheKey)
	}
	for _, t := range req.Tools {
		out.Tools = append(out.Tools, tool(t))
	}
	return out
}

func tool(t llm.Tool) sdk.ChatCompletionToolUnionParam {
	schema := t.Schema
	if !wire.Object(schema) {
		schema = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	// The schema goes out as it stands: a map would lose its order, and with
	// it some models' sense of what comes first.
	function := struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
	}{t.Name, t.Description, schema}
	return sdk.ChatCompletionFunctionTool(param.Override[shared.FunctionDefinitionParam](function))
}

// messages is the conversation. Results come before the text they share a
// message with, because a call must be answered before anything else is said.
func (p *Provider) messages(req *llm.Request) []sdk.ChatCompletionMessageParamUnion {
	model := p.o.Name + "/" + req.Model
	reasons := p.reasons || slices.ContainsFunc(req.Messages, func(m llm.Message) bool { return reasoning(m, model) != "" })
	var out []sdk.ChatCompletionMessageParamUnion
	if strings.TrimSpace(req.System) != "" {
		out = append(out, sdk.SystemMessage(req.System))
	}
	for _, m := range req.Messages {
		if m.Role == llm.Assistant {
			if said, ok := assistant(m); ok {
				if reasons {
					// Not empty: some take that for missing.
					said.SetExtraFields(map[string]any{wanted: cmp.Or(reasoning(m, model), " ")})
				}
				out = append(out, sdk.ChatCompletionMessageParamUnion{OfAssistant: said})
			}
			continue
		}
		for _, part := range m.Parts {
			if r, ok := part.(llm.ToolResult); ok {
				out = append(out, sdk.ToolMessage(result(r), wire.SafeID(r.ID)))
			}
		}
		if text := texts(m); text != "" {
			out = append(out, sdk.UserMessage(text))
		}
	}
	return out
}

// reasoning is what that model thought in m, if its server wants it back.
func reasoning(m llm.Message, model string) string {
	var all strings.Builder
	for _, part := range m.Parts {
		if t, ok := part.(llm.Thinking); ok && t.Opaque == wanted && t.Model == model {
			all.WriteString(t.Text)
		}
	}
	return all.String()
}

func assistant(m llm.Message) (*sdk.ChatCompletionAssistantMessageParam, bool) {
	out := &sdk.ChatCompletionAssistantMessageParam{}
	text := texts(m)
	if text != "" {
		out.Content.OfString = sdk.String(text)
	}
	for _, part := range m.Parts {
		c, ok := part.(llm.ToolCall)
		if !ok {
			continue
		}
		args := string(c.Args)
		if !wire.Object(c.Args) {
			args = "{}"
		}
		out.ToolCalls = append(out.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
				ID:       wire.SafeID(c.ID),
				Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: wire.SafeName(c.Name), Arguments: args},
			},
		})
	}
	return out, text != "" || len(out.ToolCalls) > 0
}

// result is the text of a tool's answer. The protocol has no word for failure.
func result(r llm.ToolResult) string {
	switch {
	case r.Error && strings.TrimSpace(r.Text) == "":
		return "Error"
	case r.Error:
		return "Error: " + r.Text
	case strings.TrimSpace(r.Text) == "":
		return "(no output)"
	}
	return r.Text
}

// texts joins the texts of a message, each a paragraph of its own.
func texts(m llm.Message) string {
	var all []string
	for _, part := range m.Parts {
		if t, ok := part.(llm.Text); ok && strings.TrimSpace(t.Text) != "" {
			all = append(all, t.Text)
		}
	}
	return strings.Join(all, "\n\n")
}
