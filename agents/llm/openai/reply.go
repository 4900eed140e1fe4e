package openai

import (
	"encoding/json"
	"fmt"

	"fantail/agents/llm"
)

// chunk is an event of the stream. Fields that are not read are left out.
type chunk struct {
	Error   json.RawMessage `json:"error"`
	Choices []choice        `json:"choices"`
	Usage   usage           `json:"usage"`
}

type choice struct {
	Index        llm.Number `json:"index"`
	FinishReason string     `json:"finish_reason"`
	Delta        delta      `json:"delta"`
	Message      delta      `json:"message"` // the whole reply, if the server does not stream
}

// delta is the next piece of a reply.
type delta struct {
	Content          llm.ContentText `json:"content"`
	Refusal          llm.ContentText `json:"refusal"`
	ReasoningContent llm.ContentText `json:"reasoning_content"`
	Reasoning        llm.ContentText `json:"reasoning"`
	ToolCalls        []toolCallDelta `json:"tool_calls"`
}

// empty reports whether the delta adds nothing to the reply.
func (w *delta) empty() bool {
	return w.Content+w.Refusal+w.ReasoningContent+w.Reasoning == "" && len(w.ToolCalls) == 0
}

// toolCallDelta is the next piece of a tool call.
type toolCallDelta struct {
	Index    llm.Number `json:"index"`
	ID       string     `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// usage counts the tokens of a request. PromptTokens includes the cached ones.
type usage struct {
	PromptTokens        llm.Number `json:"prompt_tokens"`
	CompletionTokens    llm.Number `json:"completion_tokens"`
	PromptTokensDetails struct {
		CachedTokens     llm.Number `json:"cached_tokens"`
		CacheWriteTokens llm.Number `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionTokensDetails struct {
		ReasoningTokens llm.Number `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	PromptCacheHitTokens llm.Number `json:"prompt_cache_hit_tokens"`
}

// The kinds of blocks.
const (
	noBlock = iota
	thinkingBlock
	textBlock
)

// replyReader reads the events of one reply.
type replyReader struct {
	*llm.HTTPReply

	blockIndex int // of the text or reasoning being received
	blockKind  int
	toolCalls  toolCalls
	usage      usage
}

// newReplyReader begins to read a reply.
func newReplyReader(r *llm.HTTPReply) llm.ReplyReader { return &replyReader{HTTPReply: r} }

// Apply implements [llm.ReplyReader].
func (r *replyReader) Apply(raw llm.SSEEvent, progress func()) *llm.Error {
	progress()
	if raw.Done() {
		if r.StopReason == "" && r.Empty() {
			return r.EmptyError()
		}
		r.Ended = true
		return r.Finish()
	}
	var c chunk
	if err := r.Decode(raw, &c); err != nil {
		return err
	}
	if string(raw.Name) == "error" || !llm.EmptyJSON(c.Error) {
		return r.Endpoint.EventError(raw.Data)
	}
	if c.Usage.PromptTokens.Valid || c.Usage.CompletionTokens.Valid {
		r.usage = c.Usage
	}
	for i := range c.Choices {
		if c.Choices[i].Index.N <= 0 {
			r.applyChoice(&c.Choices[i])
		}
	}
	switch r.StopReason {
	case "error", "network_error", "abort":
		return r.Endpoint.NewError(llm.Server, 0, fmt.Sprintf("The server ended the reply early (%s).", r.StopReason), "")
	}
	return nil
}

// Empty implements [llm.ReplyReader].
func (r *replyReader) Empty() bool { return r.blockKind == noBlock && len(r.toolCalls.all) == 0 }

func (r *replyReader) applyChoice(c *choice) {
	d := &c.Delta
	if d.empty() && !c.Message.empty() && r.Empty() {
		d, r.Ended = &c.Message, true
	}
	reasoning, opaque := d.ReasoningContent, reasoningContent
	if reasoning == "" {
		reasoning, opaque = d.Reasoning, ""
	}
	r.giveThinking(string(reasoning), opaque)
	if d.Refusal != "" {
		r.Refused = true
		r.giveText(string(d.Refusal))
	}
	text := string(d.Content)
	if r.ThinkTags != nil {
		var inner string
		inner, text = r.ThinkTags.Take(text)
		r.giveThinking(inner, "")
	}
	r.giveText(text)
	for i := range d.ToolCalls {
		r.toolCalls.add(&d.ToolCalls[i])
	}
	if c.FinishReason != "" && c.FinishReason != "null" {
		r.StopReason = c.FinishReason
	}
}

func (r *replyReader) giveThinking(s, opaque string) {
	if s != "" {
		r.startBlock(thinkingBlock)
		r.EmitThinking(r.blockIndex, s, opaque)
	}
}

func (r *replyReader) giveText(s string) {
	if s != "" {
		r.startBlock(textBlock)
		r.EmitText(r.blockIndex, s)
	}
}

// startBlock starts a new block if the kind differs from that of the current block.
func (r *replyReader) startBlock(kind int) {
	if r.blockKind != noBlock && r.blockKind != kind {
		r.blockIndex++
	}
	r.blockKind = kind
}

// Finish yields what is held back until the reply is complete.
func (r *replyReader) Finish() *llm.Error {
	if r.ThinkTags != nil {
		inner, text := r.ThinkTags.End()
		r.giveThinking(inner, "")
		r.giveText(text)
	}
	cut := r.StopReason == "length" || r.StopReason == "" && !r.Ended // the arguments of the last call may be cut
	for i, c := range r.toolCalls.all {
		args := llm.RepairArgs(c.args)
		last := i == len(r.toolCalls.all)-1
		if len(args) == 0 && !(cut && last) {
			args = []byte("{}")
		}
		if !llm.IsObject(args) {
			r.Broken = append(r.Broken, c.name)
		}
		c.args = args
	}
	for _, c := range r.toolCalls.all {
		if llm.IsObject(c.args) {
			r.EmitToolCall(c.id, c.name, c.args)
		}
	}
	if r.usage.PromptTokens.Valid || r.usage.CompletionTokens.Valid {
		r.Emit(r.usage.toUsage())
	}
	r.Done = true
	return nil
}

// Reason implements [llm.ReplyReader].
func (r *replyReader) Reason() llm.Reason {
	switch r.StopReason {
	case "length":
		return llm.Length
	case "content_filter":
		return llm.Refusal
	case "", "stop", "tool_calls", "function_call", "eos":
		return llm.EndTurn
	}
	return llm.Other
}

// toUsage converts the counts. Unlike PromptTokens, Input excludes cached tokens.
func (u *usage) toUsage() llm.Usage {
	cached := max(u.PromptTokensDetails.CachedTokens.N, u.PromptCacheHitTokens.N, 0)
	written := max(u.PromptTokensDetails.CacheWriteTokens.N, 0)
	return llm.Usage{
		Input:      max(u.PromptTokens.N-cached-written, 0),
		Output:     max(u.CompletionTokens.N, 0),
		CacheRead:  cached,
		CacheWrite: written,
		Reasoning:  max(u.CompletionTokensDetails.ReasoningTokens.N, 0),
	}
}
