package llm

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"time"
)

// endTimeout is how long a stream may last after its stop reason.
const endTimeout = 10 * time.Second

// HTTPProtocol is how a provider writes its requests and reads its replies.
type HTTPProtocol struct {
	Path    string                                // below the base URL; it may have a query
	Headers http.Header                           // of the key and the version
	Body    func(req *Request, tools []Tool) Body // encodes a request with these tools
	Read    func(r *HTTPReply) ReplyReader
}

// ReplyReader turns the events of one reply into parts.
type ReplyReader interface {
	// Apply reads one event. It calls progress for events that are more than a sign of life.
	Apply(e SSEEvent, progress func()) *Error

	// Empty reports whether nothing of the reply has come. Finish ends a reply that is not empty.
	Empty() bool
	Finish() *Error

	// Reason maps the server's StopReason. EndTurn means that the reply ended normally.
	Reason() Reason
}

// HTTPReply is the part of a reply's state that does not depend on the protocol.
type HTTPReply struct {
	Endpoint   *Endpoint
	Model      string          // as in Thinking.Model
	ThinkTags  *ThinkTagParser // nil: tags in the text are text
	Broken     []string        // names of calls whose arguments can't be read
	StopReason string          // the server's own word, once known
	Ended      bool            // the server said that the reply ends
	Refused    bool            // the model said that it refuses
	Done       bool

	ids       IDs
	calls     int  // given
	abandoned bool // the reader of the parts has left
	yield     func(Part, error) bool
}

// Emit yields a part.
func (r *HTTPReply) Emit(part Part) { r.abandoned = r.abandoned || !r.yield(part, nil) }

// EmitText yields the next piece of the text block with that index, unless it is empty.
func (r *HTTPReply) EmitText(index int, text string) {
	if text != "" {
		r.Emit(Text{Text: text, From: FromModel, Index: index})
	}
}

// EmitThinking yields the next piece of the thinking block with that index, unless it is empty.
func (r *HTTPReply) EmitThinking(index int, text, opaque string) {
	if text != "" || opaque != "" {
		r.Emit(Thinking{Text: text, Opaque: opaque, Model: r.Model, Index: index})
	}
}

// EmitToolCall yields a complete call.
func (r *HTTPReply) EmitToolCall(id, name string, args []byte) {
	r.calls++
	r.Emit(ToolCall{ID: r.ids.Claim(id), Name: name, Args: args})
}

// stop returns the last part of a reply that is done.
func (r *HTTPReply) stop(reason Reason, told []string) Stop {
	if reason == EndTurn {
		switch {
		case r.StopReason == "" && !r.Ended:
			reason = Incomplete
		case r.calls > 0:
			reason = ToolUse
		case r.Refused:
			reason = Refusal
		}
	}
	return Stop{Reason: reason, Detail: r.StopReason, Broken: r.Broken, Told: told}
}

// ProtocolError returns the error of a reply that breaks the protocol.
func (r *HTTPReply) ProtocolError(what string) *Error {
	return r.Endpoint.NewError(Protocol, 0, "The server sent "+what+".", "")
}

// EmptyError returns the error of a reply that ended before it began.
func (r *HTTPReply) EmptyError() *Error {
	return emptyReply(r.Endpoint.NewError(Cut, 0, "The reply ended before it began.", ""))
}

// Decode reads an event into v.
func (r *HTTPReply) Decode(e SSEEvent, v any) *Error {
	switch err := Decode(e.Data, v); {
	case err == nil:
		return nil
	case string(e.Name) == "error":
		return r.Endpoint.EventError(e.Data)
	}
	return r.ProtocolError(fmt.Sprintf("an event that is not understood: %s", e.Data[:min(len(e.Data), 200)]))
}

// handleEnd ends a reply whose stream ended with err. After a stop reason only the usage or the end mark is missing, so the
// reply counts. A stream that was closed in order before that counts as well, but its reply is incomplete.
func (r *HTTPReply) handleEnd(of ReplyReader, err *Error) *Error {
	switch {
	case err.Kind == Cancelled:
		return err
	case r.Ended || r.StopReason != "":
		return of.Finish()
	case !endedInOrder(err):
		return err
	case of.Empty():
		return emptyReply(err)
	}
	return of.Finish()
}

// Stream sends req and yields the parts of the reply, its stop last.
func (c *HTTPClient) Stream(ctx context.Context, req *Request, p HTTPProtocol) iter.Seq2[Part, error] {
	return func(yield func(Part, error) bool) {
		if c.Err != nil {
			yield(nil, c.Err)
			return
		}
		call, told, err := c.negotiate(ctx, req, p)
		defer call.Close()
		if err != nil {
			yield(nil, err)
			return
		}
		r := &HTTPReply{Endpoint: c.endpoint, Model: c.endpoint.Name + "/" + req.Model, ids: NewIDs(req), yield: yield}
		if c.ThinkTags {
			r.ThinkTags = &ThinkTagParser{}
		}
		reader := p.Read(r)
		for !r.Done && !r.abandoned {
			e, err := call.next()
			if err == nil {
				err = reader.Apply(e, call.noteProgress)
			} else {
				err = r.handleEnd(reader, err)
			}
			if err != nil && !r.abandoned {
				yield(nil, err)
				return
			}
			if r.StopReason != "" {
				call.idleTimeout = min(call.idleTimeout, endTimeout)
			}
		}
		if r.abandoned {
			return
		}
		if yield(r.stop(reader.Reason(), told), nil) {
			call.drain()
		}
	}
}

// maxRefusals is how often one request is sent, each time without one more thing that the server refused.
const maxRefusals = 5

// negotiate sends a request with those of its tools that the server takes, and sends it again without what the server refuses.
// It returns the call that succeeded, which must be closed, and notes for people.
func (c *HTTPClient) negotiate(ctx context.Context, req *Request, p HTTPProtocol) (call *HTTPCall, told []string, err *Error) {
	var learnt []string
	for range maxRefusals {
		tools := c.Refused.Tools(req.Tools)
		call = c.Call(ctx)
		if err = call.send(req, tools, p); err == nil {
			return call, told, nil
		}
		name, say := c.Refused.Learn(err, tools)
		if name == "" {
			break
		}
		learnt = append(learnt, name)
		if say != "" {
			told = append(told, say)
		}
		call.Close()
	}
	if !err.Temporary() {
		c.Refused.Forget(learnt) // it was something else
	}
	return call, nil, err
}

// send sends a request with these tools.
func (k *HTTPCall) send(req *Request, tools []Tool, p HTTPProtocol) *Error {
	if err := k.checkSize(req); err != nil {
		return err
	}
	k.body = p.Body(req, tools)
	return k.post(p.Path, p.Headers)
}
