package attach

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"fantail/agents/event"
	"fantail/ui/screen/wire"
)

// Agent is the host's side of an agent that a program is attached to.
type Agent struct {
	Follow func(behind func()) *event.Follower
	Tell   func(ctx context.Context, text string) error
	End    func(ctx context.Context) error // of the texts it is sent
	Go     func(name string, f func())
	Now    func() time.Time
	Said   func(s string) string // returns an error text fit for other processes
}

// errGone is the error of a program that has left.
var errGone = errors.New("the program is gone")

// lastWithin is how long a program that reads nothing may take for the last frame.
const lastWithin = 300 * time.Millisecond

// Serve serves the program at the other end until it leaves, the agent has ended, the program has fallen behind, or
// ctx ends; then it sends ctx's cause.
func (a Agent) Serve(ctx context.Context, conn net.Conn) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	o := &outlet{conn: conn}
	f := a.Follow(func() { cancel(event.ErrBehind) })
	defer f.Close()
	a.Go("hear who is attached", func() { cancel(a.hear(conn, o)) })
	stop := context.AfterFunc(ctx, o.hurry)
	defer stop()
	switch err := a.tell(ctx, f, o); {
	case errors.Is(err, errGone):
	case errors.Is(err, event.ErrBehind):
		o.bye("1", fmt.Sprintf("this program left more than %d MiB unread, so the host disconnected it; the agent goes on", event.MaxBehind>>20))
	case err != nil:
		o.bye("1", a.Said(err.Error()))
	default:
		o.bye("0", "")
	}
}

// tell writes the lines of the agent's events, until the agent has ended.
func (a Agent) tell(ctx context.Context, f *event.Follower, o *outlet) error {
	t := Teller{Now: a.Now}
	for {
		e, err := f.Next(ctx)
		if err != nil {
			return err
		}
		for _, l := range t.Lines(e) {
			if err := WriteJSON(o, l); err != nil {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				return errGone
			}
			if l.Type == EndLine {
				return nil
			}
		}
	}
}

// hear carries out the program's requests, until it leaves.
func (a Agent) hear(conn net.Conn, o *outlet) error {
	var buf []byte
	for {
		k, body, grown, err := wire.Read(conn, wire.MaxFrame, buf)
		if err != nil {
			return errGone
		}
		buf = grown
		switch k {
		case wire.Line:
			err = a.Tell(context.Background(), strings.ToValidUTF8(string(body), "\uFFFD"))
		case wire.Ends:
			err = a.End(context.Background())
		case wire.Leave:
			return errGone
		default:
			continue
		}
		f := wire.Fields{wire.Done + "=yes"}
		if err != nil {
			f = wire.Fields{wire.Refused + "=" + a.Said(err.Error())}
		}
		_ = o.frame(wire.Answer, f.Bytes())
	}
}

// outlet writes frames. The rest of an interrupted frame goes before the next. It is safe for concurrent use.
type outlet struct {
	conn net.Conn

	mu   sync.Mutex
	rest []byte

	late   sync.Mutex
	parted bool // the last frame has a deadline of its own
}

// Write implements [io.Writer]: what the program prints.
func (o *outlet) Write(p []byte) (n int, err error) {
	const most = 64 << 10
	for n < len(p) {
		piece := p[n:min(len(p), n+most)]
		if err := o.frame(wire.Paint, piece); err != nil {
			return n, err
		}
		n += len(piece)
	}
	return n, nil
}

// frame writes a frame. It blocks while the program does not read.
func (o *outlet) frame(k wire.Kind, body []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	b := wire.Append(o.rest, k, body)
	n, err := o.conn.Write(b)
	o.rest = append(b[:0], b[n:]...)
	return err
}

// hurry ends a write that blocks, and all later ones but the last.
func (o *outlet) hurry() {
	o.late.Lock()
	defer o.late.Unlock()
	if !o.parted {
		_ = o.conn.SetWriteDeadline(time.Unix(1, 0))
	}
}

// bye writes the last frame.
func (o *outlet) bye(code, why string) {
	o.late.Lock()
	o.parted = true
	_ = o.conn.SetWriteDeadline(time.Now().Add(lastWithin))
	o.late.Unlock()
	f := wire.Fields{wire.Code + "=" + code}
	if why != "" {
		f.Add(wire.Say, why)
	}
	_ = o.frame(wire.Bye, f.Bytes())
}
