package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"fantail/tools/proc"
)

// The bounds of one connection.
const (
	maxLine     = 16 << 20 // bytes of one message
	maxNoise    = 64 << 10 // bytes that may come which are no message: a runtime's warnings, a log that went astray
	maxQueued   = 64 << 20 // bytes of messages that the other end has not taken
	maxInFlight = 64       // of the other end that are being answered

	pipeGrace = time.Second // between the ends of the two pipes
)

// The codes of errors that this package makes or knows.
const (
	CodeParseError       = -32700
	CodeInvalidRequest   = -32600
	CodeMethodNotFound   = -32601
	CodeInvalidParams    = -32602
	CodeInternalError    = -32603
	CodeRequestCancelled = -32800 // the call was cancelled
)

// RPCError is a JSON-RPC error response.
type RPCError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// maxErrorData is how many bytes of an error's data are shown.
const maxErrorData = 500

func (e *RPCError) Error() string {
	said := e.Message
	if said == "" {
		said = "error " + strconv.Itoa(e.Code)
	}
	if why := errorDetail(e.Data); why != "" && !strings.Contains(said, why) {
		said += ": " + why
	}
	return said
}

// errorDetail returns the text in an error's data, or else its JSON. It returns "" if there is nothing to say.
func errorDetail(data json.RawMessage) string {
	var has map[string]json.RawMessage
	if json.Unmarshal(data, &has) == nil {
		for _, name := range []string{"details", "message", "error", "reason"} {
			if said := jsonText(has[name]); said != "" {
				data = has[name]
				break
			}
		}
	}
	said := jsonText(data)
	return strings.ToValidUTF8(said[:min(len(said), maxErrorData)], "")
}

// jsonText returns the text of a JSON string, or other JSON as it is. It returns "" for an empty value.
func jsonText(raw json.RawMessage) (s string) {
	switch string(raw) {
	case "null", "{}", "[]", "false", "true":
		return ""
	}
	if json.Unmarshal(raw, &s) != nil {
		s = string(raw)
	}
	return strings.TrimSpace(s)
}

// UnmarshalJSON reads an error in any form, because each call needs a result.
func (e *RPCError) UnmarshalJSON(raw []byte) error {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		*e = RPCError{Code: CodeInternalError, Message: jsonText(raw)}
		return nil
	}
	*e = RPCError{Message: jsonText(m["message"]), Data: m["data"]}
	code := jsonText(m["code"])
	n, err := strconv.ParseFloat(code, 64)
	switch e.Code = int(n); {
	case err == nil:
	case code == "":
		e.Code = CodeInternalError
	default:
		e.Code, e.Message = CodeInternalError, strings.TrimSuffix(code+": "+e.Message, ": ")
	}
	if e.Message == "" && e.Data == nil && len(m) > 0 && m["code"] == nil { // no member has a known name: all of it is the message
		e.Message = errorDetail(raw)
	}
	return nil
}

// hasContent reports whether the error is more than an empty member.
func (e *RPCError) hasContent() bool {
	return e != nil && (e.Message != "" || len(e.Data) > 0 || e.Code != 0 && e.Code != CodeInternalError)
}

// ErrClosed is the error of calls after Close.
var ErrClosed = errors.New("the connection was closed")

// Receiver receives the requests and notifications of the other end.
type Receiver interface {
	// Notify hears a notification. Notifications and the answers to calls come one after the other, in the order they were
	// sent: while Notify has not returned nothing else is read.
	Notify(method string, params json.RawMessage)

	// Answer answers a call, each on a goroutine of its own. ctx ends when the other end cancels the call or the connection
	// ends. An error that is no [*Error] is sent as an internal one.
	Answer(ctx context.Context, method string, params json.RawMessage) (any, error)
}

// Conn is a connection. It is safe for concurrent use.
type Conn struct {
	receiver Receiver
	start    func(name string, f func())
	ctx      context.Context // of answers
	cancel   context.CancelCauseFunc

	mu          sync.Mutex
	lastID      int64
	calls       map[int64]chan<- message // that wait for an answer
	inFlight    map[string]context.CancelFunc
	queue       [][]byte
	queuedBytes int // bytes in queue
	queued      chan struct{}
	err         error // it ended; nil: it has not
	done        chan struct{}
}

// message is any JSON-RPC message. A request has Method and ID, a notification only Method.
type message struct {
	Version json.RawMessage `json:"jsonrpc"` // whatever the other end says
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *RPCError       `json:"error,omitempty"`
}

// NewConn returns a connection that writes to w and reads from r. start runs its goroutines, which end once r and w are
// closed. Close closes neither of them.
func NewConn(w io.Writer, r io.Reader, h Receiver, start func(name string, f func())) *Conn {
	ctx, cancel := context.WithCancelCause(context.Background())
	c := &Conn{
		receiver: h, start: start, ctx: ctx, cancel: cancel,
		calls: map[int64]chan<- message{}, inFlight: map[string]context.CancelFunc{},
		queued: make(chan struct{}, 1), done: make(chan struct{}),
	}
	start("acp read", func() { c.end(c.read(r)) })
	start("acp write", func() { c.end(c.write(w)) })
	return c
}

// Done is closed when the connection has ended; Err says why.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err returns why the connection has ended, or nil if it has not.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close ends the connection: nothing more is written, and what arrives is discarded.
func (c *Conn) Close() { c.end(ErrClosed) }

func (c *Conn) end(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err, c.queue, c.queuedBytes = why, nil, 0
	c.cancel(why)
	close(c.done)
}

// Call calls a method and decodes its result into result, unless that is nil. When ctx ends, Call sends $/cancel_request
// and returns at once. The error is an [*RPCError] if the other end answered with one.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	answer := make(chan message, 1)
	c.mu.Lock()
	c.lastID++
	id := c.lastID
	c.calls[id] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.calls, id)
	}()
	if err := c.send(message{ID: strconv.AppendInt(nil, id, 10), Method: method}, params, nil); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case m := <-answer:
		return m.decode(method, result)
	case <-ctx.Done():
		_ = c.Notify("$/cancel_request", map[string]int64{"requestId": id})
		return fmt.Errorf("%s: %w", method, context.Cause(ctx))
	case <-c.done:
		select {
		case m := <-answer: // which came last
			return m.decode(method, result)
		default:
		}
		return fmt.Errorf("%s: %w", method, c.Err())
	}
}

func (m message) decode(method string, result any) error {
	switch {
	case m.Error != nil:
		return m.Error
	case result == nil || len(m.Result) == 0 || string(m.Result) == "null":
		return nil
	}
	if err := json.Unmarshal(m.Result, result); err != nil {
		return fmt.Errorf("%s: what came back can't be read: %w", method, err)
	}
	return nil
}

// Notify sends a notification.
func (c *Conn) Notify(method string, params any) error {
	return c.send(message{Method: method}, params, nil)
}

// send queues a message.
func (c *Conn) send(m message, params, result any) (err error) {
	m.Version = json.RawMessage(`"2.0"`)
	if params != nil {
		m.Params, err = json.Marshal(params)
	}
	if err == nil && result != nil {
		m.Result, err = json.Marshal(result)
	}
	if err != nil {
		return err
	}
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.err != nil:
		return c.err
	case c.queuedBytes+len(line) > maxQueued:
		return fmt.Errorf("it does not take what it is sent: %d MB wait", c.queuedBytes>>20)
	}
	c.queue, c.queuedBytes = append(c.queue, append(line, '\n')), c.queuedBytes+len(line)+1
	select {
	case c.queued <- struct{}{}:
	default:
	}
	return nil
}

// write writes the queued messages until the connection ends.
func (c *Conn) write(w io.Writer) error {
	for {
		c.mu.Lock()
		lines := c.queue
		c.queue = nil
		c.mu.Unlock()
		for _, line := range lines {
			if _, err := w.Write(line); err != nil {
				select { // why it does not read any more the end of the other pipe tells better
				case <-c.done:
				case <-time.After(pipeGrace):
				}
				return fmt.Errorf("it takes nothing more: %w", err)
			}
			c.mu.Lock()
			c.queuedBytes = max(c.queuedBytes-len(line), 0)
			c.mu.Unlock()
		}
		if len(lines) > 0 {
			continue
		}
		select {
		case <-c.queued:
		case <-c.done:
			return nil
		}
	}
}

// read reads messages until the end of r. Its error is never nil.
func (c *Conn) read(r io.Reader) error {
	lines := proc.NewLines(r, maxLine)
	rubbish := 0
	var first []byte // of it
	for {
		line, err := lines.Next()
		if text := bytes.TrimSpace(line); len(text) > 0 {
			var m message
			switch bad := json.Unmarshal(text, &m); {
			case bad == nil && text[0] == '{':
				c.dispatch(m)
			case err != nil && text[0] == '{':
				return fmt.Errorf("it ended in the middle of a message (%s)", quoted(text))
			default:
				if first == nil {
					first = slices.Clone(text[:min(len(text), 200)])
				}
				if rubbish += len(text); rubbish > maxNoise {
					return fmt.Errorf("it does not speak the protocol; it wrote %s", quoted(first))
				}
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF) && first != nil:
			return fmt.Errorf("it ended; it had written %s", quoted(first))
		case errors.Is(err, io.EOF):
			return errors.New("it ended")
		default:
			return fmt.Errorf("it can't be heard any more: %w", err)
		}
	}
}

// quoted returns the beginning of a text in quotes.
func quoted(text []byte) string {
	return strconv.QuoteToGraphic(strings.ToValidUTF8(string(text[:min(len(text), 200)]), "\uFFFD"))
}

// dispatch handles one message.
func (c *Conn) dispatch(m message) {
	switch {
	case m.Method == "$/cancel_request":
		var p struct {
			ID json.RawMessage `json:"requestId"`
		}
		_ = json.Unmarshal(m.Params, &p)
		c.mu.Lock()
		defer c.mu.Unlock()
		if stop := c.inFlight[string(p.ID)]; stop != nil {
			stop()
		}
	case m.Method != "" && len(m.ID) > 0:
		c.serve(m)
	case m.Method != "":
		c.receiver.Notify(m.Method, m.Params)
	default:
		id, err := strconv.ParseInt(strings.Trim(string(m.ID), `"`), 10, 64)
		if err != nil {
			return // of no call of ours
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if answer := c.calls[id]; answer != nil {
			delete(c.calls, id)
			if len(m.Result) > 0 && !m.Error.hasContent() {
				m.Error = nil
			}
			answer <- m
		}
	}
}

// serve answers a request.
func (c *Conn) serve(m message) {
	id := string(m.ID)
	refuse := func(why string) {
		_ = c.send(message{ID: m.ID, Error: &RPCError{Code: CodeInvalidRequest, Message: why}}, nil, nil)
	}
	ctx, stop := context.WithCancel(c.ctx)
	c.mu.Lock()
	n, again := len(c.inFlight), c.inFlight[id] != nil
	if n < maxInFlight && !again {
		c.inFlight[id] = stop
	}
	c.mu.Unlock()
	switch {
	case again:
		stop()
		refuse("a call with this id is being answered")
		return
	case n >= maxInFlight:
		stop()
		refuse(fmt.Sprintf("%d calls are being answered", n))
		return
	}
	c.start("acp answer "+m.Method, func() {
		defer stop()
		result, err := c.receiver.Answer(ctx, m.Method, m.Params)
		cancelled := ctx.Err() != nil
		c.mu.Lock()
		delete(c.inFlight, id)
		c.mu.Unlock()
		own := (*RPCError)(nil)
		switch {
		case err == nil:
			if result == nil {
				result = struct{}{}
			}
			_ = c.send(message{ID: m.ID}, nil, result)
		case errors.As(err, &own):
		case cancelled:
			own = &RPCError{Code: CodeRequestCancelled, Message: "cancelled"}
		default:
			own = &RPCError{Code: CodeInternalError, Message: err.Error()}
		}
		if own != nil {
			_ = c.send(message{ID: m.ID, Error: own}, nil, nil)
		}
	})
}
