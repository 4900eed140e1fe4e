package llmtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"fantail/agents/llm"
)

// responsesAPI is the Responses protocol. Its keys and errors are those of Chat Completions.
type responsesAPI struct{ chatAPI }

type responsesRequest struct {
	Model          string          `json:"model"`
	Instructions   string          `json:"instructions"`
	Input          json.RawMessage `json:"input"`
	Tools          []responsesTool `json:"tools"`
	Stream         bool            `json:"stream"`
	MaxTokens      int             `json:"max_output_tokens"`
	Include        []string        `json:"include"`
	PromptCacheKey string          `json:"prompt_cache_key"`
	Reasoning      *struct{}       `json:"reasoning"`
}

type responsesTool struct {
	Type        string          `json:"type"` // function, custom or namespace, else one the service runs itself
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Tools       []responsesTool `json:"tools"` // of a namespace
}

// form is how a call of a tool is written in the Responses protocol.
type form struct {
	space, name string // a tool of a namespace is called SPACE__NAME elsewhere
	custom      bool   // its input is text; elsewhere it is the argument "input"
}

type responsesItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Namespace string          `json:"namespace"`
	Arguments string          `json:"arguments"`
	Input     string          `json:"input"`
	Output    json.RawMessage `json:"output"`
	Encrypted string          `json:"encrypted_content"`
	Summary   []struct {
		Text string `json:"text"`
	} `json:"summary"`
	Tools []responsesTool `json:"tools"`
}

// sealed is the prefix of encrypted content in Thinking.Opaque.
const sealed = "encrypted:"

func (responsesAPI) parse(body []byte) (Request, error) {
	var in responsesRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, fmt.Errorf("body: %w", err)
	}
	req := Request{
		Protocol: Responses, Model: in.Model, System: in.Instructions, MaxTokens: in.MaxTokens, CacheKey: in.PromptCacheKey, Usage: true,
		Thinking: in.Reasoning != nil, sealed: slices.Contains(in.Include, "reasoning.encrypted_content"),
	}
	var items []responsesItem
	text := ""
	switch {
	case in.Model == "":
		return req, fmt.Errorf("model: is missing")
	case !in.Stream:
		return req, fmt.Errorf("stream: only streamed requests are served")
	case json.Unmarshal(in.Input, &text) == nil && text != "":
		items = []responsesItem{{Type: "message", Role: "user", Content: in.Input}}
	case json.Unmarshal(in.Input, &items) != nil || len(items) == 0:
		return req, fmt.Errorf("input: must be text or a list of items")
	}
	if err := req.readResponsesTools("tools", "", in.Tools); err != nil {
		return req, err
	}
	var open, seen []string // calls
	for i, item := range items {
		if err := req.readItem(fmt.Sprintf("input[%d]", i), item, &open, &seen); err != nil {
			return req, err
		}
	}
	if len(open) > 0 {
		return req, fmt.Errorf("input: no output found for the calls %s", strings.Join(open, ", "))
	}
	return req, nil
}

// readResponsesTools reads a list of tools, those of a namespace too.
func (req *Request) readResponsesTools(at, space string, tools []responsesTool) error {
	if req.forms == nil {
		req.forms = map[string]form{}
	}
	for i, t := range tools {
		here := fmt.Sprintf("%s[%d]", at, i)
		switch t.Type {
		case "function", "custom":
		case "namespace":
			if space != "" || !toolName.MatchString(t.Name) || len(t.Tools) == 0 {
				return fmt.Errorf("%s: %q is no namespace with tools", here, t.Name)
			}
			if err := req.readResponsesTools(here+".tools", t.Name, t.Tools); err != nil {
				return err
			}
			continue
		case "":
			return fmt.Errorf("%s.type: is missing", here)
		default:
			continue
		}
		name := t.Name
		if space != "" {
			name = space + "__" + name
		}
		var schema struct{ Type string }
		_ = json.Unmarshal(t.Parameters, &schema)
		_, twice := req.forms[name]
		switch {
		case !toolName.MatchString(t.Name):
			return fmt.Errorf("%s.name: %q is not allowed", here, t.Name)
		case twice:
			return fmt.Errorf("%s.name: %q is there twice", here, name)
		case t.Type == "function" && schema.Type != "object":
			return fmt.Errorf("%s.parameters.type: must be \"object\"", here)
		}
		req.forms[name] = form{space, t.Name, t.Type == "custom"}
		req.Tools = append(req.Tools, llm.Tool{Name: name, Description: t.Description, Schema: t.Parameters})
	}
	return nil
}

func (req *Request) readItem(at string, item responsesItem, open, seen *[]string) error {
	switch item.Type {
	case "", "message":
		return req.readSaid(at, item)
	case "additional_tools":
		return req.readResponsesTools(at+".tools", "", item.Tools)
	case "reasoning":
		if strings.HasPrefix(item.Encrypted, ourSign) && item.Encrypted != sign(summed(item)) {
			return fmt.Errorf("%s.encrypted_content: does not belong to this summary", at)
		}
		req.add(llm.Assistant, llm.Thinking{Text: summed(item), Opaque: sealed + item.Encrypted})
	case "function_call", "custom_tool_call":
		var args map[string]any
		name := item.Name
		if item.Namespace != "" {
			name = item.Namespace + "__" + name
		}
		if item.Type == "custom_tool_call" {
			b, err := json.Marshal(map[string]string{"input": item.Input})
			if err != nil {
				return fmt.Errorf("%s.input: %w", at, err)
			}
			item.Arguments = string(b)
		}
		switch {
		case item.CallID == "" || slices.Contains(*seen, item.CallID):
			return fmt.Errorf("%s.call_id: %q is missing or there twice", at, item.CallID)
		case !toolName.MatchString(item.Name):
			return fmt.Errorf("%s.name: %q is not allowed", at, item.Name)
		case json.Unmarshal([]byte(item.Arguments), &args) != nil:
			return fmt.Errorf("%s.arguments: must be the text of an object", at)
		}
		*open, *seen = append(*open, item.CallID), append(*seen, item.CallID)
		req.add(llm.Assistant, llm.ToolCall{ID: item.CallID, Name: name, Args: json.RawMessage(item.Arguments)})
	case "function_call_output", "custom_tool_call_output":
		k := slices.Index(*open, item.CallID)
		if k < 0 {
			return fmt.Errorf("%s.call_id: no call found for the output of %q", at, item.CallID)
		}
		*open = slices.Delete(*open, k, k+1)
		text, err := saidIn(at+".output", item.Output, "input_text", "input_image")
		if err != nil {
			return err
		}
		req.add(llm.User, llm.ToolResult{ID: item.CallID, Text: text})
	default:
		return fmt.Errorf("%s.type: %q is not served", at, item.Type)
	}
	return nil
}

func (req *Request) readSaid(at string, item responsesItem) error {
	kinds := []string{"input_text", "input_image", "input_file"}
	if item.Role == "assistant" {
		kinds = []string{"output_text", "refusal"}
	}
	text, err := saidIn(at+".content", item.Content, kinds...)
	if err != nil {
		return err
	}
	switch item.Role {
	case "system", "developer":
		req.System += text
	case "user":
		req.add(llm.User, llm.Text{Text: text})
	case "assistant":
		req.add(llm.Assistant, llm.Text{Text: text})
	default:
		return fmt.Errorf("%s.role: %q is unknown", at, item.Role)
	}
	return nil
}

// saidIn reads content, which is text or a list of parts of those kinds.
func saidIn(at string, raw json.RawMessage, kinds ...string) (string, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var parts []struct{ Type, Text string }
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", fmt.Errorf("%s: must be text or a list of parts: %w", at, err)
	}
	for i, p := range parts {
		if !slices.Contains(kinds, p.Type) {
			return "", fmt.Errorf("%s[%d].type: %q is not allowed here", at, i, p.Type)
		}
		text += p.Text
	}
	return text, nil
}

func summed(item responsesItem) (text string) {
	for _, s := range item.Summary {
		text += s.Text
	}
	return text
}

// sending writes the events of a reply, each with its number.
type sending struct {
	o   *stream
	req Request
	r   Reply
	n   int
}

func (s *sending) event(typ string, fields map[string]any) {
	fields["type"], fields["sequence_number"] = typ, s.n
	s.n++
	s.o.event(typ, fields)
}

// item writes an item that begins as first, has pieces, and is whole at last.
func (s *sending) item(i int, first, last map[string]any, pieces func(at map[string]any)) {
	id := fmt.Sprintf("item_%d_%d", s.req.N, i)
	first["id"], last["id"] = id, id
	s.event("response.output_item.added", map[string]any{"output_index": i, "item": first})
	pieces(map[string]any{"item_id": id, "output_index": i})
	s.event("response.output_item.done", map[string]any{"output_index": i, "item": last})
}

// piece writes one piece of an item.
func (s *sending) piece(at map[string]any, typ, field string, value any) {
	fields := map[string]any{field: value}
	for k, v := range at {
		fields[k] = v
	}
	s.event(typ, fields)
}

// send writes the events of a reply.
func (a responsesAPI) send(o *stream, req Request, r Reply) {
	s := &sending{o: o, req: req, r: r}
	response := map[string]any{"id": fmt.Sprintf("resp_%d", req.N), "object": "response", "model": req.Model, "status": "in_progress", "output": []any{}}
	s.event("response.created", map[string]any{"response": response})
	for i, p := range r.Parts {
		s.part(i, p)
	}
	switch r.Error {
	case "":
	case stallWord:
		o.fail("", a)
		return
	default:
		response["status"], response["error"] = "failed", map[string]any{"code": r.Error, "message": "as the test wants it"}
		s.event("response.failed", map[string]any{"response": response})
		return
	}
	if u := r.usage(req); !r.NoUsage {
		response["usage"] = map[string]any{
			"input_tokens": u.Input + u.CacheRead + u.CacheWrite, "input_tokens_details": map[string]any{"cached_tokens": u.CacheRead},
			"output_tokens": u.Output, "output_tokens_details": map[string]any{"reasoning_tokens": u.Reasoning}, "total_tokens": u.Context(),
		}
	}
	end := "completed"
	if why := map[llm.Reason]string{llm.Length: "max_output_tokens", llm.Refusal: "content_filter"}[r.Stop]; why != "" {
		end, response["incomplete_details"] = "incomplete", map[string]any{"reason": why}
	}
	response["status"] = end
	s.event("response."+end, map[string]any{"response": response})
}

func (s *sending) part(i int, p llm.Part) {
	switch p := p.(type) {
	case llm.Text:
		done := []any{map[string]any{"type": "output_text", "text": p.Text, "annotations": []any{}}}
		s.item(i, map[string]any{"type": "message", "role": "assistant", "content": []any{}}, map[string]any{"type": "message", "role": "assistant", "content": done}, func(at map[string]any) {
			at["content_index"] = 0
			s.piece(at, "response.content_part.added", "part", map[string]any{"type": "output_text", "text": ""})
			for _, piece := range pieces(p.Text, s.r.Chunk) {
				s.o.token()
				s.piece(at, "response.output_text.delta", "delta", piece)
			}
			s.piece(at, "response.output_text.done", "text", p.Text)
		})
	case llm.Thinking:
		last := map[string]any{"type": "reasoning", "summary": []any{map[string]any{"type": "summary_text", "text": p.Text}}}
		if s.req.sealed {
			last["encrypted_content"] = sign(p.Text)
		}
		s.item(i, map[string]any{"type": "reasoning", "summary": []any{}}, last, func(at map[string]any) {
			at["summary_index"] = 0
			s.piece(at, "response.reasoning_summary_part.added", "part", map[string]any{"type": "summary_text", "text": ""})
			for _, piece := range pieces(p.Text, s.r.Chunk) {
				s.o.token()
				s.piece(at, "response.reasoning_summary_text.delta", "delta", piece)
			}
			s.piece(at, "response.reasoning_summary_text.done", "text", p.Text)
		})
	case llm.ToolCall:
		s.call(i, p)
	}
}

func (s *sending) call(i int, p llm.ToolCall) {
	f, known := s.req.forms[p.Name]
	if !known {
		f.name = p.Name
	}
	typ, field, kind, text := "function_call", "arguments", "response.function_call_arguments", string(p.Args)
	if f.custom {
		var args struct{ Input string }
		_ = json.Unmarshal(p.Args, &args)
		typ, field, kind, text = "custom_tool_call", "input", "response.custom_tool_call_input", args.Input
	}
	made := func(text string) map[string]any {
		call := map[string]any{"type": typ, "call_id": p.ID, "name": f.name, field: text}
		if f.space != "" {
			call["namespace"] = f.space
		}
		return call
	}
	s.item(i, made(""), made(text), func(at map[string]any) {
		for _, piece := range s.r.halves(text) {
			s.piece(at, kind+".delta", "delta", piece)
		}
		s.piece(at, kind+".done", field, text)
	})
}
