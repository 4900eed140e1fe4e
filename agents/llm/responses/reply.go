package responses

import (
	"encoding/json"

	"fantail/agents/llm"
)

// event is an event of the stream, or a whole reply. Fields that are not read are left out.
type event struct {
	Type         string          `json:"type"`
	OutputIndex  llm.Number      `json:"output_index"`
	SummaryIndex llm.Number      `json:"summary_index"`
	Delta        llm.ContentText `json:"delta"`
	Item         item            `json:"item"`
	Response     *response       `json:"response"`
	Error        json.RawMessage `json:"error"`
}

type response struct {
	Status     string          `json:"status"`
	Error      json.RawMessage `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Output []item `json:"output"`
	Usage  usage  `json:"usage"`
}

// item is one item of a reply.
type item struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Content   []struct {
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
	Summary   json.RawMessage `json:"summary"`
	Encrypted string          `json:"encrypted_content"`
}

// usage counts the tokens of a request. InputTokens includes the cached ones.
type usage struct {
	InputTokens  llm.Number `json:"input_tokens"`
	OutputTokens llm.Number `json:"output_tokens"`
	InputDetails struct {
		CachedTokens llm.Number `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	OutputDetails struct {
		ReasoningTokens llm.Number `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

// replyReader reads the events of one reply.
type replyReader struct {
	*llm.HTTPReply

	streamed map[int]bool // items whose text came in pieces
	open     map[int]item // calls that have begun and are not whole
	calls    []item
	usage    usage
	some     bool // something of the reply has come
}

// newReplyReader begins to read a reply.
func newReplyReader(r *llm.HTTPReply) llm.ReplyReader {
	return &replyReader{HTTPReply: r, streamed: map[int]bool{}, open: map[int]item{}}
}

// Apply implements [llm.ReplyReader].
func (r *replyReader) Apply(raw llm.SSEEvent, progress func()) *llm.Error {
	progress()
	if raw.Done() {
		if r.Empty() {
			return r.EmptyError()
		}
		return r.Finish()
	}
	var e event
	if err := r.Decode(raw, &e); err != nil {
		return err
	}
	at := e.OutputIndex.N
	switch e.Type {
	case "error":
		return r.Endpoint.EventError(raw.Data)
	case "response.output_item.added":
		if e.Item.Type == "function_call" {
			r.some, r.open[at] = true, e.Item
		}
	case "response.output_item.done":
		r.endItem(at, &e.Item)
	case "response.output_text.delta":
		r.text(at, string(e.Delta))
	case "response.refusal.delta":
		r.Refused = true
		r.text(at, string(e.Delta))
	case "response.reasoning_summary_part.added":
		if e.SummaryIndex.N > 0 {
			r.EmitThinking(at, "\n\n", "")
		}
	case "response.reasoning_summary_text.delta":
		r.think(at, string(e.Delta))
	case "response.completed", "response.incomplete", "response.failed":
		return r.end(e.Response, raw)
	case "":
		if !llm.EmptyJSON(e.Error) {
			return r.Endpoint.EventError(raw.Data)
		}
		var whole response
		if err := r.Decode(raw, &whole); err != nil {
			return err
		}
		if whole.Output != nil {
			return r.end(&whole, raw)
		}
	}
	return nil
}

func (r *replyReader) text(at int, s string) {
	if s != "" {
		r.some, r.streamed[at] = true, true
		r.EmitText(at, s)
	}
}

func (r *replyReader) think(at int, s string) {
	if s != "" {
		r.some, r.streamed[at] = true, true
		r.EmitThinking(at, s, "")
	}
}

// endItem takes a whole item. Its text is yielded unless it came in pieces.
func (r *replyReader) endItem(at int, i *item) {
	switch i.Type {
	case "message":
		for _, c := range i.Content {
			r.Refused = r.Refused || c.Refusal != ""
			if !r.streamed[at] {
				r.some = r.some || c.Text+c.Refusal != ""
				r.EmitText(at, c.Text+c.Refusal)
			}
		}
	case "reasoning":
		var summary []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		_ = json.Unmarshal(i.Summary, &summary)
		for n, s := range summary {
			if r.streamed[at] {
				break
			}
			if n > 0 {
				s.Text = "\n\n" + s.Text
			}
			r.EmitThinking(at, s.Text, "")
		}
		if i.Encrypted != "" {
			r.EmitThinking(at, "", i.opaque())
		}
		r.some = true
	case "function_call":
		delete(r.open, at)
		r.calls, r.some = append(r.calls, *i), true
	}
}

// opaque returns the reasoning as it is sent back.
func (i *item) opaque() string {
	summary := i.Summary
	if llm.EmptyJSON(summary) {
		summary = json.RawMessage("[]")
	}
	return string(llm.Encode(struct {
		Type      string          `json:"type"`
		ID        string          `json:"id,omitempty"`
		Summary   json.RawMessage `json:"summary"`
		Encrypted string          `json:"encrypted_content"`
	}{"reasoning", i.ID, summary, i.Encrypted}))
}

// end takes the last event of a reply.
func (r *replyReader) end(last *response, raw llm.SSEEvent) *llm.Error {
	if last == nil {
		last = &response{}
	}
	if !llm.EmptyJSON(last.Error) {
		return r.Endpoint.EventError(llm.Encode(map[string]json.RawMessage{"error": last.Error}))
	}
	if last.Status == "failed" {
		return r.Endpoint.EventError(raw.Data)
	}
	if r.Empty() {
		for at := range last.Output {
			r.endItem(at, &last.Output[at])
		}
	}
	r.usage, r.Ended = last.Usage, true
	if r.StopReason = last.Incomplete.Reason; r.StopReason == "" {
		r.StopReason = last.Status
	}
	return r.Finish()
}

// Empty implements [llm.ReplyReader].
func (r *replyReader) Empty() bool { return !r.some }

// Finish yields what is held back until the reply is complete.
func (r *replyReader) Finish() *llm.Error {
	for _, c := range r.calls {
		args := llm.RepairArgs(llm.DecodeArgs(c.Arguments))
		if len(args) == 0 {
			args = []byte("{}")
		}
		if !llm.IsObject(args) {
			r.Broken = append(r.Broken, c.Name)
			continue
		}
		r.EmitToolCall(c.CallID, c.Name, args)
	}
	for _, c := range r.open {
		r.Broken = append(r.Broken, c.Name)
	}
	if u := &r.usage; u.InputTokens.Valid || u.OutputTokens.Valid {
		cached := max(u.InputDetails.CachedTokens.N, 0)
		r.Emit(llm.Usage{
			Input: max(u.InputTokens.N-cached, 0), Output: max(u.OutputTokens.N, 0), CacheRead: cached,
			Reasoning: max(u.OutputDetails.ReasoningTokens.N, 0),
		})
	}
	r.Done = true
	return nil
}

// Reason implements [llm.ReplyReader].
func (r *replyReader) Reason() llm.Reason {
	switch r.StopReason {
	case "max_output_tokens":
		return llm.Length
	case "content_filter":
		return llm.Refusal
	case "", "completed":
		return llm.EndTurn
	}
	return llm.Other
}
