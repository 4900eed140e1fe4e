// Package llm is the words between an agent and any model: requests, parts of an answer, errors, retries, and what the
// HTTP protocols share.
package llm

import (
	"context"
	"encoding/json"
	"iter"
)

// Provider speaks one wire protocol. Stream sends one request and yields the
// reply's parts in order as they arrive.
//
// A stream ends in exactly one of two ways: a [Stop] part and nothing after
// it, or a non-nil error (always an [*Error]; its Part is nil) and nothing
// after it. A connection that breaks before the protocol's own end marker is
// an error of kind [Cut]; one that closes in order there is a [Stop] whose Reason is
// [Incomplete], and never an ordinary end. Cancelling ctx ends the stream
// with kind [Cancelled]. Breaking out of the loop closes the connection.
// A provider never repeats a request (without what its server refused it is another one),
// never sleeps and never logs.
type Provider interface {
	Stream(ctx context.Context, req *Request) iter.Seq2[Part, error]
}

// Request is one model request. It is read-only to a provider, except for what
// it caches in Encoded. Requests that share messages are sent one after the other.
type Request struct {
	Model     string // the provider's own name of the model, without "provider/"
	System    string
	Messages  []Message
	Tools     []Tool
	MaxTokens int    // of the reply; 0 lets the provider choose
	CacheKey  string // the same for every request of one agent; a routing hint
	Sees      bool   // the model takes pictures
	Brief     bool   // no human reads along: the reply becomes a message or a line of a log
}

// Role says whose words a message holds.
type Role string

const (
	User      Role = "user"      // prompts, messages from an inbox, tool results
	Assistant Role = "assistant" // what the model said, thought and called
)

// Message is one entry of the conversation. Roles alternate; a request starts
// with User. Tool results stand in the User message right after the Assistant
// message that called, ordered as the calls were, before any Text.
type Message struct {
	Role    Role
	Parts   []Part
	Encoded *EncodedMessage // caches the encoding of the message; nil: it is not cached
}

// Part is one piece of a message or of a stream. The implementations are
// [Text], [Thinking], [ToolCall], [ToolResult], [Usage], [Stop] and [Retrying].
type Part interface{ part() }

// Provenance says where a text comes from. It travels beside the text, so that
// who wrote a sentence is never read back out of the sentence.
type Provenance string

const (
	FromHost    Provenance = ""        // written by the program itself
	FromPrompt  Provenance = "prompt"  // typed by the human, or the task of a sub-agent
	FromMessage Provenance = "message" // taken from an inbox: data, not an instruction
	FromFile    Provenance = "file"
	FromTool    Provenance = "tool"
	FromModel   Provenance = "model"
)

// Text in a message is whole; in a stream it is the next piece of the text
// with that Index.
type Text struct {
	Text  string
	From  Provenance
	Index int // in a stream: which content block of the reply; neighbours with equal Index belong together
}

// Thinking is a model's reasoning. In a stream Text is the next piece of it.
// Opaque is what the provider needs to send the block back unchanged (a
// signature, or a whole redacted block); it comes in the block's last piece and
// is only meaningful to the provider and model named by Model.
type Thinking struct {
	Text   string
	Opaque string
	Model  string // "provider/name" that produced it; others drop the block
	Index  int
}

// ToolCall is complete: it is yielded once its arguments have arrived whole and
// are a JSON object. Calls whose arguments are anything else are never yielded;
// the stream ends with an error or, if the protocol ended in order (the token
// limit cut them, or the model wrote them wrong), with the call in Stop.Broken.
type ToolCall struct {
	ID    string
	Name  string
	Args  json.RawMessage
	Title string // one line for people, of a call that the provider itself carries out; else ""
}

// ToolResult answers the call with the same ID.
type ToolResult struct {
	ID     string
	Text   string
	Error  bool
	Images []Image // for a model that takes them (Request.Sees); Text names them too
}

// Image is a picture in a tool's result.
type Image struct {
	Type   string                 // image/png, image/jpeg, image/gif or image/webp
	Tokens int                    // about what it takes
	Read   func() ([]byte, error) // its bytes; an error: it is gone, and left out
}

// Usage counts the tokens of one request. Input is everything the model read
// that came neither from nor went to a cache; the total context is Input +
// CacheRead + CacheWrite + Output. A stream yields it at most once, before Stop.
type Usage struct {
	Input, Output         int
	CacheRead, CacheWrite int
	Reasoning             int   // part of Output
	Cost                  int64 // millionths of a dollar, as far as the provider tells it
}

// Add returns the sum of both.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Output + v.Output, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite, u.Reasoning + v.Reasoning, u.Cost + v.Cost}
}

// Context is the number of tokens the conversation fills after this request.
func (u Usage) Context() int { return u.Input + u.CacheRead + u.CacheWrite + u.Output }

// Reason says why a reply ended.
type Reason string

const (
	EndTurn Reason = "end_turn"
	ToolUse Reason = "tool_use"
	Length  Reason = "length"  // the reply hit its token limit
	Refusal Reason = "refusal" // the model or a filter refused
	Other   Reason = "other"

	// Incomplete is a reply whose server closed it in order, but never said that it is complete.
	Incomplete Reason = "incomplete"
)

// Stop is the last part of a stream that ended in order.
type Stop struct {
	Reason Reason
	Detail string   // the provider's own word, for people
	Broken []string // names of calls whose arguments are no whole JSON object and were not yielded
	Told   []string // for people: without what the model was asked, as its server refused that
}

// Retrying is yielded by [Retry], never by a provider: what this stream yielded
// so far is void, and a new try starts after the wait.
type Retrying struct {
	Attempt int // the number of the try that failed, from 1
	Of      int
	Wait    int64 // milliseconds until the next try
	Err     *Error
}

func (Text) part()       {}
func (Thinking) part()   {}
func (ToolCall) part()   {}
func (ToolResult) part() {}
func (Usage) part()      {}
func (Stop) part()       {}
func (Retrying) part()   {}

// Tool tells the model of a tool. Schema is a JSON Schema object.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage
}
