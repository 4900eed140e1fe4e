package llmtest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"fantail/agents/llm"
)

// messagesAPI is the Messages protocol.
type messagesAPI struct{}

// The marks in Thinking.Opaque, as the anthropic provider writes them.
const (
	signed   = "signature:"
	redacted = "redacted:"
	ourSign  = "fake." // a signature of this server, which it can check
)

var (
	callID   = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
)

type cacheMark struct {
	Type string `json:"type"`
}

type messagesRequest struct {
	Model     string          `json:"model"`
	MaxTokens int             `json:"max_tokens"`
	Stream    bool            `json:"stream"`
	System    json.RawMessage `json:"system"`
	Messages  []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Type        string          `json:"type"` // empty or "custom", else one the service runs itself
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"input_schema"`
		Cache       *cacheMark      `json:"cache_control"`
	} `json:"tools"`
	Thinking struct {
		Type    string `json:"type"`
		Budget  int    `json:"budget_tokens"`
		Display string `json:"display"`
	} `json:"thinking"`
}

// messagesFields are the fields a request may have, also those not read here.
// The service refuses any other.
var messagesFields = []string{
	"model", "max_tokens", "messages", "system", "tools", "stream", "thinking",
	"cache_control", "container", "context_management", "diagnostics", "inference_geo", "mcp_servers", "metadata", "output_config",
	"output_format", "service_tier", "speed", "stop_sequences", "temperature", "tool_choice", "top_k", "top_p",
}

type contentBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	Source    struct {
		Type  string `json:"type"`
		Media string `json:"media_type"`
		Data  []byte `json:"data"`
	} `json:"source"`
	Cache *cacheMark `json:"cache_control"`
}

func (messagesAPI) keys(h http.Header) (string, string) {
	if k := h.Get("X-Api-Key"); k != "" {
		return "X-Api-Key", k
	}
	if k := strings.TrimPrefix(h.Get("Authorization"), "Bearer "); k != "" {
		return "Authorization", k
	}
	return "", ""
}

func (messagesAPI) failure(typ, message string) any {
	return map[string]any{"type": "error", "error": map[string]any{"type": typ, "message": message}}
}

func (messagesAPI) parse(body []byte) (Request, error) {
	var in messagesRequest
	var fields map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(body, &in), json.Unmarshal(body, &fields)); err != nil {
		return Request{}, fmt.Errorf("body: %w", err)
	}
	for name := range fields {
		if !slices.Contains(messagesFields, name) {
			return Request{}, fmt.Errorf("%s: extra inputs are not permitted", name)
		}
	}
	req := Request{Protocol: Anthropic, Model: in.Model, MaxTokens: in.MaxTokens, Usage: true, Thinking: in.Thinking.Type == "enabled" || in.Thinking.Type == "adaptive"}
	switch {
	case in.Model == "":
		return req, fmt.Errorf("model: is missing")
	case in.MaxTokens < 1:
		return req, fmt.Errorf("max_tokens: must be at least 1")
	case !in.Stream:
		return req, fmt.Errorf("stream: only streamed requests are served")
	case in.Thinking.Type == "enabled" && in.Thinking.Budget < 1024:
		return req, fmt.Errorf("thinking.budget_tokens: must be at least 1024")
	case in.Thinking.Type == "enabled" && in.Thinking.Budget >= in.MaxTokens:
		return req, fmt.Errorf("thinking.budget_tokens: must be less than max_tokens")
	case len(in.Messages) == 0:
		return req, fmt.Errorf("messages: at least one is needed")
	}
	if len(in.System) > 0 {
		blocks, err := readBlocks("system", in.System)
		if err != nil {
			return req, err
		}
		for i, b := range blocks {
			if err := req.mark(fmt.Sprintf("system.%d", i), b); err != nil {
				return req, err
			}
			req.System += b.Text
		}
	}
	if err := req.readTools(in); err != nil {
		return req, err
	}
	for i, m := range in.Messages {
		if err := req.readMessage(i, m.Role, m.Content); err != nil {
			return req, err
		}
	}
	if req.Marks > 4 {
		return req, fmt.Errorf("cache_control: %d marks, at most 4 are allowed", req.Marks)
	}
	err := req.checkCalls()
	if err == nil && in.Thinking.Type == "enabled" { // a model that decides by itself may begin without
		err = req.checkThinking()
	}
	return req, err
}

func (req *Request) readTools(in messagesRequest) error {
	for i, t := range in.Tools {
		var schema struct{ Type string }
		_ = json.Unmarshal(t.InputSchema, &schema)
		switch {
		case !toolName.MatchString(t.Name):
			return fmt.Errorf("tools.%d.name: %q does not match %s", i, t.Name, toolName)
		case slices.ContainsFunc(req.Tools, func(o llm.Tool) bool { return o.Name == t.Name }):
			return fmt.Errorf("tools.%d.name: %q is there twice", i, t.Name)
		case schema.Type != "object" && (t.Type == "" || t.Type == "custom"):
			return fmt.Errorf("tools.%d.input_schema.type: must be \"object\"", i)
		}
		if t.Cache != nil {
			req.Marks++
		}
		req.Tools = append(req.Tools, llm.Tool{Name: t.Name, Description: t.Description, Schema: t.InputSchema})
	}
	return nil
}

// readBlocks reads content, which is text or a list of blocks.
func readBlocks(at string, raw json.RawMessage) ([]contentBlock, error) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return []contentBlock{{Type: "text", Text: s}}, nil
	}
	var blocks []contentBlock
	if err := json.Unmarshal(raw, &blocks); err != nil {
		return nil, fmt.Errorf("%s: must be text or a list of blocks: %w", at, err)
	}
	if len(blocks) == 0 {
		return nil, fmt.Errorf("%s: is empty", at)
	}
	return blocks, nil
}

// mark checks a text block and counts its cache mark.
func (req *Request) mark(at string, b contentBlock) error {
	if b.Cache != nil {
		if b.Type == "thinking" || b.Type == "redacted_thinking" {
			return fmt.Errorf("%s.cache_control: is not allowed on %s", at, b.Type)
		}
		if b.Cache.Type != "ephemeral" {
			return fmt.Errorf("%s.cache_control.type: must be \"ephemeral\"", at)
		}
		req.Marks++
	}
	if b.Type == "text" && strings.TrimSpace(b.Text) == "" {
		return fmt.Errorf("%s.text: must contain more than white space", at)
	}
	return nil
}

// readMessage reads one message. Neighbours of one role count as one message, and
// what the system says in between as part of the system prompt.
func (req *Request) readMessage(i int, role string, content json.RawMessage) error {
	at := fmt.Sprintf("messages.%d", i)
	who := llm.Role(role)
	switch {
	case role != "system" && who != llm.User && who != llm.Assistant:
		return fmt.Errorf("%s.role: %q is unknown", at, role)
	case len(req.Messages) == 0 && who != llm.User:
		return fmt.Errorf("%s.role: is %q where %q is due: a conversation begins with the user", at, role, llm.User)
	}
	blocks, err := readBlocks(at+".content", content)
	if err != nil {
		return err
	}
	for j, b := range blocks {
		here := fmt.Sprintf("%s.content.%d", at, j)
		if err := req.mark(here, b); err != nil {
			return err
		}
		if role == "system" {
			req.System += b.Text
			continue
		}
		part, err := b.part(here, who)
		if err != nil {
			return err
		}
		req.add(who, part)
	}
	return nil
}

// part is the block in our words.
func (b contentBlock) part(at string, role llm.Role) (llm.Part, error) {
	switch {
	case b.Type == "text":
		return llm.Text{Text: b.Text}, nil
	case b.Type == "tool_result" && role == llm.User:
		text, images := "", []llm.Image(nil)
		if len(b.Content) > 0 {
			inner, err := readBlocks(at+".content", b.Content)
			if err != nil {
				return nil, err
			}
			for k, t := range inner {
				if t.Type == "image" && t.Source.Type == "base64" && !b.IsError {
					image, err := picture(t.Source.Media, t.Source.Data)
					if err != nil {
						return nil, fmt.Errorf("%s.content.%d.source: %w", at, k, err)
					}
					images = append(images, image)
					continue
				}
				if t.Type != "text" || t.Text == "" {
					return nil, fmt.Errorf("%s.content.%d: must be a text that is not empty", at, k)
				}
				text += t.Text
			}
		}
		return llm.ToolResult{ID: b.ToolUseID, Text: text, Error: b.IsError, Images: images}, nil
	case b.Type == "tool_use" && role == llm.Assistant:
		var input map[string]any
		switch {
		case !callID.MatchString(b.ID):
			return nil, fmt.Errorf("%s.id: %q does not match %s", at, b.ID, callID)
		case !toolName.MatchString(b.Name):
			return nil, fmt.Errorf("%s.name: %q does not match %s", at, b.Name, toolName)
		case json.Unmarshal(b.Input, &input) != nil:
			return nil, fmt.Errorf("%s.input: must be an object", at)
		}
		return llm.ToolCall{ID: b.ID, Name: b.Name, Args: b.Input}, nil
	case b.Type == "thinking" && role == llm.Assistant:
		if b.Signature == "" || strings.HasPrefix(b.Signature, ourSign) && b.Signature != sign(b.Thinking) {
			return nil, fmt.Errorf("%s.signature: does not belong to this text", at)
		}
		return llm.Thinking{Text: b.Thinking, Opaque: signed + b.Signature}, nil
	case b.Type == "redacted_thinking" && role == llm.Assistant:
		return llm.Thinking{Opaque: redacted + b.Data}, nil
	}
	return nil, fmt.Errorf("%s.type: %q is not allowed in a message of role %s", at, b.Type, role)
}

func sign(text string) string {
	sum := sha256.Sum256([]byte(text))
	return ourSign + hex.EncodeToString(sum[:16])
}

// checkCalls checks that each call is answered right after it, before any text,
// and that nothing else is answered.
func (req *Request) checkCalls() error {
	var open []string
	seen := map[string]bool{}
	for i, m := range req.Messages {
		if m.Role == llm.Assistant {
			for _, p := range m.Parts {
				if c, ok := p.(llm.ToolCall); ok {
					if seen[c.ID] {
						return fmt.Errorf("messages.%d: the id %q is used twice", i, c.ID)
					}
					seen[c.ID] = true
					open = append(open, c.ID)
				}
			}
			continue
		}
		text := false
		for j, p := range m.Parts {
			r, ok := p.(llm.ToolResult)
			if !ok {
				text = true
				continue
			}
			k := slices.Index(open, r.ID)
			switch {
			case k < 0:
				return fmt.Errorf("messages.%d.content.%d: %q answers no call of the message before", i, j, r.ID)
			case text:
				return fmt.Errorf("messages.%d.content.%d: a result must stand before any text", i, j)
			}
			open = slices.Delete(open, k, k+1)
		}
		if len(open) > 0 {
			return fmt.Errorf("messages.%d: the calls %s of the message before are not answered", i, strings.Join(open, ", "))
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("messages: the calls %s are not answered", strings.Join(open, ", "))
	}
	return nil
}

// checkThinking checks that a turn that goes on with thinking began with it.
func (req *Request) checkThinking() error {
	for i := len(req.Messages) - 1; i >= 0; i-- {
		first := req.Messages[i].Parts[0]
		if req.Messages[i].Role == llm.User {
			if _, ok := first.(llm.ToolResult); !ok {
				return nil
			}
			continue
		}
		if _, ok := first.(llm.Thinking); !ok {
			return fmt.Errorf("messages.%d.content.0.type: must be thinking where thinking is on", i)
		}
		return nil
	}
	return nil
}

// send writes the events of a reply.
func (a messagesAPI) send(o *stream, req Request, r Reply) {
	u := r.usage(req)
	start := map[string]any{"input_tokens": u.Input, "cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite, "output_tokens": 1}
	if r.NoUsage {
		start = nil
	}
	o.event("message_start", map[string]any{"type": "message_start", "message": map[string]any{
		"id": fmt.Sprintf("msg_%d", req.N), "type": "message", "role": "assistant", "model": req.Model, "content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": start,
	}})
	o.event("ping", map[string]any{"type": "ping"})
	calls := false
	for i, p := range r.Parts {
		_, call := p.(llm.ToolCall)
		calls = calls || call
		a.block(o, r, i, p)
	}
	if r.Error != "" {
		o.fail("error", a)
		return
	}
	word := string(r.stop(calls))
	if word == string(llm.Length) {
		word = "max_tokens"
	}
	end := map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": word, "stop_sequence": nil}}
	if !r.NoUsage {
		end["usage"] = map[string]any{"output_tokens": u.Output, "output_tokens_details": map[string]any{"thinking_tokens": u.Reasoning}}
	}
	o.event("message_delta", end)
	o.event("message_stop", map[string]any{"type": "message_stop"})
}

// block writes one content block.
func (messagesAPI) block(o *stream, r Reply, i int, p llm.Part) {
	begin := func(block map[string]any) {
		o.event("content_block_start", map[string]any{"type": "content_block_start", "index": i, "content_block": block})
	}
	delta := func(typ, field, value string) {
		o.event("content_block_delta", map[string]any{"type": "content_block_delta", "index": i, "delta": map[string]any{"type": typ, field: value}})
	}
	switch p := p.(type) {
	case llm.Text:
		begin(map[string]any{"type": "text", "text": ""})
		for _, piece := range pieces(p.Text, r.Chunk) {
			o.token()
			delta("text_delta", "text", piece)
		}
	case llm.Thinking:
		if data, ok := strings.CutPrefix(p.Opaque, redacted); ok {
			begin(map[string]any{"type": "redacted_thinking", "data": data})
			break
		}
		begin(map[string]any{"type": "thinking", "thinking": "", "signature": ""})
		for _, piece := range pieces(p.Text, r.Chunk) {
			o.token()
			delta("thinking_delta", "thinking", piece)
		}
		signature := strings.TrimPrefix(p.Opaque, signed)
		if signature == "" {
			signature = sign(p.Text)
		}
		delta("signature_delta", "signature", signature)
	case llm.ToolCall:
		begin(map[string]any{"type": "tool_use", "id": p.ID, "name": p.Name, "input": map[string]any{}})
		for _, piece := range r.halves(string(p.Args)) {
			delta("input_json_delta", "partial_json", piece)
		}
	}
	o.event("content_block_stop", map[string]any{"type": "content_block_stop", "index": i})
}

// stop is the reason by what the reply holds.
func (r Reply) stop(calls bool) llm.Reason {
	switch {
	case r.Stop != "":
		return r.Stop
	case calls:
		return llm.ToolUse
	}
	return llm.EndTurn
}

// usage is what the reply reports; about four bytes are a token.
func (r Reply) usage(req Request) llm.Usage {
	if r.Usage != (llm.Usage{}) {
		return r.Usage
	}
	u := llm.Usage{Input: len(req.Body)/4 + 1}
	for _, p := range r.Parts {
		switch p := p.(type) {
		case llm.Text:
			u.Output += len(p.Text)/4 + 1
		case llm.Thinking:
			u.Output += len(p.Text)/4 + 1
		case llm.ToolCall:
			u.Output += len(p.Args)/4 + 8
		}
	}
	return u
}
