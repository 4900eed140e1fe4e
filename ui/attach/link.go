package attach

import (
	"bytes"
	"fmt"
	"net"
	"strconv"

	"fantail/ui/screen/wire"
)

// Link is a program's connection to the agent it is attached to. One goroutine may call Next, and another all other
// methods.
type Link struct {
	Name string // of the agent
	conn net.Conn

	buf   []byte
	lines []byte // received and not returned yet
	seen  int    // of them, up to where no line ends
}

// NewLink returns the program's end of a connection on which an agent of that name is served.
func NewLink(conn net.Conn, name string) *Link { return &Link{Name: name, conn: conn} }

// Tell sends a text to the agent. Its results come from Next in the same order.
func (l *Link) Tell(text string) error { return l.send(wire.Line, []byte(text)) }

// End makes the agent end after its present turn; its result comes as with Tell.
func (l *Link) End() error { return l.send(wire.Ends, nil) }

func (l *Link) send(k wire.Kind, body []byte) error {
	if _, err := l.conn.Write(wire.Append(nil, k, body)); err != nil {
		return fmt.Errorf("tell the host: %w", err)
	}
	return nil
}

// Close detaches.
func (l *Link) Close() error { return l.conn.Close() }

// Heard is what comes over a link: a line, the result of something sent, or the end.
type Heard struct {
	Line     []byte // without its end; nil: it is one of the others
	Answered bool
	Refused  string // of an answer: why it was not done; "": it was
	Code     int    // of the last: the program's exit code
	Says     string // and what it says
}

// Next waits for what comes next.
func (l *Link) Next() (Heard, error) {
	for {
		if n := bytes.IndexByte(l.lines[l.seen:], '\n'); n >= 0 {
			n += l.seen
			line := l.lines[:n:n]
			l.lines, l.seen = l.lines[n+1:], 0
			return Heard{Line: line}, nil
		}
		l.seen = len(l.lines)
		k, body, grown, err := wire.Read(l.conn, wire.MaxFrame, l.buf)
		if err != nil {
			return Heard{}, err
		}
		l.buf = grown
		switch f := wire.FieldsOf(body); k {
		case wire.Paint:
			l.lines = append(l.lines, body...)
		case wire.Answer:
			return Heard{Answered: true, Refused: f.Get(wire.Refused)}, nil
		case wire.Bye:
			code, err := strconv.Atoi(f.Get(wire.Code))
			if err != nil {
				code = 1
			}
			return Heard{Code: code, Says: f.Get(wire.Say)}, nil
		}
	}
}
