package responses

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"

	"fantail/agents/llm"
)

// The request and the items of its input.
type (
	request struct {
		Model             string     `json:"model"`
		Instructions      string     `json:"instructions,omitempty"`
		Tools             []tool     `json:"tools,omitempty"`
		ParallelToolCalls bool       `json:"parallel_tool_calls,omitempty"`
		MaxOutputTokens   int        `json:"max_output_tokens,omitempty"`
		PromptCacheKey    string     `json:"prompt_cache_key,omitempty"`
		Reasoning         *reasoning `json:"reasoning,omitempty"`
		Include           []string   `json:"include,omitempty"`
		Store             bool       `json:"store"`
		Stream            bool       `json:"stream"`
	}
	reasoning struct {
		Summary string `json:"summary"`
	}
	tool struct {
		Type        string          `json:"type"`
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      bool            `json:"strict"`
	}
	messageItem struct {
		Type    string `json:"type"`
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	callItem struct {
		Type      string `json:"type"`
		CallID    string `json:"call_id"`
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	outputItem struct {
		Type   string `json:"type"`
		CallID string `json:"call_id"`
		Output any    `json:"output"` // a string or a []contentPart
	}
	contentPart struct {
		Type     string `json:"type"`
		Text     string `json:"text,omitempty"`
		ImageURL string `json:"image_url,omitempty"`
	}
)

// requestBody encodes req with these tools.
func (p *Provider) requestBody(req *llm.Request, tools []llm.Tool) llm.Body {
	out := request{
		Model: req.Model, MaxOutputTokens: req.MaxTokens, PromptCacheKey: req.CacheKey,
		ParallelToolCalls: len(tools) > 0, Stream: true,
	}
	if strings.TrimSpace(req.System) != "" {
		out.Instructions = req.System
	}
	if reasons(req.Model) {
		out.Reasoning, out.Include = &reasoning{"auto"}, []string{"reasoning.encrypted_content"}
	}
	for _, t := range tools {
		out.Tools = append(out.Tools, tool{Type: "function", Name: t.Name, Description: t.Description, Parameters: t.Schema})
	}
	f := encoding{p.name + "/" + req.Model, req.Sees}
	var items [][]byte
	for i := range req.Messages {
		if text := llm.EncodeOnce(&req.Messages[i], f, encoding.encodeMessage); len(text) > 0 {
			items = append(items, text)
		}
	}
	return llm.BodyWithList("input", items, llm.Encode(out))
}

// reasons reports whether the model takes settings of reasoning: o1, o3, …, gpt-5 and later. Others refuse them.
func reasons(model string) bool {
	if rest, ok := strings.CutPrefix(model, "gpt-"); ok {
		return rest != "" && (rest[0] >= '5' && rest[0] <= '9' || rest[0] == '1' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9') &&
			!strings.Contains(rest, "chat")
	}
	return len(model) > 1 && model[0] == 'o' && model[1] >= '1' && model[1] <= '9'
}

// encoding holds the options on which the encoding of a message depends.
type encoding struct {
	model  string
	images bool
}

// encodeMessage encodes m as zero or more items, separated by commas. The server refuses reasoning
// that nothing follows, so that is left out.
func (f encoding) encodeMessage(m *llm.Message) []byte {
	var all, pending [][]byte // pending reasoning waits for the item that follows
	add := func(item any) {
		all = append(append(all, pending...), llm.Encode(item))
		pending = nil
	}
	for _, part := range m.Parts {
		switch part := part.(type) {
		case llm.Text:
			if strings.TrimSpace(part.Text) != "" {
				add(messageItem{"message", string(m.Role), part.Text})
			}
		case llm.Thinking:
			if part.Model == f.model && part.Opaque != "" && llm.IsObject([]byte(part.Opaque)) {
				pending = append(pending, []byte(part.Opaque))
			}
		case llm.ToolCall:
			add(callItem{"function_call", llm.SafeID(part.ID), llm.SafeName(part.Name), string(llm.ValidArgs(part.Args))})
		case llm.ToolResult:
			add(outputItem{"function_call_output", llm.SafeID(part.ID), f.output(part)})
		}
	}
	return bytes.Join(all, []byte(","))
}

// output returns the output of a call. The API has no field for a failed call, so its text says so.
func (f encoding) output(r llm.ToolResult) any {
	text := r.Text
	switch blank := strings.TrimSpace(text) == ""; {
	case r.Error && blank:
		text = "Error"
	case r.Error:
		text = "Error: " + text
	case blank:
		text = "(no output)"
	}
	parts := []contentPart{{Type: "input_text", Text: text}}
	for _, i := range r.Images {
		if !f.images {
			break
		}
		if data, err := i.Read(); err == nil {
			parts = append(parts, contentPart{Type: "input_image", ImageURL: "data:" + i.Type + ";base64," + base64.StdEncoding.EncodeToString(data)})
		}
	}
	if len(parts) == 1 {
		return text
	}
	return parts
}
