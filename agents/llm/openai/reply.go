package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"fantail/agents/llm"
	"fantail/agents/llm/wire"
)

// chunk is what we read of a stream event; the rest of it is ignored.
type chunk struct {
	Error   json.RawMessage `json:"error"`
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
}

type choice struct {
	Index  int    `json:"index"`
	Finish string `json:"finish_reason"`
	Delta  struct {
		Content          prose  `json:"content"`
		Refusal          string `json:"refusal"`
		ReasoningContent string `json:"reasoning_content"`
		Reasoning        string `json:"reasoning"`
		Calls            []call `json:"tool_calls"`
	} `json:"delta"`
}

// call is a piece of a tool call.
type call struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// prose is text that some servers send as a list of typed pieces.
type prose string

func (p *prose) UnmarshalJSON(b []byte) error {
	if b[0] == '"' && bytes.IndexByte(b, '\\') < 0 && utf8.Valid(b) {
		*p = prose(b[1 : len(b)-1]) // nearly every piece: nothing in it is escaped
		return nil
	}
	if b[0] != '[' {
		return json.Unmarshal(b, (*string)(p))
	}
	var pieces []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(b, &pieces); err != nil {
		return err
	}
	for _, piece := range pieces {
		*p += prose(piece.Text)
	}
	return nil
}

// usage counts what came from the cache into the prompt.
type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Details    struct {
		Cached  int `json:"cached_tokens"`
		Written int `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	Output struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	CacheHit int `json:"prompt_cache_hit_tokens"`
}

// What the text before belonged to.
const (
	nothing = iota
	thought
	said
)

// reply is the state of one stream.
type reply struct {
	peer  *wire.Peer
	model string
	ids   wire.IDs
	yield func(llm.Part) bool

	block   int // index of the text or reasoning being received
	kind    int // of it
	calls   calls
	given   int // calls yielded
	broken  []string
	refused bool
	usage   *usage
	reason  string // of the reply's end, once known
	done    bool
	left    bool // the reader left
}

// apply takes one event.
func (r *reply) apply(raw wire.Event) *llm.Error {
	if bytes.Equal(bytes.TrimSpace(raw.Data), []byte("[DONE]")) {
		if r.reason == "" {
			return r.peer.Fault(llm.Cut, 0, "The reply ended without a reason, so it may be incomplete.", "")
		}
		return r.finish()
	}
	var c chunk
	if err := json.Unmarshal(raw.Data, &c); err != nil {
		var odd *json.UnmarshalTypeError
		if string(raw.Name) == "error" || errors.As(err, &odd) && len(c.Error) > 0 {
			return r.peer.Event(raw.Data)
		}
		return r.fault(fmt.Sprintf("an event that is not understood: %s", raw.Data[:min(len(raw.Data), 200)]))
	}
	if string(raw.Name) == "error" || len(c.Error) > 0 && string(c.Error) != "null" {
		return r.peer.Event(raw.Data)
	}
	if c.Usage != nil {
		r.usage = c.Usage
	}
	for i := range c.Choices {
		if c.Choices[i].Index == 0 {
			r.choice(&c.Choices[i])
		}
	}
	switch r.reason {
	case "error", "network_error", "abort":
		return r.peer.Fault(llm.Server, 0, fmt.Sprintf("The server ended the reply early (%s).", r.reason), "")
	}
	return nil
}

func (r *reply) choice(c *choice) {
	d := &c.Delta
	reasoning, opaque := d.ReasoningContent, wanted
	if reasoning == "" {
		reasoning, opaque = d.Reasoning, ""
	}
	if reasoning != "" {
		r.turn(thought)
		r.give(llm.Thinking{Text: reasoning, Opaque: opaque, Model: r.model, Index: r.block})
	}
	if d.Refusal != "" {
		r.refused = true
		r.turn(said)
		r.give(llm.Text{Text: d.Refusal, From: llm.FromModel, Index: r.block})
	}
	if d.Content != "" {
		r.turn(said)
		r.give(llm.Text{Text: string(d.Content), From: llm.FromModel, Index: r.block})
	}
	for i := range d.Calls {
		r.calls.add(&d.Calls[i])
	}
	if c.Finish != "" {
		r.reason = c.Finish
	}
}

// turn begins a new block where reasoning and text take turns.
func (r *reply) turn(kind int) {
	if r.kind != nothing && r.kind != kind {
		r.block++
	}
	r.kind = kind
}

// finish yields what was held until the reply is known to be whole.
func (r *reply) finish() *llm.Error {
	for i, c := range r.calls.all {
		args := bytes.TrimSpace(c.args)
		last := i == len(r.calls.all)-1
		if len(args) == 0 && (r.reason != "length" || !last) {
			args = []byte("{}")
		}
		if !wire.Object(args) {
			r.broken = append(r.broken, c.name)
		}
		c.args = args
	}
	for _, c := range r.calls.all {
		if wire.Object(c.args) {
			r.given++
			r.give(llm.ToolCall{ID: r.ids.Claim(c.id), Name: c.name, Args: c.args})
		}
	}
	if r.usage != nil {
		r.give(r.usage.count())
	}
	r.done = true
	return nil
}

// stop is the last part of a reply that is done.
func (r *reply) stop() llm.Stop {
	s := llm.Stop{Reason: llm.Other, Detail: r.reason, Broken: r.broken}
	switch r.reason {
	case "length":
		s.Reason = llm.Length
	case "content_filter":
		s.Reason = llm.Refusal
	case "stop", "tool_calls", "function_call", "eos":
		s.Reason = llm.EndTurn
		if r.given > 0 {
			s.Reason = llm.ToolUse
		} else if r.refused {
			s.Reason = llm.Refusal
		}
	}
	return s
}

// count brings the numbers to our meaning: input is what no cache knew.
func (u *usage) count() llm.Usage {
	cached := max(u.Details.Cached, u.CacheHit, 0)
	written := max(u.Details.Written, 0)
	return llm.Usage{
		Input:      max(u.Prompt-cached-written, 0),
		Output:     max(u.Completion, 0),
		CacheRead:  cached,
		CacheWrite: written,
		Reasoning:  max(u.Output.Reasoning, 0),
	}
}

func (r *reply) give(part llm.Part) {
	if !r.left && !r.yield(part) {
		r.left = true
	}
}

func (r *reply) fault(what string) *llm.Error {
	return r.peer.Fault(llm.Protocol, 0, "The server sent "+what+".", "")
}
