package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"

	"fantail/agents/llm"
)

// streamEvent is an event of the stream. Fields that are not read are left out.
type streamEvent struct {
	Type    string          `json:"type"`
	Index   llm.Number      `json:"index"`
	Error   json.RawMessage `json:"error"`
	Message struct {
		Content    json.RawMessage `json:"content"`
		StopReason string          `json:"stop_reason"`
		Usage      usage           `json:"usage"`
	} `json:"message"`
	ContentBlock contentBlock `json:"content_block"`
	Delta        struct {
		Type        string          `json:"type"`
		Text        llm.ContentText `json:"text"`
		Thinking    llm.ContentText `json:"thinking"`
		Signature   string          `json:"signature"`
		PartialJSON json.RawMessage `json:"partial_json"`
		StopReason  string          `json:"stop_reason"`
	} `json:"delta"`
	Usage usage `json:"usage"`

	// The fields of a whole message, if the server does not stream.
	Content    json.RawMessage `json:"content"`
	StopReason string          `json:"stop_reason"`
}

// contentBlock is the start of a content block, or a whole one.
type contentBlock struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	Text      llm.ContentText `json:"text"`
	Thinking  llm.ContentText `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
}

// The types of content blocks.
const (
	typeText     = "text"
	typeThinking = "thinking"
	typeToolUse  = "tool_use"
)

// usage is cumulative. A missing field keeps its last value.
type usage struct {
	InputTokens              llm.Number `json:"input_tokens"`
	OutputTokens             llm.Number `json:"output_tokens"`
	CacheReadInputTokens     llm.Number `json:"cache_read_input_tokens"`
	CacheCreationInputTokens llm.Number `json:"cache_creation_input_tokens"`
	OutputTokensDetails      struct {
		ThinkingTokens llm.Number `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// openBlock is a content block being received.
type openBlock struct {
	kind         string
	serverIndex  int // the server's
	index        int // ours
	id           string
	name         string
	startInput   []byte // arguments of its content_block_start
	partialInput []byte // arguments of its input_json_deltas
	signature    string // of a thinking block, without its prefix
	stopped      bool   // its content_block_stop has come
}

// replyReader reads the events of one reply. In the documented protocol content blocks come one after the other with
// rising indexes, and each has a start and a stop event. Gateways to other vendors' models use index 0 for all, leave out
// start and stop events, or interleave blocks. So a start event opens a block, a delta belongs to the open block with its
// index and type, else to the latest open block of its type, and the end of the reply closes the open blocks.
type replyReader struct {
	*llm.HTTPReply

	event        streamEvent // the last one, reused to save allocations
	started      bool
	blockCount   int // begun
	open         []*openBlock
	held         *openBlock      // a stopped tool_use block without arguments, which is complete only if more follows
	wholeContent json.RawMessage // the content of a whole message, used if no block comes
	usage        llm.Usage
	gotUsage     bool
}

// newReplyReader begins to read a reply.
func newReplyReader(r *llm.HTTPReply) llm.ReplyReader { return &replyReader{HTTPReply: r} }

// Apply implements [llm.ReplyReader].
func (r *replyReader) Apply(raw llm.SSEEvent, progress func()) *llm.Error {
	if raw.Done() {
		r.Ended = true
		return r.Finish()
	}
	e := &r.event
	*e = streamEvent{}
	if err := r.Decode(raw, e); err != nil {
		return err
	}
	switch e.eventType(string(raw.Name)) {
	case "message_start":
		if r.blockCount > 0 {
			return r.ProtocolError("a second beginning inside one reply")
		}
		r.started = true
		r.applyMessage(e.Message.Content, e.Message.StopReason, e.Message.Usage)
	case "message":
		r.started = true
		r.applyMessage(e.Content, e.StopReason, e.Usage)
		r.Ended = true
	case "content_block_start":
		r.startBlock(e.Index, &e.ContentBlock)
	case "content_block_delta":
		r.applyDelta(e)
	case "content_block_stop":
		if b := r.blockAt(e.Index); b != nil {
			b.stopped = true
			r.endBlock(b)
		}
	case "message_delta":
		r.started = true
		r.addUsage(e.Usage)
		if e.Delta.StopReason != "" {
			r.StopReason = e.Delta.StopReason
		}
	case "message_stop":
		if !r.started && r.blockCount == 0 {
			return r.ProtocolError("an end before the beginning")
		}
		r.Ended = true
		return r.Finish()
	case "error":
		return r.Endpoint.EventError(raw.Data)
	default: // pings and unknown events
		return nil
	}
	progress()
	return nil
}

// eventTypes are the types of events that are known.
var eventTypes = []string{
	"message_start", "message", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop", "error", "ping",
}

// eventType returns the type of an event: its type field, else the SSE event name, else a guess from its fields.
func (e *streamEvent) eventType(name string) string {
	switch {
	case slices.Contains(eventTypes, e.Type):
		return e.Type
	case slices.Contains(eventTypes, name):
		return name
	case !llm.EmptyJSON(e.Error):
		return "error"
	case e.Delta.Type != "":
		return "content_block_delta"
	case e.ContentBlock.Type != "":
		return "content_block_start"
	case e.Delta.StopReason != "":
		return "message_delta"
	case !llm.EmptyJSON(e.Content):
		return "message"
	}
	return e.Type
}

// applyMessage reads a message object. Its content is used only if no block comes.
func (r *replyReader) applyMessage(content json.RawMessage, reason string, u usage) {
	r.addUsage(u)
	if !llm.EmptyJSON(content) {
		r.wholeContent = bytes.Clone(content)
	}
	if reason != "" {
		r.StopReason = reason
	}
}

// applyContent reads the content of a whole message: a text or a list of blocks.
func (r *replyReader) applyContent(raw json.RawMessage) {
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		all = []json.RawMessage{raw}
	}
	for _, one := range all {
		var b contentBlock
		if one[0] == '"' {
			_ = b.Text.UnmarshalJSON(one)
		} else {
			_ = llm.Decode(one, &b) // it has been parsed
		}
		o := r.startBlock(llm.Number{}, &b)
		o.stopped = true
		r.endBlock(o)
	}
}

// startBlock opens a block.
func (r *replyReader) startBlock(index llm.Number, b *contentBlock) *openBlock {
	if index.Valid {
		if before := r.blockAt(index); before != nil {
			r.endBlock(before)
		}
	} else {
		index.N = r.blockCount
	}
	r.releaseHeld()
	kind := b.Type
	switch {
	case kind != "":
	case b.Name != "":
		kind = typeToolUse
	case b.Thinking != "":
		kind = typeThinking
	case b.Text != "":
		kind = typeText
	}
	o := &openBlock{kind: kind, serverIndex: index.N, index: r.blockCount, id: b.ID, name: b.Name}
	r.blockCount++
	r.open = append(r.open, o)
	switch kind {
	case typeText:
		r.addText(o, string(b.Text))
	case typeThinking:
		o.signature = b.Signature
		r.EmitThinking(o.index, string(b.Thinking), "")
	case "redacted_thinking":
		o.signature = b.Data
	case typeToolUse:
		o.startInput = bytes.Clone(llm.DecodeArgs(b.Input))
	}
	return o
}

// blockAt returns the open block with that index, or the latest one if there is no index. It returns nil if none is open.
func (r *replyReader) blockAt(index llm.Number) *openBlock {
	for n := len(r.open) - 1; n >= 0; n-- {
		if o := r.open[n]; !index.Valid || o.serverIndex == index.N {
			return o
		}
	}
	return nil
}

// latestBlock returns the open block of that kind that started last, or nil.
func (r *replyReader) latestBlock(kind string) *openBlock {
	for n := len(r.open) - 1; n >= 0; n-- {
		if r.open[n].kind == kind {
			return r.open[n]
		}
	}
	return nil
}

// blockFor returns the block to which a delta of that kind belongs, or nil.
func (r *replyReader) blockFor(index llm.Number, kind string) *openBlock {
	o := r.blockAt(index)
	switch {
	case o == nil || o.kind != kind && slices.Contains([]string{typeText, typeThinking, typeToolUse}, o.kind):
		o = r.latestBlock(kind)
	case o.kind == "":
		o.kind = kind
	case kind == typeToolUse && o.kind == kind && llm.IsObject(o.partialInput):
		o = r.latestBlock(kind) // its arguments are complete
	}
	if o == nil && kind == typeToolUse && r.held != nil { // its stop event came before its arguments
		o, r.held = r.held, nil
		r.open = append(r.open, o)
	}
	return o
}

func (r *replyReader) applyDelta(e *streamEvent) {
	d := &e.Delta
	kind := typeText
	switch {
	case d.Type == "thinking_delta", d.Type == "signature_delta", d.Type == "" && d.Thinking+llm.ContentText(d.Signature) != "":
		kind = typeThinking
	case d.Type == "input_json_delta", d.Type == "" && len(d.PartialJSON) > 0:
		kind = typeToolUse
	case d.Type != "text_delta" && d.Text == "":
		return // a type of delta that is not known
	}
	o := r.blockFor(e.Index, kind)
	switch {
	case o != nil:
	case kind == typeToolUse: // the name of the tool is not known
		if len(llm.DecodeArgs(d.PartialJSON)) > 0 && !slices.Contains(r.Broken, "a tool without a name") {
			r.Broken = append(r.Broken, "a tool without a name")
		}
		return
	case d.Text+d.Thinking+llm.ContentText(d.Signature) == "":
		return
	case r.blockAt(e.Index) != nil: // that block stays open
		o = r.startBlock(llm.Number{}, &contentBlock{Type: kind})
	default:
		o = r.startBlock(e.Index, &contentBlock{Type: kind})
	}
	switch kind {
	case typeText:
		r.addText(o, string(d.Text))
	case typeThinking:
		o.signature += d.Signature
		r.EmitThinking(o.index, string(d.Thinking), "")
	case typeToolUse:
		o.partialInput = append(o.partialInput, llm.DecodeArgs(d.PartialJSON)...)
	}
}

func (r *replyReader) addText(o *openBlock, s string) {
	if r.ThinkTags != nil {
		var inner string
		inner, s = r.ThinkTags.Take(s)
		r.EmitThinking(o.index, inner, "")
	}
	r.EmitText(o.index, s)
}

// endBlock closes an open block and gives what it held.
func (r *replyReader) endBlock(o *openBlock) {
	r.open = slices.DeleteFunc(r.open, func(other *openBlock) bool { return other == o })
	switch o.kind {
	case typeText:
		if r.ThinkTags != nil {
			inner, s := r.ThinkTags.End()
			r.EmitThinking(o.index, inner, "")
			r.EmitText(o.index, s)
		}
	case typeThinking:
		if o.signature != "" {
			r.EmitThinking(o.index, "", signaturePrefix+o.signature)
		}
	case "redacted_thinking":
		r.EmitThinking(o.index, "", redactedPrefix+o.signature)
	case typeToolUse:
		r.releaseHeld()
		if o.partialInput = llm.RepairArgs(o.partialInput); llm.EmptyJSON(o.partialInput) && !llm.EmptyJSON(o.startInput) {
			o.partialInput = llm.RepairArgs(o.startInput)
		}
		switch {
		case len(o.partialInput) == 0:
			r.held = o
		case llm.IsObject(o.partialInput):
			r.EmitToolCall(o.id, o.name, o.partialInput)
		default:
			r.Broken = append(r.Broken, o.name)
		}
	}
}

// releaseHeld gives the call that was held. Its missing arguments may have been cut,
// but the token limit cuts only the last block.
func (r *replyReader) releaseHeld() {
	if o := r.held; o != nil {
		r.held = nil
		o.partialInput = []byte("{}")
		r.EmitToolCall(o.id, o.name, o.partialInput)
	}
}

// Empty implements [llm.ReplyReader].
func (r *replyReader) Empty() bool { return r.blockCount == 0 && llm.EmptyJSON(r.wholeContent) }

// Finish ends the message: it closes the open blocks and gives the usage.
func (r *replyReader) Finish() *llm.Error {
	if r.blockCount == 0 && !llm.EmptyJSON(r.wholeContent) {
		r.applyContent(r.wholeContent)
	}
	if r.blockCount == 0 && !r.started {
		return r.EmptyError()
	}
	for len(r.open) > 0 {
		r.endBlock(r.open[0])
	}
	// The last call without arguments is given only if its arguments were not lost.
	if o := r.held; o != nil && (r.hitLimit() || r.StopReason == "" && !(r.Ended && o.stopped)) {
		r.Broken = append(r.Broken, o.name)
		r.held = nil
	}
	r.releaseHeld()
	if r.gotUsage {
		r.Emit(r.usage)
	}
	r.Done = true
	return nil
}

// Reason implements [llm.ReplyReader].
func (r *replyReader) Reason() llm.Reason {
	switch {
	case r.hitLimit():
		return llm.Length
	case r.StopReason == "refusal":
		return llm.Refusal
	case slices.Contains([]string{"", "end_turn", "stop_sequence", "tool_use"}, r.StopReason):
		return llm.EndTurn
	}
	return llm.Other
}

// hitLimit reports whether a token limit cut the reply.
func (r *replyReader) hitLimit() bool {
	return r.StopReason == "max_tokens" || r.StopReason == "model_context_window_exceeded"
}

func (r *replyReader) addUsage(u usage) {
	set := func(to *int, from llm.Number) {
		if from.Valid {
			*to = max(from.N, 0)
			r.gotUsage = true
		}
	}
	set(&r.usage.Input, u.InputTokens)
	set(&r.usage.Output, u.OutputTokens)
	set(&r.usage.CacheRead, u.CacheReadInputTokens)
	set(&r.usage.CacheWrite, u.CacheCreationInputTokens)
	set(&r.usage.Reasoning, u.OutputTokensDetails.ThinkingTokens)
}
