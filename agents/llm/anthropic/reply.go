package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"

	"fantail/agents/llm"
	"fantail/agents/llm/wire"
)

// event is what we read of a stream event; the rest of it is ignored.
type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Usage usage `json:"usage"`
	} `json:"message"`
	Block struct {
		Type      string          `json:"type"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		Data      string          `json:"data"`
	} `json:"content_block"`
	Delta struct {
		Type       string `json:"type"`
		Text       string `json:"text"`
		Thinking   string `json:"thinking"`
		Signature  string `json:"signature"`
		Partial    string `json:"partial_json"`
		StopReason string `json:"stop_reason"`
	} `json:"delta"`
	Usage usage `json:"usage"`
}

// usage is cumulative; a field that is absent keeps its last value.
type usage struct {
	Input      *int `json:"input_tokens"`
	Output     *int `json:"output_tokens"`
	CacheRead  *int `json:"cache_read_input_tokens"`
	CacheWrite *int `json:"cache_creation_input_tokens"`
	Details    struct {
		Thinking *int `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// open is the content block being received.
type open struct {
	kind   string
	id     string
	name   string
	args   []byte
	opaque string // of a thinking block, without its prefix
}

// reply is the state of one stream. Blocks come one after the other.
type reply struct {
	peer  *wire.Peer
	model string
	ids   wire.IDs
	yield func(llm.Part) bool

	event  event // the last one: each would be garbage of its own
	begun  bool
	blocks int   // begun
	open   *open // nil between blocks
	held   *open // an ended call without arguments: complete only if more follows
	calls  int
	broken []string
	usage  llm.Usage
	counts bool
	reason string // of the message's end, once known
	done   bool
	left   bool // the reader left
}

// apply takes one event. progress is called for events that are more than a
// sign of life.
func (r *reply) apply(raw wire.Event, progress func()) *llm.Error {
	e := &r.event
	*e = event{}
	if err := json.Unmarshal(raw.Data, e); err != nil {
		if string(raw.Name) == "error" {
			return r.peer.Event(raw.Data)
		}
		return r.fault(fmt.Sprintf("an event that is not understood: %s", raw.Data[:min(len(raw.Data), 200)]))
	}
	if e.Type == "" {
		e.Type = string(raw.Name)
	}
	switch e.Type {
	case "message_start":
		if r.begun {
			return r.fault("a second beginning inside one reply")
		}
		r.begun = true
		r.count(e.Message.Usage)
	case "content_block_start":
		if err := r.start(e); err != nil {
			return err
		}
	case "content_block_delta":
		if err := r.delta(e); err != nil {
			return err
		}
	case "content_block_stop":
		if r.open == nil || e.Index != r.blocks-1 {
			return r.fault("the end of a block that is not open")
		}
		r.end()
	case "message_delta":
		if !r.begun {
			return r.fault("an end before the beginning")
		}
		r.count(e.Usage)
		if e.Delta.StopReason != "" {
			r.reason = e.Delta.StopReason
		}
	case "message_stop":
		return r.finish()
	case "error":
		return r.peer.Event(raw.Data)
	default: // pings, and what does not exist yet
		return nil
	}
	progress()
	return nil
}

func (r *reply) start(e *event) *llm.Error {
	switch {
	case !r.begun:
		return r.fault("a block before the beginning")
	case r.open != nil:
		return r.fault("a block inside a block")
	case e.Index != r.blocks:
		return r.fault(fmt.Sprintf("block %d where block %d was due", e.Index, r.blocks))
	}
	r.release()
	r.blocks++
	b := e.Block
	r.open = &open{kind: b.Type, id: b.ID, name: b.Name}
	switch b.Type {
	case "text":
		r.text(b.Text)
	case "thinking":
		r.open.opaque = b.Signature
		r.thought(b.Thinking)
	case "redacted_thinking":
		r.open.opaque = b.Data
	case "tool_use":
		if wire.Object(b.Input) && strings.TrimSpace(string(b.Input[1:len(b.Input)-1])) != "" {
			r.open.args = b.Input
		}
	}
	return nil
}

func (r *reply) delta(e *event) *llm.Error {
	if r.open == nil || e.Index != r.blocks-1 {
		return r.fault("a piece of a block that is not open")
	}
	d := &e.Delta
	switch d.Type {
	case "text_delta":
		r.text(d.Text)
	case "thinking_delta":
		r.thought(d.Thinking)
	case "signature_delta":
		r.open.opaque += d.Signature
	case "input_json_delta":
		r.open.args = append(r.open.args, d.Partial...)
	}
	return nil
}

func (r *reply) text(s string) {
	if s != "" {
		r.give(llm.Text{Text: s, From: llm.FromModel, Index: r.blocks - 1})
	}
}

func (r *reply) thought(s string) {
	if s != "" {
		r.give(llm.Thinking{Text: s, Model: r.model, Index: r.blocks - 1})
	}
}

// end closes the open block.
func (r *reply) end() {
	b := r.open
	r.open = nil
	switch b.kind {
	case "thinking":
		if b.opaque != "" {
			r.give(llm.Thinking{Opaque: signed + b.opaque, Model: r.model, Index: r.blocks - 1})
		}
	case "redacted_thinking":
		r.give(llm.Thinking{Opaque: redacted + b.opaque, Model: r.model, Index: r.blocks - 1})
	case "tool_use":
		switch {
		case len(b.args) == 0:
			r.held = b
		case wire.Object(b.args):
			r.call(b)
		default:
			r.broken = append(r.broken, b.name)
		}
	}
}

// release yields the call that was held. Without arguments nobody can tell
// whether they were cut; but the token limit cuts only the last block.
func (r *reply) release() {
	if b := r.held; b != nil {
		r.held = nil
		b.args = []byte("{}")
		r.call(b)
	}
}

func (r *reply) call(b *open) {
	r.calls++
	r.give(llm.ToolCall{ID: r.ids.Claim(b.id), Name: b.name, Args: b.args})
}

// finish is the end of the message. Nothing has been said to be complete before.
func (r *reply) finish() *llm.Error {
	switch {
	case !r.begun:
		return r.fault("an end before the beginning")
	case r.open != nil:
		return r.fault("an end inside a block")
	case r.reason == "":
		return r.peer.Fault(llm.Cut, 0, "The reply ended without a reason, so it may be incomplete.", "")
	}
	if r.held != nil && r.length() {
		r.broken = append(r.broken, r.held.name)
		r.held = nil
	}
	r.release()
	if r.counts {
		r.give(r.usage)
	}
	r.done = true
	return nil
}

// stop is the last part of a reply that is done.
func (r *reply) stop() llm.Stop {
	s := llm.Stop{Reason: llm.Other, Detail: r.reason, Broken: r.broken}
	switch r.reason {
	case "max_tokens", "model_context_window_exceeded":
		s.Reason = llm.Length
	case "refusal":
		s.Reason = llm.Refusal
	case "end_turn", "stop_sequence", "tool_use":
		s.Reason = llm.EndTurn
		if r.calls > 0 {
			s.Reason = llm.ToolUse
		}
	}
	return s
}

func (r *reply) length() bool {
	return r.reason == "max_tokens" || r.reason == "model_context_window_exceeded"
}

func (r *reply) count(u usage) {
	set := func(to, from *int) {
		if from != nil {
			*to = max(*from, 0)
			r.counts = true
		}
	}
	set(&r.usage.Input, u.Input)
	set(&r.usage.Output, u.Output)
	set(&r.usage.CacheRead, u.CacheRead)
	set(&r.usage.CacheWrite, u.CacheWrite)
	set(&r.usage.Reasoning, u.Details.Thinking)
}

func (r *reply) give(part llm.Part) {
	if !r.left && !r.yield(part) {
		r.left = true
	}
}

func (r *reply) fault(what string) *llm.Error {
	return r.peer.Fault(llm.Protocol, 0, "The server sent "+what+".", "")
}
