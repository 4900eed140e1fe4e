package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fantail/tools/mcp/frames"
	"fantail/tools/proc"
)

const (
	longest   = 16 << 20         // bytes of one message
	mostNoise = 8 << 20          // bytes of what is no message, between two that are
	writes    = 10 * time.Second // what a program may take to read a message that is written to it
	probes    = 5 * time.Second  // what it may take to say that it does not know the newer protocol
	mostOpen  = 256              // requests of a program that are not answered yet, until no more are read
)

// discover is the request with which the newer protocol begins. Programs that do not know it may stay silent.
const discover = "server/discover"

// pipes is the connection with a program: a message a line, or a batch of them, as some versions of the protocol have it.
// What stands on other lines is noise, of which the first lines are noted; a message that is broken breaks the connection.
type pipes struct {
	p     *proc.Served
	noted func(string) // a line that is no message, and what breaks the connection

	in     chan jsonrpc.Message
	broken chan struct{} // closed once nothing more comes, because of err
	err    error
	pen    chan struct{} // holds a token while nobody writes
	closed chan struct{}
	once   sync.Once
	half   atomic.Bool // the program has written a part of a line
	stuck  atomic.Bool // and stopped there

	mu    sync.Mutex
	open  map[jsonrpc.ID]bool // the program's requests that are not answered yet
	eased chan struct{}       // hears that one was
}

var _ mcp.Transport = (*pipes)(nil)

// newPipes begins to read what the program writes. start runs the reader.
func newPipes(p *proc.Served, noted func(string), start func(name string, f func())) *pipes {
	c := &pipes{
		p: p, noted: noted, in: make(chan jsonrpc.Message), broken: make(chan struct{}), pen: make(chan struct{}, 1), closed: make(chan struct{}),
		open: map[jsonrpc.ID]bool{}, eased: make(chan struct{}, 1),
	}
	c.pen <- struct{}{}
	start("hear an MCP server", func() {
		c.err = c.hear()
		close(c.broken)
	})
	return c
}

// Connect is the connection itself.
func (c *pipes) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// SessionID is of no use here.
func (c *pipes) SessionID() string { return "" }

// hear reads messages until there are no more.
func (c *pipes) hear() error {
	r := bufio.NewReaderSize(c.p.Out, 64<<10)
	noise := 0
	told := func(text string) { c.noted("it says that it was sent what it does not understand: " + short(text)) }
	for {
		line, err := c.line(r)
		if line = frames.Clean(line); len(line) > 0 && (err == nil || errors.Is(err, io.EOF)) {
			switch bad := frames.Read(line, c.take, told); {
			case bad == nil:
				noise = 0
			case errors.Is(bad, io.EOF):
				return bad
			case frames.Meant(line):
				c.noted("it wrote a broken message: " + frames.Start(line))
				return fmt.Errorf("it wrote a broken message: %s", frames.Start(line))
			default:
				if noise == 0 {
					c.noted("it wrote what is no message: " + frames.Start(line))
				}
				if noise += len(line); noise > mostNoise {
					return fmt.Errorf("it floods its output with what is no message: %s", frames.Start(line))
				}
			}
		}
		if err != nil {
			return err
		}
	}
}

// take hands on a message. io.EOF is a connection that was closed meanwhile.
func (c *pipes) take(m jsonrpc.Message) error {
	if !c.admits(m) {
		return io.EOF
	}
	select {
	case c.in <- m:
		return nil
	case <-c.closed:
		return io.EOF
	}
}

// admits waits until a request of the program may be read: not before some of many others are answered. Nothing else
// bounds how many are worked on. It reports whether the connection is there still.
func (c *pipes) admits(m jsonrpc.Message) bool {
	q, is := m.(*jsonrpc.Request)
	if !is || !q.ID.IsValid() {
		return true
	}
	for {
		c.mu.Lock()
		room := len(c.open) < mostOpen
		if room {
			c.open[q.ID] = true
		}
		c.mu.Unlock()
		if room {
			return true
		}
		select {
		case <-c.eased:
		case <-c.closed:
			return false
		}
	}
}

// answered notes that a request of the program has been answered.
func (c *pipes) answered(id jsonrpc.ID) {
	c.mu.Lock()
	delete(c.open, id)
	c.mu.Unlock()
	select {
	case c.eased <- struct{}{}:
	default:
	}
}

// line reads a line that is not too long.
func (c *pipes) line(r *bufio.Reader) (line []byte, err error) {
	for {
		if _, err := r.Peek(1); err != nil {
			return line, err
		}
		part, err := r.Peek(r.Buffered())
		if n := bytes.IndexByte(part, '\n'); n >= 0 {
			part = part[:n+1]
		}
		line = append(line, part...)
		_, _ = r.Discard(len(part))
		switch {
		case len(line) > longest:
			return nil, fmt.Errorf("it wrote a message of more than %d MiB", longest>>20)
		case err != nil || line[len(line)-1] == '\n':
			c.half.Store(false)
			return line, err
		}
		c.half.Store(true)
	}
}

// unstick ends the connection if the program stopped in the middle of a message: whatever it wrote next would be read as
// the rest of that.
func (c *pipes) unstick() {
	if c.half.Load() {
		c.stuck.Store(true)
		_ = c.Close()
	}
}

// Read returns the next message.
func (c *pipes) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.in:
		return m, nil
	case <-c.broken:
		return nil, c.err
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write writes a message whole. One that the program does not read in time breaks the connection, because half of it
// may have been written.
func (c *pipes) Write(ctx context.Context, m jsonrpc.Message) error {
	b, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	select {
	case <-c.pen:
		defer func() { c.pen <- struct{}{} }()
	case <-c.closed:
		return io.ErrClosedPipe
	case <-ctx.Done():
		return ctx.Err()
	}
	_ = c.p.In.SetWriteDeadline(time.Now().Add(writes))
	if _, err = c.p.In.Write(append(b, '\n')); err != nil {
		c.noted("it does not read what it is sent: " + err.Error())
		_ = c.Close()
		return fmt.Errorf("it does not read what it is sent: %w", err)
	}
	switch m := m.(type) {
	case *jsonrpc.Request:
		if m.Method == discover {
			c.probed(m.ID)
		}
	case *jsonrpc.Response:
		c.answered(m.ID)
	}
	return nil
}

// probed answers, for a program that stays silent, that it does not know the newer protocol. The answer to a request
// that was answered meanwhile is nobody's.
func (c *pipes) probed(id jsonrpc.ID) {
	time.AfterFunc(probes, func() {
		select {
		case c.in <- &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "no answer"}}:
		case <-c.broken:
		case <-c.closed:
		}
	})
}

// Close ends the connection, not the program.
func (c *pipes) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}
