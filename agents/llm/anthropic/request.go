package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"
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

// body is req as the API takes it.
func (p *Provider) body(req *llm.Request) (wire.Body, error) {
	messages, mayThink := p.messages(req)
	params := p.params(req)
	switch budget := p.o.ThinkingBudget; {
	case budget < 0:
		params.Thinking.OfAdaptive = &sdk.ThinkingConfigAdaptiveParam{Display: sdk.ThinkingConfigAdaptiveDisplaySummarized}
	case budget > 0 && mayThink:
		think(&params, budget, req.MaxTokens)
	}
	rest, err := params.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return wire.List("messages", messages, rest), nil
}

// params is all of req but its messages, in the library's words, without thinking.
func (p *Provider) params(req *llm.Request) sdk.MessageNewParams {
	out := sdk.MessageNewParams{Model: sdk.Model(req.Model), MaxTokens: int64(replyLimit(req))}
	if strings.TrimSpace(req.System) != "" {
		out.System = []sdk.TextBlockParam{{Text: req.System, CacheControl: sdk.NewCacheControlEphemeralParam()}}
	}
	for _, t := range req.Tools {
		out.Tools = append(out.Tools, tool(t))
	}
	if n := len(out.Tools); n > 0 {
		out.Tools[n-1].OfTool.CacheControl = sdk.NewCacheControlEphemeralParam()
	}
	out.SetExtraFields(map[string]any{"stream": true})
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

// form says what a written message depends on: thinking is only sent to the model that produced it.
type form struct {
	model string
	sees  bool // it takes pictures
}

// written is a message as the API takes it, an object that ends with the list of its blocks. The zero value: nothing of
// it is taken.
type written struct {
	text    []byte
	open    int  // where its blocks begin in text
	thinks  bool // it begins with thinking
	answers bool // it begins with a tool's result
}

const (
	blockEnds   = `}`
	messageEnds = `]}`
	cached      = `,"cache_control":{"type":"ephemeral"}`
)

// messages is the conversation as the API takes it, and whether thinking may be turned on with a budget. Neighbours
// that have the same role, once what the API does not take is dropped, become one.
//
// The server is asked to cache it up to the last message of the user and up to the one before: what this request writes
// the next one reads. With system and tools that makes the four marks a request may have.
//
// Thinking may not be turned on in the middle of a turn that began without it, for example with another model: the API
// refuses to continue it with a budget.
func (p *Provider) messages(req *llm.Request) (out [][]byte, mayThink bool) {
	f := form{p.o.Name + "/" + req.Model, req.Sees}
	out, mayThink = make([][]byte, 0, len(req.Messages)), true
	var last llm.Role
	before, heard := -1, -1 // where the last two messages of the user end in out; -1: there is none
	for i := range req.Messages {
		m := &req.Messages[i]
		w := llm.Write(m, f, form.write)
		text := w.text
		switch n := len(out) - 1; {
		case text == nil:
			continue
		case m.Role == last: // the blocks of both are one list
			out[n] = bytes.TrimSuffix(out[n], []byte(messageEnds))
			text = text[w.open:]
		case m.Role == llm.Assistant:
			mayThink = w.thinks
		default:
			mayThink = mayThink || !w.answers
			before = heard
		}
		out, last = append(out, text), m.Role
		if m.Role != llm.Assistant {
			heard = len(out) - 1
		}
	}
	for _, n := range []int{before, heard} {
		if n >= 0 {
			block := bytes.TrimSuffix(out[n], []byte(blockEnds+messageEnds))
			out[n] = slices.Concat(block, []byte(cached+blockEnds+messageEnds))
		}
	}
	return out, mayThink
}

// The blocks of a message. The library's own types take seven times as long: they are encoded once more for each level
// above them.
type (
	said struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	thought struct {
		Type      string `json:"type"`
		Thinking  string `json:"thinking"`
		Signature string `json:"signature"`
	}
	hidden struct {
		Type string `json:"type"`
		Data string `json:"data"`
	}
	called struct {
		Type  string          `json:"type"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	}
	answered struct {
		Type    string `json:"type"`
		ID      string `json:"tool_use_id"`
		Error   bool   `json:"is_error,omitempty"`
		Content []any  `json:"content,omitempty"`
	}
	shown struct {
		Type   string `json:"type"`
		Source source `json:"source"`
	}
	source struct {
		Type  string `json:"type"`
		Media string `json:"media_type"`
		Data  []byte `json:"data"` // in base64
	}
)

// write leaves out what the API does not take: blank texts, and thinking that is not this model's.
func (f form) write(m *llm.Message) written {
	blocks := make([]any, 0, len(m.Parts))
	for _, part := range m.Parts {
		if b := f.block(part); b != nil {
			blocks = append(blocks, b)
		}
	}
	if len(blocks) == 0 {
		return written{}
	}
	role := llm.User
	if m.Role == llm.Assistant {
		role = llm.Assistant
	}
	text := wire.JSON(struct {
		Role    llm.Role `json:"role"`
		Content []any    `json:"content"`
	}{role, blocks})
	w := written{text: text, open: bytes.IndexByte(text, '[') + 1}
	switch blocks[0].(type) {
	case thought, hidden:
		w.thinks = true
	case answered:
		w.answers = true
	}
	return w
}

func (f form) block(part llm.Part) any {
	switch part := part.(type) {
	case llm.Text:
		if strings.TrimSpace(part.Text) != "" {
			return said{"text", part.Text}
		}
	case llm.Thinking:
		if part.Model != f.model {
			break
		}
		if data, ok := strings.CutPrefix(part.Opaque, redacted); ok {
			return hidden{"redacted_thinking", data}
		}
		if signature, ok := strings.CutPrefix(part.Opaque, signed); ok {
			return thought{"thinking", part.Text, signature}
		}
	case llm.ToolCall:
		args := part.Args
		if !wire.Object(args) {
			args = json.RawMessage("{}")
		}
		return called{"tool_use", wire.SafeID(part.ID), wire.SafeName(part.Name), args}
	case llm.ToolResult:
		out := answered{Type: "tool_result", ID: wire.SafeID(part.ID), Error: part.Error}
		if strings.TrimSpace(part.Text) != "" {
			out.Content = []any{said{"text", part.Text}}
		}
		if f.sees {
			for _, i := range part.Images {
				if data, err := i.Read(); err == nil {
					out.Content = append(out.Content, shown{"image", source{"base64", i.Type, data}})
				}
			}
		}
		return out
	}
	return nil
}
