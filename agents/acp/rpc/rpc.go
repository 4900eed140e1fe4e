// Package rpc is JSON-RPC 2.0 with a program at the other end of two pipes, one message a line.
//
// Does: calls and is called, in both directions at once; keeps the order of what comes; bounds what one line and what waits to
// be written may hold; says why a connection ended, with the lines that were no messages.
//
// Does not: know a method, start the program, or trust anything it says.
//
// Imports: nothing of ours.
package rpc

import (
	"bufio"
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
)

// The bounds of one connection.
const (
	maxLine    = 16 << 20 // bytes of one message
	maxRubbish = 64 << 10 // bytes that may come which are no message: a runtime's warnings, a log that went astray
	maxWaiting = 64 << 20 // bytes of messages that the other end has not taken
	maxCalls   = 64       // of the other end that are being answered

	grace = time.Second // between the ends of the two pipes
)

// The codes of errors that this package makes or knows.
const (
	ParseError     = -32700
	InvalidRequest = -32600
	MethodNotFound = -32601
	InvalidParams  = -32602
	InternalError  = -32603
	Cancelled      = -32800 // the call was cancelled
)

// Error is what the other end answers instead of a result.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *Error) Error() string {
	if e.Message == "" {
		return "error " + strconv.Itoa(e.Code)
	}
	return e.Message
}

// ErrClosed is why calls fail after Close.
var ErrClosed = errors.New("the connection was closed")

// Hearer is who hears what the other end says.
type Hearer interface {
	// Notify hears a notification. Notifications and the answers to calls come one after the other, in the order they were
	// sent: while Notify has not returned nothing else is read.
	Notify(method string, params json.RawMessage)

	// Answer answers a call, each on a goroutine of its own. ctx ends when the other end cancels the call or the connection
	// ends. An error that is no [*Error] is sent as an internal one.
	Answer(ctx context.Context, method string, params json.RawMessage) (any, error)
}

// Conn is a connection. It is safe for concurrent use.
type Conn struct {
	hearer Hearer
	start  func(name string, f func())
	ctx    context.Context // of answers
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	last    int64
	calls   map[int64]call // that wait for an answer
	serving map[string]context.CancelFunc
	queue   [][]byte
	waiting int // bytes in queue
	due     chan struct{}
	why     error // it ended; nil: it has not
	done    chan struct{}
}

// call is one that waits for an answer.
type call struct {
	answer chan<- message
	first  func(result json.RawMessage, failed bool) // hears the answer before anything that came after it; nil: nobody does
}

// message is any line. What it is its fields say: a call has both Method and ID, a notification only Method.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// New speaks with whoever reads w and writes r. start starts its goroutines, which end once r and w are closed. Close does
// neither: it may take a program's end for a pipe to be.
func New(w io.Writer, r io.Reader, h Hearer, start func(name string, f func())) *Conn {
	ctx, cancel := context.WithCancelCause(context.Background())
	c := &Conn{
		hearer: h, start: start, ctx: ctx, cancel: cancel,
		calls: map[int64]call{}, serving: map[string]context.CancelFunc{},
		due: make(chan struct{}, 1), done: make(chan struct{}),
	}
	start("acp read", func() { c.end(c.read(r)) })
	start("acp write", func() { c.end(c.write(w)) })
	return c
}

// Done is closed when the connection has ended; Err says why.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err is why the connection ended; nil: it has not.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.why
}

// Close ends the connection: nothing more is written, and what comes is thrown away.
func (c *Conn) Close() { c.end(ErrClosed) }

func (c *Conn) end(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.why != nil {
		return
	}
	c.why, c.queue, c.waiting = why, nil, 0
	c.cancel(why)
	close(c.done)
}

// Call calls a method and decodes what it returns into result, unless that is nil. When ctx ends the other end is told to
// cancel, and Call returns at once. The error is an [*Error] if the other end answered with one.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	return c.CallFirst(ctx, method, params, result, nil)
}

// CallFirst is Call, but that first hears the answer before anything else is read that came after it. It must not block, nor
// is it called once CallFirst has returned.
func (c *Conn) CallFirst(ctx context.Context, method string, params, result any, first func(result json.RawMessage, failed bool)) error {
	answer := make(chan message, 1)
	c.mu.Lock()
	c.last++
	id := c.last
	c.calls[id] = call{answer, first}
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

// send puts a message into the queue.
func (c *Conn) send(m message, params, result any) (err error) {
	m.Version = "2.0"
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
	case c.why != nil:
		return c.why
	case c.waiting+len(line) > maxWaiting:
		return fmt.Errorf("it does not take what it is sent: %d MB wait", c.waiting>>20)
	}
	c.queue, c.waiting = append(c.queue, append(line, '\n')), c.waiting+len(line)+1
	select {
	case c.due <- struct{}{}:
	default:
	}
	return nil
}

// write writes what is in the queue until the connection ends.
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
				case <-time.After(grace):
				}
				return fmt.Errorf("it takes nothing more: %w", err)
			}
			c.mu.Lock()
			c.waiting = max(c.waiting-len(line), 0)
			c.mu.Unlock()
		}
		if len(lines) > 0 {
			continue
		}
		select {
		case <-c.due:
		case <-c.done:
			return nil
		}
	}
}

// read hears lines until there are no more. Its error is never nil.
func (c *Conn) read(r io.Reader) error {
	in := bufio.NewReaderSize(r, 64<<10)
	rubbish := 0
	var first []byte // of it
	for {
		line, err := next(in)
		if text := bytes.TrimSpace(line); len(text) > 0 {
			var m message
			switch bad := json.Unmarshal(text, &m); {
			case bad == nil && text[0] == '{':
				c.hear(m)
			case err != nil && text[0] == '{':
				return fmt.Errorf("it ended in the middle of a message (%s)", quoted(text))
			default:
				if first == nil {
					first = slices.Clone(text[:min(len(text), 200)])
				}
				if rubbish += len(text); rubbish > maxRubbish {
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

// next reads one line of at most maxLine bytes. With the last one, which may be empty, comes io.EOF.
func next(in *bufio.Reader) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			return nil, fmt.Errorf("one message is larger than %d MB", maxLine>>20)
		}
		if line == nil && err == nil {
			return part, nil
		}
		if line = append(line, part...); !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// quoted is the beginning of a text.
func quoted(text []byte) string {
	return strconv.QuoteToGraphic(strings.ToValidUTF8(string(text[:min(len(text), 200)]), "\uFFFD"))
}

// hear takes one message.
func (c *Conn) hear(m message) {
	switch {
	case m.Method == "$/cancel_request":
		var p struct {
			ID json.RawMessage `json:"requestId"`
		}
		_ = json.Unmarshal(m.Params, &p)
		c.mu.Lock()
		defer c.mu.Unlock()
		if stop := c.serving[string(p.ID)]; stop != nil {
			stop()
		}
	case m.Method != "" && len(m.ID) > 0:
		c.serve(m)
	case m.Method != "":
		c.hearer.Notify(m.Method, m.Params)
	default:
		id, err := strconv.ParseInt(strings.Trim(string(m.ID), `"`), 10, 64)
		if err != nil {
			return // of no call of ours
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if call, waits := c.calls[id]; waits {
			delete(c.calls, id)
			if call.first != nil {
				call.first(m.Result, m.Error != nil)
			}
			call.answer <- m
		}
	}
}

// serve answers a call.
func (c *Conn) serve(m message) {
	id := string(m.ID)
	refuse := func(why string) {
		_ = c.send(message{ID: m.ID, Error: &Error{Code: InvalidRequest, Message: why}}, nil, nil)
	}
	ctx, stop := context.WithCancel(c.ctx)
	c.mu.Lock()
	n, again := len(c.serving), c.serving[id] != nil
	if n < maxCalls && !again {
		c.serving[id] = stop
	}
	c.mu.Unlock()
	switch {
	case again:
		stop()
		refuse("a call with this id is being answered")
		return
	case n >= maxCalls:
		stop()
		refuse(fmt.Sprintf("%d calls are being answered", n))
		return
	}
	c.start("acp answer "+m.Method, func() {
		defer stop()
		result, err := c.hearer.Answer(ctx, m.Method, m.Params)
		cancelled := ctx.Err() != nil
		c.mu.Lock()
		delete(c.serving, id)
		c.mu.Unlock()
		own := (*Error)(nil)
		switch {
		case err == nil:
			if result == nil {
				result = struct{}{}
			}
			_ = c.send(message{ID: m.ID}, nil, result)
		case errors.As(err, &own):
		case cancelled:
			own = &Error{Code: Cancelled, Message: "cancelled"}
		default:
			own = &Error{Code: InternalError, Message: err.Error()}
		}
		if own != nil {
			_ = c.send(message{ID: m.ID, Error: own}, nil, nil)
		}
	})
}
