package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fantail/tools/proc"
)

const (
	maxMessage      = 16 << 20         // bytes of one message
	maxNoise        = 8 << 20          // bytes of noise between two messages
	writeTimeout    = 10 * time.Second // for a program to read a message
	probeTimeout    = 5 * time.Second  // for a program to answer methodDiscover
	maxOpenRequests = 256              // unanswered requests of a program, after which no more are read
)

// methodDiscover is the first request of the newer protocol. Programs that do not know it may stay silent.
const methodDiscover = "server/discover"

// stdioTransport is the connection to a program: one message a line, or a batch as in some versions
// of the protocol. Other lines are noise, of which it logs the first. A broken message ends the
// connection.
type stdioTransport struct {
	process *proc.Served
	log     func(string) // gets noise, and what broke the connection

	incoming   chan jsonrpc.Message
	broken     chan struct{} // closed after the last message; err says why
	err        error
	writeToken chan struct{} // holds a token while no message is written
	closed     chan struct{}
	once       sync.Once
	lines      *proc.Lines
	stuck      atomic.Bool // the program stopped in the middle of a line

	mu           sync.Mutex
	openRequests map[jsonrpc.ID]bool // unanswered requests of the program
	requestDone  chan struct{}       // receives when one is answered
}

var _ mcp.Transport = (*stdioTransport)(nil)

// newStdioTransport starts to read the program's output. start runs the reader.
func newStdioTransport(p *proc.Served, noted func(string), start func(name string, f func())) *stdioTransport {
	c := &stdioTransport{
		process: p, log: noted, lines: proc.NewLines(p.Out, maxMessage), incoming: make(chan jsonrpc.Message), broken: make(chan struct{}), writeToken: make(chan struct{}, 1), closed: make(chan struct{}),
		openRequests: map[jsonrpc.ID]bool{}, requestDone: make(chan struct{}, 1),
	}
	c.writeToken <- struct{}{}
	start("hear an MCP server", func() {
		c.err = c.readLoop()
		close(c.broken)
	})
	return c
}

// Connect returns the connection itself.
func (c *stdioTransport) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// SessionID is unused by this transport.
func (c *stdioTransport) SessionID() string { return "" }

// readLoop reads messages until the output ends.
func (c *stdioTransport) readLoop() error {
	noise := 0
	told := func(text string) { c.log(shortText(text)) }
	for {
		line, err := c.lines.Next()
		if line = cleanLine(line); len(line) > 0 && (err == nil || errors.Is(err, io.EOF)) {
			switch bad := readMessages(line, c.deliver, told); {
			case bad == nil:
				noise = 0
			case errors.Is(bad, io.EOF):
				return bad
			case isMessage(line):
				c.log("it wrote a broken message: " + startOf(line))
				return fmt.Errorf("it wrote a broken message: %s", startOf(line))
			default:
				if noise == 0 {
					c.log("it wrote what is no message: " + startOf(line))
				}
				if noise += len(line); noise > maxNoise {
					return fmt.Errorf("it floods its output with what is no message: %s", startOf(line))
				}
			}
		}
		if err != nil {
			return err
		}
	}
}

// deliver passes on a message. It returns io.EOF if the connection was closed meanwhile.
func (c *stdioTransport) deliver(m jsonrpc.Message) error {
	if !c.admit(m) {
		return io.EOF
	}
	select {
	case c.incoming <- m:
		return nil
	case <-c.closed:
		return io.EOF
	}
}

// admit waits while too many requests of the program are open. It returns false if the connection is closed.
func (c *stdioTransport) admit(m jsonrpc.Message) bool {
	q, is := m.(*jsonrpc.Request)
	if !is || !q.ID.IsValid() {
		return true
	}
	for {
		c.mu.Lock()
		room := len(c.openRequests) < maxOpenRequests
		if room {
			c.openRequests[q.ID] = true
		}
		c.mu.Unlock()
		if room {
			return true
		}
		select {
		case <-c.requestDone:
		case <-c.closed:
			return false
		}
	}
}

// requestAnswered notes that a request of the program has been answered.
func (c *stdioTransport) requestAnswered(id jsonrpc.ID) {
	c.mu.Lock()
	delete(c.openRequests, id)
	c.mu.Unlock()
	select {
	case c.requestDone <- struct{}{}:
	default:
	}
}

// closeIfStuck closes the connection if the program stopped in the middle of a message: its next
// output would be read as the rest of that message.
func (c *stdioTransport) closeIfStuck() {
	if c.lines.Half() {
		c.stuck.Store(true)
		_ = c.Close()
	}
}

// Read returns the next message.
func (c *stdioTransport) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.incoming:
		return m, nil
	case <-c.broken:
		return nil, c.err
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write writes a message. If the program does not read it in time, Write closes the connection,
// because half of the message may have been written.
func (c *stdioTransport) Write(ctx context.Context, m jsonrpc.Message) error {
	b, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	select {
	case <-c.writeToken:
		defer func() { c.writeToken <- struct{}{} }()
	case <-c.closed:
		return io.ErrClosedPipe
	case <-ctx.Done():
		return ctx.Err()
	}
	_ = c.process.In.SetWriteDeadline(time.Now().Add(writeTimeout))
	if _, err = c.process.In.Write(append(b, '\n')); err != nil {
		c.log("it does not read what it is sent: " + err.Error())
		_ = c.Close()
		return fmt.Errorf("it does not read what it is sent: %w", err)
	}
	switch m := m.(type) {
	case *jsonrpc.Request:
		if m.Method == methodDiscover {
			c.answerProbe(m.ID)
		}
	case *jsonrpc.Response:
		c.requestAnswered(m.ID)
	}
	return nil
}

// answerProbe answers methodDiscover for a program that stays silent because it does not know the
// newer protocol. If the request was answered meanwhile, the client ignores this answer.
func (c *stdioTransport) answerProbe(id jsonrpc.ID) {
	time.AfterFunc(probeTimeout, func() {
		select {
		case c.incoming <- &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "no answer"}}:
		case <-c.broken:
		case <-c.closed:
		}
	})
}

// Close ends the connection, not the program.
func (c *stdioTransport) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}
