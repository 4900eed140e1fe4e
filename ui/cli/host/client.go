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
	"fantail/ui/cli/shell"
	"fantail/ui/screen/wire"
)

// client is one screen: its connection and the program that is shown on it.
type client struct {
	host   *Host
	hello  Hello
	conn   *net.UnixConn
	paint  *painter
	keys   *os.File // the program reads them here
	typed  *os.File // and they are written here
	app    *ui.App
	calls  calls
	joined bool          // it is one of the host's: its own goroutine reads and sets it
	gone   chan struct{} // closed once nothing more comes from it
	news   chan struct{} // holds a token when there is something to tell the program
	away   chan struct{} // holds a token while the terminal is given away

	mu     sync.Mutex
	told   told
	back   chan wire.Fields // the terminal is the screen's again; nil: nobody waits for that
	left   string           // the signal that told it to leave; "" : none did
	parted bool             // it said that it leaves, or was told to
	fault  []string         // what is said instead of a goodbye
}

// told is what the program is to be told. It can't be while somebody else has the terminal.
type told struct {
	size         [2]int // zero: nothing new
	suspend      bool
	retake       bool // the terminal, all of it
	stalled, was bool // now, and as was told last
}

// tell notes what the program is to be told.
func (s *client) tell(note func(t *told)) {
	s.mu.Lock()
	note(&s.told)
	s.mu.Unlock()
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// tells tells the program, until the screen is gone.
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

// Show runs a program on a connection until that ends or the program is left. It calls heard once the connection has said
// what it is, and closes it.
func (h *Host) Show(conn *net.UnixConn, heard func()) {
	defer conn.Close()
	hello, ask, err := hear(conn)
	heard()
	if hello.terminal != nil {
		defer hello.terminal.Close()
	}
	if err != nil {
		if !errors.Is(err, net.ErrClosed) && !errors.Is(err, io.EOF) { // else it said nothing, and a flood would fill the log
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
		code, says = shell.Code(err), []string{h.o.Guard.Text(err.Error())}
	}
	s.paint.bye(code, says)
}

// show shows the program and returns with what the screen is to end.
func (s *client) show() (code int, says []string, err error) {
	h := s.host
	if descends(s.hello.PID) {
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
	o.In, o.Out, o.Terminal = s.keys, s.paint, s
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

// open gives the program the agents once it shows itself.
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

// ended says how the screen is to end whose program ended so.
func (s *client) ended(err error) (code int, says []string, _ error) {
	h := s.host
	s.mu.Lock()
	left, fault, parted := s.left, s.fault, s.parted
	s.parted = true
	s.mu.Unlock()
	switch {
	case len(fault) > 0:
		return shell.Failed, fault, nil
	case errors.Is(err, tea.ErrProgramPanic):
		return shell.Failed, s.fail("panic in the interface", []byte(h.o.Log.Tail())), nil
	case s.app.Ends():
		h.End(shell.OK, "")
		return shell.OK, nil, nil
	case left != "":
		n, _ := strconv.Atoi(left)
		return 128 + n, nil, nil
	case !parted && s.isGone():
		return shell.Failed, nil, nil
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
		return shell.Failed, nil, fmt.Errorf("show the screen: %w", err)
	}
	return shell.OK, h.goesOn(), nil
}

// fail records why a screen's program failed, and returns what it is told.
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

// end ends the screen with the host; a program that is asked to and does not is killed.
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

// returns tells whoever gave the terminal away that it is back. If nobody did, somebody else took
// it: what was painted and set there is gone.
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

// stalled is told whether the screen takes what is painted: if not, nobody looks at it. What was set in the terminal
// meanwhile is dropped with what was painted.
func (s *client) stalled(is bool) {
	s.tell(func(t *told) { t.stalled, t.retake = is, t.retake || !is }) // a short one may never be told
}

// hand sends a frame with which the terminal is given away, and waits until it is back. Who comes meanwhile waits for
// that too: a frame says that it is back, but not from whom.
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
