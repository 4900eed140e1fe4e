package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"fantail/ui/cli/shell"
	"fantail/ui/screen"
	"fantail/ui/screen/wire"
)

// Job is a prompt that a process without a screen has the host carry out.
type Job struct {
	Hello
	Prompt string
	Plain  bool // the answer goes to a terminal: nothing in it may steer that
	Out    io.Writer
	Err    io.Writer
	// Stopped is the exit code that a signal to that process asks for; false if none came.
	Stopped func() (code int, signalled bool)
}

// errHostEnds is why a prompt ends before its answer is there.
var errHostEnds = errors.New("its host was ended; fantail -p --continue goes on with it")

// print carries out the prompt of a process that has no screen, until that ends or is gone.
func (h *Host) print(conn *net.UnixConn, from Hello, ask wire.Fields) {
	if descends(from.PID) {
		says(conn, wire.Answer, wire.Refused, "what an agent's command asks runs in no host")
		return
	}
	if !h.enter() {
		says(conn, wire.Answer, wire.Refused, "the host is just ending")
		return
	}
	defer h.exit()
	from.read(ask)
	job := Job{Hello: from, Plain: ask.Get(wire.Plain) != "", Out: &sheet{conn: conn, kind: wire.Paint}, Err: &sheet{conn: conn, kind: wire.Note}}
	prompt, err := hearPrompt(conn)
	if err != nil {
		return // who asked is gone
	}
	job.Prompt = prompt

	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	signal := make(chan int, 1)
	h.o.Guard.Go("hear who prompted", func() {
		signal <- hearSignal(conn)
		cancel(context.Canceled)
	})
	h.o.Guard.Go("end a prompt", func() {
		select {
		case <-h.ended:
			_ = conn.SetWriteDeadline(time.Now().Add(endsWithin)) // it may have stopped reading
			cancel(errHostEnds)
		case <-ctx.Done():
		}
	})
	var came int
	job.Stopped = func() (int, bool) {
		select {
		case came = <-signal:
		default:
		}
		return 128 + came, came != 0
	}
	w, _, err := h.workspace(ctx, from)
	code := shell.Failed
	if err == nil {
		code, err = h.o.Print(ctx, w, job)
	}
	if err != nil {
		code = shell.Code(err)
		shell.Warn(job.Err, "%s", h.o.Guard.Text(err.Error()))
	}
	says(conn, wire.Bye, wire.Code, strconv.Itoa(code))
}

// withPrompt is a question with the prompt behind it, in pieces; an empty one ends it.
func withPrompt(question []byte, prompt string) []byte {
	for n := 0; n < len(prompt); n += wire.MaxFrame {
		question = wire.Append(question, wire.Keys, []byte(prompt[n:min(len(prompt), n+wire.MaxFrame)]))
	}
	return wire.Append(question, wire.Keys, nil)
}

// hearPrompt reads the prompt behind a question.
func hearPrompt(conn net.Conn) (string, error) {
	var all bytes.Buffer
	var buf []byte
	for {
		k, body, grown, err := wire.Read(conn, wire.MaxFrame, buf)
		switch {
		case err != nil:
			return "", err
		case k != wire.Keys:
		case len(body) == 0:
			return all.String(), nil
		case all.Len()+len(body) > mostPrompt:
			return "", errors.New("the prompt is too long")
		default:
			all.Write(body)
		}
		buf = grown
	}
}

// mostPrompt bounds a prompt, in bytes: what stood behind -p, and what came on standard input.
const mostPrompt = shell.MaxInput + wire.MaxHello

// hearSignal waits until who prompted leaves, and returns the signal that ended them; SIGHUP if they do not say.
func hearSignal(conn net.Conn) int {
	const hangUp = 1
	for {
		k, body, _, err := wire.Read(conn, wire.MaxFrame, nil)
		if err != nil {
			return hangUp
		}
		if k != wire.Leave {
			continue
		}
		if n, err := strconv.Atoi(wire.FieldsOf(body).Get(wire.Signal)); err == nil && n > 0 {
			return n
		}
		return hangUp
	}
}

// sheet is what a process without a screen prints of one kind: frames of a connection. One goroutine writes to it.
type sheet struct {
	conn  net.Conn
	kind  wire.Kind
	frame []byte // the last one's memory: an answer may be long
}

// Write implements [io.Writer]. It waits as long as nobody reads.
func (s *sheet) Write(p []byte) (int, error) { return send(s, p) }

// WriteString implements [io.StringWriter].
func (s *sheet) WriteString(text string) (int, error) { return send(s, text) }

func send[T string | []byte](s *sheet, p T) (n int, err error) {
	const most = 64 << 10
	for n < len(p) {
		piece := p[n:min(len(p), n+most)]
		s.frame = append(wire.Head(s.frame[:0], s.kind, len(piece)), piece...)
		if _, err := s.conn.Write(s.frame); err != nil {
			return n, err
		}
		n += len(piece)
	}
	return n, nil
}

// says sends a frame of one field.
func says(conn net.Conn, k wire.Kind, name, value string) {
	_, _ = conn.Write(wire.Append(nil, k, wire.Fields{name + "=" + value}.Bytes()))
}

// RefusedError is why a host does not carry out a prompt: it is to be done without one.
type RefusedError struct{ Why string }

func (e *RefusedError) Error() string { return e.Why }

// Asking is a process without a screen that has a host carry out a prompt.
type Asking struct {
	Args  []string // of its command line
	Dir   string   // where it was started
	Log   string   // what the host writes where nobody reads
	Plain bool
	Out   io.Writer
	Err   io.Writer
	// Stopped is the exit code a signal asks for, once ctx has ended; false if none came.
	Stopped func() (code int, signalled bool)
}

// Print has the workspace's host, which it starts if there is none, carry out a prompt, and prints what it prints, until
// ctx ends: then the host is told, and says what there is. The error is a [*RefusedError] if nothing was done.
func (a Asking) Print(ctx context.Context, prompt string) (code int, err error) {
	conn, err := reach(a.Dir)
	if err != nil {
		var said screen.Refusal
		if errors.As(err, &said) {
			_, _ = io.WriteString(a.Err, string(said))
			return shell.Failed, nil
		}
		return 0, &RefusedError{err.Error()}
	}
	defer conn.Close()
	f := screen.Shell(a.Args, a.Dir)
	f.Add(wire.Do, wire.Print)
	if a.Plain {
		f.Add(wire.Plain, "yes")
	}
	stop := context.AfterFunc(ctx, func() {
		code, _ := a.Stopped()
		_, _ = conn.Write(wire.Append(nil, wire.Leave, wire.Fields{wire.Signal + "=" + strconv.Itoa(max(0, code-128))}.Bytes()))
	})
	defer stop()
	_, _ = conn.Write(withPrompt(question(f), prompt)) // a host that refuses does not read all of it, and says why
	var buf []byte
	for {
		k, body, grown, err := wire.Read(conn, wire.MaxFrame, buf)
		if err != nil {
			return a.lost(err)
		}
		buf = grown
		switch k {
		case wire.Paint:
			if _, err := a.Out.Write(body); err != nil {
				return shell.Failed, fmt.Errorf("write the answer: %w", err)
			}
		case wire.Note:
			_, _ = a.Err.Write(body)
		case wire.Answer:
			f := wire.FieldsOf(body)
			if why := f.Get(wire.Refused) + f.Get(wire.Say); why != "" {
				return 0, &RefusedError{why}
			}
		case wire.Bye:
			n, err := strconv.Atoi(wire.FieldsOf(body).Get(wire.Code))
			if err != nil {
				n = shell.Failed
			}
			return n, nil
		}
	}
}

// lost is how it ends when the host is gone.
func (a Asking) lost(err error) (int, error) {
	if code, signalled := a.Stopped(); signalled {
		return code, nil
	}
	return shell.Failed, fmt.Errorf("the host ended before the answer was there (%w); %s may tell why, and fantail -p --continue goes on with it", err, a.Log)
}
