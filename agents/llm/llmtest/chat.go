package llmtest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"fantail/agents/llm"
)

// chatAPI is the Chat Completions protocol.
type chatAPI struct {
	reasons bool // see Server.Reasons
}

type chatRequest struct {
	Model               string        `json:"model"`
	Messages            []chatMessage `json:"messages"`
	MaxTokens           int           `json:"max_tokens"`
	MaxCompletionTokens int           `json:"max_completion_tokens"`
	Stream              bool          `json:"stream"`
	PromptCacheKey      string        `json:"prompt_cache_key"`
	StreamOptions       struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Tools []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
}

type chatMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	Reasoning  string          `json:"reasoning_content"`
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func (chatAPI) keys(h http.Header) (string, string) {
	if k := strings.TrimPrefix(h.Get("Authorization"), "Bearer "); k != "" {
		return "Authorization", k
	}
	return "", ""
}

func (chatAPI) failure(typ, message string) any {
	return map[string]any{"error": map[string]any{"type": typ, "code": typ, "message": message, "param": nil}}
}

func (a chatAPI) parse(body []byte) (Request, error) {
	var in chatRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, fmt.Errorf("body: %w", err)
	}
	req := Request{
		Protocol: OpenAI, Model: in.Model, MaxTokens: max(in.MaxTokens, in.MaxCompletionTokens),
		CacheKey: in.PromptCacheKey, Usage: in.StreamOptions.IncludeUsage,
	}
	switch {
	case in.Model == "":
		return req, fmt.Errorf("model: is missing")
	case !in.Stream:
		return req, fmt.Errorf("stream: only streamed requests are served")
	case len(in.Messages) == 0:
		return req, fmt.Errorf("messages: at least one is needed")
	}
	for i, t := range in.Tools {
		var schema struct{ Type string }
		_ = json.Unmarshal(t.Function.Parameters, &schema)
		switch {
		case t.Type != "function":
			return req, fmt.Errorf("tools[%d].type: must be \"function\"", i)
		case !toolName.MatchString(t.Function.Name) || len(t.Function.Name) > 64:
			return req, fmt.Errorf("tools[%d].function.name: %q is not allowed", i, t.Function.Name)
		case schema.Type != "object":
			return req, fmt.Errorf("tools[%d].function.parameters.type: must be \"object\"", i)
		}
		req.Tools = append(req.Tools, llm.Tool{Name: t.Function.Name, Description: t.Function.Description, Schema: t.Function.Parameters})
	}
	var open []string // calls not yet answered
	for i, m := range in.Messages {
		if len(open) > 0 && m.Role != "tool" {
			return req, fmt.Errorf("messages[%d]: the calls %s are not answered by tool messages right after them", i, strings.Join(open, ", "))
		}
		if a.reasons && m.Role == "assistant" && m.Reasoning == "" {
			return req, fmt.Errorf("messages[%d].reasoning_content: must be passed back", i)
		}
		if err := req.readChat(i, m, &open); err != nil {
			return req, err
		}
	}
	if len(open) > 0 {
		return req, fmt.Errorf("messages: the calls %s are not answered", strings.Join(open, ", "))
	}
	return req, nil
}

func (req *Request) readChat(i int, m chatMessage, open *[]string) error {
	var text string
	if len(m.Content) > 0 && json.Unmarshal(m.Content, &text) != nil {
		if m.Role == "user" {
			return req.readPieces(i, m.Content)
		}
		return fmt.Errorf("messages[%d].content: must be text", i)
	}
	switch m.Role {
	case "system", "developer":
		if text == "" {
			return fmt.Errorf("messages[%d].content: is empty", i)
		}
		req.System += text
	case "user":
		if text == "" {
			return fmt.Errorf("messages[%d].content: is empty", i)
		}
		req.add(llm.User, llm.Text{Text: text})
	case "tool":
		k := slices.Index(*open, m.ToolCallID)
		if k < 0 {
			return fmt.Errorf("messages[%d]: tool_call_id %q answers no call right before it", i, m.ToolCallID)
		}
		*open = slices.Delete(*open, k, k+1)
		req.add(llm.User, llm.ToolResult{ID: m.ToolCallID, Text: text})
	case "assistant":
		if (len(m.Content) == 0 || string(m.Content) == "null") && len(m.ToolCalls) == 0 { // an empty text is some
			return fmt.Errorf("messages[%d]: needs content or tool_calls", i)
		}
		if m.Reasoning != "" {
			req.add(llm.Assistant, llm.Thinking{Text: m.Reasoning})
		}
		if text != "" {
			req.add(llm.Assistant, llm.Text{Text: text})
		}
		for j, c := range m.ToolCalls {
			var args map[string]any
			switch {
			case c.ID == "" || len(c.ID) > 40:
				return fmt.Errorf("messages[%d].tool_calls[%d].id: must have 1 to 40 characters", i, j)
			case slices.Contains(*open, c.ID):
				return fmt.Errorf("messages[%d].tool_calls[%d].id: %q is there twice", i, j, c.ID)
			case c.Type != "function":
				return fmt.Errorf("messages[%d].tool_calls[%d].type: must be \"function\"", i, j)
			case !toolName.MatchString(c.Function.Name):
				return fmt.Errorf("messages[%d].tool_calls[%d].function.name: %q is not allowed", i, j, c.Function.Name)
			case json.Unmarshal([]byte(c.Function.Arguments), &args) != nil:
				return fmt.Errorf("messages[%d].tool_calls[%d].function.arguments: must be the text of an object", i, j)
			}
			*open = append(*open, c.ID)
			req.add(llm.Assistant, llm.ToolCall{ID: c.ID, Name: c.Function.Name, Args: json.RawMessage(c.Function.Arguments)})
		}
	default:
		return fmt.Errorf("messages[%d].role: %q is unknown", i, m.Role)
	}
	return nil
}

// readPieces reads what a user says with pictures in it. They count to the last result before them.
func (req *Request) readPieces(i int, content json.RawMessage) error {
	var pieces []struct {
		Type  string `json:"type"`
		Text  string `json:"text"`
		Image struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	if err := json.Unmarshal(content, &pieces); err != nil || len(pieces) == 0 {
		return fmt.Errorf("messages[%d].content: must be text or a list of parts", i)
	}
	for j, p := range pieces {
		media, data, is := strings.Cut(strings.TrimPrefix(p.Image.URL, "data:"), ";base64,")
		switch {
		case p.Type == "text" && p.Text != "":
			req.add(llm.User, llm.Text{Text: p.Text})
		case p.Type == "image_url" && is:
			bytes, err := base64.StdEncoding.DecodeString(data)
			image, bad := picture(media, bytes)
			if err = errors.Join(err, bad); err != nil {
				return fmt.Errorf("messages[%d].content[%d].image_url: %w", i, j, err)
			}
			if !req.shows(image) {
				return fmt.Errorf("messages[%d].content[%d]: a picture of no result", i, j)
			}
		default:
			return fmt.Errorf("messages[%d].content[%d].type: %q is not served, or empty", i, j, p.Type)
		}
	}
	return nil
}

// shows adds a picture to the last result.
func (req *Request) shows(image llm.Image) bool {
	parts := req.Messages[len(req.Messages)-1].Parts
	for n := len(parts) - 1; n >= 0; n-- {
		if r, is := parts[n].(llm.ToolResult); is {
			r.Images = append(r.Images, image)
			parts[n] = r
			return true
		}
	}
	return false
}

// picture is what a service takes for a picture.
func picture(media string, data []byte) (llm.Image, error) {
	if is := http.DetectContentType(data); is != media || !strings.HasPrefix(is, "image/") {
		return llm.Image{}, fmt.Errorf("%q is said to be %q", is, media)
	}
	return llm.Image{Type: media, Read: func() ([]byte, error) { return data, nil }}, nil
}

// add appends a part; neighbours of one role become one message.
func (req *Request) add(role llm.Role, p llm.Part) {
	if n := len(req.Messages); n > 0 && req.Messages[n-1].Role == role {
		req.Messages[n-1].Parts = append(req.Messages[n-1].Parts, p)
		return
	}
	req.Messages = append(req.Messages, llm.Message{Role: role, Parts: []llm.Part{p}})
}

// send writes the chunks of a reply.
func (a chatAPI) send(o *stream, req Request, r Reply) {
	chunk := func(delta map[string]any, finish any, usage any) {
		c := map[string]any{"id": fmt.Sprintf("chatcmpl-%d", req.N), "object": "chat.completion.chunk", "created": 1700000000, "model": req.Model}
		c["choices"] = []any{}
		if delta != nil {
			c["choices"] = []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}
		}
		if usage != nil {
			c["usage"] = usage
		}
		o.event("", c)
	}
	chunk(map[string]any{"role": "assistant", "content": ""}, nil, nil)
	calls := 0
	for _, p := range r.Parts {
		switch p := p.(type) {
		case llm.Text:
			for _, piece := range pieces(p.Text, r.Chunk) {
				o.token()
				chunk(map[string]any{"content": piece}, nil, nil)
			}
		case llm.Thinking:
			for _, piece := range pieces(p.Text, r.Chunk) {
				o.token()
				chunk(map[string]any{"reasoning_content": piece}, nil, nil)
			}
		case llm.ToolCall:
			chunk(map[string]any{"tool_calls": []any{map[string]any{"index": calls, "id": p.ID, "type": "function", "function": map[string]any{"name": p.Name, "arguments": ""}}}}, nil, nil)
			for _, piece := range r.halves(string(p.Args)) {
				chunk(map[string]any{"tool_calls": []any{map[string]any{"index": calls, "function": map[string]any{"arguments": piece}}}}, nil, nil)
			}
			calls++
		}
	}
	if r.Error != "" {
		o.fail("", a)
		return
	}
	chunk(map[string]any{}, chatWord(r.stop(calls > 0)), nil)
	if req.Usage && !r.NoUsage {
		u := r.usage(req)
		chunk(nil, nil, map[string]any{
			"prompt_tokens": u.Input + u.CacheRead + u.CacheWrite, "completion_tokens": u.Output, "total_tokens": u.Context(),
			"prompt_tokens_details":     map[string]any{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite},
			"completion_tokens_details": map[string]any{"reasoning_tokens": u.Reasoning},
		})
	}
	if !r.NoDone {
		o.event("", "[DONE]")
	}
}

// chatWord is the protocol's word for a reason.
func chatWord(r llm.Reason) string {
	switch r {
	case llm.EndTurn:
		return "stop"
	case llm.ToolUse:
		return "tool_calls"
	case llm.Refusal:
		return "content_filter"
	}
	return string(r)
}
