package openai

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"fantail/agents/llm"
)

// reasoningContent is the name of the field whose reasoning is sent back to the server.
// Thinking.Opaque of such reasoning holds the same name. Reasoning from the field
// "reasoning" is not sent back: servers that use that field refuse it in a request.
const reasoningContent = "reasoning_content"

// reasoningRequiredHosts are the hosts that refuse an assistant message without reasoning,
// even a message of another model.
var reasoningRequiredHosts = []string{"api.deepseek.com", "api.moonshot.ai", "api.moonshot.cn"}

// The members of a request besides its messages.
type (
	requestParam struct {
		Model               string         `json:"model"`
		MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
		MaxTokens           int            `json:"max_tokens,omitempty"`
		PromptCacheKey      string         `json:"prompt_cache_key,omitempty"`
		StreamOptions       *streamOptions `json:"stream_options,omitempty"`
		Tools               []toolParam    `json:"tools,omitempty"`
		Stream              bool           `json:"stream"`
	}
	streamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	}
	toolParam struct {
		Function functionParam `json:"function"`
		Type     string        `json:"type"`
	}
	// The schema is sent unchanged: a map would lose the order of its members,
	// which matters to some models.
	functionParam struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
	}
)

// requestBody encodes req with these tools.
func (p *Provider) requestBody(req *llm.Request, tools []llm.Tool) llm.Body {
	return llm.BodyWithList("messages", p.messages(req), llm.Encode(p.params(req, tools)))
}

// params returns everything of req but its messages. Fields that only the vendor
// knows are sent only to the vendor: some other servers refuse unknown fields.
func (p *Provider) params(req *llm.Request, tools []llm.Tool) *requestParam {
	out := &requestParam{Model: req.Model, Stream: true}
	if !p.client.Refused.Has(llm.StreamOptions) {
		out.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	if p.vendor {
		out.MaxCompletionTokens, out.PromptCacheKey = max(req.MaxTokens, 0), req.CacheKey
	} else {
		out.MaxTokens = max(req.MaxTokens, 0)
	}
	for _, t := range tools {
		out.Tools = append(out.Tools, toolParam{functionParam{t.Name, t.Description, t.Schema}, "function"})
	}
	return out
}

// encoding holds the options on which the encoding of a message depends. Reasoning is
// sent only to the model that produced it, and only if its server takes it back.
type encoding struct {
	model         string
	sendReasoning bool
	images        bool
}

// messages encodes the conversation.
func (p *Provider) messages(req *llm.Request) [][]byte {
	f := encoding{model: p.o.Name + "/" + req.Model, images: req.Sees}
	f.sendReasoning = p.reasoningRequired || slices.ContainsFunc(req.Messages, f.hasReasoning)
	out := make([][]byte, 0, len(req.Messages)+1)
	if strings.TrimSpace(req.System) != "" {
		out = append(out, llm.Encode(systemMessage{"system", req.System}))
	}
	for i := range req.Messages {
		if text := llm.EncodeOnce(&req.Messages[i], f, encoding.encodeMessage); len(text) > 0 {
			out = append(out, text)
		}
	}
	return out
}

// The messages of the Chat Completions API and their parts.
type (
	systemMessage struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	userMessage struct {
		Role    string `json:"role"`
		Content any    `json:"content"` // a string or a []contentPart
	}
	contentPart struct {
		Type     string    `json:"type"`
		Text     string    `json:"text,omitempty"`
		ImageURL *imageURL `json:"image_url,omitempty"`
	}
	imageURL struct {
		URL string `json:"url"`
	}
	toolMessage struct {
		Role       string `json:"role"`
		ToolCallID string `json:"tool_call_id"`
		Content    string `json:"content"`
	}
	assistantMessage struct {
		Role             string     `json:"role"`
		Content          string     `json:"content,omitempty"`
		ReasoningContent string     `json:"reasoning_content,omitempty"`
		ToolCalls        []toolCall `json:"tool_calls,omitempty"`
	}
	toolCall struct {
		ID       string       `json:"id"`
		Type     string       `json:"type"`
		Function functionCall `json:"function"`
	}
	functionCall struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
)

// encodeMessage encodes m as zero or more messages of the API, separated by commas. Tool
// results come before the text of the same message, because the API wants a call
// answered before any other message.
func (f encoding) encodeMessage(m *llm.Message) []byte {
	if m.Role == llm.Assistant {
		return f.encodeAssistant(m)
	}
	var all [][]byte
	for _, part := range m.Parts {
		if r, ok := part.(llm.ToolResult); ok {
			all = append(all, llm.Encode(toolMessage{"tool", llm.SafeID(r.ID), toolResultText(r)}))
		}
	}
	text := messageText(m)
	if images := f.imageParts(m); len(images) > 0 {
		if text != "" {
			images = append(images, contentPart{Type: "text", Text: text})
		}
		all = append(all, llm.Encode(userMessage{"user", images}))
	} else if text != "" {
		all = append(all, llm.Encode(userMessage{"user", text}))
	}
	return bytes.Join(all, []byte(","))
}

// imageParts returns the images of the tool results in m. They go into a user message, because a tool message holds only text.
func (f encoding) imageParts(m *llm.Message) (all []contentPart) {
	if !f.images {
		return nil
	}
	for _, part := range m.Parts {
		r, _ := part.(llm.ToolResult)
		labelled := false
		for _, i := range r.Images {
			data, err := i.Read()
			if err != nil {
				continue
			}
			if !labelled {
				labelled = true
				all = append(all, contentPart{Type: "text", Text: "Put out by the tool that answered call " + llm.SafeID(r.ID) + ":"})
			}
			all = append(all, contentPart{Type: "image_url", ImageURL: &imageURL{"data:" + i.Type + ";base64," + base64.StdEncoding.EncodeToString(data)}})
		}
	}
	return all
}

// hasReasoning reports whether m holds reasoning that must be sent back.
func (f encoding) hasReasoning(m llm.Message) bool {
	return slices.ContainsFunc(m.Parts, func(part llm.Part) bool {
		t, ok := part.(llm.Thinking)
		return ok && t.Text != "" && f.sendsBack(t)
	})
}

// sendsBack reports whether t must be sent back: this model produced it and its server takes it.
func (f encoding) sendsBack(t llm.Thinking) bool {
	return t.Opaque == reasoningContent && t.Model == f.model
}

// reasoningText returns the reasoning in m that must be sent back.
func (f encoding) reasoningText(m *llm.Message) string {
	var all strings.Builder
	for _, part := range m.Parts {
		if t, ok := part.(llm.Thinking); ok && f.sendsBack(t) {
			all.WriteString(t.Text)
		}
	}
	return all.String()
}

func (f encoding) encodeAssistant(m *llm.Message) []byte {
	out := assistantMessage{Role: "assistant", Content: messageText(m)}
	for _, part := range m.Parts {
		c, ok := part.(llm.ToolCall)
		if !ok {
			continue
		}
		out.ToolCalls = append(out.ToolCalls, toolCall{llm.SafeID(c.ID), "function", functionCall{llm.SafeName(c.Name), string(llm.ValidArgs(c.Args))}})
	}
	if out.Content == "" && len(out.ToolCalls) == 0 {
		return nil
	}
	if f.sendReasoning {
		out.ReasoningContent = cmp.Or(f.reasoningText(m), " ") // some servers take an empty text for a missing one
	}
	return llm.Encode(out)
}

// toolResultText returns the content of a tool message. The API has no field for a failed
// call, so its text says so.
func toolResultText(r llm.ToolResult) string {
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

// messageText joins the texts of a message with blank lines.
func messageText(m *llm.Message) string {
	var all []string
	for _, part := range m.Parts {
		if t, ok := part.(llm.Text); ok && strings.TrimSpace(t.Text) != "" {
			all = append(all, t.Text)
		}
	}
	return strings.Join(all, "\n\n")
}
