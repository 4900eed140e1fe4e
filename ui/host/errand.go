package host

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"time"

	"fantail/store/paths"
	"fantail/ui/cli"
	"fantail/ui/screen"
	"fantail/ui/screen/wire"
	"fantail/ui/shell"
)

// talk is the conversation with a process whose errand is carried out.
type talk struct {
	host *Host
	conn net.Conn
	ctx  context.Context
	came chan sent // what the process sends; closed when it is gone
	read bool      // its standard input was asked for
	left []byte    // of that
	over error     // how it ended; nil: it has not
}

// errand carries out the sub-command of a process that is no screen. The process gets the output in one piece, so that
// the host never waits for a slow reader. An errand that this host can't do exactly as the process would is left to
// the process.
func (t *talk) errand(conn *net.UnixConn, from Hello, ask wire.Fields) {
	from.read(ask)
	h := t.host
	w, open := h.open()
	here := h.build != "" && from.Build == h.build && ask.Get(wire.Zone) == screen.Zone() && from.Getenv("TZ") == os.Getenv("TZ")
	if !open || !here || !t.holds() {
		_ = replies(conn, wire.Fields{wire.Refused + "=" + cli.ErrElsewhere.Error()})
		return
	}
	defer h.running.Done()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	t.conn, t.ctx, t.came = conn, ctx, make(chan sent)
	h.o.Guard.Go("hear whose errand it is", func() {
		defer close(t.came)
		defer cancel() // first: whatever sees came closed knows that it is over
		t.hear()
	})
	h.o.Guard.Go("end an errand", func() {
		select {
		case <-h.ended:
			_ = conn.SetDeadline(time.Now().Add(endsWithin))
		case <-ctx.Done():
		}
	})
	var said page
	door := h.door(w, from, ask)
	code, otherwise, err := cli.Client{
		Args: from.Args, Env: from.Getenv, Below: from.command, Data: h.o.Data, Host: paths.Screens(from.Getenv, os.Geteuid(), h.o.Data), Dir: from.Dir, Door: &door, In: t, Typed: ask.Get(wire.Typed) != "",
		TTY: ask.Get(wire.Plain) != "", Out: said.of(wire.Paint), Errs: said.of(wire.Note), Start: h.o.Guard.Go, Hands: t.hands,
	}.Run(ctx)
	switch {
	case errors.Is(err, cli.ErrElsewhere):
		_ = replies(conn, wire.Fields{wire.Refused + "=" + err.Error()})
		return
	case err != nil:
		return // the process is gone
	}
	f := wire.Fields{wire.Code + "=" + strconv.Itoa(code), wire.Unread + "=" + strconv.Itoa(otherwise.Code)}
	if otherwise.Says != "" {
		f.Add(wire.Say, otherwise.Says)
	}
	_ = t.says(wire.Append(said.frames, wire.Bye, f.Bytes()))
}

// holds delays the host's end for an errand. It returns false if the host is ending. The process of an errand is no
// guest: the host neither stays for it nor ends after it.
func (t *talk) holds() bool {
	h := t.host
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.ending {
		h.running.Add(1)
	}
	return !h.ending
}

// sent is a frame that a process sends.
type sent struct {
	kind wire.Kind
	body []byte
}

// hear passes on the process's frames, until it is gone.
func (t *talk) hear() {
	for {
		k, body, _, err := wire.Read(t.conn, wire.MaxFrame, nil)
		if err != nil {
			return
		}
		select {
		case t.came <- sent{k, body}:
		case <-t.ctx.Done():
			return
		}
	}
}

// says sends frames. It drops a process that does not read them in time.
func (t *talk) says(frames []byte) error {
	if err := t.conn.SetWriteDeadline(time.Now().Add(helloWithin)); err != nil {
		return err
	}
	_, err := t.conn.Write(frames)
	return err
}

// asks asks the process for something, with a time limit.
func (t *talk) asks(f wire.Fields) error {
	if err := t.conn.SetReadDeadline(time.Now().Add(helloWithin)); err != nil {
		return err
	}
	return t.says(wire.Append(nil, wire.Answer, f.Bytes()))
}

// hands tells the process what to do with its errand if this host is lost, and waits for the confirmation.
func (t *talk) hands(p cli.Handback) error {
	f := wire.Fields{wire.Wants + "=" + wire.Word}
	if p.Lost != "" {
		f.Add(wire.Say, p.Lost)
	}
	for _, a := range p.Args {
		f.Add(wire.Arg, a)
	}
	if err := t.asks(f); err != nil {
		return err
	}
	for got := range t.came {
		if got.kind == wire.Keys && len(got.body) == 0 {
			return t.conn.SetReadDeadline(time.Time{})
		}
	}
	return errGone
}

var errGone = errors.New("who asked is gone")

// Read reads the standard input of the process. It is requested only when needed, since it can't be given back.
func (t *talk) Read(p []byte) (int, error) {
	if !t.read {
		t.read = true
		if err := t.asks(wire.Fields{wire.Wants + "=" + wire.Input, wire.Most + "=" + strconv.Itoa(shell.MaxInput+1)}); err != nil {
			return 0, err
		}
	}
	for len(t.left) == 0 && t.over == nil {
		switch got, there := <-t.came; {
		case !there:
			t.over = errGone
		case got.kind == wire.Back:
			t.over = errors.New(wire.FieldsOf(got.body).Get(wire.Say))
		case got.kind != wire.Keys:
		case len(got.body) == 0:
			t.over = io.EOF
		default:
			t.left = got.body
		}
	}
	if len(t.left) == 0 {
		return 0, t.over
	}
	n := copy(p, t.left)
	t.left = t.left[n:]
	return n, nil
}

// page is what an errand prints, as frames in the order it was printed.
type page struct{ frames []byte }

// of returns a writer for frames of one kind.
func (p *page) of(k wire.Kind) io.Writer { return column{p, k} }

type column struct {
	page *page
	kind wire.Kind
}

// Write implements [io.Writer].
func (c column) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		piece := rest[:min(len(rest), wire.MaxFrame)]
		c.page.frames = wire.Append(c.page.frames, c.kind, piece)
		rest = rest[len(piece):]
	}
	return len(b), nil
}
