package openai

import (
	"bytes"
	"cmp"
	"encoding/base64"
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

// body is req as the API takes it.
func (p *Provider) body(req *llm.Request) (wire.Body, error) {
	rest, err := p.params(req).MarshalJSON()
	if err != nil {
		return nil, err
	}
	return wire.List("messages", p.messages(req), rest), nil
}

// params is all of req but its messages, in the library's words. Fields that only
// the vendor knows go only there: some of the other servers refuse what they do not
// know.
func (p *Provider) params(req *llm.Request) sdk.ChatCompletionNewParams {
	out := sdk.ChatCompletionNewParams{
		Model:         req.Model,
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
	out.SetExtraFields(map[string]any{"stream": true})
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

// form says what a written message depends on: reasoning is only sent to the model
// that produced it, and only where it goes back.
type form struct {
	model   string
	reasons bool
	sees    bool
}

// messages is the conversation as the API takes it.
func (p *Provider) messages(req *llm.Request) [][]byte {
	f := form{model: p.o.Name + "/" + req.Model, sees: req.Sees}
	f.reasons = p.reasons || slices.ContainsFunc(req.Messages, f.reasoned)
	out := make([][]byte, 0, len(req.Messages)+1)
	if strings.TrimSpace(req.System) != "" {
		out = append(out, wire.JSON(utterance{"system", req.System}))
	}
	for i := range req.Messages {
		if text := llm.Write(&req.Messages[i], f, form.write); len(text) > 0 {
			out = append(out, text)
		}
	}
	return out
}

// The messages of the API, and what they hold.
type (
	utterance struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	sight struct {
		Role    string  `json:"role"`
		Content []piece `json:"content"`
	}
	piece struct {
		Type  string   `json:"type"`
		Text  string   `json:"text,omitempty"`
		Image *address `json:"image_url,omitempty"`
	}
	address struct {
		URL string `json:"url"`
	}
	answer struct {
		Role    string `json:"role"`
		ID      string `json:"tool_call_id"`
		Content string `json:"content"`
	}
	spoken struct {
		Role      string   `json:"role"`
		Content   string   `json:"content,omitempty"`
		Reasoning string   `json:"reasoning_content,omitempty"`
		Calls     []called `json:"tool_calls,omitempty"`
	}
	called struct {
		ID       string   `json:"id"`
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
)

// write is a message as the API takes it: as none, one or several, a comma between
// them. Results come before the text they share a message with, because a call must
// be answered before anything else is said.
func (f form) write(m *llm.Message) []byte {
	if m.Role == llm.Assistant {
		return f.assistant(m)
	}
	var all [][]byte
	for _, part := range m.Parts {
		if r, ok := part.(llm.ToolResult); ok {
			all = append(all, wire.JSON(answer{"tool", wire.SafeID(r.ID), result(r)}))
		}
	}
	text := texts(m)
	if shown := f.shown(m); len(shown) > 0 {
		if text != "" {
			shown = append(shown, piece{Type: "text", Text: text})
		}
		all = append(all, wire.JSON(sight{"user", shown}))
	} else if text != "" {
		all = append(all, wire.JSON(utterance{"user", text}))
	}
	return bytes.Join(all, []byte(","))
}

// shown are the pictures of the results in m, as what the user's side says after them: an answer to a call is text alone.
func (f form) shown(m *llm.Message) (all []piece) {
	if !f.sees {
		return nil
	}
	for _, part := range m.Parts {
		r, _ := part.(llm.ToolResult)
		said := false
		for _, i := range r.Images {
			data, err := i.Read()
			if err != nil {
				continue
			}
			if !said {
				said = true
				all = append(all, piece{Type: "text", Text: "Put out by the tool that answered call " + wire.SafeID(r.ID) + ":"})
			}
			all = append(all, piece{Type: "image_url", Image: &address{"data:" + i.Type + ";base64," + base64.StdEncoding.EncodeToString(data)}})
		}
	}
	return all
}

// reasoned reports whether that model thought in m and its server wants it back.
func (f form) reasoned(m llm.Message) bool {
	return slices.ContainsFunc(m.Parts, func(part llm.Part) bool {
		t, ok := part.(llm.Thinking)
		return ok && t.Text != "" && f.wants(t)
	})
}

func (f form) wants(t llm.Thinking) bool { return t.Opaque == wanted && t.Model == f.model }

// reasoning is what that model thought in m, if its server wants it back.
func (f form) reasoning(m *llm.Message) string {
	var all strings.Builder
	for _, part := range m.Parts {
		if t, ok := part.(llm.Thinking); ok && f.wants(t) {
			all.WriteString(t.Text)
		}
	}
	return all.String()
}

func (f form) assistant(m *llm.Message) []byte {
	out := spoken{Role: "assistant", Content: texts(m)}
	for _, part := range m.Parts {
		c, ok := part.(llm.ToolCall)
		if !ok {
			continue
		}
		args := string(c.Args)
		if !wire.Object(c.Args) {
			args = "{}"
		}
		out.Calls = append(out.Calls, called{wire.SafeID(c.ID), "function", function{wire.SafeName(c.Name), args}})
	}
	if out.Content == "" && len(out.Calls) == 0 {
		return nil
	}
	if f.reasons {
		out.Reasoning = cmp.Or(f.reasoning(m), " ") // not empty: some take that for missing
	}
	return wire.JSON(out)
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
func texts(m *llm.Message) string {
	var all []string
	for _, part := range m.Parts {
		if t, ok := part.(llm.Text); ok && strings.TrimSpace(t.Text) != "" {
			all = append(all, t.Text)
		}
	}
	return strings.Join(all, "\n\n")
}
