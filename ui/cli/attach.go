package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"fantail/ui/attach"
	"fantail/ui/shell"
)

// runAttach runs fantail agents attach: it prints what an agent says and does, and tells the agent
// what is typed.
func runAttach(e *Errand, c *caller) (int, error) {
	if len(e.words) != 2 {
		return shell.ExitUsage, shell.Misused("agents attach takes one name; fantail agents lists them")
	}
	name := e.words[1]
	link, err := attach.Attach(c.ctx, c.host, name)
	switch {
	case errors.Is(err, attach.ErrNoHost):
		return shell.ExitFailed, fmt.Errorf("no host runs here, so nobody is at work; fantail agents logs %s prints what %s did", name, name)
	case err != nil:
		return shell.ExitFailed, err
	}
	defer link.Close()
	a := &attached{
		c: c, link: link, typing: c.typed, ends: e.o.end, deaf: isNull(os.Stdin), text: attach.Text{Print: c.out.piece},
		came: make(chan came), typed: make(chan typed), silent: make(chan string), left: make(chan struct{}),
	}
	defer close(a.left)
	watches, done := context.WithCancel(c.ctx)
	defer done()
	c.start("watch the host", func() {
		attach.Watch(watches, c.host, func(text string) {
			select {
			case a.silent <- text:
			case <-a.left:
			}
		})
	})
	c.start("hear the host", a.hear)
	c.start("standard input", a.read)
	if a.typing && !c.out.json {
		shell.Warn(c.errs, "attached to %s: type to tell it something · Ctrl+C detaches · Ctrl+D ends it", link.Name)
	}
	return a.run()
}

// isNull reports whether f is the null device. With it as input, attach stays and says nothing.
func isNull(f *os.File) bool {
	is, err := f.Stat()
	null, err2 := os.Stat(os.DevNull)
	return err == nil && err2 == nil && os.SameFile(is, null)
}

// attached is the state of this program while it is attached to an agent.
type attached struct {
	c      *caller
	link   *attach.Link
	text   attach.Text
	typing bool // standard input is a terminal
	deaf   bool // standard input is the null device
	ends   bool // the end of standard input ends the agent
	came   chan came
	typed  chan typed
	silent chan string   // messages about the host for the human
	left   chan struct{} // closed when this program leaves

	live    bool // the entries that existed at the start are printed
	over    bool // standard input has ended
	ending  bool // the agent was told to end
	pending *attach.Input
	refused bool // a line was not delivered
}

// came is a message or an error from the host.
type came struct {
	attach.Heard
	err error
}

// typed is a line from standard input.
type typed struct {
	line []byte
	err  error
}

// hear forwards messages from the host.
func (a *attached) hear() {
	for {
		h, err := a.link.Next()
		select {
		case a.came <- came{h, err}:
		case <-a.left:
			return
		}
		if err != nil {
			return
		}
	}
}

// read forwards lines from standard input.
func (a *attached) read() {
	in := bufio.NewReader(a.c.in)
	for {
		line, err := attach.ReadLine(in)
		select {
		case a.typed <- typed{line, err}:
		case <-a.left:
			return
		}
		if err != nil && !errors.Is(err, attach.ErrLong) {
			return
		}
	}
}

// run loops until the agent has ended or one side leaves. It sends one line at a time: the next one
// once the host has answered.
func (a *attached) run() (int, error) {
	for {
		if a.over && !a.ending && !a.deaf && a.live && a.pending == nil {
			return a.code(), a.text.Break() // the end of a pipe detaches
		}
		lines := a.typed
		if a.pending != nil || a.over {
			lines = nil
		}
		select {
		case <-a.c.ctx.Done():
			_ = a.text.Break()
			a.lost("this program was detached before the host had answered")
			shell.Warn(a.c.errs, "detached from %s, which goes on", a.link.Name)
			return shell.ExitOK, nil
		case text := <-a.silent:
			shell.Warn(a.c.errs, "%s", text)
		case t := <-lines:
			if err := a.take(t); err != nil {
				return shell.ExitFailed, err
			}
		case h := <-a.came:
			if code, done, err := a.heard(h); done || err != nil {
				return code, err
			}
		}
	}
}

// code returns ExitFailed if a line that was not typed could not be delivered, else ExitOK.
func (a *attached) code() int {
	if a.refused && !a.typing {
		return shell.ExitFailed
	}
	return shell.ExitOK
}

// take carries out a line of standard input.
func (a *attached) take(t typed) error {
	switch {
	case errors.Is(t.err, attach.ErrLong):
		return a.wrong(t.err, string(t.line)+"…")
	case errors.Is(t.err, io.EOF):
		a.over = true
		if a.typing || a.ends {
			return a.send(attach.Input{})
		}
		return nil
	case t.err != nil:
		a.over = true
		return fmt.Errorf("read standard input: %w", t.err)
	case strings.TrimSpace(string(t.line)) == "":
		return nil
	case !a.c.out.json:
		return a.send(attach.Input{Text: a.c.keys.Text(string(t.line))})
	}
	in, err := attach.InputOf(t.line)
	if err != nil {
		return a.wrong(err, string(t.line))
	}
	in.Text = a.c.keys.Text(in.Text)
	return a.send(in)
}

// send sends the agent a line, or the request to end.
func (a *attached) send(in attach.Input) error {
	if in.Text == "" && a.ending {
		return nil
	}
	a.pending = &in
	if in.Text == "" {
		a.ending = true
		return a.gone(a.link.End())
	}
	return a.gone(a.link.Tell(in.Text))
}

// gone drops an error of sending to a closed connection: the reader reports a better cause.
func (a *attached) gone(err error) error {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		return nil
	}
	return err
}

// wrong reports a line that was not sent, and why.
func (a *attached) wrong(why error, text string) error {
	a.refused = true
	if a.c.out.json {
		return a.c.out.line(attach.Line{Type: attach.ErrorLine, Error: why.Error(), Text: text})
	}
	err := a.text.Break()
	if text == "" {
		shell.Warn(a.c.errs, "%v", why)
		return err
	}
	shell.Warn(a.c.errs, "%v; not told: %s", why, text)
	return err
}

// lost reports the line that got no answer.
func (a *attached) lost(why string) {
	if a.pending != nil && a.pending.Text != "" {
		_ = a.wrong(errors.New(why), a.pending.Text)
	}
	a.pending = nil
}

// heard handles a message from the host. done means that it is the last one.
func (a *attached) heard(h came) (code int, done bool, err error) {
	switch {
	case h.err != nil:
		a.lost("the connection ended before the host had answered")
		return shell.ExitFailed, true, a.dropped(h.err)
	case h.Line != nil:
		return 0, false, a.print(h.Line)
	case h.Answered:
		return a.answered(h.Refused)
	}
	a.lost(a.link.Name + " had ended")
	if h.Says == "" {
		return max(h.Code, a.code()), true, a.text.Break()
	}
	_ = a.text.Break()
	if a.c.out.json {
		_ = a.c.out.line(attach.Line{Type: attach.ErrorLine, Error: h.Says})
	}
	return h.Code, true, errors.New(h.Says)
}

// answered handles the host's answer to what was sent last.
func (a *attached) answered(refused string) (code int, done bool, err error) {
	in := a.pending
	a.pending = nil
	if refused == "" || in == nil {
		return 0, false, nil
	}
	err = a.wrong(errors.New(refused), in.Text)
	if in.Text == "" { // the agent goes on, so there is nothing to wait for
		return shell.ExitFailed, true, err
	}
	return 0, false, err
}

// print prints a line.
func (a *attached) print(line []byte) error {
	var l attach.Line
	if err := json.Unmarshal(line, &l); err != nil {
		return fmt.Errorf("read what the host says: %w", err)
	}
	if l.Type == attach.StateLine {
		a.live = true
	}
	if !a.c.out.json {
		return a.text.Line(l)
	}
	_, err := a.c.out.w.Write(append(line, '\n'))
	return written(err)
}

// dropped returns why the connection ended.
func (a *attached) dropped(err error) error {
	_ = a.text.Break()
	why := fmt.Errorf("the host has ended (%w); fantail agents logs %s prints what %s did", err, a.link.Name, a.link.Name)
	ctx, cancel := context.WithTimeout(a.c.ctx, askWithin)
	defer cancel()
	if _, e := attach.Ask(ctx, a.c.host, attach.Tell); e == nil {
		why = fmt.Errorf("this program read too slowly, so the host disconnected it; %s goes on, and fantail agents logs %s prints all", a.link.Name, a.link.Name)
	}
	if a.c.out.json {
		_ = a.c.out.line(attach.Line{Type: attach.ErrorLine, Error: why.Error()})
	}
	return why
}

// askWithin limits how long a host may take to say that it lives.
const askWithin = 2 * time.Second
