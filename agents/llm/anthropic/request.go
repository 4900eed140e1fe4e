package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

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

// The members of a request besides its messages.
type (
	requestParam struct {
		MaxTokens int            `json:"max_tokens"`
		Model     string         `json:"model"`
		System    []systemBlock  `json:"system,omitempty"`
		Thinking  *thinkingParam `json:"thinking,omitempty"`
		Tools     []toolParam    `json:"tools,omitempty"`
		Stream    bool           `json:"stream"`
	}
	systemBlock struct {
		Type         string     `json:"type"`
		Text         string     `json:"text"`
		CacheControl *cacheMark `json:"cache_control"`
	}
	cacheMark struct {
		Type string `json:"type"`
	}
	thinkingParam struct {
		Type         string `json:"type"`
		BudgetTokens int    `json:"budget_tokens,omitempty"`
		Display      string `json:"display,omitempty"`
	}
	toolParam struct {
		Name         string          `json:"name"`
		Description  string          `json:"description,omitempty"`
		InputSchema  json.RawMessage `json:"input_schema"`
		CacheControl *cacheMark      `json:"cache_control,omitempty"`
	}
)

// requestBody encodes req with these tools.
func (p *Provider) requestBody(req *llm.Request, tools []llm.Tool) llm.Body {
	messages, mayThink := p.messages(req)
	out := params(req, tools)
	switch budget := p.o.ThinkingBudget; {
	case budget < 0:
		out.Thinking = &thinkingParam{Type: "adaptive", Display: "summarized"}
	case budget > 0 && mayThink:
		setThinkingBudget(out, budget, req.MaxTokens)
	}
	return llm.BodyWithList("messages", messages, llm.Encode(out))
}

// params returns everything of req but its messages, without thinking.
func params(req *llm.Request, tools []llm.Tool) *requestParam {
	mark := &cacheMark{"ephemeral"}
	out := &requestParam{MaxTokens: maxTokens(req), Model: req.Model, Stream: true}
	if strings.TrimSpace(req.System) != "" {
		out.System = []systemBlock{{"text", req.System, mark}}
	}
	for _, t := range tools {
		out.Tools = append(out.Tools, toolParam{Name: t.Name, Description: t.Description, InputSchema: t.Schema})
	}
	if n := len(out.Tools); n > 0 {
		out.Tools[n-1].CacheControl = mark
	}
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
func setThinkingBudget(out *requestParam, budget, asked int) {
	budget = max(budget, minThinkingBudget)
	switch {
	case budget < out.MaxTokens:
	case asked == 0:
		out.MaxTokens = budget + minThinkingBudget
	case asked >= 2*minThinkingBudget:
		budget = asked - minThinkingBudget
	default:
		return
	}
	out.Thinking = &thinkingParam{Type: "enabled", BudgetTokens: budget}
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

// A message and its content blocks.
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
