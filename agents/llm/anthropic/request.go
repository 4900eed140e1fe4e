package anthropic

import (
	"encoding/json"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"fantail/agents/llm"
	"fantail/agents/llm/wire"
)

// What Thinking.Opaque begins with, to tell a signature from a whole block.
const (
	signed   = "signature:"
	redacted = "redacted:"
)

// smallestBudget is the least the API takes for thinking.
const smallestBudget = 1024

// The API wants a limit with every request and refuses one above what the model
// can do, so the families that can do little are known.
var replyLimits = []struct {
	prefix string
	tokens int
}{
	{"claude-3-opus", 4096},
	{"claude-3-sonnet", 4096},
	{"claude-3-haiku", 4096},
	{"claude-3-5", 8192},
	{"claude", 32000},
}

// params is req in the library's words.
func (p *Provider) params(req *llm.Request) sdk.MessageNewParams {
	out := sdk.MessageNewParams{
		Model:     sdk.Model(req.Model),
		MaxTokens: int64(replyLimit(req)),
		Messages:  p.messages(req),
	}
	if strings.TrimSpace(req.System) != "" {
		out.System = []sdk.TextBlockParam{{Text: req.System, CacheControl: sdk.NewCacheControlEphemeralParam()}}
	}
	for _, t := range req.Tools {
		out.Tools = append(out.Tools, tool(t))
	}
	if n := len(out.Tools); n > 0 {
		out.Tools[n-1].OfTool.CacheControl = sdk.NewCacheControlEphemeralParam()
	}
	mark(out.Messages)
	switch budget := p.o.ThinkingBudget; {
	case budget < 0:
		out.Thinking.OfAdaptive = &sdk.ThinkingConfigAdaptiveParam{Display: sdk.ThinkingConfigAdaptiveDisplaySummarized}
	case budget > 0 && mayThink(out.Messages):
		think(&out, budget, req.MaxTokens)
	}
	return out
}

func replyLimit(req *llm.Request) int {
	if req.MaxTokens > 0 {
		return req.MaxTokens
	}
	for _, known := range replyLimits {
		if strings.HasPrefix(req.Model, known.prefix) {
			return known.tokens
		}
	}
	return 8192
}

// think turns thinking on with a budget. It counts into the reply's limit, so the
// limit grows where it is ours to choose, and else the budget gives way.
func think(out *sdk.MessageNewParams, budget, asked int) {
	budget = max(budget, smallestBudget)
	switch {
	case budget < int(out.MaxTokens):
	case asked == 0:
		out.MaxTokens = int64(budget + smallestBudget)
	case asked >= 2*smallestBudget:
		budget = asked - smallestBudget
	default:
		return
	}
	out.Thinking = sdk.ThinkingConfigParamOfEnabled(int64(budget))
}

func tool(t llm.Tool) sdk.ToolUnionParam {
	schema := t.Schema
	if len(schema) == 0 {
		schema = json.RawMessage(`{"type":"object"}`)
	}
	out := &sdk.ToolParam{Name: t.Name, InputSchema: param.Override[sdk.ToolInputSchemaParam](schema)}
	if t.Description != "" {
		out.Description = sdk.String(t.Description)
	}
	return sdk.ToolUnionParam{OfTool: out}
}

// messages drops what the API does not take: blank texts, and thinking that is
// not this model's. Neighbours that then have the same role become one.
func (p *Provider) messages(req *llm.Request) []sdk.MessageParam {
	model := p.o.Name + "/" + req.Model
	var out []sdk.MessageParam
	for _, m := range req.Messages {
		blocks := make([]sdk.ContentBlockParamUnion, 0, len(m.Parts))
		for _, part := range m.Parts {
			if b, ok := block(part, model); ok {
				blocks = append(blocks, b)
			}
		}
		if len(blocks) == 0 {
			continue
		}
		role := sdk.MessageParamRoleUser
		if m.Role == llm.Assistant {
			role = sdk.MessageParamRoleAssistant
		}
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Content = append(out[n-1].Content, blocks...)
			continue
		}
		out = append(out, sdk.MessageParam{Role: role, Content: blocks})
	}
	return out
}

func block(part llm.Part, model string) (sdk.ContentBlockParamUnion, bool) {
	switch part := part.(type) {
	case llm.Text:
		return sdk.NewTextBlock(part.Text), strings.TrimSpace(part.Text) != ""
	case llm.Thinking:
		if part.Model != model {
			break
		}
		if data, ok := strings.CutPrefix(part.Opaque, redacted); ok {
			return sdk.NewRedactedThinkingBlock(data), true
		}
		if signature, ok := strings.CutPrefix(part.Opaque, signed); ok {
			return sdk.NewThinkingBlock(signature, part.Text), true
		}
	case llm.ToolCall:
		args := part.Args
		if !wire.Object(args) {
			args = json.RawMessage("{}")
		}
		return sdk.NewToolUseBlock(wire.SafeID(part.ID), args, wire.SafeName(part.Name)), true
	case llm.ToolResult:
		out := &sdk.ToolResultBlockParam{ToolUseID: wire.SafeID(part.ID)}
		if part.Error {
			out.IsError = sdk.Bool(true)
		}
		if strings.TrimSpace(part.Text) != "" {
			out.Content = []sdk.ToolResultBlockParamContentUnion{{OfText: &sdk.TextBlockParam{Text: part.Text}}}
		}
		return sdk.ContentBlockParamUnion{OfToolResult: out}, true
	}
	return sdk.ContentBlockParamUnion{}, false
}

// mark asks the server to cache the conversation up to the last message of the
// user and up to the one before: what this request writes the next one reads.
// With system and tools that makes the four marks a request may have.
func mark(messages []sdk.MessageParam) {
	marks := 0
	for i := len(messages) - 1; i >= 0 && marks < 2; i-- {
		m := messages[i]
		if m.Role != sdk.MessageParamRoleUser {
			continue
		}
		if c := m.Content[len(m.Content)-1].GetCacheControl(); c != nil {
			*c = sdk.NewCacheControlEphemeralParam()
			marks++
		}
	}
}

// mayThink is false in the middle of a turn that began without thinking, for
// example with another model: the API refuses to continue it with a budget.
func mayThink(messages []sdk.MessageParam) bool {
	for i := len(messages) - 1; i >= 0; i-- {
		switch m := messages[i]; m.Role {
		case sdk.MessageParamRoleAssistant:
			first := m.Content[0]
			return first.OfThinking != nil || first.OfRedactedThinking != nil
		default:
			if m.Content[0].OfToolResult == nil {
				return true
			}
		}
	}
	return true
}
