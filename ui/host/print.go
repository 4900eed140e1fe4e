package host

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"time"

	"fantail/ui/screen/wire"
	"fantail/ui/shell"
)

// Job is a prompt that a process without a screen has the host carry out.
type Job struct {
	Hello
	Prompt string
	Plain  bool // the answer goes to a terminal: control sequences in it must not reach that
	Out    io.Writer
	Err    io.Writer
	// Stopped returns the exit code for the signal that the process received; false if there was none.
	Stopped func() (code int, signalled bool)
}

// errHostEnds is the error of a prompt whose host ends before the answer is there.
var errHostEnds = errors.New("its host was ended; fantail -p --continue goes on with it")

// print carries out the prompt of a process without a screen, until the turn ends or the process is gone.
func (h *Host) print(conn *net.UnixConn, from Hello, ask wire.Fields) {
	if from.command {
		says(conn, wire.Answer, wire.Refused, "what an agent's command asks runs in no host")
		return
	}
	if !h.enter() {
		_ = replies(conn, wire.Fields{wire.Refused + "=the host is just ending", wire.Again + "=yes"})
		return
	}
	defer h.exit()
	from.read(ask)
	job := Job{Hello: from, Plain: ask.Get(wire.Plain) != "", Out: &sheet{conn: conn, kind: wire.Paint}, Err: &sheet{conn: conn, kind: wire.Note}}
	prompt, err := hearPrompt(conn)
	if err != nil {
		return // the process is gone
	}
	job.Prompt = prompt
	_, _ = conn.Write(wire.Append(nil, wire.Answer, nil)) // from now on the prompt may take effect

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
	code := shell.ExitFailed
	if err == nil {
		code, err = h.o.Print(ctx, w, job)
	}
	if err != nil {
		code = shell.ExitCode(err)
		shell.Warn(job.Err, "%s", h.o.Guard.Text(err.Error()))
	}
	says(conn, wire.Bye, wire.Code, strconv.Itoa(code))
}

// hearPrompt reads the prompt that follows a question.
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
		case all.Len()+len(body) > maxPrompt:
			return "", errors.New("the prompt is too long")
		default:
			all.Write(body)
		}
		buf = grown
	}
}

// maxPrompt is the largest prompt, in bytes: the argument of -p, and standard input.
const maxPrompt = shell.MaxInput + wire.MaxHello

// hearSignal waits until the prompting process leaves, and returns the signal that ended it; SIGHUP if it does not
// say.
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

// sheet is standard output or standard error of a process without a screen: it writes frames of one kind to the
// connection. Only one goroutine writes to it.
type sheet struct {
	conn  net.Conn
	kind  wire.Kind
	frame []byte // the buffer of the last frame, which is used again: an answer may be long
}

// Write implements [io.Writer]. It blocks while the process does not read.
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
