package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"fantail/agents/llm"
)

// The prefixes of Thinking.Opaque: a signature, or the data of a redacted block.
const (
	signaturePrefix = "signature:"
	redactedPrefix  = "redacted:"
)

// minThinkingBudget is the smallest thinking budget that the API accepts.
const minThinkingBudget = 1024

// maxOutputTokens are the output limits of the model families. The API wants max_tokens
// in each request and refuses a number above the model's limit.
var maxOutputTokens = []struct {
	prefix string
	tokens int
}{
	{"claude-3-opus", 4096},
	{"claude-3-sonnet", 4096},
	{"claude-3-haiku", 4096},
	{"claude-3-5", 8192},
	{"claude", 32000},
}

// requestBody encodes req with these tools.
func (p *Provider) requestBody(req *llm.Request, tools []llm.Tool) (llm.Body, error) {
	messages, mayThink := p.messages(req)
	params := p.params(req, tools)
	switch budget := p.o.ThinkingBudget; {
	case budget < 0:
		params.Thinking.OfAdaptive = &sdk.ThinkingConfigAdaptiveParam{Display: sdk.ThinkingConfigAdaptiveDisplaySummarized}
	case budget > 0 && mayThink:
		setThinkingBudget(&params, budget, req.MaxTokens)
	}
	rest, err := params.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return llm.BodyWithList("messages", messages, llm.CleanText(rest)), nil
}

// params returns everything of req but its messages, without thinking.
func (p *Provider) params(req *llm.Request, tools []llm.Tool) sdk.MessageNewParams {
	out := sdk.MessageNewParams{Model: sdk.Model(req.Model), MaxTokens: int64(maxTokens(req))}
	if strings.TrimSpace(req.System) != "" {
		out.System = []sdk.TextBlockParam{{Text: req.System, CacheControl: sdk.NewCacheControlEphemeralParam()}}
	}
	for _, t := range tools {
		out.Tools = append(out.Tools, toolParam(t))
	}
	if n := len(out.Tools); n > 0 {
		out.Tools[n-1].OfTool.CacheControl = sdk.NewCacheControlEphemeralParam()
	}
	out.SetExtraFields(map[string]any{"stream": true})
	return out
}

func maxTokens(req *llm.Request) int {
	if req.MaxTokens > 0 {
		return req.MaxTokens
	}
	for _, known := range maxOutputTokens {
		if strings.HasPrefix(req.Model, known.prefix) {
			return known.tokens
		}
	}
	return 8192
}

// setThinkingBudget turns thinking on with a budget. The budget counts towards max_tokens. If the
// request has no limit of its own, max_tokens grows; else the budget shrinks.
func setThinkingBudget(out *sdk.MessageNewParams, budget, asked int) {
	budget = max(budget, minThinkingBudget)
	switch {
	case budget < int(out.MaxTokens):
	case asked == 0:
		out.MaxTokens = int64(budget + minThinkingBudget)
	case asked >= 2*minThinkingBudget:
		budget = asked - minThinkingBudget
	default:
		return
	}
	out.Thinking = sdk.ThinkingConfigParamOfEnabled(int64(budget))
}

func toolParam(t llm.Tool) sdk.ToolUnionParam {
	out := &sdk.ToolParam{Name: t.Name, InputSchema: param.Override[sdk.ToolInputSchemaParam](t.Schema)}
	if t.Description != "" {
		out.Description = sdk.String(t.Description)
	}
	return sdk.ToolUnionParam{OfTool: out}
}

// encoding holds the options on which the encoding of a message depends. Thinking is sent only to the model that produced it.
type encoding struct {
	model  string
	images bool // the model takes images
}

// encodedMessage is an encoded message. Its JSON ends with the list of its content blocks. The zero value is a message without
// content, which is not sent.
type encodedMessage struct {
	json                 []byte
	contentStart         int  // the offset of its first block in json
	startsWithThinking   bool // its first block is thinking
	startsWithToolResult bool // its first block is a tool result
}

const (
	blockEnd     = `}`
	messageEnd   = `]}`
	cacheControl = `,"cache_control":{"type":"ephemeral"}`
)

// messages encodes the conversation and reports whether thinking may be turned on with a budget. Neighbours with the same
// role become one message.
//
// The last two user messages get a cache_control mark: the prefix that this request writes to the cache is read by the next
// one. With system and tools that makes four marks, which is the most a request may have.
//
// Thinking can't be turned on in the middle of a turn that began without it, for example with another model: the API
// refuses such a request.
func (p *Provider) messages(req *llm.Request) (out [][]byte, mayThink bool) {
	f := encoding{p.o.Name + "/" + req.Model, req.Sees}
	out, mayThink = make([][]byte, 0, len(req.Messages)), true
	var last llm.Role
	previousUser, lastUser := -1, -1 // the last two user messages in out; -1: none
	for i := range req.Messages {
		m := &req.Messages[i]
		w := llm.EncodeOnce(m, f, encoding.encodeMessage)
		text := w.json
		switch n := len(out) - 1; {
		case text == nil:
			continue
		case m.Role == last: // the blocks of both are one list
			out[n] = bytes.TrimSuffix(out[n], []byte(messageEnd))
			text = text[w.contentStart:]
		case m.Role == llm.Assistant:
			mayThink = w.startsWithThinking
		default:
			mayThink = mayThink || !w.startsWithToolResult
			previousUser = lastUser
		}
		out, last = append(out, text), m.Role
		if m.Role != llm.Assistant {
			lastUser = len(out) - 1
		}
	}
	for _, n := range []int{previousUser, lastUser} {
		if n >= 0 {
			block := bytes.TrimSuffix(out[n], []byte(blockEnd+messageEnd))
			out[n] = slices.Concat(block, []byte(cacheControl+blockEnd+messageEnd))
		}
	}
	return out, mayThink
}

// A message and its content blocks. The library's own types take seven times as long: each is encoded again for each level
// above it.
type (
	messageParam struct {
		Role    llm.Role `json:"role"`
		Content []any    `json:"content"`
	}
	textBlock struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	thinkingBlock struct {
		Type      string `json:"type"`
		Thinking  string `json:"thinking"`
		Signature string `json:"signature"`
	}
	redactedThinkingBlock struct {
		Type string `json:"type"`
		Data string `json:"data"`
	}
	toolUseBlock struct {
		Type  string          `json:"type"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	}
	toolResultBlock struct {
		Type      string `json:"type"`
		ToolUseID string `json:"tool_use_id"`
		IsError   bool   `json:"is_error,omitempty"`
		Content   []any  `json:"content,omitempty"`
	}
	imageBlock struct {
		Type   string            `json:"type"`
		Source base64ImageSource `json:"source"`
	}
	base64ImageSource struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      []byte `json:"data"` // in base64
	}
)

// encodeMessage encodes m. It leaves out what the API refuses: blank texts, and thinking of other models.
func (f encoding) encodeMessage(m *llm.Message) encodedMessage {
	blocks := make([]any, 0, len(m.Parts))
	for _, part := range m.Parts {
		if b := f.encodePart(part); b != nil {
			blocks = append(blocks, b)
		}
	}
	if len(blocks) == 0 {
		return encodedMessage{}
	}
	role := llm.User
	if m.Role == llm.Assistant {
		role = llm.Assistant
	}
	text := llm.Encode(messageParam{role, blocks})
	w := encodedMessage{json: text, contentStart: bytes.IndexByte(text, '[') + 1}
	switch blocks[0].(type) {
	case thinkingBlock, redactedThinkingBlock:
		w.startsWithThinking = true
	case toolResultBlock:
		w.startsWithToolResult = true
	}
	return w
}

// encodePart returns the content block of a part, or nil if it is left out.
func (f encoding) encodePart(part llm.Part) any {
	switch part := part.(type) {
	case llm.Text:
		if strings.TrimSpace(part.Text) != "" {
			return textBlock{"text", part.Text}
		}
	case llm.Thinking:
		if part.Model != f.model {
			break
		}
		if data, ok := strings.CutPrefix(part.Opaque, redactedPrefix); ok {
			return redactedThinkingBlock{"redacted_thinking", data}
		}
		if signature, ok := strings.CutPrefix(part.Opaque, signaturePrefix); ok {
			return thinkingBlock{"thinking", part.Text, signature}
		}
	case llm.ToolCall:
		return toolUseBlock{"tool_use", llm.SafeID(part.ID), llm.SafeName(part.Name), llm.ValidArgs(part.Args)}
	case llm.ToolResult:
		out := toolResultBlock{Type: "tool_result", ToolUseID: llm.SafeID(part.ID), IsError: part.Error}
		if strings.TrimSpace(part.Text) != "" {
			out.Content = []any{textBlock{"text", part.Text}}
		}
		if f.images {
			for _, i := range part.Images {
				if data, err := i.Read(); err == nil {
					out.Content = append(out.Content, imageBlock{"image", base64ImageSource{"base64", i.Type, data}})
				}
			}
		}
		return out
	}
	return nil
}
