package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/ui"
	"fantail/ui/attach"
	"fantail/ui/screen/wire"
	"fantail/ui/shell"
)

// client is one screen: its connection and the program that is shown on it.
type client struct {
	host   *Host
	hello  Hello
	conn   *net.UnixConn
	paint  *painter
	keys   *os.File // the program reads keys here
	typed  *os.File // and they are written here
	app    *ui.App
	calls  calls
	joined bool          // the screen is among the host's; only its own goroutine uses this
	gone   chan struct{} // closed once nothing more comes from it
	news   chan struct{} // holds a token when there is news for the program
	away   chan struct{} // holds a token while the terminal is given away

	mu     sync.Mutex
	told   told
	back   chan wire.Fields // gets a value when the screen has the terminal again; nil: nothing waits for that
	left   string           // the signal that told it to leave; "" : none did
	parted bool             // it said that it leaves, or was told to
	fault  []string         // the text in place of a goodbye
}

// told is news for the program. It waits while another program has the terminal.
type told struct {
	size         [2]int // zero: nothing new
	suspend      bool
	retake       bool // the terminal, all of it
	stalled, was bool // now, and in the last report
}

// tell records news for the program.
func (s *client) tell(note func(t *told)) {
	s.mu.Lock()
	note(&s.told)
	s.mu.Unlock()
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// tells passes news on to the program, until the screen is gone.
func (s *client) tells() {
	for {
		select {
		case <-s.news:
		case <-s.gone:
			return
		}
		s.mu.Lock()
		t := s.told
		s.told = told{stalled: t.stalled, was: t.stalled}
		s.mu.Unlock()
		if t.size != [2]int{} {
			s.app.Remote.Resize(t.size[0], t.size[1])
		}
		switch {
		case t.stalled && !t.was:
			s.app.Remote.Stalled()
		case t.was && !t.stalled:
			s.app.Remote.Flows()
		}
		if t.retake {
			s.app.Remote.Retake()
		}
		if t.suspend {
			s.app.Remote.Suspend()
		}
	}
}

// Show serves a connection until the program ends or the screen leaves, and closes it. It calls heard once the
// connection has said what it is.
func (h *Host) Show(conn *net.UnixConn, heard func()) {
	defer conn.Close()
	hello, ask, err := hear(conn)
	heard()
	if hello.terminal != nil {
		defer hello.terminal.Close()
	}
	if err != nil {
		if !errors.Is(err, net.ErrClosed) && !errors.Is(err, io.EOF) && !errors.Is(err, attach.ErrGone) { // otherwise it said nothing, and a flood would fill the log
			h.o.Log.Printf("a screen that is none: %v", err)
		}
		return
	}
	if len(ask) > 0 {
		h.answer(conn, hello, ask)
		return
	}
	s := &client{host: h, hello: hello, conn: conn, gone: make(chan struct{}), news: make(chan struct{}, 1), away: make(chan struct{}, 1)}
	s.paint = newPainter(conn, s.stalled)
	h.o.Guard.Go("paint", s.paint.run)
	defer close(s.paint.quit)
	defer func() {
		if s.joined {
			h.running.Done() // the host ends once it has said why
		}
	}()
	code, says, err := s.show()
	switch {
	case errors.Is(err, errEnded):
		return // it looks for the next host
	case errors.Is(err, errAgain):
		s.paint.again()
		return
	case err != nil:
		code, says = shell.ExitCode(err), []string{h.o.Guard.Text(err.Error())}
	}
	s.paint.bye(code, says)
}

// show runs the program and returns how the screen is to end.
func (s *client) show() (code int, says []string, err error) {
	h := s.host
	if s.hello.command {
		return 0, nil, errors.New("an agent's command can be no screen: what it could type there would count as a human's")
	}
	o, err := h.o.Screen(s.hello)
	if err != nil {
		return 0, nil, err
	}
	if s.keys, s.typed, err = os.Pipe(); err != nil {
		return 0, nil, fmt.Errorf("show a screen: %w", err)
	}
	defer s.keys.Close()
	defer s.typed.Close()
	o.In, o.Out, o.Terminal, o.Gone = s.keys, s.paint, s, s.gone
	if !h.single {
		o.Restart = h.Restart
	}
	s.calls = calls{how: o.Notify, environ: o.Environ}
	o.Size, o.Profile, o.Go, o.Now = [2]int{s.hello.Columns, s.hello.Rows}, s.profile(), s.guarded, time.Now
	o.Lost = func(err error) { h.o.Log.Printf("a screen ended: %v", err) }
	s.app = ui.New(o)
	h.pressed.Store(time.Now().UnixMilli()) // a human has just started it
	if err := h.join(s); err != nil {
		return 0, nil, err
	}
	defer h.leave(s)
	s.paint.send(wire.Welcome, h.welcome())
	h.o.Guard.Go("keys", s.read)
	h.o.Guard.Go("tell a screen", s.tells)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s.guarded("open", func() { s.open(ctx) })
	s.guarded("start", func() { s.app.Remote.Model(o.Start) })
	err = s.app.Run()
	return s.ended(err)
}

// open gives the program the agents once it has drawn itself.
func (s *client) open(ctx context.Context) {
	<-s.app.Up()
	w, first, err := s.host.workspace(ctx, s.hello)
	if err != nil {
		s.app.Remote.Quit() // the host ends, and says why
		return
	}
	s.app.Remote.Attach(w.Pool)
	s.host.o.Opened(ctx, w, s.hello, s.app.Remote, first)
	if text := s.host.differs(s.hello); text != "" {
		s.app.Remote.Say(text)
	}
}

// ended returns how the screen is to end after its program ended with err.
func (s *client) ended(err error) (code int, says []string, _ error) {
	h := s.host
	s.mu.Lock()
	left, fault, parted := s.left, s.fault, s.parted
	s.parted = true
	s.mu.Unlock()
	switch {
	case len(fault) > 0:
		return shell.ExitFailed, fault, nil
	case errors.Is(err, tea.ErrProgramPanic):
		return shell.ExitFailed, s.fail("panic in the interface", []byte(h.o.Log.Tail())), nil
	case s.app.Ends():
		h.End(shell.ExitOK, "")
		return shell.ExitOK, nil, nil
	case left != "":
		n, _ := strconv.Atoi(left)
		return 128 + n, nil, nil
	case !parted && s.isGone():
		return shell.ExitFailed, nil, nil
	}
	h.mu.Lock()
	ending, why, code, again := h.ending, h.why, h.code, h.again
	h.mu.Unlock()
	if again {
		return code, nil, errAgain
	}
	if ending {
		if why != "" {
			says = []string{h.o.Guard.Text(why)}
		}
		return code, says, nil
	}
	if err != nil {
		return shell.ExitFailed, nil, fmt.Errorf("show the screen: %w", err)
	}
	return shell.ExitOK, h.goesOn(), nil
}

// fail records why a screen's program failed, and returns the text for the screen.
func (s *client) fail(cause string, stack []byte) []string {
	path, err := s.host.o.Guard.Record(cause, stack)
	if err != nil {
		path = "nowhere: " + err.Error()
	}
	s.host.o.Log.Printf("%s; details are in %s", cause, path)
	return []string{"this screen failed; details are in " + path, "the agents go on; fantail shows them again"}
}

// guarded starts a goroutine of the screen's. A panic in it ends the screen, and nothing else.
func (s *client) guarded(name string, f func()) {
	go func() {
		defer func() {
			if v := recover(); v != nil {
				says := s.fail(fmt.Sprintf("panic in %s: %v", name, v), debug.Stack())
				s.mu.Lock()
				s.fault = says
				s.mu.Unlock()
				s.app.Remote.Kill()
			}
		}()
		f()
	}()
}

// end ends the screen with the host; a program that does not quit when asked is killed.
func (s *client) end() {
	s.mu.Lock()
	s.parted = true
	s.mu.Unlock()
	s.app.Remote.Quit()
	late := time.NewTimer(endsWithin)
	defer late.Stop()
	select {
	case <-s.paint.done:
	case <-late.C:
		s.app.Remote.Kill()
	}
}

// read takes what the screen sends.
func (s *client) read() {
	defer s.typed.Close()
	defer s.app.Remote.Quit()
	defer close(s.gone)
	var buf []byte
	for {
		k, body, grown, err := wire.Read(s.conn, wire.MaxFrame, buf)
		if err != nil {
			s.died()
			return
		}
		buf = grown
		switch k {
		case wire.Keys:
			s.host.pressed.Store(time.Now().UnixMilli())
			if _, err := s.typed.Write(body); err != nil {
				return
			}
		case wire.Size:
			if w, h, err := wire.SizeOf(body); err == nil && w > 0 && h > 0 {
				s.tell(func(t *told) { t.size = [2]int{w, h} })
			}
		case wire.Stop:
			s.tell(func(t *told) { t.suspend = true })
		case wire.Back:
			s.returns(wire.FieldsOf(body))
		case wire.Leave:
			s.mu.Lock()
			s.left, s.parted = wire.FieldsOf(body).Get(wire.Signal), true
			s.mu.Unlock()
			return
		}
	}
}

func (s *client) isGone() bool {
	select {
	case <-s.gone:
		return true
	default:
		return false
	}
}

// returns tells the caller that gave the terminal away that it is back. If there is none, another program took the
// terminal, and what was painted and set there is gone.
func (s *client) returns(f wire.Fields) {
	s.mu.Lock()
	back := s.back
	s.back = nil
	s.mu.Unlock()
	if back == nil {
		s.tell(func(t *told) { t.retake = true })
		return
	}
	back <- f
}

// stalled records whether the screen reads its paint. What was set in the terminal meanwhile was dropped with the
// paint.
func (s *client) stalled(is bool) {
	s.tell(func(t *told) { t.stalled, t.retake = is, t.retake || !is }) // a short stall may never be reported
}

// hand sends a frame that gives the terminal away, and waits until it is back. A second caller waits for that too,
// since the frame that reports the return does not name the caller.
func (s *client) hand(k wire.Kind, f wire.Fields) (wire.Fields, error) {
	select {
	case s.away <- struct{}{}:
		defer func() { <-s.away }()
	case <-s.gone:
		return nil, errEnded
	case <-s.host.ended:
		return nil, errEnded
	}
	back := make(chan wire.Fields, 1)
	s.mu.Lock()
	s.back = back
	s.mu.Unlock()
	s.paint.send(k, f)
	select {
	case f := <-back:
		return f, nil
	case <-s.gone:
	case <-s.host.ended:
	}
	return nil, errEnded
}

// Suspend implements [ui.Terminal].
func (s *client) Suspend() error {
	_, err := s.hand(wire.Halt, nil)
	return err
}

// Run implements [ui.Terminal].
func (s *client) Run(c *exec.Cmd) error {
	var f wire.Fields
	for _, a := range c.Args {
		f.Add(wire.Arg, a)
	}
	for _, e := range c.Env {
		f.Add(wire.Env, e)
	}
	f.Add(wire.Dir, c.Dir)
	if n := len(f.Bytes()); n > wire.MaxFrame { // the screen would end with it
		return fmt.Errorf("the environment is too large to be passed on: %d KiB with the command, at most %d", (n+1023)>>10, wire.MaxFrame>>10)
	}
	back, err := s.hand(wire.Run, f)
	switch {
	case err != nil:
		return err
	case back.Get(wire.Say) != "":
		return errors.New(back.Get(wire.Say))
	case back.Get(wire.Code) != "0":
		return fmt.Errorf("exit status %s", back.Get(wire.Code))
	}
	return nil
}
